#include "minifier/oracle/process_isolation.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <mutex>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/mathlib/math_threads.h"
#include "engine/support/log.h"
#include "engine/support/sanitizers.h"
#include "engine/support/thread_pool.h"

namespace kerf::inline minifier::inline oracle {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t headerBytes = sizeof(std::uint64_t);

struct Child {
  pid_t pid = -1;
  int pipe = -1;
  Clock::time_point started;
};

std::int64_t currentAddressSpace() {
  std::ifstream statm("/proc/self/statm");
  std::int64_t pages = 0;
  statm >> pages;
  return pages * ::sysconf(_SC_PAGESIZE);
}

void limit(int resource, rlim_t value) {
  const rlimit both{value, value};
  ::setrlimit(static_cast<__rlimit_resource_t>(resource), &both);
}

void restrictChild(const IsolationLimits& limits, std::int64_t inheritedBytes) {
  limit(RLIMIT_CORE, 0);
  if (!limits.limitResources) return;
  limit(RLIMIT_CPU, static_cast<rlim_t>(limits.timeout.count() / 1000 + 2));
  constexpr bool mapsTerabytes = addressSanitizer || threadSanitizer;  // of shadow memory
  if (!mapsTerabytes) limit(RLIMIT_AS, static_cast<rlim_t>(inheritedBytes + limits.memoryBytes));
}

void detachFromTerminal() {
  ::setpgid(0, 0);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGCHLD})
    std::signal(signal, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  const int null = ::open("/dev/null", O_RDWR);
  for (int fd = 0; fd < 3; ++fd) ::dup2(null, fd);
}

bool writeAll(int fd, const char* data, std::size_t size) {
  while (size > 0) {
    const ssize_t written = ::write(fd, data, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    data += written;
    size -= std::size_t(written);
  }
  return true;
}

[[noreturn]] void runChild(const std::function<std::string()>& body, const IsolationLimits& limits, int pipe,
                           pid_t parent, std::int64_t inheritedBytes) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  detachFromTerminal();
  restrictChild(limits, inheritedBytes);
  setThreadCount(1);
  setMathThreads(1);
  const std::string payload = body();
  const std::uint64_t size = payload.size();
  const bool sent = writeAll(pipe, reinterpret_cast<const char*>(&size), headerBytes) &&
                    writeAll(pipe, payload.data(), payload.size());
  ::_exit(sent ? 0 : 1);
}

// Pipe and fork happen under one lock: a sibling forked in between would hold the write end and hide the child's end.
Result<Child> startChild(const std::function<std::string()>& body, const IsolationLimits& limits) {
  static std::mutex forking;
  std::lock_guard lock(forking);
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    return fail(ErrorCode::Environment, "cannot make a pipe for a candidate process: {}", std::strerror(errno));
  const pid_t parent = ::getpid();
  const std::int64_t inheritedBytes = currentAddressSpace();
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::close(ends[0]);
    runChild(body, limits, ends[1], parent, inheritedBytes);
  }
  ::close(ends[1]);
  if (pid < 0) {
    ::close(ends[0]);
    return fail(ErrorCode::Environment, "cannot start a candidate process: {}", std::strerror(errno));
  }
  ::setpgid(pid, pid);
  return Child{pid, ends[0], Clock::now()};
}

enum class ReadEnd { Closed, TimedOut, Cancelled };

// Collects what the child writes until it closes the pipe, its time is over, or the caller wants to stop.
ReadEnd readUntilClosed(const Child& child, const IsolationLimits& limits, const std::stop_token& stop,
                        std::string& received) {
  const auto deadline = child.started + limits.timeout;
  std::array<char, 65536> buffer{};
  for (;;) {
    if (stop.stop_requested()) return ReadEnd::Cancelled;
    if (Clock::now() >= deadline) return ReadEnd::TimedOut;
    pollfd wait{child.pipe, POLLIN, 0};
    const int ready = ::poll(&wait, 1, 20);
    if (ready <= 0) continue;
    const ssize_t size = ::read(child.pipe, buffer.data(), buffer.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return ReadEnd::Closed;
    received.append(buffer.data(), std::size_t(size));
  }
}

int endChild(const Child& child, bool force) {
  if (force) ::kill(-child.pid, SIGKILL), ::kill(child.pid, SIGKILL);
  ::close(child.pipe);
  int status = 0;
  while (::waitpid(child.pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

bool takePayload(const std::string& received, std::string& payload) {
  if (received.size() < headerBytes) return false;
  std::uint64_t size = 0;
  std::memcpy(&size, received.data(), headerBytes);
  if (received.size() - headerBytes != size) return false;
  payload = received.substr(headerBytes);
  return true;
}

void logEnd(const Child& child, const IsolatedOutcome& outcome) {
  static constexpr std::array<const char*, 4> ends{"ended", "crashed", "was out of time", "was cancelled"};
  logAt(LogCategory::Run, LogLevel::Debug, "process {} {} after {:.1f} ms{}", child.pid,
        ends.at(std::size_t(outcome.exit)), double(outcome.time.count()) / 1e6,
        outcome.exit == IsolatedExit::Crashed ? " by " + outcome.signalName() : "");
}

}  // namespace

std::string IsolatedOutcome::signalName() const {
  if (signal == 0) return fmt::format("exit {}", status);
  const char* name = ::sigabbrev_np(signal);
  return name ? fmt::format("SIG{}", name) : fmt::format("signal {}", signal);
}

Result<IsolatedOutcome> runIsolated(const std::function<std::string()>& body, const IsolationLimits& limits,
                                    std::stop_token stop) {
  KERF_TRY(const Child child, startChild(body, limits));
  std::string received;
  const ReadEnd end = readUntilClosed(child, limits, stop, received);
  const int status = endChild(child, end != ReadEnd::Closed);
  IsolatedOutcome outcome;
  outcome.time = Clock::now() - child.started;
  if (end == ReadEnd::Cancelled)
    outcome.exit = IsolatedExit::Cancelled;
  else if (end == ReadEnd::TimedOut)
    outcome.exit = IsolatedExit::TimedOut;
  else if (!takePayload(received, outcome.payload))
    outcome.exit = IsolatedExit::Crashed;
  if (outcome.exit == IsolatedExit::Crashed) {
    outcome.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    if (outcome.signal == SIGXCPU) outcome.exit = IsolatedExit::TimedOut;
  }
  logEnd(child, outcome);
  return outcome;
}

}  // namespace kerf::inline minifier::inline oracle
