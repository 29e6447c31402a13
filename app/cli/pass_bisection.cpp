#include "app/cli/pass_bisection.h"

#include "engine/ops/core/op_registry.h"

namespace kerf::cli {

namespace {

constexpr std::string_view sameMark = "same";

/// What differs, or "same". Runs in the child. An error of the reference itself begins with '!'.
std::string compareWith(const Candidate& candidate, const EngineOracleOptions& options,
                        const std::vector<std::string>& enabled) {
  CompileOptions compile = options.compile;
  compile.keepArtifacts = false;
  compile.passes.only = enabled;
  std::string failure;
  const RunModel compiled = [&](const ValueList& inputs) -> Result<Value> {
    auto graph = compileFx(candidate.module, compile);
    auto result = graph ? (*graph)->run(inputs) : Result<Value>(std::unexpected(graph.error()));
    if (!result) failure = result.error().text();
    return result;
  };
  const auto report = sameTwoModels(candidate.module, referenceOps(), compiled, candidate.inputs, options.compare);
  if (!failure.empty()) return failure;
  if (!report) return "!" + report.error().text();
  for (const auto& output : report->outputs) {
    if (!output.same) return fmt::format("{}: {}", output.name, output.reason);
  }
  return std::string(sameMark);
}

Result<PassTrial> attempt(const Candidate& candidate, const EngineOracleOptions& options,
                          const std::vector<std::string>& enabled, std::stop_token stop) {
  const auto body = [&] { return compareWith(candidate, options, enabled); };
  KERF_TRY(const auto outcome, runIsolated(body, options.limits, stop));
  PassTrial trial{enabled, false, outcome.payload};
  switch (outcome.exit) {
    case IsolatedExit::Finished:
      break;
    case IsolatedExit::Cancelled:
      return fail(ErrorCode::Cancelled, "stopped while bisecting passes");
    case IsolatedExit::TimedOut:
      trial.detail = "did not come to an end";
      break;
    case IsolatedExit::Crashed:
      trial.detail = "crashed (" + outcome.signalName() + ")";
      break;
  }
  if (trial.detail.starts_with('!')) return fail(ErrorCode::RuntimeFailed, "{}", trial.detail.substr(1));
  trial.same = trial.detail == sameMark;
  if (trial.same) trial.detail.clear();
  return trial;
}

}  // namespace

Result<PassBisection> bisectPasses(const Candidate& candidate, const EngineOracleOptions& options,
                                   std::stop_token stop) {
  PassBisection bisection;
  std::vector<std::string> enabled;
  KERF_TRY(auto trial, attempt(candidate, options, enabled, stop));
  bisection.trials.push_back(std::move(trial));
  if (!bisection.trials.back().same) {
    bisection.note = "the difference is there with all passes off: try --by node";
    return bisection;
  }
  KERF_TRY(const auto passes, selectPasses(options.compile.passes));
  for (const auto& pass : passes) {
    enabled.push_back(pass.name);
    KERF_TRY(auto next, attempt(candidate, options, enabled, stop));
    bisection.trials.push_back(std::move(next));
    if (bisection.trials.back().same) continue;
    bisection.culprit = pass.name;
    return bisection;
  }
  bisection.note = "no difference with all passes on";
  return bisection;
}

}  // namespace kerf::cli
