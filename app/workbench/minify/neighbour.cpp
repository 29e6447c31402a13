// perform(NeighbourRequest): the graph one edit away from a minified one that passes, and what the edit changes.
#include "app/workbench/graphs/graph_doc.h"
#include "app/workbench/graphs/module_comparison.h"
#include "app/workbench/minify/issue.h"
#include "engine/ops/core/op_registry.h"

namespace kerf::workbench {

Result<Neighbour> perform(Workbench& bench, const NeighbourRequest& request, const Job& job) {
  KERF_TRY(const auto source, resolveGraph(bench, request.graph, job));
  KERF_TRY(StoredNeighbour found, storedNeighbour(bench, source, job));
  Neighbour answer;
  if (!found.passing) return answer;
  GraphModule& passing = found.passing->candidate.module;
  (void)propagateShapes(passing);  // what has no rule stays without a shape
  answer.found = true;
  answer.reduction = found.passing->reduction;
  answer.description = found.passing->description;
  answer.difference = differenceOf(compareModules(passing, found.failing));
  answer.graph = buildGraphDoc(passing, "passes", {});
  return answer;
}

}  // namespace kerf::workbench
