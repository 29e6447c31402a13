#include "app/cli/pass_bisection.h"

#include <set>

#include "engine/ops/core/op_registry.h"

namespace kerf::cli {

namespace {

/// Lets only some passes run.
class OnlyThese : public PassObserver {
 public:
  explicit OnlyThese(const std::vector<std::string>& names) : m_names(names.begin(), names.end()) {}
  bool shouldRun(const Pass& pass) override { return m_names.contains(pass.name); }

 private:
  std::set<std::string> m_names;
};

/// What differs or failed in the compiled side; empty if nothing. Runs in the child.
Result<std::string> compareWith(const Candidate& candidate, const EngineOracleOptions& options,
                                const std::vector<std::string>& enabled) {
  OnlyThese filter(enabled);
  CompileOptions compile = options.compile;
  compile.keepArtifacts = false;
  compile.observers = {&filter};
  std::string failure;
  const RunModel compiled = [&](const ValueList& inputs) -> Result<Value> {
    auto graph = compileFx(candidate.module, compile);
    auto result = graph ? (*graph)->run(inputs) : Result<Value>(std::unexpected(graph.error()));
    if (!result) failure = result.error().text();
    return result;
  };
  const auto report = sameTwoModels(candidate.module, referenceOps(), compiled, candidate.inputs, options.compare);
  if (!failure.empty()) return failure;
  if (!report) return fail(report.error());
  for (const auto& output : report->outputs)
    if (!output.same) return fmt::format("{}: {}", output.name, output.reason);
  return std::string();
}

Result<PassTrial> attempt(const Candidate& candidate, const EngineOracleOptions& options,
                          const std::vector<std::string>& enabled, std::stop_token stop) {
  const std::function body = [&](const SendEvent&) { return compareWith(candidate, options, enabled); };
  KERF_TRY(auto ended, callIsolated<std::string>(body, options.limits, stop));
  PassTrial trial{enabled, false, {}};
  switch (ended.outcome.exit) {
    case IsolatedExit::Finished: {
      KERF_TRY(trial.detail, std::move(*ended.answer));
      trial.same = trial.detail.empty();
      break;
    }
    case IsolatedExit::Cancelled:
      return fail(ErrorCode::Cancelled, "stopped while bisecting passes");
    case IsolatedExit::TimedOut:
      trial.detail = "did not come to an end";
      break;
    case IsolatedExit::Crashed:
      trial.detail = "crashed (" + ended.outcome.signalName() + ")";
      break;
  }
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
  for (const auto& pass : defaultPasses()) {
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
