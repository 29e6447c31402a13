// RedrawnInputs: a graph's inputs drawn again and again, each time in another way, so that a program which computes something
// else is not right on all of them: one flag is true and false, an index is every element of its axis.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "engine/audit/meaning/drawn_kinds.h"
#include "engine/audit/meaning/value_marks.h"
#include "engine/ir/graph_module.h"

namespace kerf::inline audit {

class RedrawnInputs {
 public:
  /// Draws that show most of what differs, and that also show what whole numbers, flags and few numbers decide.
  static constexpr int few = 4, most = 8;

  /// `kernels`: texts whose constants are drawn, too. `isPositive`: floats are above 0. `inputs` are what draw 0 gives.
  RedrawnInputs(const GraphModule& graph, const std::vector<std::string_view>& kernels, ValueList inputs,
                bool isPositive);
  /// Makes the ranges of whole numbers as wide as the graph takes; `runs`: whether it can be run with these inputs.
  void fit(const std::function<bool(const ValueList&)>& runs);
  /// How many draws are needed.
  int draws() const { return m_asksForMost ? most : few; }
  ValueList draw(int which) const;
  /// Whether the input is the same in all draws: no numbers were found that the graph takes, or it is complex.
  bool isFixed(std::size_t input) const;

 private:
  /// From `low` to `high`; none: as it was given.
  struct Range : WholeRange {
    bool isKnown = false;
  };

  ValueList m_inputs;
  std::vector<Range> m_ranges;  ///< by input
  std::vector<double> m_sizes;
  DrawnKinds m_kinds;
  bool m_asksForMost = false;
};

}  // namespace kerf::inline audit
