#include "engine/process/containment.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <mutex>
#include <optional>
#include <random>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/process/clean_environment.h"
#include "engine/process/owned_file.h"
#include "engine/process/process_tree.h"
#include "engine/process/supervisor.h"
#include "engine/process/wait.h"
#include "engine/support/log.h"
#include "engine/support/running_time.h"
#include "engine/tensor/storage.h"

namespace kerf::inline process {

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

/// How long a supervisor that was told to end may take, before it is killed itself.
constexpr auto supervisorPatience = 3s;

struct Supervisor {
  pid_t pid = -1;
  std::string mark;  ///< variable in the environment of all that it starts
  OwnedFile output, errors, control;
};

using Ends = std::array<int, 2>;

/// The near ends of pipes and socket stay, non-blocking; the far ones go to the supervisor.
struct Wires {
  std::array<OwnedFile, 3> near, far;
};

Result<Wires> makeWires() {
  Wires wires;
  for (std::size_t i = 0; i < wires.near.size(); ++i) {
    Ends ends{};
    const bool socket = i == 2;
    const int made =
        socket ? ::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) : ::pipe2(ends.data(), O_CLOEXEC);
    if (made != 0) return fail(ErrorCode::Environment, "cannot make a pipe for a command: {}", std::strerror(errno));
    wires.near.at(i) = OwnedFile(ends[0]);
    wires.far.at(i) = OwnedFile(ends[1]);
    ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  }
  return wires;
}

Result<SupervisedCommand> supervised(const ContainedCommand& command) {
  const auto& support = containmentSupport();
  static std::once_flag told;
  std::call_once(told, [&] {
    if (support.best == Containment::Subreaper)
      logAt(LogCategory::Run, LogLevel::Info,
            "this system makes no PID namespaces ({}): commands are held together by a subreaper", support.why);
  });
  if (!command.limits.network && !support.noNetworkWhy.empty())
    return fail(ErrorCode::Environment,
                "this system lets {} make no network namespace ({}), so that a command cannot be run without network",
                ::geteuid() == 0 ? "this root" : "this user", support.noNetworkWhy);
  SupervisedCommand made{.arguments = command.arguments, .folder = command.folder.string(), .limits = command.limits};
  made.environment =
      command.limits.cleanEnvironment ? cleanEnvironment(command.limits.keptVariables) : wholeEnvironment();
  if (made.limits.memoryBytes <= 0) made.limits.memoryBytes = usualMemoryLimit();
  made.containment = support.best == Containment::Namespace ? command.containment : Containment::Subreaper;
  return made;
}

/// Takes a copy: the ends of pipes and the mark are those of one attempt.
Result<Supervisor> startSupervisor(SupervisedCommand command) {
  KERF_TRY(auto wires, makeWires());
  static std::atomic<int> count = 0;
  std::string mark = fmt::format("KERF_CANDIDATE={}-{}-{:08x}", ::getpid(), ++count, std::random_device()());
  command.environment.push_back(mark);
  command.output = wires.far[0].number();
  command.errors = wires.far[1].number();
  command.control = wires.far[2].number();
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0) superviseCommand(command, parent);
  if (pid < 0) return fail(ErrorCode::Environment, "cannot start a supervisor: {}", std::strerror(errno));
  return Supervisor{pid, std::move(mark), std::move(wires.near[0]), std::move(wires.near[1]), std::move(wires.near[2])};
}

/// What can be read now, up to a megabyte: a writer may never pause. Closes a pipe that has ended.
void drain(OwnedFile& pipe, ClippedText& text) {
  constexpr int mostReads = 16;
  std::array<char, 65536> buffer;
  for (int i = 0; i < mostReads && pipe.isOpen(); ++i) {
    const auto count = ::read(pipe.number(), buffer.data(), buffer.size());
    if (count > 0) text.add({buffer.data(), std::size_t(count)});
    if (count > 0 && count < ssize_t(buffer.size())) return;
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return;
    if (count <= 0) pipe.close();
  }
}

bool isOver(const CandidateLimits& limits, const ContainedResult& result) {
  return result.output.bytes() + result.errors.bytes() > limits.outputBytes;
}

/// The conversation with one supervisor, until it has said its last word.
class Conversation {
 public:
  Conversation(Supervisor& supervisor, const ContainedCommand& command, ContainedResult& result)
      : m_supervisor(supervisor), m_command(command), m_result(result) {}

  std::optional<SupervisorReport> run(const std::stop_token& stop) {
    RunningTime time;  // the command runs on while this process is stopped
    for (;;) {
      if (!m_ordered && stop.stop_requested()) order(ContainedEnd::Cancelled);
      if (!m_ordered && time.elapsed() >= m_command.timeout) order(ContainedEnd::TimedOut);
      if (!m_ordered && isOver(m_command.limits, m_result)) order(ContainedEnd::Output);
      if (m_ordered && Clock::now() >= m_patience) return std::nullopt;
      if (auto report = listen(); report || m_deaf) return report;
    }
  }
  std::optional<ContainedEnd> ordered() const { return m_ordered; }

 private:
  void order(ContainedEnd why) {
    m_ordered = why;
    m_patience = Clock::now() + supervisorPatience;
    const auto word = SupervisorOrder::End;
    (void)::send(m_supervisor.control.number(), &word, sizeof word, MSG_NOSIGNAL);
  }

  std::optional<SupervisorReport> listen() {
    constexpr int pause = 50;  // milliseconds: how soon a stop is seen
    std::array<pollfd, 3> files{{{m_supervisor.output.number(), POLLIN, 0},
                                 {m_supervisor.errors.number(), POLLIN, 0},
                                 {m_supervisor.control.number(), POLLIN, 0}}};
    ::poll(files.data(), files.size(), pause);
    if (files[0].revents != 0) drain(m_supervisor.output, m_result.output);
    if (files[1].revents != 0) drain(m_supervisor.errors, m_result.errors);
    // Asked before the socket is read: what it said before it ended is heard. Its end of the socket tells nothing: a
    // process that was forked at the same time may hold it too.
    const bool ended = hasEnded(m_supervisor.pid);
    SupervisorReport report;
    const auto count = ::recv(m_supervisor.control.number(), &report, sizeof report, 0);
    m_deaf = count == 0 || (count < 0 && ended);
    return count == ssize_t(sizeof report) ? std::optional(report) : std::nullopt;
  }

  Supervisor& m_supervisor;
  const ContainedCommand& m_command;
  ContainedResult& m_result;
  std::optional<ContainedEnd> m_ordered;
  Clock::time_point m_patience;
  bool m_deaf = false;
};

/// A supervisor that gave no report, or does not end after it, may be stopped, or gone: what it watched over is ended
/// without it.
void endSupervisor(const Supervisor& supervisor, bool reported) {
  if (reported) ::kill(supervisor.pid, SIGCONT);  // one that was stopped after its last word
  if (!reported || !endsWithin(supervisor.pid, supervisorPatience)) {
    killBelow(supervisor.pid);
    ::kill(supervisor.pid, SIGKILL);
    killMarked(supervisor.mark);
  }
  waitForEnd(supervisor.pid);
}

/// How it ended by what the supervisor says.
void readReport(const SupervisorReport& report, ContainedResult& result) {
  using End = SupervisorReport::End;
  result.leftovers = report.leftovers;
  if (report.end == End::Memory || report.end == End::Processes) {
    result.end = report.end == End::Memory ? ContainedEnd::Memory : ContainedEnd::Processes;
  } else {
    result.end = WIFSIGNALED(report.status) ? ContainedEnd::Signalled : ContainedEnd::Exited;
    result.status = WIFSIGNALED(report.status) ? WTERMSIG(report.status) : WEXITSTATUS(report.status);
  }
}

/// What it was ended for goes before what the supervisor saw. Output is counted to its end, so that it is over its
/// limit or not whoever looked first.
void decideEnd(const std::optional<SupervisorReport>& report, std::optional<ContainedEnd> ordered,
               const CandidateLimits& limits, ContainedResult& result) {
  if (report) readReport(*report, result);
  const bool byItself = result.end == ContainedEnd::Exited || result.end == ContainedEnd::Signalled;
  if (!ordered && byItself && isOver(limits, result)) ordered = ContainedEnd::Output;
  if (!ordered) return;
  result.end = *ordered;
  result.status = 0;
}

/// One run under one supervisor. `notContained` says why there was none, if nothing was started for that.
Result<ContainedResult> attempt(const SupervisedCommand& made, const ContainedCommand& command,
                                const std::stop_token& stop, std::string& notContained) {
  using End = SupervisorReport::End;
  KERF_TRY(auto supervisor, startSupervisor(made));
  ContainedResult result;
  Conversation conversation(supervisor, command, result);
  const auto report = conversation.run(stop);
  endSupervisor(supervisor, report.has_value());
  drain(supervisor.output, result.output);
  drain(supervisor.errors, result.errors);
  const auto& name = command.arguments.front();
  if (!report && !conversation.ordered()) return fail(ErrorCode::Environment, "the supervisor of {} is gone", name);
  if (report && report->end == End::CannotStart)
    return fail(ErrorCode::Environment, "cannot start {}: {}", name, std::strerror(report->status));
  if (report && report->end == End::CannotContain) {
    notContained = report->why.data();
    return fail(ErrorCode::Environment, "cannot keep the processes of {} together: {}", name, notContained);
  }
  decideEnd(report, conversation.ordered(), command.limits, result);
  return result;
}

}  // namespace

std::int64_t usualMemoryLimit() { return storageLimit() / 2; }

Result<ContainedResult> runContained(const ContainedCommand& command, std::stop_token stop) {
  KERF_TRY(auto made, supervised(command));
  std::string notContained;
  auto result = attempt(made, command, stop, notContained);
  if (!notContained.empty() && made.containment == Containment::Namespace) {
    // There are just too many of them, as others' containers make them too.
    logAt(LogCategory::Run, LogLevel::Info, "no PID namespace now ({}): a command is held together by a subreaper",
          notContained);
    made.containment = Containment::Subreaper;
    result = attempt(made, command, stop, notContained);
  }
  if (result && result->leftovers > 0)
    logAt(LogCategory::Run, LogLevel::Debug, "{} processes that a command left were ended", result->leftovers);
  return result;
}

}  // namespace kerf::inline process
