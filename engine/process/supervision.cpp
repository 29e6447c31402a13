#include "engine/process/supervision.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/process/argument_pointers.h"
#include "engine/process/forked_child.h"
#include "engine/process/process_tree.h"
#include "engine/process/wait.h"

namespace kerf::inline process {

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto shortestSample = 10ms;
constexpr int restPerSample = 4;  ///< looking takes little of the time, however many processes there are
constexpr auto longestRest = 250ms;
constexpr auto politeness = 300ms;  ///< between SIGTERM and SIGKILL
constexpr auto stubbornness = 10s;  ///< of processes that SIGKILL does not end, since they wait for a device
constexpr int tasksPerProcess = 16;

int niceness = 0;  ///< of this process before it went first: its command keeps that

/// The kernel's own limit on threads and processes of a user, far above the supervisor's, for what grows while that
/// looks away. A user namespace counts its own; elsewhere the user's other programs count as well. It is nothing to
/// root.
void limitTasks(const SupervisedCommand& command) {
  if (command.limits.processes <= 0) return;
  const auto others = command.containment == Containment::Namespace ? 0 : tasksOfUser();
  setLimit(RLIMIT_NPROC, others + std::int64_t{tasksPerProcess} * command.limits.processes + 512);
}

[[noreturn]] void becomeCommand(const SupervisedCommand& command, int problems) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  usualSignals();
  setLimit(RLIMIT_CORE, 0);
  limitTasks(command);
  ::setpriority(PRIO_PROCESS, 0, niceness);  // the kernel starts a child of who goes first at 0
  ::setsid();  // where the scheduler shares time between sessions, this one and the supervisor's have the same
  if (command.limits.fileBytes > 0) setLimit(RLIMIT_FSIZE, command.limits.fileBytes);
  offerToTheKernel();
  if (::chdir(command.folder.c_str()) == 0)
    ::execve(command.arguments.front().c_str(), pointersTo(command.arguments).data(),
             pointersTo(command.environment).data());
  const int problem = errno;
  (void)!::write(problems, &problem, sizeof problem);
  ::_exit(127);
}

/// Watches over one command.
class Supervision {
 public:
  explicit Supervision(const SupervisedCommand& command) : m_command(command) {}

  SupervisorReport run() {
    sigset_t childEnds;
    sigemptyset(&childEnds);
    sigaddset(&childEnds, SIGCHLD);
    m_signals = ::signalfd(-1, &childEnds, SFD_CLOEXEC | SFD_NONBLOCK);
    if (const int problem = start(); problem != 0)
      return {.end = SupervisorReport::End::CannotStart, .status = problem};
    while (!reap() && !m_over) waitAndLook();
    if (m_over) endPolitely();
    m_report.leftovers = int(processesBelow(::getpid(), mostCounted).size());
    if (m_command.containment == Containment::Subreaper) endDescendants();
    return m_report;
  }

 private:
  /// 0, or why the command could not start.
  int start() {
    std::array<int, 2> problems{};
    if (::pipe2(problems.data(), O_CLOEXEC) != 0) return errno;
    m_pid = ::fork();
    if (m_pid == 0) becomeCommand(m_command, problems[1]);
    int problem = m_pid < 0 ? errno : 0;
    ::close(problems[1]);
    if (m_pid > 0) (void)!::read(problems[0], &problem, sizeof problem);
    ::close(problems[0]);
    if (problem != 0 && m_pid > 0) waitForEnd(m_pid);
    dropOutputs();
    return problem;
  }

  /// Whether the command itself has ended. Takes in everything that has, whoever left it.
  bool reap() {
    int status = 0;
    for (pid_t pid = 0; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;) {
      if (pid != m_pid) continue;
      m_ended = true;
      m_report.status = status;
    }
    return m_ended;
  }

  void waitAndLook() {
    std::array<pollfd, 2> files{{{m_signals, POLLIN, 0}, {controlFile, POLLIN, 0}}};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(m_nextSample - Clock::now());
    ::poll(files.data(), files.size(), std::clamp(int(left.count()), 0, 1000));
    if (files[0].revents != 0) forgetSignals();
    if (files[1].revents != 0) return finish(SupervisorReport::End::Ordered);  // or Kerf is gone
    if (Clock::now() >= m_nextSample) look();
  }

  void look() {
    const auto began = Clock::now();
    const auto& limits = m_command.limits;
    const auto most = limits.processes > 0 ? std::size_t(limits.processes) : std::size_t(-2);
    const auto living = processesBelow(::getpid(), most + 1);
    if (living.size() > most) finish(SupervisorReport::End::Processes);
    if (limits.memoryBytes > 0 && memoryOf(living, limits.memoryBytes) > limits.memoryBytes)
      finish(SupervisorReport::End::Memory);
    const auto now = Clock::now();
    m_nextSample = now + std::clamp<Clock::duration>((now - began) * restPerSample, shortestSample, longestRest);
  }

  void finish(SupervisorReport::End end) {
    m_report.end = end;
    m_over = true;
  }

  /// SIGTERM, and SIGCONT for those that are stopped; whoever is still there after a while gets no choice. None at all
  /// has what is over a limit: it would use up more.
  void endPolitely() {
    if (m_report.end != SupervisorReport::End::Ordered) return;
    for (const auto pid : processesBelow(::getpid(), mostCounted))
      for (const int signal : {SIGTERM, SIGCONT}) ::kill(pid, signal);
    const auto deadline = Clock::now() + politeness;
    while (!reap() && Clock::now() < deadline) {
      pollfd wait{m_signals, POLLIN, 0};
      ::poll(&wait, 1, 10);
      forgetSignals();
    }
  }

  void forgetSignals() const {
    signalfd_siginfo ignored;
    while (::read(m_signals, &ignored, sizeof ignored) > 0) {
    }
  }

  const SupervisedCommand& m_command;
  SupervisorReport m_report;
  pid_t m_pid = -1;
  int m_signals = -1;
  bool m_ended = false, m_over = false;
  Clock::time_point m_nextSample = Clock::now() + shortestSample;
};

}  // namespace

void holdSignals() {
  usualSignals();
  sigset_t held;
  sigemptyset(&held);
  for (const int signal : {SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGPIPE, SIGQUIT, SIGALRM, SIGUSR1, SIGUSR2})
    sigaddset(&held, signal);
  ::sigprocmask(SIG_SETMASK, &held, nullptr);
}

void goFirst() {
  niceness = ::getpriority(PRIO_PROCESS, 0);
  const sched_param lowest{.sched_priority = 1};
  (void)::sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &lowest);
}

void dropOutputs() {
  for (const int file : {int(outputFile), int(errorsFile)}) ::dup2(0, file);
}

SupervisorReport watchOver(const SupervisedCommand& command) { return Supervision(command).run(); }

/// Whether this process has a child, and no list of processes, tells when it is done: what forks and ends at once,
/// again and again, is in no list.
void endDescendants() {
  for (const auto deadline = Clock::now() + stubbornness;;) {
    pid_t ended = 0;
    do ended = ::waitpid(-1, nullptr, WNOHANG);
    while (ended > 0);
    if (ended < 0 || Clock::now() >= deadline) return;
    killBelow(::getpid());
  }
}

}  // namespace kerf::inline process
