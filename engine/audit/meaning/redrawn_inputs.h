// RedrawnInputs: a graph's inputs drawn again and again, each time in another way, so that a program which computes something
// else is not right on all of them: one flag is true and false, an index is every element of its axis.
#pragma once

#include <functional>
#include <vector>

#include "engine/audit/meaning/value_marks.h"
#include "engine/ir/graph_module.h"

namespace kerf::inline audit {

class RedrawnInputs {
 public:
  /// Draws that show most of what differs, and that also show what whole numbers and flags decide.
  static constexpr int few = 4, most = 8;

  /// `isPositive`: floats are above 0. `inputs` are what draw 0 gives.
  RedrawnInputs(const GraphModule& graph, ValueList inputs, bool isPositive);
  /// Makes the ranges of whole numbers as wide as the graph takes; `runs`: whether it can be run with these inputs.
  void fit(const std::function<bool(const ValueList&)>& runs);
  /// How many draws are needed.
  int draws() const { return m_hasWhole ? most : few; }
  ValueList draw(int which) const;

 private:
  /// From `low` to `high`; none: as it was given.
  struct Range {
    double low = 0, high = -1;
  };
  double real(int which, std::uint64_t seed, std::size_t element, std::size_t count) const;
  double whole(int which, std::uint64_t seed, std::size_t element, std::size_t count, const Range& range) const;

  ValueList m_inputs;
  std::vector<Range> m_ranges;  ///< by input
  std::vector<double> m_sizes, m_constants;
  bool m_isPositive = false, m_hasWhole = false, m_asksForSpecials = false;
};

}  // namespace kerf::inline audit
