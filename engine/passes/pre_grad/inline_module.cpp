#include "engine/passes/pre_grad/pre_grad_passes.h"

#include <algorithm>

#include "engine/ir/symbolic_trace.h"

namespace kerf::inline passes {

namespace {

std::int64_t addedNodes(const GraphModule& module) {
  std::int64_t added = 0;
  for (const NodeId id : module.graph.order()) {
    const Node& node = module.graph.node(id);
    const Submodule* called = node.op() == Opcode::CallModule ? module.submodule(node.target()) : nullptr;
    if (called && called->graph) added += std::int64_t(called->graph->graph.size());
  }
  return added;
}

Result<void> runInlineModule(GraphModule& module, const PassContext& context) {
  const std::int64_t added = addedNodes(module);  // nested graphs have been inlined before
  if (added == 0 || added > context.options.value<std::int64_t>("max_nodes")) return {};
  KERF_TRY(module, symbolicTrace(module));
  return {};
}

}  // namespace

Pass inlineModulePass() {
  return {.name = "inline_module",
          .stage = PassStage::PreGrad,
          .description = "Puts the nodes of called modules in the place of their calls.",
          .options = {{"max_nodes", std::int64_t{100000}, "Most nodes that all called modules have together."}},
          .run = runInlineModule};
}

}  // namespace kerf::inline passes
