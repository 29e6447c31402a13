#include "app/workbench/minify/failure_choice.h"

#include "app/workbench/engine_options.h"
#include "engine/pipeline/compile_fx.h"

namespace kerf::workbench {

Result<FailureMatch> failureMatch(const MinifyRequest& request) {
  if (request.anyFailure && !request.match.empty())
    return fail(ErrorCode::BadUsage,
                "any failure counts, and only those that the pattern finds: choose one of the two");
  if (request.anyFailure) return FailureMatch::any();
  return request.match.empty() ? FailureMatch() : FailureMatch::pattern(request.match);
}

OracleSettings withPlantsIn(const GraphModule& module, OracleSettings settings) {
  if (settings.plants.size() < 2) return settings;
  std::vector<std::string> placed;
  for (const std::string& plant : settings.plants) {
    auto options = engineOptions({plant}, settings.passes, settings.tolerance, settings.timeout);
    if (options && checkOptions(module, options->compile)) placed.push_back(plant);
  }
  if (!placed.empty()) settings.plants = std::move(placed);
  return settings;
}

Result<std::vector<SlipDoc>> slipDocs(Store& store, std::int64_t reduction) {
  KERF_TRY(const auto rows, store.slips(reduction));
  std::vector<SlipDoc> docs;
  for (const SlipRow& row : rows) {
    docs.push_back(
        {fmt::format("m{}/slip{}", reduction, row.number), row.fingerprint, row.detail, row.tests, row.nodes});
  }
  return docs;
}

}  // namespace kerf::workbench
