#include "engine/pipeline/planted_ops.h"

#include <algorithm>

namespace kerf::inline pipeline {
namespace {

Result<void> plant(const Fault& fault, const Node& node, PlantedOps& planted) {
  switch (fault.kind) {
    case FaultKind::CompileError: {
      Error error{ErrorCode::CompileFailed, "planted compile error", {}, 0, node.name(), {}};
      return fail(std::move(error));
    }
    case FaultKind::Accuracy:
      planted.results[node.id()] = PlantedResult::Accuracy;
      break;
    case FaultKind::Flaky:
      planted.results[node.id()] = PlantedResult::Flaky;
      planted.flakyProbability = std::max(planted.flakyProbability, fault.probability);
      break;
    case FaultKind::RuntimeError:
      planted.strikes.push_back({node.id(), RunFault::Error});
      break;
    case FaultKind::Crash:
      planted.strikes.push_back({node.id(), RunFault::Crash});
      break;
    case FaultKind::Hang:
      planted.strikes.push_back({node.id(), RunFault::Hang});
      break;
  }
  return {};
}

}  // namespace

Result<PlantedOps> plantFaults(const FaultPlan& plan, const Graph& graph) {
  PlantedOps planted;
  if (plan.empty()) return planted;
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (node.op() != Opcode::CallFunction) continue;
    if (const Fault* fault = plan.forTarget(node.target())) KERF_CHECK(plant(*fault, node, planted));
  }
  return planted;
}

}  // namespace kerf::inline pipeline
