// divergenceInChild(): nodeDivergence() in a process of its own, so that a crash of the compiled side is a message.
#pragma once

#include "app/workbench/protocol/job.h"
#include "app/workbench/protocol/values.h"
#include "engine/pipeline/node_divergence.h"
#include "minifier/oracle/engine_oracle.h"

namespace kerf::workbench {

/// A crash or hang becomes the report's `failure`; rows that came before stay. Each row is an event of the job when it
/// is compared. Errors are the reference's own, and the environment's.
Result<NodeDivergenceReport> divergenceInChild(const Candidate& candidate, const EngineOracleOptions& options,
                                               const Job& job);
/// The same, and what the nodes' values are like is added to `values`.
Result<NodeDivergenceReport> divergenceWithValues(const Candidate& candidate, const EngineOracleOptions& options,
                                                  const Job& job, std::vector<NodeFigures>& values);

}  // namespace kerf::workbench
