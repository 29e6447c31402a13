// Comparing a graph's compiled side with the interpreter and fp64, optionally node by node, and keeping what came out.
#include <nlohmann/json.hpp>

#include "app/workbench/captures/annotation_rows.h"
#include "app/workbench/captures/aot_stage.h"
#include "app/workbench/captures/given_inputs.h"
#include "app/workbench/captures/graph_source.h"
#include "app/workbench/captures/memory_need.h"
#include "app/workbench/captures/recorded_settings.h"
#include "app/workbench/captures/symbols.h"
#include "app/workbench/compile/pass_trace.h"
#include "app/workbench/engine_options.h"
#include "app/workbench/run/divergence_child.h"
#include "app/workbench/run/value_figures.h"
#include "engine/ops/core/foreign_call.h"
#include "engine/pipeline/compare_emulated.h"

namespace kerf::workbench {

namespace {

void addReport(Comparison& comparison, const ComparisonReport& report) {
  comparison.same = report.same;
  comparison.haveFp64 = report.haveFp64;
  comparison.fp64Note = report.fp64Note;
  comparison.failure = report.failure;
  comparison.backwardNote = report.backwardNote;
  comparison.outputs = report.outputs;
}

/// A tolerance for a result that there is not would do nothing.
Result<void> checkTolerances(const ComparisonReport& report,
                             const std::vector<std::pair<std::string, double>>& tolerances) {
  for (const auto& [subject, tolerance] : tolerances) {
    const auto concerned = [&](const OutputVerdict& row) { return toleranceConcerns(subject, row.name); };
    if (!report.outputs.empty() && std::ranges::none_of(report.outputs, concerned))
      return fail(ErrorCode::BadUsage, "tolerance {}={:g}: the graph has no result of that name", subject, tolerance);
  }
  return {};
}

void nameResults(ComparisonReport& report, const CapturedGraph& graph) {
  const auto names = resultNames(graph);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto row = std::ranges::find(report.outputs, fmt::format("out{}", i), &OutputVerdict::name);
    if (row == report.outputs.end()) continue;
    row->name = names[i];
    if (names[i].starts_with("mutates ")) row->kind = ResultKind::Mutation;
  }
}

void addNodes(Comparison& comparison, const NodeDivergenceReport& report) {
  for (const auto index : rankDivergence(report.nodes)) comparison.nodes.push_back(report.nodes[index]);
  comparison.nodesFailure = report.failure;
  comparison.nodesNote = report.fp64Note;
  comparison.nestedNote = report.nestedNote;
}

std::string statusOf(const Comparison& comparison) {
  if (!comparison.failure.empty()) return "failed";
  return comparison.same ? "same" : "different";
}

/// Passes are recorded apart: the child that compared is gone. A pass that fails left its own error in the report
/// already.
Result<std::string> keepIn(Store& store, const GraphSource& source, const CompareRequest& request,
                           const Comparison& comparison, const Job& job) {
  KERF_TRY(const auto graphId, storedGraphId(store, source));
  KERF_TRY(const auto passes, passConfig(request.passes));
  const nlohmann::ordered_json options{
      {"plant", request.plants}, {"tolerance", request.tolerance}, {"passes", passes.text()}};
  KERF_TRY(const auto runId, store.addRun({0, graphId, "compare", request.backend, options.dump(), "", "running", 0}));
  if (const auto trace = tracePasses(source.graph().module, passes, job)) KERF_CHECK(addPasses(store, runId, *trace));
  KERF_CHECK(store.addComparisons(runId, comparison.outputs));
  KERF_CHECK(store.finishRun(runId, statusOf(comparison), comparison.time.count()));
  return fmt::format("r{}", runId);
}

Result<std::string> keep(Workbench& bench, const GraphSource& source, const CompareRequest& request,
                         const Comparison& comparison, const Job& job) {
  std::string name;
  KERF_CHECK(bench.keepResult(job, [&](Store& store) -> Result<void> {
    KERF_TRY(name, keepIn(store, source, request, comparison, job));
    return {};
  }));
  return name;
}

FusionComparison fusionOf(const FusionReport& report, const std::string& emulate) {
  FusionComparison fusion{emulate, {}, report.kernels, report.fused, report.unrounded, report.missing};
  for (const OutputVerdict& plain : report.plain.outputs) {
    const OutputVerdict* emulated = rowNamed(report.emulated, plain.name);
    EmulatedRow row{plain.name, false, 0, 0, std::string(fusionVerdictName(fusionVerdict(plain, emulated)))};
    if (emulated != nullptr) {
      row.same = emulated->same;
      row.ratio = emulated->ratioToLimit;
      row.error = emulated->maxAbsError;
    }
    fusion.rows.push_back(std::move(row));
  }
  return fusion;
}

}  // namespace

Result<Comparison> perform(Workbench& bench, const CompareRequest& request, const Job& job) {
  KERF_TRY(auto options, engineOptions(request.plants, request.passes, request.tolerance, request.timeout));
  setLimits(options, request.limits);
  KERF_CHECK(setBackend(options, request.backend));
  KERF_CHECK(setAccuracy(options, request.accuracy));
  options.compile.cache = bench.codeCache(job);
  keepMeasurements(bench, options.compile.passes, job);
  KERF_TRY(auto found, resolveGraph(bench, request.graph, job));
  KERF_CHECK(checkKernels(found.graph().module));
  KERF_CHECK(checkMemory(shapedAsKnown(found).graph(), true));
  auto annotations = annotationRows(found.graph().module);
  const auto tolerances = options.compare.tolerances;
  takeRecordedRule(found, request.accuracy, options.compare);
  KERF_TRY(RunnableGraph source, runnable(std::move(found), job));
  KERF_TRY(auto module, moduleToCompare(source));
  const auto rows = inputRows(source.origins, source.inputs);
  const bool values = request.values && request.depth == CompareRequest::Depth::Nodes;
  auto figures = values ? givenFigures(source) : std::vector<NodeFigures>();
  const Candidate candidate{std::move(module), std::move(source.inputs)};
  KERF_CHECK(checkOptions(candidate.module, options.compile));
  const auto start = std::chrono::steady_clock::now();
  Comparison comparison;
  comparison.symbols = symbolValues(source.graph(), source.symbols);
  comparison.inputs = rows;
  comparison.annotations = std::move(annotations);
  comparison.tolerance = options.compare.tolerance;
  ComparisonReport report;
  if (request.emulate.empty()) {
    EngineOracleOptions training = options;
    setGoal(training.compile, source);
    KERF_TRY(report, compareIsolated(candidate, training, job.stop));
  } else {
    const EmulatedSide side{source.capture,  source.index,    request.emulate,
                            options.compile, options.compare, request.results};
    KERF_TRY(auto emulated, compareEmulated(candidate.module, candidate.inputs, side, options.limits, job.stop));
    comparison.fusion = fusionOf(emulated, request.emulate);
    report = std::move(emulated.plain);
  }
  nameResults(report, source.graph());
  KERF_CHECK(checkTolerances(report, tolerances));
  addReport(comparison, report);
  if (request.depth == CompareRequest::Depth::Nodes) {
    KERF_TRY(const auto nodes, values ? divergenceWithValues(candidate, options, job, figures)
                                      : divergenceInChild(candidate, options, job));
    addNodes(comparison, nodes);
    if (values) addExpectedFigures(source, figures);
    comparison.values = std::move(figures);
  }
  comparison.time = std::chrono::steady_clock::now() - start;
  KERF_TRY(comparison.run, keep(bench, source, request, comparison, job));
  return comparison;
}

}  // namespace kerf::workbench
