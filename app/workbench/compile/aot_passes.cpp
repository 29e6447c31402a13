#include "app/workbench/compile/aot_passes.h"

#include <set>

#include "app/workbench/compile/pass_trace.h"
#include "engine/ir/printer.h"

namespace kerf::workbench {

namespace {

using Clock = std::chrono::steady_clock;

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
                        StageChoice{last.stage, last.table});
  if (last.functionalRng) stages.emplace_back(fmt::format("{}, seeds as inputs", stageName(last.stage)), last);
  return stages;
}

std::string stageText(const StageChoice& choice) {
  std::string text(stageName(choice.stage));
  if (choice.table != DecompositionTable::None) text += fmt::format("/{}", decompositionTableName(choice.table));
  if (choice.functionalRng) text += "/rng";
  return text;
}

Result<StagedAddress> splitStage(const GraphAddress& address) {
  StagedAddress staged{address};
  auto [text, name] = splitAtStage(address.text);
  if (!address.stage.empty()) name = address.stage;
  staged.captured.text = std::move(text);
  staged.captured.stage.clear();
  KERF_TRY(staged.stage, parseStage(name));
  return staged;
}

Result<StageRows> stageRows(Workbench& bench, const GraphAddress& address, const Job& job) {
  KERF_TRY(const auto asked, splitStage(address));
  if (!asked.stage) return StageRows();
  KERF_TRY(auto found, resolveGraph(bench, asked.captured, job));
  const ShapedGraph source = shapedForReading(std::move(found), job);
  const CapturedGraph& captured = source.graph();
  StageRows stages{{}, {captured.module.graph}};
  for (const auto& [name, choice] : stagesUpTo(*asked.stage)) {
    const auto start = Clock::now();
    KERF_TRY(AotGraph traced, traceStage(captured, choice, job));
    const auto time = Clock::now() - start;
    stages.rows.push_back(rowOf(name, stages.graphs.back(), traced.module.graph, time));
    stages.graphs.push_back(std::move(traced.module.graph));
  }
  return stages;
}

void prependRows(std::vector<PassDoc>& passes, const std::vector<PassDoc>& rows) {
  passes.insert(passes.begin(), rows.begin(), rows.end());
  for (std::size_t i = 0; i < passes.size(); ++i) passes[i].index = int(i);
}

void prependStages(PassTrace& trace, const StageRows& stages) {
  if (stages.rows.empty()) return;
  prependRows(trace.passes, stages.rows);
  std::set<std::string> known;
  for (const SnapshotDoc& snapshot : trace.snapshots) known.insert(snapshot.hash);
  for (const Graph& graph : stages.graphs)
    if (SnapshotDoc snapshot = snapshotOf(graph); known.insert(snapshot.hash).second)
      trace.snapshots.push_back(std::move(snapshot));
}

}  // namespace kerf::workbench
