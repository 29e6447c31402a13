// stepGraph(): the part of a graph that one step stands for, with recorded values at its border, as a graph that can be run
// alone.
//
//     x: recorded; y = mul(x, 2); z = relu(y): recorded      →      placeholder x; mul; relu; return (relu,)
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/ir/graph_module.h"
#include "engine/tensor/value.h"

namespace kerf::inline align {

struct StepGraph {
  GraphModule module;
  ValueList inputs;                ///< one a placeholder
  std::vector<std::string> nodes;  ///< calls, in the order of the graph
};

/// A value as one side recorded it; none: it is not recorded.
using RecordedValue = std::function<std::optional<Tensor>(const std::string& node)>;

/// Back from `node` to the nearest values that `recorded` has. NotFound for a node that the graph has not, and where the
/// value of an input is not recorded (a symbolic size never is); UnsupportedOp for a step that calls a module or a nested
/// graph, and where a call that is no part of the cut writes into the memory of a value in it.
Result<StepGraph> stepGraph(const GraphModule& whole, const std::string& node, const RecordedValue& recorded);

}  // namespace kerf::inline align
