#include "engine/diff/gradient_half.h"

#include <algorithm>

namespace kerf::inline diff {

namespace {

bool isTangent(const Node& node) {
  return node.op() == Opcode::Placeholder && node.name().starts_with("tangents");
}

}  // namespace

std::vector<NodeId> gradientHalf(const Graph& graph) {
  std::vector<NodeId> half;
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (node.op() == Opcode::Placeholder || node.op() == Opcode::Output) continue;
    const bool begins = !half.empty() || std::ranges::any_of(node.inputs(), [&](NodeId input) {
      return isTangent(graph.node(input));
    });
    if (begins) half.push_back(id);
  }
  return half;
}

}  // namespace kerf::inline diff
