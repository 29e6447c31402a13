// CommandOracle: a folder per candidate, a shell in a process group of its own, an exit code.
#include "minifier/oracle/command_oracle.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>

#include "engine/capture/repro/writer.h"
#include "engine/process/isolation.h"
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

[[noreturn]] void execShell(const std::string& line, const fs::path& folder) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int errors = ::open((folder / "stderr.txt").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (errors >= 0) ::dup2(errors, 2);
  if (::chdir(folder.c_str()) == 0) ::execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
  ::_exit(127);
}

/// The shell's wait status. Runs in the candidate process: the shell is its child, so that time limits and cancelling
/// end both.
Result<int> runShell(const std::string& line, const fs::path& folder) {
  const pid_t shell = ::fork();
  if (shell < 0) return fail(ErrorCode::Environment, "cannot run the check command: {}", std::strerror(errno));
  if (shell == 0) execShell(line, folder);
  int status = 0;
  while (::waitpid(shell, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

bool hasTraceback(const fs::path& folder) {
  std::ifstream errors(folder / "stderr.txt");
  std::string line;
  while (std::getline(errors, line)) {
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

Verdict verdictOfStatus(int status, const CommandOracleOptions& options, const fs::path& folder) {
  if (WIFSIGNALED(status)) return failure(fmt::format("command:signal {}", WTERMSIG(status)));
  const int code = WEXITSTATUS(status);
  if (code == 0) return {.kind = VerdictKind::Passes, .detail = "exit 0"};
  if (code == cannotTestCode) return cannotTest("exit 125: the command cannot test this candidate");
  if (code > 128) return failure(fmt::format("command:signal {}", code - 128));  // what a shell says of its child
  if (options.tracebackIsUntestable && hasTraceback(folder)) return cannotTest("the script raised an exception");
  return failure(fmt::format("command:exit {}", code));
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
  const IsolationLimits limits{.timeout = m_options.timeout, .limitResources = false};
  const std::function body = [&](const SendEvent&) { return runShell(line, folder.path()); };
  KERF_TRY(const auto ended, callIsolated<int>(body, limits, std::move(stop)));
  const auto exit = ended.outcome.exit;
  if (exit == IsolatedExit::Cancelled) return fail(ErrorCode::Cancelled, "the command was stopped");
  if (exit == IsolatedExit::TimedOut) return failure("command:timeout");
  if (exit == IsolatedExit::Crashed) return fail(ErrorCode::Environment, "cannot run the check command");
  KERF_TRY(const int status, *ended.answer);
  return verdictOfStatus(status, m_options, folder.path());
}

std::string CommandOracle::identity() const {
  return fmt::format("command {} accuracy={} limit={}ms", m_options.command, m_options.accuracy,
                     m_options.timeout.count());
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
