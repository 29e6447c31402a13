#include "app/workbench/engine_options.h"

#include <algorithm>

namespace kerf::workbench {

Result<FaultPlan> parsePlants(const std::vector<std::string>& plants) {
  FaultPlan plan;
  for (const auto& text : plants) {
    KERF_TRY(auto fault, parseFault(text));
    plan.faults.push_back(std::move(fault));
  }
  return plan;
}

Result<PassConfig> passConfig(const PassChoice& choice) {
  PassConfig config{.disabled = choice.disabled};
  if (!choice.only.empty()) config.only = choice.only;
  for (const std::string& text : choice.settings) {
    KERF_TRY(auto patch, parsePassPatch(text));
    config.patches.push_back(std::move(patch));
  }
  KERF_TRY(const auto passes, selectPasses(config));
  for (const PassPatch& patch : config.patches)
    if (std::ranges::find(passes, patch.pass, &Pass::name) == passes.end())
      return fail(ErrorCode::BadUsage, "pass {} does not run, so that its option {} would do nothing", patch.pass,
                  patch.option);
  return config;
}

Result<EngineOracleOptions> engineOptions(const std::vector<std::string>& plants, const PassChoice& passes,
                                          double tolerance, std::chrono::milliseconds timeout) {
  EngineOracleOptions options;
  KERF_TRY(options.compile.faults, parsePlants(plants));
  KERF_TRY(options.compile.passes, passConfig(passes));
  options.compare.tolerance = tolerance;
  options.limits.timeout = timeout;
  return options;
}

}  // namespace kerf::workbench
