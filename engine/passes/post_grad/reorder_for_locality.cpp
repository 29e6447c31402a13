#include "engine/passes/post_grad/post_grad_passes.h"

#include <algorithm>

#include "engine/passes/node_facts.h"

namespace kerf::inline passes {

namespace {

bool mayMove(const AliasGroups& aliases, const Node& node) {
  return isPureCall(node) && !node.isCall("operator.getitem"_op) && !aliases.touchesMutation(node);
}

Result<void> runReorderForLocality(GraphModule& module, const PassContext& context) {
  if (!context.options.value<bool>("enabled")) return {};
  Graph& graph = module.graph;
  const AliasGroups aliases(graph);
  std::vector<bool> seen;
  const auto isSeen = [&](NodeId id) { return id.index < seen.size() && seen[id.index]; };
  for (NodeId id = graph.nodeBefore({}); id.valid(); id = graph.nodeBefore(id)) {  // what is moved here comes next
    if (id.index >= seen.size()) seen.resize(id.index + 1, false);
    seen[id.index] = true;
    for (const NodeId input : graph.node(id).inputs()) {
      const Node& node = graph.node(input);
      if (mayMove(aliases, node) && std::ranges::all_of(node.users(), isSeen)) graph.moveBefore(input, id);
    }
  }
  return {};
}

}  // namespace

Pass reorderForLocalityPass() {
  return {.name = "reorder_for_locality",
          .stage = PassStage::PostGrad,
          .description = "Computes values right before their first use.",
          .options = {{"enabled", false, "Whether it runs."}},
          .run = runReorderForLocality};
}

}  // namespace kerf::inline passes
