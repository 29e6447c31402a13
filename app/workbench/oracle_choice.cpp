#include "app/workbench/oracle_choice.h"

#include "app/workbench/engine_options.h"
#include "app/workbench/recorded_settings.h"
#include "engine/process/containment.h"
#include "minifier/oracle/command_oracle.h"

namespace kerf::workbench {

namespace {

Result<std::unique_ptr<Oracle>> engineOracle(const OracleSettings& settings, const GraphSource& like) {
  KERF_TRY(auto options, engineOptions(settings.plants, settings.passes, settings.tolerance, settings.timeout));
  setLimits(options, settings.limits);
  KERF_CHECK(setAccuracy(options, settings.accuracy));
  takeRecordedRule(like, settings.accuracy, options.compare);
  KERF_CHECK(checkOptions(like.graph().module, options.compile));
  return std::make_unique<EngineOracle>(std::move(options));
}

Result<std::unique_ptr<Oracle>> commandOracle(const OracleSettings& settings, const GraphSource& like) {
  if (settings.check.empty()) {
    return fail(ErrorCode::BadUsage,
                "--oracle command needs --check CMD: the program that says whether a repro.py fails");
  }
  CommandOracleOptions options;
  options.command = settings.check;
  options.timeout = settings.timeout;
  options.limits = settings.limits;
  return std::make_unique<CommandOracle>(std::move(options), like.capture, like.index);
}

/// Whether the capture was made to hunt an accuracy failure; else it is a crash.
bool wantsAccuracy(const Capture& capture) {
  for (const auto& [name, value] : capture.envelope.runOptions) {
    if (name == "accuracy") return value != "False" && value != "None";
  }
  return false;
}

Result<std::unique_ptr<Oracle>> stockTorchOracle(const OracleSettings& settings, const GraphSource& like) {
  KERF_TRY(const auto answer, runContained({.arguments = {"/usr/bin/env", settings.python, "-c", "import torch"},
                                            .folder = ".",
                                            .timeout = std::chrono::minutes(2),
                                            .limits = settings.limits}));
  if (answer.end != ContainedEnd::Exited || answer.status != 0) {
    return fail(ErrorCode::Environment, "{} cannot import torch; name a Python that can with --python",
                settings.python);
  }
  auto options = torchOracle(settings.python, wantsAccuracy(like.capture));
  options.timeout = std::max<std::chrono::milliseconds>(settings.timeout, std::chrono::minutes(2));
  options.limits = settings.limits;
  return std::make_unique<CommandOracle>(std::move(options), like.capture, like.index);
}

struct OracleRow {
  std::string_view name;
  Result<std::unique_ptr<Oracle>> (*make)(const OracleSettings&, const GraphSource&);
};
constexpr OracleRow oracles[] = {{"engine", engineOracle}, {"command", commandOracle}, {"torch", stockTorchOracle}};

}  // namespace

Result<std::unique_ptr<Oracle>> makeOracle(const OracleSettings& settings, const GraphSource& like) {
  if (!settings.plants.empty() && settings.oracle != "engine")
    return fail(ErrorCode::BadUsage, "--plant works on Kerf's own compiled side, so only with --oracle engine");
  if (!settings.passes.usual() && settings.oracle != "engine")
    return fail(ErrorCode::BadUsage,
                "--passes, --disable-pass and --config are about Kerf's own passes, so only with --oracle engine");
  if (!settings.check.empty() && settings.oracle != "command")
    return fail(ErrorCode::BadUsage, "--check belongs to --oracle command");
  const auto& limits = settings.limits;
  if (settings.oracle == "engine" && (limits.cleanEnvironment || !limits.network))
    return fail(ErrorCode::BadUsage,
                "--clean-env, --keep-env and --no-network are about programs, so only with --oracle command and torch");
  for (const auto& row : oracles) {
    if (row.name == settings.oracle) return row.make(settings, like);
  }
  return fail(ErrorCode::BadUsage, "unknown oracle \"{}\"", settings.oracle);
}

}  // namespace kerf::workbench
