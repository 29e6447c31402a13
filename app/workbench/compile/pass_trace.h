// Passes run in a process of their own: what each did, the graphs between them, and both kept in the store.
#pragma once

#include "app/workbench/captures/aot_stage.h"
#include "app/workbench/captures/graph_source.h"
#include "app/workbench/protocol/graphs.h"
#include "engine/passes/fault_plan.h"
#include "engine/passes/manager/pass_config.h"
#include "engine/passes/manager/pass_manager.h"

namespace kerf::workbench {

PassDoc passDoc(const PassRecord& record);
/// Names of the nodes of `from` that `in` does not have: what a pass made, or took away.
std::vector<std::string> namesMissing(const Graph& from, const Graph& in);
/// The options of `passes`, with the values that they have.
std::vector<PassOptionDoc> optionDocs(const std::vector<Pass>& passes);

/// On what the graph is run after each pass, and which passes are checked so.
struct PassCheck {
  ValueList inputs;
  std::vector<PassStage> stages;  ///< empty: all
  double tolerance = 1e-3;
};

/// Runs the compiler's passes on the module (placeholder metas must be set), with the faults of `plan`. A crash or hang
/// is CompileFailed. With `check` the answer has PassTrace::check.
Result<PassTrace> tracePasses(const GraphModule& module, const PassConfig& config, const Job& job,
                              const PassCheck* check = nullptr, const FaultPlan& plan = {});

/// Adds a run's passes and the graphs before and after them to the store.
Result<void> addPasses(Store& store, std::int64_t runId, const PassTrace& trace);

/// The graph after pass number `index`, as a document: "forward after cse". NotFound when there is no such pass.
Result<GraphDocPtr> graphAfterPass(const GraphModule& module, std::size_t index, const std::string& title,
                                   const std::string& sourceFile, const Job& job);

// A training compilation stage by stage: what AOTAutograd, the passes, the partitioner and the backend did.

/// Compiles the captured graph for training in a process of its own; its shapes are known. A row for each stage, and
/// one for each pass in the place of its stage's; snapshots of all graphs. Where a stage after the partition fails,
/// those before it are told and `failure` says why; an earlier one is the error. A crash or hang is CompileFailed.
Result<PassTrace> traceTraining(const CapturedGraph& captured, const StageChoice& joint, const PassConfig& config,
                                const Job& job);

}  // namespace kerf::workbench
