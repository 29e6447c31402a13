// Passes run in a process of their own: what each did, the graphs between them, and both kept in the store.
#pragma once

#include "app/workbench/graph_source.h"
#include "engine/passes/pass_manager.h"

namespace kerf::workbench {

PassDoc passDoc(const PassRecord& record);
/// Names of the nodes of `from` that `in` does not have: what a pass made, or took away.
std::vector<std::string> namesMissing(const Graph& from, const Graph& in);
/// The options of `passes`, with the values that they have.
std::vector<PassOptionDoc> optionDocs(const std::vector<Pass>& passes);

/// Runs the compiler's passes on the module (placeholder metas must be set). A crash or hang is CompileFailed.
/// With `inputs` the graph is run on them after each pass (PassTrace::check).
Result<PassTrace> tracePasses(const GraphModule& module, const PassConfig& config, const Job& job,
                              const ValueList* inputs = nullptr);

/// Adds a run's passes and the graphs before and after them to the store.
Result<void> addPasses(Store& store, std::int64_t runId, const PassTrace& trace);

/// The graph after pass number `index`, as a document: "forward after cse". NotFound when there is no such pass.
Result<GraphDocPtr> graphAfterPass(const GraphModule& module, std::size_t index, const std::string& title,
                                   const std::string& sourceFile, const Job& job);

}  // namespace kerf::workbench
