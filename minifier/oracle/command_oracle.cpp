// CommandOracle: a folder per candidate, a shell of which nothing is left, an exit code.
#include "minifier/oracle/command_oracle.h"

#include <sstream>

#include <fmt/ranges.h>

#include "engine/capture/repro/writer.h"
#include "engine/process/containment.h"
#include "engine/process/temporary_folder.h"
#include "minifier/core/repro_settings.h"

namespace kerf::inline minifier::inline oracle {

namespace {

namespace fs = std::filesystem;

constexpr int cannotTestCode = 125;
constexpr std::string_view reproName = "repro.py";

std::string shellQuoted(const std::string& text) {
  std::string quoted = "'";
  for (char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string commandLine(std::string command, const fs::path& repro) {
  const std::string path = shellQuoted(repro.string());
  std::size_t at = command.find("{}");
  if (at == std::string::npos) return command + " " + path;
  for (; at != std::string::npos; at = command.find("{}", at + path.size())) command.replace(at, 2, path);
  return command;
}

bool hasTraceback(const ClippedText& errors) {
  std::istringstream lines(errors.text());
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("Traceback (most recent call last)")) return true;
  }
  return false;
}

Verdict cannotTest(std::string detail) { return {.kind = VerdictKind::CannotTest, .detail = std::move(detail)}; }

Verdict failure(std::string fingerprint) {
  Verdict verdict{.kind = VerdictKind::Fails, .fingerprint = std::move(fingerprint)};
  verdict.detail = verdict.fingerprint;
  return verdict;
}

Verdict verdictOfCode(int code, const CommandOracleOptions& options, const ClippedText& errors) {
  if (code == 0) return {.kind = VerdictKind::Passes, .detail = "exit 0"};
  if (code == cannotTestCode) return cannotTest("exit 125: the command cannot test this candidate");
  if (code > 128) return failure(fmt::format("command:signal {}", code - 128));  // what a shell says of its child
  if (options.tracebackIsUntestable && hasTraceback(errors)) return cannotTest("the script raised an exception");
  return failure(fmt::format("command:exit {}", code));
}

/// By ContainedEnd, for those that say all themselves.
constexpr std::pair<ContainedEnd, std::string_view> limitNames[] = {
    {ContainedEnd::TimedOut, "command:timeout"},
    {ContainedEnd::Memory, "command:memory limit"},
    {ContainedEnd::Processes, "command:process limit"},
    {ContainedEnd::Output, "command:output limit"}};

Result<Verdict> verdictOfEnd(const ContainedResult& ended, const CommandOracleOptions& options) {
  if (ended.end == ContainedEnd::Cancelled) return fail(ErrorCode::Cancelled, "the command was stopped");
  for (const auto& [end, name] : limitNames)
    if (end == ended.end) return failure(std::string(name));
  if (ended.end == ContainedEnd::Signalled) return failure(fmt::format("command:signal {}", ended.status));
  return verdictOfCode(ended.status, options, ended.errors);
}

/// What verdicts depend on beside the command; empty for the usual limits.
std::string limitsText(const CandidateLimits& limits) {
  if (limits == CandidateLimits()) return {};
  return fmt::format(" memory={} processes={} output={} file={} clean={}[{}] network={}", limits.memoryBytes,
                     limits.processes, limits.outputBytes, limits.fileBytes, limits.cleanEnvironment,
                     fmt::join(limits.keptVariables, ","), limits.network);
}

}  // namespace

CommandOracle::CommandOracle(CommandOracleOptions options, Capture like, std::size_t graphIndex)
    : m_options(std::move(options)), m_like(std::move(like)), m_graphIndex(graphIndex) {}

Result<void> CommandOracle::writeRepro(const Candidate& candidate, const fs::path& folder) const {
  const CapturedGraph* like = m_graphIndex < m_like.graphs.size() ? &m_like.graphs[m_graphIndex] : nullptr;
  KERF_TRY(CapturedGraph graph, makeCapturedGraph(candidate.module, candidate.inputs, like));
  ExportOptions options{.fileName = std::string(reproName)};
  if (!m_options.accuracy.empty()) options.accuracy = m_options.accuracy;
  Capture capture = makeCapture(std::move(graph), m_like);
  stopDumping(capture.envelope);
  capture.graphs[0].envelope.reset();  // the capture has it
  KERF_CHECK(exportRepro(capture, 0, folder, options));
  return {};
}

Result<Verdict> CommandOracle::judge(const Candidate& candidate, std::stop_token stop) {
  KERF_TRY(const TemporaryFolder folder, TemporaryFolder::create());
  const Result<void> written = writeRepro(candidate, folder.path());
  if (!written) {
    if (written.error().code == ErrorCode::Environment) return std::unexpected(written.error());
    return cannotTest(written.error().text());
  }
  const std::string line = commandLine(m_options.command, folder.path() / reproName);
  KERF_TRY(const auto ended, runContained({.arguments = {"/bin/sh", "-c", line},
                                           .folder = folder.path(),
                                           .timeout = m_options.timeout,
                                           .limits = m_options.limits},
                                          std::move(stop)));
  return verdictOfEnd(ended, m_options);
}

std::string CommandOracle::identity() const {
  return fmt::format("command {} accuracy={} limit={}ms{}", m_options.command, m_options.accuracy,
                     m_options.timeout.count(), limitsText(m_options.limits));
}

CommandOracleOptions torchOracle(const std::string& python, bool accuracy) {
  CommandOracleOptions options;
  options.command = shellQuoted(python) + " {} minifier-query";
  options.timeout = std::chrono::minutes(5);
  options.accuracy = accuracy ? "True" : "False";
  options.tracebackIsUntestable = true;
  return options;
}

}  // namespace kerf::inline minifier::inline oracle
