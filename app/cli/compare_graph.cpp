#include "app/cli/compare_graph.h"

#include "app/cli/divergence_child.h"
#include "app/cli/pass_runs.h"
#include "minifier/oracle/engine_oracle.h"

namespace kerf::cli {

namespace {

ComparisonRow rowOf(const OutputVerdict& verdict) {
  return {0,
          0,
          verdict.name,
          verdict.same,
          verdict.reason,
          verdict.maxAbsError,
          verdict.rmseRes,
          verdict.rmseRef,
          verdict.ratioToLimit,
          verdict.nanRes,
          verdict.infRes};
}

std::string statusOf(const CompareOutcome& outcome) {
  if (!outcome.report.failure.empty()) return "failed";
  return outcome.report.same ? "same" : "different";
}

/// Passes are recorded here, in the parent: the child that compared is gone. A pass that fails left its own error in
/// the report already.
Result<std::optional<std::int64_t>> keep(Context& context, const GraphSource& source, const CompareSettings& settings,
                                         const CompareOutcome& outcome) {
  KERF_TRY(auto* store, context.storeIfUsable());
  if (store == nullptr) return std::nullopt;
  KERF_TRY(const auto graphId, storedGraphId(*store, source));
  KERF_TRY(const auto passes, passConfig(settings.passes));
  const Json options{{"plant", settings.plants}, {"tolerance", settings.tolerance}, {"passes", passes.text()}};
  KERF_TRY(const auto runId,
           store->addRun({0, graphId, "compare", settings.backend, options.dump(), "", "running", 0}));
  const auto records = recordPasses(source.graph().module, passes);
  if (records) KERF_CHECK(addPassRecords(*store, runId, *records));
  std::vector<ComparisonRow> rows;
  for (const auto& verdict : outcome.report.outputs) rows.push_back(rowOf(verdict));
  KERF_CHECK(store->addComparisons(runId, rows));
  KERF_CHECK(store->finishRun(runId, statusOf(outcome), outcome.time.count()));
  return runId;
}

}  // namespace

std::vector<std::string> CompareOutcome::firstBad() const {
  std::vector<std::string> names;
  for (const auto& node : divergence.nodes) {
    if (node.firstBad) names.push_back(node.node);
  }
  return names;
}

Result<FaultPlan> parsePlants(const std::vector<std::string>& plants) {
  FaultPlan plan;
  for (const auto& text : plants) {
    KERF_TRY(auto fault, parseFault(text));
    plan.faults.push_back(std::move(fault));
  }
  return plan;
}

Result<CompareOutcome> compareGraph(Context& context, GraphSource& source, const CompareSettings& settings) {
  EngineOracleOptions options;
  KERF_TRY(options.compile.faults, parsePlants(settings.plants));
  KERF_TRY(options.compile.passes, passConfig(settings.passes));
  options.compile.backend = settings.backend;
  options.compare.tolerance = settings.tolerance;
  options.limits.timeout = settings.timeout;
  KERF_TRY(auto inputs, prepareToRun(source));
  const Candidate candidate{source.graph().module, std::move(inputs)};
  KERF_CHECK(checkOptions(candidate.module, options.compile));
  const auto start = std::chrono::steady_clock::now();
  CompareOutcome outcome;
  KERF_TRY(outcome.report, compareIsolated(candidate, options, context.stop()));
  if (settings.nodes) {
    KERF_TRY(outcome.divergence, divergenceInChild(candidate, options, context.stop()));
  }
  outcome.time = std::chrono::steady_clock::now() - start;
  KERF_TRY(outcome.runId, keep(context, source, settings, outcome));
  return outcome;
}

}  // namespace kerf::cli
