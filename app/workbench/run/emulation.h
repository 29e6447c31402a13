// Comparing against the rounding of fused kernels, in a process of its own.
#pragma once

#include "app/workbench/captures/graph_source.h"
#include "app/workbench/protocol/runs.h"
#include "engine/accuracy/same_two_models.h"
#include "minifier/oracle/engine_oracle.h"

namespace kerf::workbench {

struct EmulatedComparison {
  ComparisonReport plain;  ///< as without --emulate, but that kernels of the compiled side keep float32
  FusionComparison fusion;
};

/// `emulate` is "inductor" (the groups that the capture recorded) or "kerf" (those of the compiled side). BadUsage for
/// other names and where the capture has no groups; errors of the references. A crash or an error of the compiled side
/// is `plain.failure`.
Result<EmulatedComparison> compareEmulated(const GraphSource& source, const Candidate& candidate,
                                           const CompareRequest& request, const EngineOracleOptions& options,
                                           const Job& job);

}  // namespace kerf::workbench
