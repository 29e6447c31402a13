// Finding the part of the compiler or the node at which a difference begins.
#include "app/workbench/captures/graph_source.h"
#include "app/workbench/captures/recorded_settings.h"
#include "app/workbench/engine_options.h"
#include "app/workbench/minify/part_bisection.h"
#include "app/workbench/minify/torch_bisection.h"
#include "app/workbench/run/divergence_child.h"
#include "engine/autograd/decompose.h"

namespace kerf::workbench {

namespace {

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

}  // namespace

Result<Bisection> perform(Workbench& bench, const BisectRequest& request, const Job& job) {
  KERF_TRY(auto source, resolveGraph(bench, request.graph, job));
  KERF_TRY(auto inputs, prepareToRun(source, job));
  if (request.oracle == "torch") {
    if (request.backend != BisectRequest().backend)
      return fail(ErrorCode::BadUsage, "a backend is Kerf's, so it can only be chosen with the oracle engine");
    if (request.decompositions != BisectRequest().decompositions)
      return fail(ErrorCode::BadUsage, "decompositions are Kerf's, so they can only be chosen with the oracle engine");
    KERF_TRY(auto module, moduleToCompare(source));
    return bisectInTorch(request, source, {std::move(module), std::move(inputs)}, job, bench.warmTorch());
  }
  KERF_TRY(auto options, engineOptions(request.plants, request.passes, request.tolerance, request.timeout));
  setLimits(options, request.limits);
  KERF_CHECK(setBackend(options, request.backend));
  KERF_CHECK(setAccuracy(options, request.accuracy));
  takeRecordedRule(source, request.accuracy, options.compare);
  KERF_TRY(auto module, moduleToCompare(source));
  const Candidate candidate{std::move(module), std::move(inputs)};
  KERF_TRY(const BisectedCompiler compiler, bisectedCompiler(request, candidate, options));
  if (request.by == BisectRequest::By::Node) return byNode(candidate, options, job);
  return bisectParts(request.by, compiler, job);
}

}  // namespace kerf::workbench
