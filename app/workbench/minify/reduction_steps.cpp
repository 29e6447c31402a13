// The accepted steps of a stored reduction.
#include "app/workbench/captures/store_id.h"
#include "app/workbench/minify/reduction_log.h"
#include "app/workbench/workbench.h"

namespace kerf::workbench {

Result<std::vector<StepDoc>> perform(Workbench& bench, const StepsRequest& request, const Job&) {
  const auto id = parseStoreId(request.reduction);
  if (!id || id->kind != 'm') return fail(ErrorCode::BadUsage, "{} is not a reduction, as m2 is", request.reduction);
  KERF_TRY(auto* store, bench.store());
  KERF_CHECK(store->reduction(id->number));
  KERF_TRY(const auto rows, store->steps(id->number));
  std::vector<StepDoc> steps;
  for (const auto& row : rows) {
    if (row.reduction == undoStep) continue;  // the step that it led back to is there already
    steps.push_back({fmt::format("m{}@step:{}", id->number, row.index), row.index, row.test, row.nodes, row.outputs,
                     row.inputBytes, row.reduction, row.fingerprint});
  }
  return steps;
}

}  // namespace kerf::workbench
