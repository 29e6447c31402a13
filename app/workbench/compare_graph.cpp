// Comparing a graph's compiled side with the interpreter and fp64, optionally node by node, and keeping what came out.
#include <nlohmann/json.hpp>

#include "app/workbench/divergence_child.h"
#include "app/workbench/engine_options.h"
#include "app/workbench/graph_source.h"
#include "app/workbench/pass_trace.h"
#include "app/workbench/symbols.h"

namespace kerf::workbench {

namespace {

OutputRow rowOf(const OutputVerdict& verdict) {
  return {verdict.name,         verdict.reason, verdict.same,   verdict.maxAbsError, verdict.rmseRes, verdict.rmseRef,
          verdict.ratioToLimit, verdict.nanRes, verdict.infRes, verdict.multiplier,  verdict.nanRef,  verdict.infRef};
}

NodeRow rowOf(const NodeDivergence& node) {
  return {node.node,        node.target,  node.same,    node.firstBad,
          node.maxAbsError, node.rmseRes, node.rmseRef, node.ratioToLimit};
}

ComparisonRow storeRow(const OutputRow& row) {
  return {0, 0, row.name, row.same, row.reason, row.error, row.rmseRes, row.rmseRef, row.ratio, row.nans, row.infs};
}

void addReport(Comparison& comparison, const ComparisonReport& report) {
  comparison.same = report.same;
  comparison.haveFp64 = report.haveFp64;
  comparison.fp64Note = report.fp64Note;
  comparison.failure = report.failure;
  for (const auto& verdict : report.outputs) comparison.outputs.push_back(rowOf(verdict));
}

void addNodes(Comparison& comparison, const NodeDivergenceReport& report) {
  for (const auto index : rankDivergence(report.nodes)) comparison.nodes.push_back(rowOf(report.nodes[index]));
  comparison.nodesFailure = report.failure;
  comparison.nodesNote = report.fp64Note;
}

std::string statusOf(const Comparison& comparison) {
  if (!comparison.failure.empty()) return "failed";
  return comparison.same ? "same" : "different";
}

/// Passes are recorded apart: the child that compared is gone. A pass that fails left its own error in the report
/// already.
Result<std::string> keep(Workbench& bench, const GraphSource& source, const CompareRequest& request,
                         const Comparison& comparison, const Job& job) {
  KERF_TRY(auto* store, bench.storeIfUsable(job));
  if (store == nullptr) return std::string();
  KERF_TRY(const auto graphId, storedGraphId(*store, source));
  KERF_TRY(const auto passes, passConfig(request.passes));
  const nlohmann::ordered_json options{
      {"plant", request.plants}, {"tolerance", request.tolerance}, {"passes", passes.text()}};
  KERF_TRY(const auto runId, store->addRun({0, graphId, "compare", request.backend, options.dump(), "", "running", 0}));
  if (const auto trace = tracePasses(source.graph().module, passes, job)) KERF_CHECK(addPasses(*store, runId, *trace));
  std::vector<ComparisonRow> rows;
  for (const auto& output : comparison.outputs) rows.push_back(storeRow(output));
  KERF_CHECK(store->addComparisons(runId, rows));
  KERF_CHECK(store->finishRun(runId, statusOf(comparison), comparison.time.count()));
  return fmt::format("r{}", runId);
}

}  // namespace

Result<Comparison> perform(Workbench& bench, const CompareRequest& request, const Job& job) {
  KERF_CHECK(findBackend(request.backend));
  KERF_TRY(auto options, engineOptions(request.plants, request.passes, request.tolerance, request.timeout));
  options.compile.backend = request.backend;
  KERF_TRY(auto source, resolveGraph(bench, request.graph, job));
  KERF_TRY(auto inputs, prepareToRun(source, job));
  const Candidate candidate{source.graph().module, std::move(inputs)};
  KERF_CHECK(checkOptions(candidate.module, options.compile));
  const auto start = std::chrono::steady_clock::now();
  Comparison comparison;
  comparison.symbols = symbolValues(source.graph(), source.symbols);
  KERF_TRY(const auto report, compareIsolated(candidate, options, job.stop));
  addReport(comparison, report);
  if (request.depth == CompareRequest::Depth::Nodes) {
    KERF_TRY(const auto nodes, divergenceInChild(candidate, options, job.stop));
    addNodes(comparison, nodes);
  }
  comparison.time = std::chrono::steady_clock::now() - start;
  KERF_TRY(comparison.run, keep(bench, source, request, comparison, job));
  return comparison;
}

}  // namespace kerf::workbench
