#include "app/cli/divergence_child.h"

namespace kerf::cli {

Result<NodeDivergenceReport> divergenceInChild(const Candidate& candidate, const EngineOracleOptions& options,
                                               std::stop_token stop) {
  NodeDivergenceOptions divergence;
  divergence.compile = options.compile;
  divergence.compile.keepArtifacts = false;
  divergence.compare = options.compare;
  const std::function body = [&](const SendEvent&) {
    return nodeDivergence(candidate.module, candidate.inputs, divergence);
  };
  KERF_TRY(auto ended, callIsolated<NodeDivergenceReport>(body, options.limits, stop));
  NodeDivergenceReport report;
  switch (ended.outcome.exit) {
    case IsolatedExit::Finished:
      return std::move(*ended.answer);
    case IsolatedExit::Cancelled:
      return fail(ErrorCode::Cancelled, "stopped while comparing nodes");
    case IsolatedExit::TimedOut:
      report.failure = "the compiled side did not come to an end while comparing nodes";
      break;
    case IsolatedExit::Crashed:
      report.failure = "the compiled side crashed (" + ended.outcome.signalName() + ")";
      break;
  }
  return report;
}

}  // namespace kerf::cli
