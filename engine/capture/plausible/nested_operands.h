// nestedOperands: as which input of which nested graph a higher-order op hands a value on. Private to engine/capture.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/ir/graph_module.h"

namespace kerf::inline capture {

struct NestedOperand {
  const GraphModule* module = nullptr;
  std::size_t position = 0;  ///< among its placeholders
  std::string path;          ///< of the graph in its owner: "true_graph_0"
};

bool isHigherOrder(const Node& node);
/// Empty where nothing is known of the op's operands.
std::vector<NestedOperand> nestedOperands(const GraphModule& owner, const Node& node, NodeId value);
/// Base name of the op that auto_functionalized calls with keywords; empty for others.
std::string_view operandsOfCalledOp(const Node& node);

}  // namespace kerf::inline capture
