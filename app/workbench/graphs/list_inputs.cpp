// Where the inputs of a graph come from, without making them.
#include "app/workbench/captures/given_inputs.h"
#include "app/workbench/captures/graph_source.h"
#include "app/workbench/graphs/graph_doc.h"

namespace kerf::workbench {

Result<std::vector<InputRow>> perform(Workbench& bench, const InputsRequest& request, const Job& job) {
  KERF_TRY(auto found, resolveGraph(bench, request.graph, job));
  if (!found.inputFile.empty()) {
    KERF_TRY(const RunnableGraph ready, runnable(std::move(found), job));
    return inputRows(ready.origins, ready.inputs);
  }
  const ShapedGraph source = shapedForReading(std::move(found), job);
  KERF_TRY(const auto origins, source.graph().inputOrigins(loadOptions(source)));
  auto rows = inputRows(origins, {});
  const auto& graph = source.graph().module.graph;
  const auto placeholders = graph.placeholders();
  for (std::size_t i = 0; i < std::min(rows.size(), placeholders.size()); ++i)
    rows[i].value = shapeText(graph.node(placeholders[i]).meta().value);
  return rows;
}

}  // namespace kerf::workbench
