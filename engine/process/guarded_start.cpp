// Not posix_spawn(): between its end and an order to the guardian, this process may be killed, and the program goes on
// for ever. Here the child gives the order, before it becomes the program. Until then it runs on this process's memory,
// as after vfork(), which is quick however much memory there is; so it only calls what a signal handler may.
#include "engine/process/guarded_start.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "engine/process/argument_pointers.h"
#include "engine/process/guardian.h"
#include "engine/process/wait.h"

namespace kerf::inline process {

namespace {

struct GuardedStart {
  char* const* arguments;
  StandardFiles files;
  const GuardianLine& guardian;
  sigset_t mask;    ///< of the thread that starts it
  int failure = 0;  ///< the child's errno
};

/// By the system call: the C library and sanitizers keep tables of handlers, and those are the parent's here.
void useDefaultSignals() {
  constexpr std::size_t signalBytes = 8;                  // of the kernel's set
  const std::array<unsigned long, 8> defaultAction = {};  // SIG_DFL, without flags
  for (int number = 1; number < NSIG; ++number)
    if (number != SIGKILL && number != SIGSTOP)
      ::syscall(SYS_rt_sigaction, number, defaultAction.data(), nullptr, signalBytes);
}

/// dup2() to the same number changes nothing: the file would be closed as the program starts.
bool becomesStandard(int file, int standard) {
  return file == standard ? ::fcntl(standard, F_SETFD, 0) == 0 : ::dup2(file, standard) >= 0;
}

int becomeProgram(void* data) {
  auto& start = *static_cast<GuardedStart*>(data);
  if (::setpgid(0, 0) != 0) {  // refused where programs are forbidden: its group is that of the process that starts it
    start.failure = errno;
    ::_exit(127);
  }
  start.guardian.guardOwnGroup();
  useDefaultSignals();
  ::sigprocmask(SIG_SETMASK, &start.mask, nullptr);
  const int files[] = {start.files.in, start.files.out, start.files.errors};
  for (int standard = 0; standard < 3 && start.failure == 0; ++standard)
    if (!becomesStandard(files[standard], standard)) start.failure = errno;
  if (start.failure == 0) {
    ::execvp(start.arguments[0], start.arguments);
    start.failure = errno;
  }
  ::_exit(127);
}

/// -1 where no process is to be had. This process waits until the child is the program or has ended.
pid_t startOnThisMemory(GuardedStart& start, std::size_t arguments) {
  struct alignas(64) Line {
    std::array<std::byte, 64> bytes;
  };
  const std::size_t bytes = (std::size_t{64} << 10) + 2 * arguments * sizeof(char*);  // execvp() copies the arguments
  std::vector<Line> stack(bytes / sizeof(Line) + 1);
  return ::clone(becomeProgram, stack.data() + stack.size(), CLONE_VM | CLONE_VFORK | SIGCHLD, &start);
}

}  // namespace

Result<pid_t> startGuarded(const std::vector<std::string>& command, const StandardFiles& files) {
  const auto arguments = pointersTo(command);
  const auto guardian = GuardianLine::toOwnGuardian();
  GuardedStart start{.arguments = arguments.data(), .files = files, .guardian = guardian, .mask = {}};
  sigset_t all;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &start.mask);  // a handler would run in the child, on this memory
  const pid_t pid = startOnThisMemory(start, arguments.size());
  if (pid < 0) start.failure = errno;
  ::pthread_sigmask(SIG_SETMASK, &start.mask, nullptr);
  if (start.failure == 0) return pid;
  if (pid > 0) {
    waitForEnd(pid);
    releaseGroup(pid);
  }
  return fail(ErrorCode::Environment, "cannot start {}: {}", command.front(), std::strerror(start.failure));
}

}  // namespace kerf::inline process
