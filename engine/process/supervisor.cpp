#include "engine/process/supervisor.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/process/process_tree.h"

namespace kerf::inline process {

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto shortestSample = 10ms;
constexpr int restPerSample = 4;  ///< looking takes little of the time, however many processes there are
constexpr auto longestRest = 250ms;
constexpr auto politeness = 300ms;  ///< between SIGTERM and SIGKILL
constexpr std::size_t mostCounted = 1000;
constexpr int tasksPerProcess = 16;
constexpr int exitCannotContain = 120;

/// The files of a supervisor, by number, once it has closed all others.
enum File : int { outputFile = 1, errorsFile = 2, controlFile = 3 };

std::vector<char*> pointersTo(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const auto& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

/// Keeps the files that a candidate needs, as standard ones, and drops every other that Kerf had open.
void keepOnly(const SupervisedCommand& command) {
  const int from[] = {::open("/dev/null", O_RDWR), command.output, command.errors, command.control};
  std::array<int, std::size(from)> high{};
  for (std::size_t i = 0; i < high.size(); ++i) high[i] = ::fcntl(from[i], F_DUPFD, 64);  // out of each other's way
  for (std::size_t i = 0; i < high.size(); ++i) ::dup2(high[i], int(i));
  ::fcntl(controlFile, F_SETFD, FD_CLOEXEC);
  ::close_range(controlFile + 1, ~0u, 0);
}

void setSignals(int how) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGQUIT, SIGALRM}) std::signal(signal, SIG_DFL);
  std::signal(SIGCHLD, SIG_DFL);
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGCHLD, SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, signal);
  if (how == SIG_SETMASK) sigemptyset(&set);
  ::sigprocmask(SIG_SETMASK, &set, nullptr);
}

void setLimit(int resource, std::int64_t value) {
  const rlimit both{rlim_t(value), rlim_t(value)};
  ::setrlimit(static_cast<__rlimit_resource_t>(resource), &both);
}

/// When memory runs out, this goes before anything else of the user's.
void offerToTheKernel() {
  const int file = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (file < 0) return;
  (void)!::write(file, "800", 3);
  ::close(file);
}

/// The kernel's own limit on threads and processes of a user, far above the supervisor's, for what grows while that
/// looks away. A user namespace counts its own; elsewhere the user's other programs count as well. It is nothing to
/// root.
void limitTasks(const SupervisedCommand& command) {
  const auto others = command.containment == Containment::Namespace ? 0 : tasksOfUser();
  setLimit(RLIMIT_NPROC, others + std::int64_t{tasksPerProcess} * command.limits.processes + 512);
}

[[noreturn]] void becomeCommand(const SupervisedCommand& command, int problems) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  setSignals(SIG_SETMASK);
  setLimit(RLIMIT_CORE, 0);
  limitTasks(command);
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

/// A fork bomb must not keep its supervisor from running; only root may ask for so much.
void goFirst() {
  const sched_param lowest{.sched_priority = 1};
  (void)::sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &lowest);
}

/// Watches over one command. Its process is the first of a PID namespace, or a subreaper.
class Supervision {
 public:
  explicit Supervision(const SupervisedCommand& command) : m_command(command) {}

  SupervisorReport run() {
    sigset_t childEnds;
    sigemptyset(&childEnds);
    sigaddset(&childEnds, SIGCHLD);
    m_signals = ::signalfd(-1, &childEnds, SFD_CLOEXEC | SFD_NONBLOCK);
    if (const int problem = start(); problem != 0) return {SupervisorReport::End::CannotStart, problem, 0};
    while (!reap() && !m_over) waitAndLook();
    if (m_over) endPolitely();
    m_report.leftovers = int(processesBelow(::getpid(), mostCounted).size());
    if (m_report.leftovers > 0) endAll();
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
    if (problem != 0 && m_pid > 0) ::waitpid(m_pid, nullptr, 0);
    // The candidate's end of a pipe must be the only one.
    for (const int file : {outputFile, errorsFile}) ::dup2(0, file);
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
    const auto living = processesBelow(::getpid(), std::size_t(limits.processes) + 1);
    if (limits.processes > 0 && int(living.size()) > limits.processes) finish(SupervisorReport::End::Processes);
    if (limits.memoryBytes > 0 && memoryOf(living, limits.memoryBytes) > limits.memoryBytes)
      finish(SupervisorReport::End::Memory);
    const auto now = Clock::now();
    m_nextSample = now + std::clamp<Clock::duration>((now - began) * restPerSample, shortestSample, longestRest);
  }

  void finish(SupervisorReport::End end) {
    m_report.end = end;
    m_over = true;
  }

  /// SIGTERM, and SIGCONT for those that are stopped; whoever is still there after a while gets no choice.
  void endPolitely() {
    const bool harmful = m_report.end != SupervisorReport::End::Ordered;
    for (const auto pid : processesBelow(::getpid(), mostCounted))
      for (const int signal : {SIGTERM, SIGCONT})
        if (!harmful) ::kill(pid, signal);
    const auto deadline = Clock::now() + (harmful ? 0ms : politeness);
    while (!reap() && Clock::now() < deadline) {
      pollfd wait{m_signals, POLLIN, 0};
      ::poll(&wait, 1, 10);
      forgetSignals();
    }
  }

  /// A PID namespace needs no help: it ends with this process.
  void endAll() {
    if (m_command.containment == Containment::Namespace) return;
    constexpr int tries = 3;  // what changed its parent while one of them looked
    for (int i = 0; i < tries; ++i) {
      killBelow(::getpid());
      reap();
      if (::waitpid(-1, nullptr, WNOHANG) < 0) return;  // no child is left, living or dead
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

[[noreturn]] void superviseHere(const SupervisedCommand& command) {
  setSignals(SIG_BLOCK);
  goFirst();
  const auto report = Supervision(command).run();
  (void)::send(controlFile, &report, sizeof report, MSG_NOSIGNAL);
  ::_exit(0);
}

/// The first process of the namespace does the work. This one lends it its life: either ends with the other.
[[noreturn]] void superviseInside(const SupervisedCommand& command) {
  if (!enterNamespaces(command.limits.network).empty()) ::_exit(exitCannotContain);
  const pid_t first = ::fork();
  if (first == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (!finishNamespace().empty()) ::_exit(exitCannotContain);
    superviseHere(command);
  }
  for (const int file : {int(outputFile), int(errorsFile), int(controlFile)}) ::close(file);
  int status = 0;
  while (first > 0 && ::waitpid(first, &status, 0) < 0 && errno == EINTR) {
  }
  ::_exit(first > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : exitCannotContain);
}

}  // namespace

void superviseCommand(const SupervisedCommand& command, pid_t parent) {
  const bool inside = command.containment == Containment::Namespace;
  ::prctl(PR_SET_PDEATHSIG,
          inside ? SIGKILL : SIGTERM);  // a subreaper is told by its socket, and must live to clear up
  if (::getppid() != parent) ::_exit(exitCannotContain);
  ::setsid();
  ::prctl(PR_SET_NAME, "kerf-supervisor");
  keepOnly(command);
  if (inside) superviseInside(command);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  if (!command.limits.network && !leaveNetwork().empty()) ::_exit(exitCannotContain);
  superviseHere(command);
}

}  // namespace kerf::inline process
