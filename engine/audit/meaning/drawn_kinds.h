// How numbers are drawn, element by element: usual and larger ones, constants of the texts, zeros, what is no number; a flag
// and a single number each way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/ir/graph_module.h"

namespace kerf::inline audit {

/// Whole numbers from `low` to `high`.
struct WholeRange {
  double low = 0, high = 1;
};

/// An element that is drawn.
struct DrawnPlace {
  int draw = 0;            ///< from 0 to 7
  std::uint64_t seed = 0;  ///< of what it is an element of
  std::size_t element = 0, count = 1;
  std::size_t single = 0;  ///< of what has one element: how many such were before
};

class DrawnKinds {
 public:
  /// Most of the whole numbers without another range: products of numbers beyond it would not be whole in doubles.
  static constexpr double usualWhole = 1000;
  /// What has fewer elements is drawn more often: one sign, or none of the constants, may be all that there is.
  static constexpr std::size_t fewElements = 64;

  /// Floats above 0.
  void setPositive(bool isPositive) { m_isPositive = isPositive; }
  bool isPositive() const { return m_isPositive; }
  /// NaN and endless numbers are drawn too.
  void askForSpecials() { m_asksForSpecials = true; }
  bool asksForSpecials() const { return m_asksForSpecials; }

  /// Numbers that the node's arguments mention; the first ones are kept.
  void mention(const Node& node);
  void mention(double constant);
  /// Numbers of a kernel's text that are no part of an index: with a point, or after `static_cast<T>(` or `tl.full([1], `.
  void mentionOfKernel(std::string_view text);

  double real(const DrawnPlace& place) const;
  double whole(const DrawnPlace& place, const WholeRange& range) const;
  /// 0 or 1. Single ones come in all combinations of the first three; each two of the first 126 differ in some draw.
  static double flag(const DrawnPlace& place);

 private:
  void mention(const Argument& argument);
  double pick(double part) const;

  std::vector<double> m_constants{0};
  bool m_isPositive = false, m_asksForSpecials = false;
  bool m_isWide = true;  ///< whole numbers beyond 32 bits are drawn: nothing multiplies them
};

/// Between 0 and 1.
double fractionOf(std::uint64_t seed, std::uint64_t element);

}  // namespace kerf::inline audit
