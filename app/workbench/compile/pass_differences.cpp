// What each pass did to a graph, node by node.
#include "app/workbench/compile/aot_passes.h"
#include "app/workbench/graphs/module_comparison.h"
#include "engine/passes/manager/pass_manager.h"
#include "engine/pipeline/compiler_passes.h"
#include "engine/process/in_child.h"

namespace kerf::workbench {

namespace {

constexpr auto passesTime = std::chrono::minutes(5);

GraphDifference differenceBetween(const GraphModule& module, const Graph& before, const Graph& after) {
  GraphModule first = module, second = module;
  first.graph = before;
  second.graph = after;
  return differenceOf(compareModules(first, second));
}

/// Runs in the child. Passes on nested graphs are no rows of CompileDoc::passes.
Result<std::vector<PassDifference>> differencesHere(const GraphModule& module, int firstPass) {
  std::vector<PassRecord> records;
  KERF_CHECK(PassManager(compilerPasses()).run(module, &records));
  std::vector<PassDifference> differences;
  int pass = firstPass;
  for (const PassRecord& record : records) {
    if (!record.path.empty()) continue;
    if (record.changed && record.before && record.after)
      differences.push_back({pass, differenceBetween(module, *record.before, *record.after)});
    ++pass;
  }
  return differences;
}

}  // namespace

Result<std::vector<PassDifference>> perform(Workbench& bench, const PassDifferencesRequest& request, const Job& job) {
  KERF_TRY(const auto stages, stageRows(bench, request.graph, job));
  KERF_TRY(auto found, resolveGraph(bench, request.graph, job));
  const ShapedGraph source = shapedForReading(std::move(found), job);
  const GraphModule& module = source.graph().module;
  std::vector<PassDifference> differences;
  for (std::size_t i = 0; i < stages.rows.size(); ++i)
    differences.push_back({int(i), differenceBetween(module, stages.graphs[i], stages.graphs[i + 1])});
  const std::function body = [&] { return differencesHere(module, int(stages.rows.size())); };
  KERF_TRY(auto passes,
           inChild(body, patientLimits(passesTime), job.stop, "comparing what passes did", ErrorCode::CompileFailed));
  differences.insert(differences.end(), std::make_move_iterator(passes.begin()), std::make_move_iterator(passes.end()));
  return differences;
}

}  // namespace kerf::workbench
