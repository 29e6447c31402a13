#include "app/workbench/oracle_choice.h"

#include "app/workbench/engine_options.h"
#include "app/workbench/recorded_settings.h"
#include "engine/process/containment.h"
#include "engine/process/program.h"
#include "engine/process/wait.h"
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

constexpr auto timeToImport = std::chrono::minutes(2);

/// By ContainedEnd, for those that say all themselves.
constexpr std::pair<ContainedEnd, std::string_view> endTexts[] = {
    {ContainedEnd::TimedOut, "it took more than two minutes"},
    {ContainedEnd::Cancelled, "it was stopped"},
    {ContainedEnd::Memory, "it went over the memory limit"},
    {ContainedEnd::Processes, "it went over the process limit"},
    {ContainedEnd::Output, "it went over the output limit"}};

/// Where Python names what was raised.
std::string lastLine(const std::string& text) {
  const auto end = text.find_last_not_of(" \r\n");
  if (end == std::string::npos) return {};
  const auto before = text.find_last_of('\n', end);
  const auto begin = before == std::string::npos ? 0 : before + 1;
  return text.substr(begin, end + 1 - begin);
}

std::string endText(const ContainedResult& ended) {
  for (const auto& [end, text] : endTexts)
    if (end == ended.end) return std::string(text);
  const auto line = lastLine(ended.errors.text());
  const auto how =
      ended.end == ContainedEnd::Signalled ? nameOfSignal(ended.status) : fmt::format("exit {}", ended.status);
  return line.empty() ? how : fmt::format("{}, {}", how, line);
}

/// A name is looked up as a shell would; a path is meant from here, though candidates run in other folders.
std::filesystem::path programNamed(const std::string& name) {
  std::error_code ignored;
  return name.find('/') == std::string::npos ? findProgram(name) : std::filesystem::absolute(name, ignored);
}

/// Not in this folder, where a file of a stranger may be called torch.py.
Result<void> checkTorch(const OracleSettings& settings) {
  const auto program = programNamed(settings.python);
  if (program.empty())
    return fail(ErrorCode::Environment, "there is no program {}; name a Python with PyTorch with --python",
                settings.python);
  KERF_TRY(const auto ended, runContained({.arguments = {program.string(), "-c", "import torch"},
                                           .folder = "/",
                                           .timeout = timeToImport,
                                           .limits = settings.limits}));
  if (ended.end == ContainedEnd::Exited && ended.status == 0) return {};
  return fail(ErrorCode::Environment, "{} cannot import torch ({}); name a Python that can with --python",
              settings.python, endText(ended));
}

Result<std::unique_ptr<Oracle>> stockTorchOracle(const OracleSettings& settings, const GraphSource& like) {
  KERF_CHECK(checkTorch(settings));
  const bool isPath = settings.python.find('/') != std::string::npos;
  auto options =
      torchOracle(isPath ? programNamed(settings.python).string() : settings.python, wantsAccuracy(like.capture));
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
  const bool oneGraph = settings.oracle == "engine";  // in a process that starts no others and prints nothing
  if (oneGraph && (limits.cleanEnvironment || !limits.network))
    return fail(ErrorCode::BadUsage,
                "--clean-env, --keep-env and --no-network are about programs, so only with --oracle command and torch");
  const CandidateLimits usual;
  if (oneGraph && (limits.processes != usual.processes || limits.outputBytes != usual.outputBytes))
    return fail(ErrorCode::BadUsage,
                "--max-processes and --max-output are about programs, so only with --oracle command and torch");
  for (const auto& row : oracles) {
    if (row.name == settings.oracle) return row.make(settings, like);
  }
  return fail(ErrorCode::BadUsage, "unknown oracle \"{}\"", settings.oracle);
}

}  // namespace kerf::workbench
