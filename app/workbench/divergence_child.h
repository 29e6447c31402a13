// divergenceInChild(): nodeDivergence() in a process of its own, so that a crash of the compiled side is a message.
#pragma once

#include "engine/pipeline/node_divergence.h"
#include "minifier/oracle/engine_oracle.h"

namespace kerf::workbench {

/// A crash or hang becomes the report's `failure`. Errors are the reference's own, and the environment's.
Result<NodeDivergenceReport> divergenceInChild(const Candidate& candidate, const EngineOracleOptions& options,
                                               std::stop_token stop);

}  // namespace kerf::workbench
