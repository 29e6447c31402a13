#include "engine/diff/gradient_half.h"

#include <algorithm>
#include <unordered_set>

namespace kerf::inline diff {

namespace {

bool isTangent(const Node& node) {
  return node.op() == Opcode::Placeholder && node.name().starts_with("tangents");
}

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
  std::unordered_set<std::string_view> lines;
  std::unordered_set<NodeId> taken(forward.begin(), forward.end());
  for (const NodeId id : half) taken.erase(id);
  for (const NodeId id : forward) {
    const Node& node = graph.node(id);
    if (!node.meta().stackTrace.empty()) lines.insert(node.meta().stackTrace);
    for (const NodeId input : node.inputs())
      if (graph.node(input).op() == Opcode::Placeholder) taken.insert(input);
  }
  std::vector<NodeId> gradients;
  for (std::size_t begin = 0, end = 0; begin < half.size(); begin = end) {
    const std::string& line = graph.node(half[begin]).meta().stackTrace;
    bool takes = false;
    for (end = begin; end < half.size() && graph.node(half[end]).meta().stackTrace == line; ++end)
      takes |= std::ranges::any_of(graph.node(half[end]).inputs(), [&](NodeId input) { return taken.contains(input); });
    if (takes && lines.contains(line))
      gradients.insert(gradients.end(), half.begin() + std::ptrdiff_t(begin), half.begin() + std::ptrdiff_t(end));
  }
  return gradients;
}

}  // namespace kerf::inline diff
