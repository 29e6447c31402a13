#include "app/workbench/engine_options.h"

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
  return passConfig(PassArguments{choice.only, choice.disabled, choice.settings});
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
