// perform(ShardRequest), perform(RanksRequest), perform(ShardingCheckRequest).
#include <cmath>
#include <sstream>

#include "app/workbench/captures/capture_source.h"
#include "app/workbench/captures/graph_source.h"
#include "app/workbench/captures/store_id.h"
#include "app/workbench/protocol/query_text.h"
#include "app/workbench/protocol/ranks.h"
#include "app/workbench/ranks/rank_sharding.h"
#include "app/workbench/ranks/stored_ranks.h"
#include "app/workbench/workbench.h"
#include "engine/accuracy/same_two_models.h"
#include "engine/distributed/checks/rule_check.h"
#include "engine/distributed/doctor/ranks_doctor.h"
#include "engine/distributed/graphs/shard_graph.h"
#include "engine/ir/interpreter.h"
#include "engine/ir/printer.h"
#include "engine/ops/core/op_registry.h"
#include "engine/process/in_child.h"
#include "engine/support/recordings.h"

namespace kerf::workbench {

namespace {

std::string readableText(const GraphModule& module) {
  PythonCodeOptions options;
  options.annotateValues = options.includeStride = options.includeDevice = true;
  return printReadable(module, options);
}

ShardedGraphDoc docOf(const ShardedGraph& graph, const ShardRequest& request) {
  ShardedGraphDoc doc{.mesh = request.mesh};
  for (const GraphModule& module : graph.ranks) doc.ranks.push_back(readableText(module));
  for (const ShardedNode& node : graph.nodes) {
    ShardedNodeDoc row{node.name, node.target, node.placements, node.calls, {}, node.cost, node.inputs};
    for (const MovedOperand& moved : node.moved)
      row.moved.push_back({moved.from, moved.to, moved.cost, moved.operand, moved.source});
    for (const OtherStrategy& other : node.others)
      row.others.push_back({other.call, other.inputs, other.outputs, other.cost});
    doc.nodes.push_back(std::move(row));
  }
  for (const auto& [op, calls] : graph.collectives) doc.collectives.push_back({op, calls});
  for (const Placements& placements : graph.outputs)
    doc.outputs.push_back(placements.empty() ? std::string() : placementsText(placements));
  return doc;
}

double largestDifference(const ValueList& own, const ValueList& whole) {
  double largest = 0;
  for (std::size_t i = 0; i < std::min(own.size(), whole.size()); ++i) {
    if (!own[i].isTensor() || !whole[i].isTensor()) continue;
    const Tensor &a = own[i].tensor(), &b = whole[i].tensor();
    if (a.sizes() != b.sizes()) return HUGE_VAL;
    for (std::int64_t k = 0; k < a.numel(); ++k) {
      const double x = a.itemAsDouble(k), y = b.itemAsDouble(k);
      if (x != y && !(std::isnan(x) && std::isnan(y))) largest = std::max(largest, std::abs(x - y));
    }
  }
  return largest;
}

/// Both ways of running it; a reason where one cannot be run.
Result<double> compareRuns(const ShardedGraph& graph, const DeviceMesh& mesh, const RunnableGraph& source) {
  KERF_TRY(const ValueList copies, cloneInputs(source.inputs, false));
  KERF_TRY(const Value whole, Interpreter(source.graph().module, referenceOps()).run(copies));
  KERF_TRY(const ValueList parts, runShardedGraph(graph, mesh, source.inputs));
  return largestDifference(parts, whole.isList() ? whole.list() : ValueList{whole});
}

RankGroupDoc docOf(const RankGroup& group) {
  RankGroupDoc doc{group.ranks, group.what};
  for (const auto& [ranks, place] : group.places)
    doc.places.push_back({ranks, place.compileId, place.stage, place.graph, place.node});
  return doc;
}

/// An error that names the store's capture, not the private folder that its files are in.
Error named(Error error, const std::filesystem::path& root, const std::string& name) {
  for (std::size_t at = error.message.find(root.string()); at != std::string::npos;
       at = error.message.find(root.string(), at + name.size()))
    error.message.replace(at, root.string().size(), name);
  return error;
}

std::vector<RankGroupDoc> docsOf(const std::vector<RankGroup>& groups) {
  std::vector<RankGroupDoc> docs;
  for (const RankGroup& group : groups) docs.push_back(docOf(group));
  return docs;
}

}  // namespace

Result<ShardedGraphDoc> perform(Workbench& bench, const ShardRequest& request, const Job& job) {
  KERF_TRY(const DeviceMesh mesh, DeviceMesh::ofSizes(request.mesh));
  ShardOptions options{.inputs = {}, .wholeOutputs = request.wholeOutputs};
  KERF_TRY(options.inputs, namedPlacements(request.placements));
  KERF_TRY(GraphSource found, resolveGraph(bench, request.graph, job));
  KERF_TRY(const RunnableGraph source, runnable(std::move(found), job));
  const std::function body = [&]() -> Result<ShardedGraphDoc> {
    KERF_TRY(const ShardedGraph graph, shardGraph(source.graph().module, mesh, options));
    ShardedGraphDoc doc = docOf(graph, request);
    const auto difference = compareRuns(graph, mesh, source);
    doc.isRun = difference.has_value();
    if (difference)
      doc.difference = *difference;
    else
      doc.notRun = difference.error().text();
    return doc;
  };
  return inChild(body, patientLimits({}), job.stop, "sharding the graph", ErrorCode::RuntimeFailed);
}

Result<RanksDoc> perform(Workbench& bench, const RanksRequest& request, const Job& job) {
  std::error_code ignored;
  KERF_TRY(const RanksPlace place, ranksPlace(bench, request.path, job));
  CaptureSourcePtr stored;  // its files are there as long as this
  if (place.root.empty() && parseStoreId(request.path)) {
    KERF_TRY(stored, openCapture(bench, request.path, job));
    if (stored->root.empty())
      return fail(ErrorCode::BadInput, "{} is no trace of several ranks: it has a graph, and no logs", request.path);
  } else if (place.root.empty() && !std::filesystem::exists(request.path, ignored)) {
    return fail(ErrorCode::NotFound, "{} does not exist", request.path);
  }
  auto diagnosed = diagnoseRanks(stored               ? stored->root
                                 : place.root.empty() ? std::filesystem::path(request.path)
                                                      : place.root);
  if (!diagnosed)
    return fail(stored ? named(diagnosed.error(), stored->root, request.path) : place.named(diagnosed.error()));
  const RanksDiagnosis& diagnosis = *diagnosed;
  RanksDoc doc{.ranks = diagnosis.ranks, .absent = diagnosis.absent};
  for (const DifferingGraph& graph : diagnosis.graphs)
    doc.graphs.push_back({graph.compileId, graph.stage, graph.index, docsOf(graph.groups)});
  for (const TimelineRow& row : diagnosis.timeline)
    doc.timeline.push_back({row.number, row.compileId, docsOf(row.groups)});
  if (const auto& culprit = diagnosis.culprit)
    doc.culprits.push_back({culprit->ranks, culprit->waiting, culprit->number, culprit->collective, culprit->mismatch,
                            docsOf(culprit->lastDone), culprit->isUnfinished, culprit->row, culprit->group});
  doc.uncomparedMessages = diagnosis.uncomparedMessages;
  doc.comparedGraphs = diagnosis.comparedGraphs;
  for (const TornLog& log : diagnosis.torn) doc.torn.push_back({log.rank, log.file, log.line, log.compileId});
  return doc;
}

Result<ShardingProofs> perform(Workbench&, const ShardingCheckRequest& request, const Job& job) {
  const std::function body = [&]() -> Result<ShardingProofs> {
    const auto start = std::chrono::steady_clock::now();
    const std::filesystem::path folder =
        request.recordings.empty() ? recordingsFolder() / "opinfo" : std::filesystem::path(request.recordings);
    RuleCheckOptions options{.pattern = request.pattern, .samples = request.samples, .isWide = true};
    if (request.pattern.find('*') != std::string::npos)
      options.matches = [&](std::string_view name) { return globMatches(request.pattern, name); };
    KERF_TRY(const auto proofs, checkShardingRules(folder, options));
    if (proofs.empty())
      return fail(ErrorCode::NotFound, "no recorded call is of an op that is named like '{}'", request.pattern);
    ShardingProofs answer;
    for (const RuleProof& proof : proofs)
      answer.ops.push_back({proof.op, proof.samples, proof.right, proof.wrong, proof.refused, proof.missing,
                            proof.findings, proof.complex, proof.left});
    answer.time = std::chrono::steady_clock::now() - start;
    return answer;
  };
  return inChild(body, patientLimits({}), job.stop, "proving sharding rules", ErrorCode::RuntimeFailed);
}

}  // namespace kerf::workbench
