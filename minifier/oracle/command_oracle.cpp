// CommandOracle: a folder per candidate, a shell of which nothing is left, an exit code and what it printed.
#include "minifier/oracle/command_oracle.h"

#include <algorithm>
#include <span>

#include <fmt/ranges.h>

#include "engine/process/containment.h"
#include "engine/process/temporary_folder.h"
#include "minifier/oracle/command_files.h"
#include "minifier/oracle/exported_candidate.h"
#include "minifier/oracle/judging_environment.h"
#include "minifier/oracle/message_mask.h"
#include "minifier/oracle/python_failure.h"

namespace kerf::inline minifier::inline oracle {

namespace {

namespace fs = std::filesystem;

constexpr int cannotTestCode = 125;
constexpr std::string_view reproName = "repro.py";

std::string commandLine(std::string command, const fs::path& repro) {
  const std::string path = shellQuoted(repro.string());
  std::size_t at = command.find("{}");
  if (at == std::string::npos) return command + " " + path;
  for (; at != std::string::npos; at = command.find("{}", at + path.size())) command.replace(at, 2, path);
  return command;
}

Verdict cannotTest(std::string detail) { return {.kind = VerdictKind::CannotTest, .detail = std::move(detail)}; }

Verdict failure(std::string fingerprint) {
  Verdict verdict{.kind = VerdictKind::Fails, .fingerprint = std::move(fingerprint)};
  verdict.detail = verdict.fingerprint;
  return verdict;
}

constexpr std::size_t shownFrames = 3, shownMessage = 300;

std::string detailOf(const PythonFailure& raised) {
  const auto shown = std::span(raised.frames).first(std::min(shownFrames, raised.frames.size()));
  std::string message = tellingLine(raised.message);
  if (message.size() > shownMessage) message.resize(shownMessage);
  return fmt::format("{}: {} in {}", raised.exception, message, fmt::join(shown, " < "));
}

/// The exit code, and what the command says of its failure: two bugs of one script rarely differ in the code.
Verdict failureOfExit(int code, const std::string& errors) {
  Verdict verdict = failure(fmt::format("command:exit {}", code));
  if (const auto raised = lastTraceback(errors)) {
    verdict.fingerprint += ":" + pythonFingerprint(*raised);
    verdict.detail += ": " + detailOf(*raised);
  } else if (std::string line = lastTellingLine(errors); !line.empty()) {
    if (line.size() > shownMessage) line.resize(shownMessage);
    verdict.fingerprint += ":" + maskedMessage(line);
    verdict.detail += ": " + line;
  }
  return verdict;
}

Verdict verdictOfCode(int code, const ClippedText& errors) {
  if (code == 0) return {.kind = VerdictKind::Passes, .detail = "exit 0"};
  if (code == cannotTestCode) return cannotTest("exit 125: the command cannot test this candidate");
  if (code > 128) return failure(fmt::format("command:signal {}", code - 128));  // what a shell says of its child
  return failureOfExit(code, errors.text());
}

/// By ContainedEnd, for those that say all themselves.
constexpr std::pair<ContainedEnd, std::string_view> limitNames[] = {{ContainedEnd::TimedOut, "command:timeout"},
                                                                    {ContainedEnd::Memory, "command:memory limit"},
                                                                    {ContainedEnd::Processes, "command:process limit"},
                                                                    {ContainedEnd::Output, "command:output limit"}};

Result<Verdict> verdictOfEnd(const ContainedResult& ended) {
  if (ended.end == ContainedEnd::Cancelled) return fail(ErrorCode::Cancelled, "the command was stopped");
  for (const auto& [end, name] : limitNames)
    if (end == ended.end) return failure(std::string(name));
  if (ended.end == ContainedEnd::Signalled) return failure(fmt::format("command:signal {}", ended.status));
  return verdictOfCode(ended.status, ended.errors);
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
    : m_options(std::move(options)), m_like(std::move(like)), m_graphIndex(graphIndex) {
  std::error_code ignored;
  m_folder = fs::current_path(ignored);
}

Result<void> CommandOracle::writeRepro(const Candidate& candidate, const fs::path& folder) const {
  KERF_TRY(const Capture capture, exportedCandidate(candidate, m_like, m_graphIndex));
  const ExportOptions options{.fileName = std::string(reproName)};
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
  const std::string line = commandLine(commandFromAnywhere(m_options.command, m_folder), folder.path() / reproName);
  KERF_TRY(const auto ended, runContained({.arguments = {"/bin/sh", "-c", line},
                                           .folder = folder.path(),
                                           .timeout = m_options.timeout,
                                           .limits = m_options.limits},
                                          std::move(stop)));
  return verdictOfEnd(ended);
}

std::string CommandOracle::identity() const {
  return fmt::format("command {} limit={}ms{}", m_options.command, m_options.timeout.count(),
                     limitsText(m_options.limits));
}

std::string CommandOracle::circumstances() const {
  return fmt::format(" [verdicts=2 files={} environment={} launcher={}]",
                     hashOfCommandFiles(m_options.command, m_folder).hex(), environmentIdentity(),
                     launcherIdentity(m_like, m_graphIndex));
}

}  // namespace kerf::inline minifier::inline oracle
