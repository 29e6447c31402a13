#include "engine/process/supervisor.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/process/forked_child.h"
#include "engine/process/process_tree.h"
#include "engine/process/supervision.h"
#include "engine/process/wait.h"

namespace kerf::inline process {

namespace {

constexpr int exitCannotContain = 120;

/// Keeps the files that a candidate needs, as standard ones, and drops every other that Kerf had open.
void keepOnly(const SupervisedCommand& command) {
  const int from[] = {::open("/dev/null", O_RDWR), command.output, command.errors, command.control};
  std::array<int, std::size(from)> high{};
  for (std::size_t i = 0; i < high.size(); ++i) high[i] = ::fcntl(from[i], F_DUPFD, 64);  // out of each other's way
  for (std::size_t i = 0; i < high.size(); ++i) ::dup2(high[i], int(i));
  ::fcntl(controlFile, F_SETFD, FD_CLOEXEC);
  ::close_range(controlFile + 1, ~0u, 0);
}

void tell(const SupervisorReport& report) { (void)::send(controlFile, &report, sizeof report, MSG_NOSIGNAL); }

[[noreturn]] void giveUp(std::string_view why) {
  SupervisorReport report{.end = SupervisorReport::End::CannotContain};
  why.copy(report.why.data(), report.why.size() - 1);
  tell(report);
  ::_exit(exitCannotContain);
}

pid_t forkOrGiveUp() {
  const pid_t pid = ::fork();
  if (pid < 0) giveUp(std::string("fork: ") + std::strerror(errno));
  return pid;
}

[[noreturn]] void superviseHere(const SupervisedCommand& command) {
  holdSignals();
  goFirst();
  tell(watchOver(command));
  ::_exit(0);
}

/// The first process of the namespace does the work. This one lends it its life: either ends with the other.
[[noreturn]] void superviseInside(const SupervisedCommand& command) {
  if (const auto wrong = enterNamespaces(command.limits.network); !wrong.empty()) giveUp(wrong);
  const pid_t first = forkOrGiveUp();
  if (first == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (const auto wrong = finishNamespace(); !wrong.empty()) giveUp(wrong);
    superviseHere(command);
  }
  ::close_range(outputFile, controlFile, 0);
  const int status = waitForEnd(first);
  ::_exit(WIFEXITED(status) ? WEXITSTATUS(status) : exitCannotContain);
}

/// The wait status of a child that is not to be stopped.
int endOfBusy(pid_t child) {
  for (int status = 0;;) {
    if (::waitpid(child, &status, WUNTRACED) < 0 && errno == EINTR) continue;
    if (!WIFSTOPPED(status)) return status;
    ::kill(child, SIGCONT);
  }
}

/// The supervisor below this one has the candidate as its child, which can end it (`kill -9 $PPID`), or stop it: it
/// runs as the same user. Then this one, which no candidate has as its parent, takes over what is left, ends it, and
/// reports the end of the other as the candidate's. It is told of Kerf's end by the other's: it has to live to clear
/// up.
[[noreturn]] void superviseBelow(const SupervisedCommand& command) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  if (const auto wrong = command.limits.network ? std::string() : leaveNetwork(); !wrong.empty()) giveUp(wrong);
  holdSignals();
  const pid_t watcher = forkOrGiveUp();
  if (watcher == 0) {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    superviseHere(command);
  }
  dropOutputs();
  goFirst();
  const int status = endOfBusy(watcher);
  if (WIFEXITED(status)) ::_exit(WEXITSTATUS(status));
  SupervisorReport report{.status = status};
  report.leftovers = int(processesBelow(::getpid(), mostCounted).size());
  endDescendants();
  tell(report);
  ::_exit(0);
}

}  // namespace

void superviseCommand(const SupervisedCommand& command, pid_t parent) {
  const bool inside = command.containment == Containment::Namespace;
  if (inside) ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(exitCannotContain);
  ::setsid();
  ::prctl(PR_SET_NAME, "kerf-supervisor");
  keepOnly(command);
  if (inside) superviseInside(command);
  superviseBelow(command);
}

}  // namespace kerf::inline process
