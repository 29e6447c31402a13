#include "app/workbench/minify/oracle_choice.h"

#include <algorithm>
#include <sstream>

#include "app/workbench/captures/recorded_settings.h"
#include "app/workbench/engine_options.h"
#include "engine/process/program.h"
#include "minifier/oracle/command_oracle.h"

namespace kerf::workbench {

namespace {

Result<std::unique_ptr<Oracle>> engineOracle(const OracleSettings& settings, const GraphSource& like,
                                             const OracleRun&) {
  KERF_TRY(auto options, engineOptions(settings.plants, settings.passes, settings.tolerance, settings.timeout));
  setLimits(options, settings.limits);
  if (!settings.torchBackend.empty()) KERF_CHECK(setBackend(options, settings.torchBackend));
  KERF_CHECK(setAccuracy(options, settings.accuracy));
  takeRecordedRule(like, settings.accuracy, options.compare);
  options.compare.leastMultiplier = leastMultiplierOf(like.graph().module.graph, options.compare.sameOptions());
  KERF_CHECK(checkOptions(like.graph().module, options.compile));
  return std::make_unique<EngineOracle>(std::move(options));
}

Result<std::unique_ptr<Oracle>> commandOracle(const OracleSettings& settings, const GraphSource& like,
                                              const OracleRun&) {
  if (settings.check.empty()) {
    return fail(ErrorCode::BadUsage,
                "the oracle command needs a check: the program that says whether a repro.py fails");
  }
  CommandOracleOptions options;
  options.command = settings.check;
  options.timeout = settings.timeout;
  options.limits = settings.limits;
  return std::make_unique<CommandOracle>(std::move(options), like.capture, like.index);
}

/// A name is looked up as a shell would; a path is meant from here, though candidates run in other folders.
std::filesystem::path programNamed(const std::string& name) {
  std::error_code ignored;
  return name.find('/') == std::string::npos ? findProgram(name) : std::filesystem::absolute(name, ignored);
}

/// "python3.11", or a program and what stands in front of its other arguments: "uv run --python 3.12 python".
std::vector<std::string> wordsOf(const std::string& command) {
  std::error_code ignored;
  if (command.find(' ') == std::string::npos || std::filesystem::is_regular_file(command, ignored)) return {command};
  std::vector<std::string> words;
  std::istringstream text(command);
  for (std::string word; text >> word;) words.push_back(std::move(word));
  return words.empty() ? std::vector<std::string>{command} : words;
}

constexpr std::string_view torchChecks[] = {"auto", "exception",     "accuracy", "strict_accuracy",
                                            "nan",  "nondeterminism"};

Result<void> checkTorchCheck(const std::string& check) {
  if (check.starts_with("expr:") || std::ranges::find(torchChecks, check) != std::end(torchChecks)) return {};
  return fail(ErrorCode::BadUsage, "fails if {}: neither one of {} nor expr:EXPRESSION", check,
              fmt::join(torchChecks, ", "));
}

/// A library of ops is a file, which the worker looks for elsewhere.
std::vector<std::string> absoluteLibraries(std::vector<std::string> imports) {
  std::error_code ignored;
  for (auto& name : imports)
    if (name.ends_with(".so")) name = std::filesystem::absolute(name, ignored).string();
  return imports;
}

/// Modules lie where kerf was started, or beside the launcher.
std::vector<std::string> importFolders(const std::filesystem::path& launcher) {
  std::error_code ignored;
  return {std::filesystem::current_path(ignored).string(),
          std::filesystem::absolute(launcher, ignored).parent_path().string()};
}

constexpr std::chrono::milliseconds leastTorchTimeout = std::chrono::minutes(2);

Result<std::unique_ptr<Oracle>> torchOracle(const OracleSettings& settings, const GraphSource& like,
                                            const OracleRun& run) {
  KERF_TRY(auto oracle, startTorch(settings, like, run));
  return std::unique_ptr<Oracle>(std::move(oracle));
}

struct OracleRow {
  std::string_view name;
  Result<std::unique_ptr<Oracle>> (*make)(const OracleSettings&, const GraphSource&, const OracleRun&);
};
constexpr OracleRow oracles[] = {{"engine", engineOracle}, {"command", commandOracle}, {"torch", torchOracle}};

}  // namespace

Result<std::unique_ptr<TorchOracle>> startTorch(const OracleSettings& settings, const GraphSource& like,
                                                const OracleRun& run) {
  KERF_CHECK(checkTorchCheck(settings.torchCheck));
  TorchOracleOptions options;
  std::vector<std::string> words = wordsOf(settings.python);
  options.worker.python = programNamed(words.front());
  options.worker.pythonArguments.assign(words.begin() + 1, words.end());
  if (options.worker.python.empty())
    return fail(ErrorCode::Environment, Hint{Advice::NamePython}, "there is no program {}", settings.python);
  options.worker.jobs = std::max(run.jobs, settings.warmJobs);
  options.worker.limits = settings.limits;
  options.worker.imports = absoluteLibraries(settings.imports);
  if (!settings.imports.empty()) options.worker.importFolders = importFolders(like.capture.path);
  if (run.torch != nullptr) options.worker.tools = run.torch->tools();
  options.worker.warming = [&run](const std::string& text) { run.job.tell(ProgressEvent{text, 0}); };
  options.worker.note = [&run](const std::string& text) { run.job.tell(NoteEvent{NoteEvent::Weight::Detail, text}); };
  options.backend = settings.torchBackend;
  options.check = settings.torchCheck;
  options.timeout = std::max(settings.timeout, leastTorchTimeout);
  if (settings.warmJobs == 0 || run.torch == nullptr)
    return TorchOracle::start(std::move(options), like.capture, like.index, run.job.stop);
  options.worker.onGpu = needsGpu(like.capture, like.index);
  KERF_TRY(auto worker, run.torch->worker(options.worker, run.job.stop));
  return TorchOracle::with(std::move(worker), std::move(options), like.capture, like.index);
}

std::chrono::milliseconds longestAnswer(const OracleSettings& settings) {
  constexpr int phasesOfLargeGraphs = 100;  // of the engine, which gives them more than a --timeout
  if (settings.oracle == "engine") return settings.timeout * phasesOfLargeGraphs;
  return settings.oracle == "torch" ? std::max(settings.timeout, leastTorchTimeout) : settings.timeout;
}

Result<std::unique_ptr<Oracle>> makeOracle(const OracleSettings& settings, const GraphSource& like,
                                           const OracleRun& run) {
  if (!settings.plants.empty() && settings.oracle != "engine")
    return fail(ErrorCode::BadUsage, "a planted fault is in Kerf's own compiled side, so it needs the oracle engine");
  if (!settings.passes.usual() && settings.oracle != "engine")
    return fail(ErrorCode::BadUsage, "passes and their options are Kerf's own, so they need the oracle engine");
  if (!settings.check.empty() && settings.oracle != "command")
    return fail(ErrorCode::BadUsage, "a check belongs to the oracle command");
  if (settings.torchCheck != "auto" && settings.oracle != "torch")
    return fail(ErrorCode::BadUsage, "what counts as a failure of PyTorch can only be chosen with the oracle torch");
  if (!settings.torchBackend.empty() && settings.oracle == "command")
    return fail(ErrorCode::BadUsage, "a backend belongs to the oracles engine and torch");
  const auto& limits = settings.limits;
  const bool oneGraph = settings.oracle == "engine";  // in a process that starts no others and prints nothing
  if (oneGraph && (limits.cleanEnvironment || !limits.network))
    return fail(ErrorCode::BadUsage,
                "environment and network are those of programs, so they need the oracle command or torch");
  const CandidateLimits usual;
  if (oneGraph && (limits.processes != usual.processes || limits.outputBytes != usual.outputBytes))
    return fail(ErrorCode::BadUsage,
                "limits of processes and output are for programs, so they need the oracle command or torch");
  for (const auto& row : oracles) {
    if (row.name == settings.oracle) return row.make(settings, like, run);
  }
  return fail(ErrorCode::BadUsage, "unknown oracle \"{}\"", settings.oracle);
}

}  // namespace kerf::workbench
