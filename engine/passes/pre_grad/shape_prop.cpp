#include "engine/passes/pre_grad/pre_grad_passes.h"

#include <algorithm>

#include "engine/ops/core/op_registry.h"
#include "engine/support/log.h"

namespace kerf::inline passes {

namespace {

bool lacksShape(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const bool isCall = node.op() == Opcode::CallFunction || node.op() == Opcode::CallMethod;
  return isCall && !node.meta().value.known() && !node.users().empty();
}

Result<void> runShapeProp(GraphModule& module, const PassContext&) {
  const Graph& graph = module.graph;
  if (std::ranges::none_of(graph.order(), [&](NodeId id) { return lacksShape(graph, id); })) return {};
  const auto isUnknown = [&](NodeId id) { return !graph.node(id).meta().value.known(); };
  if (std::ranges::any_of(graph.placeholders(), isUnknown)) return {};
  GraphModule shaped = module;
  if (const auto done = propagateShapes(shaped); !done) {  // whoever compiles the graph says what is wrong with it
    logAt(LogCategory::Passes, LogLevel::Debug, "shapes are not propagated: {}", done.error().text());
    return {};
  }
  module = std::move(shaped);
  return {};
}

}  // namespace

Pass shapePropPass() {
  return {.name = "shape_prop",
          .stage = PassStage::PreGrad,
          .description = "Infers the shapes of values that have none.",
          .run = runShapeProp};
}

}  // namespace kerf::inline passes
