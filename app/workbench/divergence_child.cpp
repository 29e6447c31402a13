#include "app/workbench/divergence_child.h"

#include "app/workbench/in_child.h"

namespace kerf::workbench {

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
  if (ended.answer) return std::move(*ended.answer);
  const auto end =
      errorOfEnd(ended.outcome, "the compiled side, while its nodes were compared,", ErrorCode::RuntimeFailed);
  if (end.code == ErrorCode::Cancelled) return fail(ErrorCode::Cancelled, "stopped while comparing nodes");
  NodeDivergenceReport report;
  report.failure = end.message;
  return report;
}

}  // namespace kerf::workbench
