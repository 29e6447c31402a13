#include "app/workbench/compile/pass_trace.h"

#include <algorithm>
#include <set>

#include "app/workbench/compile/aot_passes.h"
#include "app/workbench/engine_options.h"
#include "app/workbench/graphs/graph_doc.h"
#include "engine/ir/printer.h"
#include "engine/passes/pass_names.h"
#include "engine/passes/plant_faults.h"
#include "engine/pipeline/compiler_passes.h"
#include "engine/pipeline/pass_checker.h"
#include "engine/process/in_child.h"

namespace kerf::workbench {

namespace {

constexpr auto passesTime = std::chrono::minutes(5);

Result<std::vector<PassRecord>> recordPasses(const GraphModule& module, std::vector<Pass> passes,
                                             PassObserver* observer = nullptr) {
  std::vector<PassRecord> records;
  PassManager manager(std::move(passes));
  if (observer) manager.addObserver(observer);
  KERF_CHECK(manager.run(module, &records));
  return records;
}

PassCheckDoc checkDoc(const PassChecker& checker) {
  PassCheckDoc doc{.asked = true, .checked = checker.checked(), .failure = checker.failure()};
  if (const auto& first = checker.first()) {
    doc.pass = first->pass;
    doc.result = first->result;
    doc.node = first->node;
    doc.reason = first->reason;
    doc.error = first->maxAbsError;
  }
  return doc;
}

/// Runs in the child: texts instead of graphs.
Result<PassTrace> traceHere(const GraphModule& module, const PassConfig& config, const PassCheck* check,
                            const FaultPlan& plan) {
  KERF_TRY(const auto passes, selectPasses(config, compilerPasses()));
  std::optional<PassChecker> checker;
  if (check) checker.emplace(check->inputs, check->tolerance, check->stages);
  KERF_TRY(const auto records, recordPasses(module, withFaults(passes, plan), checker ? &*checker : nullptr));
  PassTrace trace{.config = config.text(), .options = optionDocs(passes)};
  if (checker) trace.check = checkDoc(*checker);
  std::set<std::string> seen;
  const auto add = [&](const Hash128& hash, const GraphSnapshot& graph) {
    if (graph && seen.insert(hash.hex()).second)
      trace.snapshots.push_back({hash.hex(), printGraphText(*graph), int(graph->size())});
  };
  for (const auto& record : records) {
    trace.passes.push_back(passDoc(record));
    add(record.hashBefore, record.before);
    add(record.hashAfter, record.after);
  }
  return trace;
}

Result<GraphDocPtr> graphAfterHere(const GraphModule& module, std::size_t index, const std::string& title,
                                   const std::string& sourceFile) {
  KERF_TRY(auto records, recordPasses(module, compilerPasses()));
  std::erase_if(records, [](const PassRecord& record) { return !record.path.empty(); });
  if (index >= records.size())
    return fail(ErrorCode::NotFound, "there is no pass {}; {} passes ran", index + 1, records.size());
  GraphModule after = module;
  if (records[index].after) after.graph = *records[index].after;
  return buildGraphDoc(after, title + " after " + records[index].name, sourceFile);
}

SnapshotRow rowOf(std::int64_t runId, const PassDoc& pass) {
  SnapshotRow row;
  row.runId = runId;
  row.index = pass.index;
  row.pass = pass.name;
  row.stage = pass.stage;
  row.hashBefore = pass.hashBefore;
  row.hashAfter = pass.hashAfter;
  row.nodesBefore = pass.nodesBefore;
  row.nodesAfter = pass.nodesAfter;
  row.nanoseconds = std::int64_t(pass.milliseconds * 1e6);
  row.changed = pass.changed;
  return row;
}

/// Stores a run of kind "passes"; its name, or nothing when there is no usable store.
Result<std::string> storeTrace(Workbench& bench, const GraphSource& source, const PassTrace& trace, const Job& job) {
  double milliseconds = 0;
  for (const auto& pass : trace.passes) milliseconds += pass.milliseconds;
  std::string name;
  KERF_CHECK(bench.keepResult(job, [&](Store& store) -> Result<void> {
    KERF_TRY(const auto graphId, storedGraphId(store, source));
    KERF_TRY(const auto runId, store.addRun({0, graphId, "passes", "", "", "", "running", 0}));
    KERF_CHECK(addPasses(store, runId, trace));
    name = fmt::format("r{}", runId);
    return store.finishRun(runId, "ok", std::int64_t(milliseconds * 1e6));
  }));
  return name;
}

/// Without inputs yet.
Result<PassCheck> checkOf(const PassesRequest& request) {
  PassCheck check{.inputs = {}, .stages = {}, .tolerance = request.tolerance};
  for (const std::string& name : request.checkedStages) {
    const auto stage = std::ranges::find_if(passStages, [&](PassStage known) { return stageName(known) == name; });
    if (stage == passStages.end()) return fail(ErrorCode::BadUsage, "there is no stage of passes \"{}\"", name);
    check.stages.push_back(*stage);
  }
  return check;
}

/// Takes the pass whose graph is asked for over into the trace.
Result<void> takeDump(PassTrace& trace, const std::string& wanted) {
  std::vector<std::string> names;
  for (const PassDoc& pass : trace.passes) names.push_back(pass.name);
  trace.dumpAfter = currentPassName(wanted);
  if (wanted.empty() || wanted == "all" || std::ranges::find(names, trace.dumpAfter) != names.end()) return {};
  return noSuchPass(wanted, names);
}

/// All stages of a training compilation; its rows are kept as far as they are of the whole graph.
Result<PassTrace> performTraining(Workbench& bench, const PassesRequest& request, const StagedAddress& address,
                                  const Job& job) {
  KERF_TRY(auto found, resolveGraph(bench, address.captured, job));
  KERF_TRY(const ShapedGraph source, shaped(std::move(found)));
  KERF_TRY(const auto config, passConfig(request.passes));
  keepMeasurements(bench, config, job);
  KERF_TRY(auto trace, traceTraining(source.graph(), *address.stage, config, job));
  KERF_TRY(auto joint, resolveGraph(bench, request.graph, job));
  KERF_TRY(trace.run, storeTrace(bench, joint, trace, job));
  KERF_CHECK(takeDump(trace, request.dumpAfter));
  return trace;
}

}  // namespace

std::vector<std::string> namesMissing(const Graph& from, const Graph& in) {
  std::vector<std::string> names;
  for (const NodeId id : from.order())
    if (!in.find(from.node(id).name())) names.push_back(from.node(id).name());
  return names;
}

std::vector<PassOptionDoc> optionDocs(const std::vector<Pass>& passes) {
  std::vector<PassOptionDoc> docs;
  for (const Pass& pass : passes)
    for (const PassOption& option : pass.options.all())
      docs.push_back({pass.name, option.name, optionText(option.value), std::string(optionType(option.value)),
                      option.description});
  return docs;
}

PassDoc passDoc(const PassRecord& record) {
  PassDoc doc{record.index,
              record.name,
              std::string(stageName(record.stage)),
              {},
              record.path,
              int(record.nodesBefore),
              int(record.nodesAfter),
              double(record.time.count()) / 1e6,
              record.changed,
              {},
              {},
              record.hashBefore.hex(),
              record.hashAfter.hex()};
  if (record.changed && record.before && record.after) {
    doc.added = namesMissing(*record.after, *record.before);
    doc.removed = namesMissing(*record.before, *record.after);
  }
  return doc;
}

Result<PassTrace> tracePasses(const GraphModule& module, const PassConfig& config, const Job& job,
                              const PassCheck* check, const FaultPlan& plan) {
  const std::function body = [&] { return traceHere(module, config, check, plan); };
  return inChild(body, patientLimits(passesTime), job.stop, "running the passes", ErrorCode::CompileFailed);
}

Result<void> addPasses(Store& store, std::int64_t runId, const PassTrace& trace) {
  for (const auto& snapshot : trace.snapshots)
    KERF_CHECK(store.putSnapshot(snapshot.hash, snapshot.text, snapshot.nodes));
  std::vector<SnapshotRow> rows;
  for (const auto& pass : trace.passes)
    if (pass.nestedGraph.empty() && pass.part.empty()) rows.push_back(rowOf(runId, pass));  // of the whole graph
  return store.addPasses(runId, rows);
}

Result<GraphDocPtr> graphAfterPass(const GraphModule& module, std::size_t index, const std::string& title,
                                   const std::string& sourceFile, const Job& job) {
  const std::function body = [&] { return graphAfterHere(module, index, title, sourceFile); };
  return inChild(body, patientLimits(passesTime), job.stop, "running the passes", ErrorCode::CompileFailed);
}

Result<PassTrace> perform(Workbench& bench, const PassesRequest& request, const Job& job) {
  KERF_TRY(const auto address, splitStage(request.graph));
  if (address.stage && address.stage->stage == AotStage::Joint && !request.checkPasses)
    return performTraining(bench, request, address, job);
  KERF_TRY(auto found, resolveGraph(bench, request.graph, job));
  std::optional<PassCheck> check;
  ShapedGraph source;
  if (request.checkPasses) {
    KERF_TRY(check, checkOf(request));
    KERF_TRY(RunnableGraph ready, runnable(std::move(found), job));
    check->inputs = std::move(ready.inputs);
    source = std::move(ready);
  } else {
    KERF_TRY(source, shaped(std::move(found)));
  }
  KERF_TRY(const auto config, passConfig(request.passes));
  KERF_TRY(const FaultPlan plan, parsePlants(request.plants));
  keepMeasurements(bench, config, job);
  KERF_TRY(auto trace, tracePasses(source.graph().module, config, job, check ? &*check : nullptr, plan));
  KERF_TRY(const auto stages, stageRows(bench, request.graph, job));
  prependStages(trace, stages);
  KERF_TRY(trace.run, storeTrace(bench, source, trace, job));
  KERF_CHECK(takeDump(trace, request.dumpAfter));
  return trace;
}

}  // namespace kerf::workbench
