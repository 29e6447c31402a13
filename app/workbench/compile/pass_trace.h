// Passes run in a process of their own: what each did, the graphs between them, and both kept in the store.
#pragma once

#include "app/workbench/captures/graph_source.h"
#include "engine/passes/fault_plan.h"
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

}  // namespace kerf::workbench
