// Faults planted by op name: which nodes of the final graph they hit, and what they do there.
#pragma once

#include <vector>

#include "engine/lower/value_table.h"
#include "engine/passes/fault_plan.h"
#include "engine/runtime/program.h"

namespace kerf::inline pipeline {

struct PlantedOps {
  PlantedResults results;  ///< accuracy and flaky: lowering adds to these nodes' results
  struct Strike {
    NodeId node;
    RunFault kind = RunFault::Error;
  };
  std::vector<Strike> strikes;  ///< in graph order
  double flakyProbability = 0;
};

/// CompileFailed naming the node for a planted compile_error.
Result<PlantedOps> plantFaults(const FaultPlan& plan, const Graph& graph);

}  // namespace kerf::inline pipeline
