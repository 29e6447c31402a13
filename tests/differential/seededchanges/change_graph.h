// One change in a graph, such as a wrong pass would make.
#pragma once

#include <optional>
#include <string>

#include "engine/ir/graph_module.h"
#include "tests/differential/fuzzgraph/dice.h"

namespace kerf::seededchanges {

struct GraphChange {
  std::string node;
  std::string what;  ///< "add → sub", "argument 1: 0.5 → 0.51"
};

/// Changes the call of one node: its op, a number, a dtype, the order of its operands, one of its operands, or leaves it
/// out. Nothing where the drawn node allows none of these.
std::optional<GraphChange> changeGraph(GraphModule& module, fuzzgraph::Dice& dice);

}  // namespace kerf::seededchanges
