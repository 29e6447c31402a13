// Finding the part of the compiler or the node at which a difference begins.
#include <algorithm>

#include "app/workbench/captures/graph_source.h"
#include "app/workbench/captures/recorded_settings.h"
#include "app/workbench/engine_options.h"
#include "app/workbench/minify/bisect_versions.h"
#include "app/workbench/minify/oracle_choice.h"
#include "app/workbench/run/divergence_child.h"
#include "engine/autograd/decompose.h"
#include "minifier/bisect/part_bisection.h"
#include "minifier/bisect/torch_culprits.h"

namespace kerf::workbench {

namespace {

using By = BisectRequest::By;

Bisection documentOf(CulpritReport found) {
  Bisection document{std::move(found.culprits), std::move(found.note), found.different, {}, std::move(found.remarks)};
  for (CulpritTrial& trial : found.trials)
    document.trials.push_back({std::move(trial.enabled), trial.same, std::move(trial.detail)});
  return document;
}

Result<Bisection> byNode(const Candidate& candidate, const EngineOracleOptions& options, const Job& job) {
  KERF_TRY(const auto report, divergenceInChild(candidate, options, job));
  Bisection bisection;
  for (const auto& node : report.nodes)
    if (node.firstBad) bisection.culprits.push_back(node.node);
  bisection.nodesCompared = std::ssize(report.nodes);
  bisection.different = !bisection.culprits.empty() || !report.failure.empty();
  bisection.note = bisection.different ? report.failure : "no node differs";
  return bisection;
}

/// Checked: a planted fault may be of an op that only decomposing brings about.
Result<BisectedCompiler> bisectedCompiler(const BisectRequest& request, const Candidate& candidate,
                                          const EngineOracleOptions& options) {
  const auto table = parseDecompositionTable(request.decompositions);
  if (!table) return fail(ErrorCode::BadUsage, "there is no decomposition table {}", request.decompositions);
  BisectedCompiler compiler{candidate, options, *table, {}};
  if (*table == DecompositionTable::None) {
    KERF_CHECK(checkOptions(candidate.module, options.compile));
    return compiler;
  }
  if (request.by != BisectRequest::By::Subsystem)
    return fail(ErrorCode::BadUsage, "decompositions are a subsystem: they can only be bisected by subsystem");
  KERF_TRY(compiler.decomposed, decomposeGraph(candidate.module, *table));
  KERF_CHECK(checkOptions(compiler.decomposed, options.compile));
  return compiler;
}

/// By all but Node.
BisectedParts partsOf(By by) {
  constexpr std::pair<By, BisectedParts> table[] = {
      {By::Pass, BisectedParts::Passes},    {By::Subsystem, BisectedParts::Subsystems},
      {By::Config, BisectedParts::Options}, {By::Fusion, BisectedParts::Fusions},
      {By::Kernel, BisectedParts::Kernels}, {By::Module, BisectedParts::Modules}};
  return std::ranges::find(table, by, &std::pair<By, BisectedParts>::first)->second;
}

/// Which backend, pass or option of the user's PyTorch makes the graph fail: Pass and Subsystem (CompilerBisector) or
/// Config. Errors: TorchOracle::start's too.
Result<Bisection> bisectInTorch(const BisectRequest& request, const GraphSource& source, const Candidate& candidate,
                                const Job& job, WarmTorch& torch) {
  if (request.by == By::Version) return bisectByVersion(request, source, candidate, job);
  const bool parts = request.by == By::Pass || request.by == By::Subsystem;
  if (!parts && request.by != By::Config)
    return fail(ErrorCode::BadUsage, Hint{Advice::MinifyGraph},
                "PyTorch is bisected by pass, subsystem or config; for the node, minify the graph");
  OracleSettings settings;
  settings.oracle = "torch";
  settings.python = request.python;
  settings.torchCheck = request.torchCheck;
  settings.timeout = request.timeout;
  settings.limits = request.limits;
  settings.warmJobs = request.warmJobs;
  KERF_TRY(const auto oracle, startTorch(settings, source, {job, 1, &torch}));
  KERF_TRY(CulpritReport found, parts ? torchSubsystemCulprits(*oracle, candidate, job.stop)
                                      : torchOptionCulprits(*oracle, request.options, candidate, job.progressOnly()));
  return documentOf(std::move(found));
}

}  // namespace

Result<Bisection> perform(Workbench& bench, const BisectRequest& request, const Job& job) {
  KERF_TRY(auto found, resolveGraph(bench, request.graph, job));
  KERF_TRY(RunnableGraph source, runnable(std::move(found), job));
  if (request.oracle == "torch") {
    if (request.backend != BisectRequest().backend)
      return fail(ErrorCode::BadUsage, "a backend is Kerf's, so it can only be chosen with the oracle engine");
    if (request.decompositions != BisectRequest().decompositions)
      return fail(ErrorCode::BadUsage, "decompositions are Kerf's, so they can only be chosen with the oracle engine");
    KERF_TRY(auto module, moduleToCompare(source));
    return bisectInTorch(request, source, {std::move(module), std::move(source.inputs)}, job, bench.warmTorch());
  }
  if (request.by == By::Version)
    return fail(ErrorCode::BadUsage, "versions are PyTorch's, so they need the oracle torch");
  KERF_TRY(auto options, engineOptions(request.plants, request.passes, request.tolerance, request.timeout));
  setLimits(options, request.limits);
  KERF_CHECK(setBackend(options, request.backend));
  KERF_CHECK(setAccuracy(options, request.accuracy));
  takeRecordedRule(source, request.accuracy, options.compare);
  KERF_TRY(auto module, moduleToCompare(source));
  const Candidate candidate{std::move(module), std::move(source.inputs)};
  KERF_TRY(const BisectedCompiler compiler, bisectedCompiler(request, candidate, options));
  if (request.by == BisectRequest::By::Node) return byNode(candidate, options, job);
  KERF_TRY(CulpritReport culprits, bisectParts(partsOf(request.by), compiler, job.progressOnly()));
  return documentOf(std::move(culprits));
}

}  // namespace kerf::workbench
