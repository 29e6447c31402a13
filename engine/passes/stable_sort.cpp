#include "engine/passes/stable_sort.h"

#include <vector>

namespace kerf::inline passes {

namespace {

bool isSorted(const Graph& graph) {
  std::vector<bool> defined;
  for (const NodeId id : graph.order()) {
    for (const NodeId input : graph.node(id).inputs())
      if (input.index >= defined.size() || !defined[input.index]) return false;
    if (id.index >= defined.size()) defined.resize(id.index + 1, false);
    defined[id.index] = true;
  }
  return true;
}

Result<void> runStableSort(GraphModule& module, const PassContext&) {
  if (isSorted(module.graph)) return {};
  return module.graph.topologicalSort();
}

Pass sortOf(const char* name, PassStage stage) {
  return {.name = name, .stage = stage, .description = "Puts every node after its inputs.", .run = runStableSort};
}

}  // namespace

Pass jointSortPass() { return sortOf("joint_stable_sort", PassStage::Joint); }
Pass postGradSortPass() { return sortOf("stable_sort", PassStage::PostGrad); }

}  // namespace kerf::inline passes
