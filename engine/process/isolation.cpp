#include "engine/process/isolation.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <mutex>
#include <new>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/process/answer_pipe.h"
#include "engine/process/channel.h"
#include "engine/process/forbid_programs.h"
#include "engine/process/fork_gate.h"
#include "engine/process/forked_child.h"
#include "engine/process/guardian.h"
#include "engine/process/log_relay.h"
#include "engine/process/wait.h"
#include "engine/support/log.h"
#include "engine/support/running_time.h"
#include "engine/support/sanitizers.h"
#include "engine/support/thread_pool.h"

namespace kerf::inline process {
namespace {

using Clock = std::chrono::steady_clock;

struct Child {
  pid_t pid = -1;
  std::unique_ptr<Channel> pipe;
  Clock::time_point started;
};

std::int64_t currentAddressSpace() {
  std::ifstream statm("/proc/self/statm");
  std::int64_t pages = 0;
  statm >> pages;
  return pages * ::sysconf(_SC_PAGESIZE);
}

void restrictChild(const IsolationLimits& limits, std::int64_t inheritedBytes) {
  setLimit(RLIMIT_CORE, 0);
  offerToTheKernel();
  if (!limits.limitResources) return;
  setLimit(RLIMIT_FSIZE, limits.fileBytes);
  const int threads = limits.threads > 0 ? limits.threads : threadCount();
  setLimit(RLIMIT_CPU, limits.timeout.count() / 1000 * threads + 2);
  constexpr bool mapsTerabytes = addressSanitizer || threadSanitizer;  // of shadow memory
  if (!mapsTerabytes) setLimit(RLIMIT_AS, inheritedBytes + limits.memoryBytes);
}

void detachFromTerminal() {
  ::setpgid(0, 0);
  usualSignals();
  const int null = ::open("/dev/null", O_RDWR);
  for (int fd = 0; fd < 3; ++fd) ::dup2(null, fd);
}

int ownPipe = -1;

using Body = std::function<Frame(const SendEvent&)>;

[[noreturn]] void runChild(const Body& body, const IsolationLimits& limits, int pipe, pid_t parent,
                           std::int64_t inheritedBytes, const GuardianLine& guardian) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  detachFromTerminal();
  guardian.guardOwnGroup();
  restrictChild(limits, inheritedBytes);
  forbidPrograms();
  if (limits.threads > 0) setThreadCount(limits.threads);
  ownPipe = pipe;
  Channel channel(pipe);
  const LogRelay relay(channel);
  const Frame answer = body([&](std::string_view event) { (void)channel.send(FrameKind::Event, event); });
  dismissGuardian();  // of what the work guarded; after the answer this process is ended
  ::_exit(channel.send(answer.kind, answer.body) ? 0 : 1);
}

// Pipe and fork happen under one lock: a sibling forked in between would hold the write end and hide the child's end.
Result<Child> startChild(const Body& body, const IsolationLimits& limits) {
  static std::mutex forking;
  std::lock_guard lock(forking);
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    return fail(ErrorCode::Environment, "cannot make a pipe for a child process: {}", std::strerror(errno));
  const pid_t parent = ::getpid();
  const std::int64_t inheritedBytes = currentAddressSpace();
  const auto guardian = GuardianLine::toOwnGuardian();
  const pid_t pid = forkBetweenWork();
  if (pid == 0) {
    ::close(ends[0]);
    runChild(body, limits, ends[1], parent, inheritedBytes, guardian);
  }
  ::close(ends[1]);
  auto pipe = std::make_unique<Channel>(ends[0]);
  if (pid < 0) return fail(ErrorCode::Environment, "cannot start a child process: {}", std::strerror(errno));
  ::setpgid(pid, pid);
  return Child{pid, std::move(pipe), Clock::now()};
}

enum class ReadEnd { Answered, Ended, Broken, TimedOut, Cancelled };

/// Collects frames until the child has answered or ended, its time is over, or the caller wants to stop. A child whose
/// memory went wrong may send anything: what is no frame counts as its end. It may also have forked, so that its end of
/// the pipe stays open without it.
ReadEnd readUntilEnd(const Child& child, const IsolationLimits& limits, const std::stop_token& stop,
                     const OnEvent& onEvent, std::optional<Frame>& answer) {
  RunningTime time;  // the child runs on while this process is stopped
  for (;;) {
    if (stop.stop_requested()) return ReadEnd::Cancelled;
    if (time.elapsed() >= limits.timeout) return ReadEnd::TimedOut;
    const bool ended = hasEnded(child.pid);  // before reading: what it said until then is there
    auto frame = child.pipe->receive(std::chrono::milliseconds(20));
    if (!frame) return child.pipe->isClosed() ? ReadEnd::Ended : ReadEnd::Broken;
    if (!*frame && ended) return ReadEnd::Ended;
    if (!*frame) continue;
    if ((*frame)->kind == FrameKind::Log) {
      relayLog(**frame);
    } else if ((*frame)->kind != FrameKind::Event) {
      answer = std::move(*frame);
      return ReadEnd::Answered;
    } else if (onEvent) {
      onEvent((*frame)->body);
    }
  }
}

/// What has closed its end of the pipe is at its end and keeps its exit status; its children, which a kernel gone wrong
/// may have made, are not.
int endChild(const Child& child) {
  ::kill(-child.pid, SIGKILL), ::kill(child.pid, SIGKILL);
  child.pipe->close();
  const int status = waitForEnd(child.pid);
  releaseGroup(child.pid);
  return status;
}

void logEnd(const Child& child, const IsolatedOutcome& outcome) {
  static constexpr std::array<const char*, 4> ends{"ended", "crashed", "was out of time", "was cancelled"};
  logAt(LogCategory::Run, LogLevel::Debug, "process {} {} after {:.1f} ms{}", child.pid,
        ends.at(std::size_t(outcome.exit)), double(outcome.time.count()) / 1e6,
        outcome.exit == IsolatedExit::Crashed ? " by " + outcome.signalName() : "");
}

}  // namespace

int answerPipe() { return ownPipe; }

std::string IsolatedOutcome::signalName() const {
  if (signal == 0) return fmt::format("exit {}", status);
  return nameOfSignal(signal);
}

Result<IsolatedFrame> runIsolated(const Body& body, const IsolationLimits& limits, std::stop_token stop,
                                  const OnEvent& onEvent) {
  KERF_TRY(const Child child, startChild(body, limits));
  std::optional<Frame> answer;
  ReadEnd end{};
  try {
    end = readUntilEnd(child, limits, stop, onEvent, answer);
  } catch (const std::bad_alloc&) {  // its answer does not fit here
    endChild(child);
    throw;
  }
  const int status = endChild(child);
  IsolatedFrame ended;
  auto& outcome = ended.outcome;
  outcome.time = Clock::now() - child.started;
  outcome.exit = end == ReadEnd::Cancelled  ? IsolatedExit::Cancelled
                 : end == ReadEnd::TimedOut ? IsolatedExit::TimedOut
                 : end == ReadEnd::Answered ? IsolatedExit::Finished
                                            : IsolatedExit::Crashed;
  if (answer) ended.frame = std::move(*answer);
  if (outcome.exit == IsolatedExit::Crashed) {
    outcome.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    if (outcome.signal == SIGXCPU) outcome.exit = IsolatedExit::TimedOut;
  }
  logEnd(child, outcome);
  return ended;
}

}  // namespace kerf::inline process
