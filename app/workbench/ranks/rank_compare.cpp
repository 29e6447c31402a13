#include "app/workbench/ranks/rank_compare.h"

#include <algorithm>
#include <map>

#include "engine/accuracy/same.h"
#include "engine/backend/cuda/devices.h"
#include "engine/distributed/replay/whole_values.h"
#include "engine/ir/value_meta.h"
#include "engine/pipeline/dtype_module.h"

namespace kerf::workbench {

namespace {

using NamedNodes = std::map<std::string, Value>;

RankRunsDoc failureDoc(const Replay& replay, std::string_view side) {
  RankRunsDoc doc;
  doc.failure = fmt::format("{}{}", side, replay.ran.error().text());
  doc.failedRank = replay.failedRank;
  return doc;
}

/// The same graph, giving what every call gives that is one tensor.
RankProgram withAllResults(const RankProgram& program, std::vector<std::string>& names) {
  RankProgram all = program;
  Graph& graph = all.module.graph;
  ArgumentList results;
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (node.op() != Opcode::CallFunction && node.op() != Opcode::CallMethod) continue;
    const auto value = valueOf(node.meta().value);
    if (!value || !value->isTensor()) continue;
    names.push_back(node.name());
    results.emplace_back(id);
  }
  graph.setArgs(graph.outputNode(), {Argument::list(std::move(results))});
  return all;
}

struct NodeRuns {
  std::vector<NamedNodes> reference, compiled, wide;  ///< by rank
};

std::vector<NamedNodes> namedNodes(const Replay& replay) {
  std::vector<NamedNodes> result;
  for (const ReplayedRank& rank : replay.ranks) result.emplace_back(rank.nodes.begin(), rank.nodes.end());
  return result;
}

Result<NodeRuns> runNodes(const std::vector<RankProgram>& programs, const CompileOptions& compile,
                          const RankWorld& world) {
  NodeRuns runs;
  const ReplayOptions keeping{.keepsNodes = true};
  runs.reference = namedNodes(replayOver(world, programs, keeping));
  KERF_TRY(const auto wide, ranksInFloat64(programs));
  runs.wide = namedNodes(replayOver(world, wide, keeping));
  std::vector<RankProgram> all;
  std::vector<std::vector<std::string>> names(programs.size());
  for (std::size_t rank = 0; rank < programs.size(); ++rank) all.push_back(withAllResults(programs[rank], names[rank]));
  KERF_TRY(const Replay replay, replayCompiled(all, compile, world));
  KERF_CHECK(replay.ran);
  runs.compiled.resize(programs.size());
  for (std::size_t rank = 0; rank < programs.size(); ++rank)
    for (std::size_t i = 0; i < names[rank].size() && i < replay.ranks[rank].outputs.size(); ++i)
      runs.compiled[rank].emplace(names[rank][i], replay.ranks[rank].outputs[i]);
  return runs;
}

using NodeJudge = std::function<std::string(std::size_t rank, const std::string& node)>;

/// The first node in the order of the graphs for which a judge has a word, on the first of its ranks.
FirstDifference firstNode(const std::vector<RankProgram>& programs, const NodeJudge& judge) {
  std::size_t longest = 0;
  std::vector<std::vector<NodeId>> orders;
  for (const RankProgram& program : programs) {
    const auto order = program.module.graph.order();
    orders.emplace_back(order.begin(), order.end());
    longest = std::max(longest, orders.back().size());
  }
  for (std::size_t at = 0; at < longest; ++at)
    for (std::size_t rank = 0; rank < programs.size(); ++rank) {
      if (at >= orders[rank].size()) continue;
      const Node& node = programs[rank].module.graph.node(orders[rank][at]);
      if (std::string text = judge(rank, node.name()); !text.empty())
        return {int(rank), node.name(), node.target(), std::move(text)};
    }
  return {};
}

std::string differenceText(const OutputVerdict& verdict) {
  return fmt::format("{} (largest error {:.3g})", verdict.reason, verdict.maxAbsError);
}

FirstDifference firstOf(const std::vector<RankProgram>& programs, const NodeRuns& runs, const SameOptions& options) {
  return firstNode(programs, [&](std::size_t rank, const std::string& node) -> std::string {
    const auto reference = runs.reference[rank].find(node), compiled = runs.compiled[rank].find(node),
               wide = runs.wide[rank].find(node);
    if (reference == runs.reference[rank].end() || compiled == runs.compiled[rank].end()) return {};
    const auto report =
        same(reference->second, compiled->second, wide == runs.wide[rank].end() ? Value() : wide->second, options);
    return report.same || report.outputs.empty() ? std::string() : differenceText(report.outputs[0]);
  });
}

bool isClose(const Tensor& own, const Tensor& whole) {
  return same(Value(whole), Value(own), Value(), {.tolerance = 1e-9, .equalNan = true}).same;
}

/// The placements of a result: as the record says, or as those of the node that it is.
const Placements* placementsOfOutput(const RankSharding& sharding, const Graph& graph, std::size_t index,
                                     std::size_t outputs) {
  if (sharding.outputs.size() == outputs) return sharding.outputs[index] ? &*sharding.outputs[index] : nullptr;
  const auto results = graph.outputNode().valid() ? graph.node(graph.outputNode()).inputs() : std::vector<NodeId>();
  return results.size() == outputs ? sharding.find(graph.node(results[index]).name()) : nullptr;
}

Fit fitBeside(const std::vector<Tensor>& parts, const Tensor& whole, const Placements* known,
              const RankSharding& sharding) {
  return known != nullptr ? fitUnder(parts, whole, *known, sharding.mesh, isClose)
                          : fitOf(parts, whole, sharding.mesh, isClose, sharding.splitFactors());
}

RankCheckDoc outputCheck(std::size_t index, const std::vector<ReplayedRank>& ranks, const Value& whole,
                         const Placements* known, const RankSharding& sharding) {
  RankCheckDoc check{fmt::format("out{}", index), false, {}};
  std::vector<Tensor> parts;
  for (const ReplayedRank& rank : ranks)
    if (index < rank.outputs.size() && rank.outputs[index].isTensor()) parts.push_back(rank.outputs[index].tensor());
  if (parts.size() != ranks.size() || !whole.isTensor()) {
    check.text = "is no tensor on every rank";
    return check;
  }
  const Fit fit = fitBeside(parts, whole.tensor(), known, sharding);
  check.same = fit.isRight();
  if (!fit.placement.empty()) check.what += " as " + fit.placement;
  if (fit.placement.empty())
    check.text = "the ranks' sizes make no whole";
  else if (!check.same)
    check.text = fmt::format("{} on rank{} {}", fit.hasOtherSizes ? "has other sizes than a part" : "differs",
                             fit.wrong.size() == 1 ? "" : "s", fmt::join(fit.wrong, ", "));
  return check;
}

/// What is said of a node on the first rank on which it is wrong; empty where it is right on that rank. Where nothing is
/// known of its placements, sizes tell them: then pending sums say nothing, and where most ranks differ it is one.
std::string differenceBeside(const std::vector<Tensor>& parts, const Tensor& whole, std::size_t rank,
                             const Placements* known, const RankSharding& sharding) {
  const Fit fit = fitBeside(parts, whole, known, sharding);
  const bool isAlone = known != nullptr || fit.wrong.size() * 2 < parts.size();
  if (!isAlone || std::ranges::find(fit.wrong, int(rank)) == fit.wrong.end()) return {};
  if (fit.hasOtherSizes) return fmt::format("has other sizes than a part placed as {}", fit.placement);
  if (std::ranges::any_of(fit.placements, &Placement::isPartial))
    return fmt::format("is wrong on one of the ranks {}, whose parts ({}) make no value of one rank",
                       fmt::join(fit.wrong, ", "), fit.placement);
  return fmt::format("is not {} of what one rank has", fit.placement);
}

/// Nodes that the whole graph has too.
FirstDifference firstBesideWhole(const std::vector<RankProgram>& programs, const Replay& own, const Replay& whole,
                                 const RankSharding& sharding) {
  const auto nodes = namedNodes(own);
  const NamedNodes known(whole.ranks[0].nodes.begin(), whole.ranks[0].nodes.end());
  return firstNode(programs, [&](std::size_t rank, const std::string& node) -> std::string {
    const auto truth = known.find(node);
    if (truth == known.end() || !truth->second.isTensor()) return {};
    std::vector<Tensor> parts;
    for (const NamedNodes& values : nodes)
      if (const auto found = values.find(node); found != values.end() && found->second.isTensor())
        parts.push_back(found->second.tensor());
    if (parts.size() != programs.size()) return {};
    return differenceBeside(parts, truth->second.tensor(), rank, sharding.find(node), sharding);
  });
}

using CompiledRanks = std::vector<std::unique_ptr<CompiledGraph>>;

/// None of other processes' ranks.
Result<CompiledRanks> compiledHere(const std::vector<RankProgram>& programs, const CompileOptions& compile,
                                   const RankWorld& world) {
  CompileOptions options = compile;
  options.keepArtifacts = false;
  CompiledRanks graphs(programs.size());
  for (std::size_t rank = 0; rank < programs.size(); ++rank) {
    if (!world.hasRank(rank)) continue;
    const DeviceChoice device(world.deviceOf(rank));
    auto graph = compileFx(programs[rank].module, options);
    if (!graph) return fail(graph.error().while_(fmt::format("compiling rank {}'s graph", rank)));
    graphs[rank] = std::move(*graph);
  }
  return graphs;
}

}  // namespace

Result<std::vector<RankProgram>> ranksInFloat64(const std::vector<RankProgram>& programs) {
  std::vector<RankProgram> result;
  for (const RankProgram& program : programs) {
    KERF_TRY(CastGraph cast, castGraph(program.module, program.inputs, DType::Float64));
    result.push_back({std::move(cast.module), std::move(cast.inputs)});
  }
  return result;
}

Result<Replay> replayCompiled(const std::vector<RankProgram>& programs, const CompileOptions& compile,
                              const RankWorld& world) {
  auto graphs = compiledHere(programs, compile, world);
  if (world.processes) {  // all of them go on, or none
    const auto mine = [&](Communicator&) { return graphs ? Result<void>() : fail(Error(graphs.error())); };
    KERF_CHECK(firstCause(world.processes->run(mine)));
  }
  if (!graphs) return fail(std::move(graphs.error()));
  const auto runCompiled = [&](std::size_t rank, const ValueList& inputs, const NodeWatch&) {
    return (*graphs)[rank]->run(inputs);
  };
  return replayOver(world, programs, {}, runCompiled);
}

Result<RankRunsDoc> compareRanks(const std::vector<RankProgram>& programs, const CompileOptions& compile,
                                 const CompareOptions& compare, const RankWorld& world) {
  const Replay reference = replayOver(world, programs, {});
  if (!reference.ran) return failureDoc(reference, "");
  KERF_TRY(const Replay compiled, replayCompiled(programs, compile, world));
  if (!compiled.ran) return failureDoc(compiled, "compiled: ");
  KERF_TRY(const auto wide, ranksInFloat64(programs));
  const Replay truth = replayOver(world, wide, {});
  const SameOptions judged = compare.sameOptions();
  RankRunsDoc doc;
  bool isSame = true;
  for (std::size_t rank = 0; rank < programs.size(); ++rank) {
    const auto report = same(Value(reference.ranks[rank].outputs), Value(compiled.ranks[rank].outputs),
                             truth.ran ? Value(truth.ranks[rank].outputs) : Value(), judged);
    doc.ranks.push_back({int(rank), {}, report.outputs, report.same});
    isSame = isSame && report.same;
  }
  if (isSame) return doc;
  KERF_TRY(const NodeRuns nodes, runNodes(programs, compile, world));
  doc.first = firstOf(programs, nodes, judged);
  return doc;
}

Result<RankRunsDoc> compareWithWhole(const std::vector<RankProgram>& programs, const RankProgram& whole,
                                     const RankSharding& sharding, const RankWorld& world) {
  KERF_TRY(const auto ranks, ranksInFloat64(programs));
  KERF_TRY(const auto one, ranksInFloat64({whole}));
  const Replay own = replayOver(world, ranks, {.keepsNodes = true});
  if (!own.ran) return failureDoc(own, "");
  const Replay truth = replayRanks(one, {.keepsNodes = true});
  if (!truth.ran) return failureDoc(truth, "the whole graph: ");
  RankRunsDoc doc;
  bool isSame = true;
  const std::size_t outputs = truth.ranks[0].outputs.size();
  for (std::size_t i = 0; i < outputs; ++i) {
    const Placements* known = placementsOfOutput(sharding, programs[0].module.graph, i, outputs);
    doc.checks.push_back(outputCheck(i, own.ranks, truth.ranks[0].outputs[i], known, sharding));
    isSame = isSame && doc.checks.back().same;
  }
  if (!isSame) doc.first = firstBesideWhole(ranks, own, truth, sharding);
  return doc;
}

}  // namespace kerf::workbench
