// Where the annotation that a node was recorded with is not what its op gives: one of the two compilers is wrong, or the
// text was edited.
//
//     s: "f32[4, 13, 33][33, 0, 1]" = aten.slice_scatter(e, z, 1, 0, 6)      →      slice_scatter gives [429, 33, 1]
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/ir/graph_module.h"

namespace kerf::inline ops {

struct ShapeConflict {
  std::string node;  ///< nodes of nested graphs have the graph's path in front: "true_graph_0/add"
  std::string op;    ///< qualified name, or the target
  std::string what;  ///< "dtype", "shape" or "stride"
  ValueMeta recorded, derived;
  /// "f32[4, 13, 33][33, 0, 1]".
  std::string recordedText() const;
  std::string derivedText() const;
  /// "s: recorded f32[2][1], aten.add.Tensor gives f32[3][1] (shape)".
  std::string text() const;
};

/// Every node's op on the recorded values of its arguments, against the node's own recorded value. Sizes and strides
/// count where both are numbers; strides of dimensions of size 1 or less do not, nor those that a kernel of a library
/// chooses (convolutions, attention, linear layers), but for such as leave holes. Recorded values stay what later nodes see.
std::vector<ShapeConflict> shapeConflicts(const GraphModule& module);
/// "dtype", "shape" or "stride" where they contradict each other.
std::optional<std::string> contradictionOf(const ValueMeta& recorded, const ValueMeta& derived);
/// Puts the recorded values of these nodes back, where another one stands now.
void restoreRecorded(const std::vector<ShapeConflict>& conflicts, Graph& graph);
/// One line for each, at most `most`, and how many more there are.
std::vector<std::string> conflictNotes(const std::vector<ShapeConflict>& conflicts, std::size_t most = 5);

}  // namespace kerf::inline ops
