#include "app/workbench/minify/judge_graph.h"

#include "app/workbench/captures/recorded_settings.h"
#include "app/workbench/minify/oracle_choice.h"
#include "app/workbench/protocol/remote_workbench.h"
#include "engine/capture/audit/allowed_calls.h"
#include "minifier/core/failure_match.h"

namespace kerf::workbench {

Result<Verdict> judgeGraph(Oracle& oracle, GraphSource source, const Job& job) {
  KERF_TRY(RunnableGraph ready, runnable(std::move(source), job));
  KERF_TRY(auto module, moduleToCompare(ready));
  return oracle.judge({std::move(module), std::move(ready.inputs)}, job.stop);
}

Result<Verdict> recheckInFreshProcess(Workbench& bench, const OracleSettings& oracle,
                                      const std::filesystem::path& repro, const Job& job) {
  RemoteWorkbench fresh(bench.options().program, bench.options().store);
  KERF_TRY(const auto judged, fresh.perform(JudgeRequest{{repro.string()}, oracle}, {{}, job.stop}));
  return Verdict{.kind = VerdictKind(judged.verdict), .fingerprint = judged.fingerprint, .detail = judged.detail};
}

Result<Verdict> recheckWith(Workbench& bench, Oracle& oracle, const std::filesystem::path& repro, const Job& job) {
  KERF_TRY(auto source, resolveGraph(bench, {repro.string()}, job));
  return judgeGraph(oracle, std::move(source), job);
}

Result<JudgeAnswer> perform(Workbench& bench, const JudgeRequest& request, const Job& job) {
  KERF_TRY(auto found, resolveGraph(bench, request.graph, job));
  KERF_TRY(found.capture.allowedCalls, parseExtraCalls(request.oracle.allowedCalls));
  const GraphSource source = withRecordedEnvironment(std::move(found));
  KERF_TRY(const auto oracle, makeOracle(request.oracle, source, {job, 1, &bench.warmTorch()}));
  KERF_TRY(auto verdict, judgeGraph(*oracle, source, job));
  if (!request.match.empty() && verdict.kind == VerdictKind::Fails) {
    KERF_TRY(const auto match, FailureMatch::pattern(request.match));
    if (!match.acceptsAsStart(verdict.fingerprint, verdict.detail)) verdict.kind = VerdictKind::FailsDifferently;
  }
  return JudgeAnswer{JudgeAnswer::Verdict(verdict.kind), verdict.fingerprint, verdict.detail, verdict.time};
}

}  // namespace kerf::workbench
