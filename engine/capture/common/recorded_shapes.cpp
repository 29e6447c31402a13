#include "engine/capture/common/recorded_shapes.h"

#include <vector>

#include "engine/ops/core/op_registry.h"
#include "engine/support/log.h"

namespace kerf::inline capture {
namespace {

void makeReshapes(Graph& graph) {
  for (const NodeId id : std::vector<NodeId>(graph.order().begin(), graph.order().end()))
    if (graph.node(id).isCall("aten.view.default"_op)) graph.setTarget(id, "torch.ops.aten.reshape.default");
}

bool failedAtView(const Graph& graph, const Error& error) {
  const auto node = graph.find(error.node);
  return error.code == ErrorCode::ShapeMismatch && node && graph.node(*node).isCall("aten.view.default"_op);
}

}  // namespace

Result<void> propagateRecorded(GraphModule& module, ShapeEnv& env) {
  const ShapeEnv::Mark before = env.mark();
  auto shaped = propagateShapes(module, env);
  if (shaped || !failedAtView(module.graph, shaped.error())) return shaped;
  logAt(LogCategory::Import, LogLevel::Info, "views are read as reshapes, as Inductor does: {}", shaped.error().text());
  env.rollBack(before);
  GraphModule reshaped = module;
  makeReshapes(reshaped.graph);
  KERF_CHECK(propagateShapes(reshaped, env));
  module = std::move(reshaped);
  return {};
}

Result<void> annotateRecorded(CapturedGraph& graph) {
  if (graph.inputs.empty()) return graph.annotateShapes();
  ShapeEnv env;
  KERF_CHECK(graph.annotateInputs());
  return propagateRecorded(graph.module, env);
}

}  // namespace kerf::inline capture
