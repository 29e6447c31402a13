#include "engine/diff/gradient_half.h"

#include <algorithm>
#include <unordered_set>

namespace kerf::inline diff {

namespace {

bool isTangent(const Node& node) { return node.op() == Opcode::Placeholder && node.name().starts_with("tangents"); }

}  // namespace

std::vector<NodeId> gradientHalf(const Graph& graph) {
  const auto order = graph.order();
  std::unordered_set<NodeId> half;
  const auto isCall = [&](NodeId id) {
    return graph.node(id).op() != Opcode::Placeholder && graph.node(id).op() != Opcode::Output;
  };
  for (const NodeId id : order) {
    if (!isCall(id)) continue;
    const auto inputs = graph.node(id).inputs();
    const auto takesTangent = [&](NodeId input) { return isTangent(graph.node(input)); };
    if (!half.empty() || std::ranges::any_of(inputs, takesTangent)) half.insert(id);
  }
  // What only they take was traced with its forward call: transposed weights.
  std::vector<NodeId> found;
  for (auto at = order.rbegin(); at != order.rend() && !half.empty(); ++at) {
    const auto& users = graph.node(*at).users();
    const auto isOfHalf = [&](NodeId user) { return half.contains(user); };
    if (isCall(*at) && !users.empty() && std::ranges::all_of(users, isOfHalf)) half.insert(*at);
    if (half.contains(*at)) found.push_back(*at);
  }
  std::ranges::reverse(found);
  return found;
}

std::vector<NodeId> gradientsOf(const Graph& graph, const std::vector<NodeId>& forward) {
  const std::vector<NodeId> half = gradientHalf(graph);
  const std::unordered_set<NodeId> inHalf(half.begin(), half.end());
  std::unordered_set<std::string_view> lines;
  std::unordered_set<NodeId> own;  // what the forward nodes compute and take
  for (const NodeId id : forward) {
    if (inHalf.contains(id)) continue;
    own.insert(id);
    for (const NodeId input : graph.node(id).inputs()) own.insert(input);
    if (const std::string& line = graph.node(id).meta().stackTrace; !line.empty()) lines.insert(line);
  }
  const auto isForeign = [&](NodeId id) {
    return graph.node(id).op() != Opcode::Placeholder && !own.contains(id) && !inHalf.contains(id);
  };
  std::vector<NodeId> gradients;
  bool inside = false;
  for (const NodeId id : half) {
    const auto inputs = graph.node(id).inputs();
    if (!lines.contains(graph.node(id).meta().stackTrace) || std::ranges::any_of(inputs, isForeign))
      inside = false;
    else
      inside |= std::ranges::any_of(inputs, [&](NodeId input) { return own.contains(input); });
    if (inside) gradients.push_back(id);
  }
  return gradients;
}

}  // namespace kerf::inline diff
