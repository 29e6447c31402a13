#include "engine/pipeline/planted_pass.h"

#include "engine/runtime/planted_faults.h"

namespace kerf::inline pipeline {
namespace {

/// First tensor of a floating type among the outputs.
NodeId firstFloatOutput(const Graph& graph) {
  if (!graph.outputNode().valid()) return {};
  for (const NodeId id : graph.node(graph.outputNode()).inputs()) {
    const TensorMeta* meta = graph.node(id).meta().value.tensor();
    if (meta && isFloating(meta->dtype)) return id;
  }
  return {};
}

void addOneToOutput(Graph& graph) {
  const NodeId target = firstFloatOutput(graph);
  if (!target.valid()) return;
  const NodeId output = graph.outputNode();
  NodeMeta meta = graph.node(target).meta();
  const InsertionScope scope(graph, InsertionScope::Where::Before, output);
  const NodeId sum = graph.callFunction("torch.ops.aten.add.Tensor", {Argument(target), Argument(1)}, {}, "planted");
  if (auto* tensor = std::get_if<TensorMeta>(&meta.value.value)) tensor->storageOffset = 0;
  graph.setMeta(sum, std::move(meta));
  graph.replaceInput(output, target, Argument(sum));
}

}  // namespace

Result<void> PlantedPass::tamper(const Pass& pass, GraphModule& module) {
  const Fault* fault = m_plan.forPass(pass.name);
  if (!fault) return {};
  switch (fault->kind) {
    case FaultKind::CompileError:
      return fail(ErrorCode::CompileFailed, "planted compile error in pass {}", pass.name);
    case FaultKind::Accuracy:
      addOneToOutput(module.graph);
      break;
    case FaultKind::Flaky:
      if (drawsFault(fault->probability)) addOneToOutput(module.graph);
      break;
    default:
      m_strikes.push_back(fault->kind);
      break;
  }
  return {};
}

}  // namespace kerf::inline pipeline
