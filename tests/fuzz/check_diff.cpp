#include <algorithm>
#include <map>

#include "engine/capture/text/capture.h"
#include "engine/diff/graph_diff.h"
#include "tests/fuzz/checks.h"

namespace kerf::fuzz {
namespace {

constexpr ImportLimits limits{
    .fileBytes = 1 << 20, .lineBytes = 1 << 18, .nesting = 60, .nodes = 4000, .tensorBytes = 1 << 20};
constexpr std::size_t mostGraphs = 4;

/// Each node of the graph is told once.
void requireAll(const Graph& graph, const GraphDiff& diff, NodeId NodeDelta::* side) {
  std::map<NodeId, int> told;
  for (const NodeDelta& delta : diff.nodes)
    if ((delta.*side).valid()) ++told[delta.*side];
  for (const NodeId id : graph.order())
    require(told[id] == 1, "a diff does not tell of a node once", graph.node(id).name());
  require(told.size() == graph.size(), "a diff tells of nodes that are not there", "");
}

void requireRewrites(const GraphDiff& diff) {
  for (const NodeDelta& delta : diff.nodes)
    require(delta.rewrite < int(diff.rewrites.size()), "a line of a rewrite that is not there", "");
}

void checkPair(const Graph& before, const Graph& after) {
  const GraphDiff diff = diffGraphs(before, after);
  requireAll(before, diff, &NodeDelta::before);
  requireAll(after, diff, &NodeDelta::after);
  requireRewrites(diff);
}

}  // namespace

bool checkDiff(std::string_view text) {
  const auto capture = importGraphText(text, "two.txt", limits);
  if (!capture) return false;
  const std::size_t count = std::min(capture->graphs.size(), mostGraphs);
  for (std::size_t i = 0; i < count; ++i) {
    const Graph& graph = capture->graphs[i].module.graph;
    require(diffGraphs(graph, graph).same(), "a graph differs from itself", capture->graphs[i].name);
    if (i > 0) checkPair(capture->graphs[i - 1].module.graph, graph);
    if (i > 0) checkPair(graph, capture->graphs[i - 1].module.graph);
  }
  return count > 1;
}

}  // namespace kerf::fuzz
