#include "app/workbench/pass_bisection.h"

#include "app/workbench/in_child.h"
#include "engine/ops/core/op_registry.h"

namespace kerf::workbench {

namespace {

/// What differs or failed in the compiled side; empty if nothing. Runs in the child.
Result<std::string> compareWith(const Candidate& candidate, const EngineOracleOptions& options,
                                const std::vector<std::string>& enabled) {
  CompileOptions compile = options.compile;
  compile.keepArtifacts = false;
  compile.passes.only = enabled;
  std::string failure;
  const RunModel compiled = [&](const ValueList& inputs) -> Result<Value> {
    auto graph = compileFx(candidate.module, compile);
    auto result = graph ? (*graph)->run(inputs) : Result<Value>(std::unexpected(graph.error()));
    if (!result && result.error().code != ErrorCode::UnsupportedOp) failure = result.error().text();
    return result;
  };
  const auto report = sameTwoModels(candidate.module, referenceOps(), compiled, candidate.inputs, options.compare);
  if (!failure.empty()) return failure;
  if (!report) return fail(report.error());
  for (const auto& output : report->outputs)
    if (!output.same) return fmt::format("{}: {}", output.name, output.reason);
  return std::string();
}

Result<BisectTrial> attempt(const Candidate& candidate, const EngineOracleOptions& options,
                            const std::vector<std::string>& enabled, const Job& job) {
  const std::function body = [&](const SendEvent&) { return compareWith(candidate, options, enabled); };
  KERF_TRY(auto ended, callIsolated<std::string>(body, options.limits, job.stop));
  BisectTrial trial{enabled, false, {}};
  if (ended.answer) {
    KERF_TRY(trial.detail, std::move(*ended.answer));
    trial.same = trial.detail.empty();
    return trial;
  }
  const auto end = errorOfEnd(ended.outcome, "the compiled side", ErrorCode::Different);
  if (end.code == ErrorCode::Cancelled) return fail(ErrorCode::Cancelled, "stopped while bisecting passes");
  trial.detail = end.message;
  return trial;
}

}  // namespace

Result<Bisection> bisectPasses(const Candidate& candidate, const EngineOracleOptions& options, const Job& job) {
  Bisection bisection;
  std::vector<std::string> enabled;
  KERF_TRY(const auto passes, selectPasses(options.compile.passes));
  for (std::size_t on = 0; on <= passes.size(); ++on) {
    if (on > 0) enabled.push_back(passes[on - 1].name);
    (void)job.progress(fmt::format("trying {} of {} passes", on, passes.size()),
                       double(on) / double(passes.size() + 1));
    KERF_TRY(auto trial, attempt(candidate, options, enabled, job));
    bisection.different = !trial.same;
    bisection.trials.push_back(std::move(trial));
    if (bisection.different) break;
  }
  if (!bisection.different)
    bisection.note = "no difference with all passes on";
  else if (enabled.empty())
    bisection.note = "the difference is there with all passes off: try --by node";
  else
    bisection.culprits.push_back(enabled.back());
  return bisection;
}

}  // namespace kerf::workbench
