#include "app/workbench/engine_options.h"

namespace kerf::workbench {

Result<void> checkBackend(const std::string& backend, InterpreterUse interpreter) {
  const bool interpreted = interpreter == InterpreterUse::Allowed;
  if (backend == "llvm" || (interpreted && backend == "interp")) return {};
  if (backend == "cuda")
    return fail(ErrorCode::Environment, "this kerf was built without the cuda backend; use --backend llvm");
  return fail(ErrorCode::BadUsage, "unknown backend \"{}\"; choose {}llvm", backend, interpreted ? "interp or " : "");
}

Result<FaultPlan> parsePlants(const std::vector<std::string>& plants) {
  FaultPlan plan;
  for (const auto& text : plants) {
    KERF_TRY(auto fault, parseFault(text));
    plan.faults.push_back(std::move(fault));
  }
  return plan;
}

Result<EngineOracleOptions> engineOptions(const std::vector<std::string>& plants, double tolerance,
                                          std::chrono::milliseconds timeout) {
  EngineOracleOptions options;
  KERF_TRY(options.compile.faults, parsePlants(plants));
  options.compare.tolerance = tolerance;
  options.limits.timeout = timeout;
  return options;
}

}  // namespace kerf::workbench
