#include "app/workbench/aot_passes.h"

#include <set>

#include "engine/ir/printer.h"

namespace kerf::workbench {

namespace {

using Clock = std::chrono::steady_clock;

std::vector<std::string> namesMissing(const Graph& from, const Graph& in) {
  std::vector<std::string> names;
  for (const NodeId id : from.order())
    if (!in.find(from.node(id).name())) names.push_back(from.node(id).name());
  return names;
}

SnapshotDoc snapshotOf(const Graph& graph) {
  return {graph.contentHash().hex(), printGraphText(graph), int(graph.size())};
}

PassDoc rowOf(const std::string& name, const Graph& before, const Graph& after, Clock::duration time) {
  PassDoc row;
  row.name = name;
  row.stage = "aot";
  row.nodesBefore = int(before.size());
  row.nodesAfter = int(after.size());
  row.milliseconds = std::chrono::duration<double, std::milli>(time).count();
  row.hashBefore = before.contentHash().hex();
  row.hashAfter = after.contentHash().hex();
  row.changed = row.hashBefore != row.hashAfter;
  if (!row.changed) return row;
  row.added = namesMissing(after, before);
  row.removed = namesMissing(before, after);
  return row;
}

}  // namespace

std::vector<std::pair<std::string, StageChoice>> stagesUpTo(const StageChoice& last) {
  std::vector<std::pair<std::string, StageChoice>> stages;
  for (const AotStage stage : {AotStage::Aten, AotStage::Functional, AotStage::Joint})
    if (stage <= last.stage) stages.emplace_back(stageName(stage), StageChoice{stage});
  if (last.table != DecompositionTable::None)
    stages.emplace_back(fmt::format("{}, {} decompositions", stageName(last.stage), decompositionTableName(last.table)),
                        last);
  return stages;
}

Result<void> prependStages(PassTrace& trace, const CapturedGraph& captured, const StageChoice& last, const Job& job) {
  std::vector<PassDoc> rows;
  std::vector<SnapshotDoc> snapshots{snapshotOf(captured.module.graph)};
  Graph before = captured.module.graph;
  for (const auto& [name, choice] : stagesUpTo(last)) {
    const auto start = Clock::now();
    KERF_TRY(AotGraph traced, traceStage(captured, choice, job));
    rows.push_back(rowOf(name, before, traced.module.graph, Clock::now() - start));
    snapshots.push_back(snapshotOf(traced.module.graph));
    before = std::move(traced.module.graph);
  }
  trace.passes.insert(trace.passes.begin(), rows.begin(), rows.end());
  for (std::size_t i = 0; i < trace.passes.size(); ++i) trace.passes[i].index = int(i);
  std::set<std::string> known;
  for (const SnapshotDoc& snapshot : trace.snapshots) known.insert(snapshot.hash);
  for (SnapshotDoc& snapshot : snapshots)
    if (known.insert(snapshot.hash).second) trace.snapshots.push_back(std::move(snapshot));
  return {};
}

}  // namespace kerf::workbench
