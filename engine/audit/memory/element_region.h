// ElementRegion: which elements of a storage something reads or writes, as boxes of strided steps.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/symbolic/sym_int.h"

namespace kerf::inline audit {

/// Whether a relation holds for all values of the symbols; none where it may be either.
std::optional<bool> alwaysHolds(SymRelation relation, SymInt a, SymInt b);
inline bool isAlways(SymRelation relation, SymInt a, SymInt b) { return alwaysHolds(relation, a, b) == true; }
inline bool isSameSize(SymInt a, SymInt b) { return a.isIdentical(b) || isAlways(SymRelation::Eq, a, b); }
/// "64", "4*s33"
std::string sizeText(SymInt value);

struct BoxStep {
  SymInt stride, count;
};

/// first + Σ stride·i, 0 <= i < count. Normal: strides are positive and fall, no count is 1, what lies without a gap is
/// one step.
struct ElementBox {
  SymInt first;
  std::vector<BoxStep> steps;

  static ElementBox interval(SymInt first, SymInt count);
  /// Of a tensor of these sizes and strides.
  static ElementBox strided(const std::vector<SymInt>& sizes, const std::vector<SymInt>& strides, SymInt offset);
  void normalise();
  /// The last element.
  SymInt last() const;
  SymInt count() const;
  bool isEmpty() const;     ///< a count is 0
  bool isInterval() const;  ///< without gaps
  bool isConcrete() const;
  /// Whether no element is met twice; none where that cannot be said.
  std::optional<bool> isInjective() const;
  /// Whether gaps between its steps are larger than padding is: strides are made multiples of 16, large ones of 128.
  bool hasWideGaps() const;
  ElementBox shifted(SymInt by) const;
};

/// What is known to be in a set of elements.
class ElementSet {
 public:
  void addAll() { m_hasAll = true; }
  /// It may have any element from now on: whatever is missing is not known.
  void blur() { m_isBlurred = true; }
  void add(const ElementBox& box);
  bool isBlurred() const { return m_isBlurred && !m_hasAll; }
  bool isEmpty() const { return !m_hasAll && !m_isBlurred && m_boxes.empty(); }
  bool hasAll() const { return m_hasAll; }

  struct Answer {
    std::optional<bool> holds;
    std::int64_t element = 0;  ///< that is missing, or that both have
  };
  Answer covers(const ElementBox& box) const;
  Answer meets(const ElementBox& box) const;

 private:
  const std::vector<std::uint64_t>* bits(std::int64_t upTo) const;

  bool m_hasAll = false, m_isBlurred = false;
  std::vector<ElementBox> m_boxes;
  mutable std::vector<std::uint64_t> m_bits;
  mutable std::size_t m_drawn = 0;  ///< boxes that are in m_bits
};

/// Whether two boxes have an element in common, and which.
ElementSet::Answer boxesMeet(const ElementBox& a, const ElementBox& b);
/// Whether all of `inner` is in `outer`, by their steps alone.
bool isWithin(const ElementBox& inner, const ElementBox& outer);

}  // namespace kerf::inline audit
