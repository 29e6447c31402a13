#include "engine/process/wait.h"

#include <cerrno>
#include <csignal>
#include <cstring>

#include <fmt/format.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/process/owned_file.h"

namespace kerf::inline process {

int waitForEnd(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

bool hasEnded(pid_t child) {
  siginfo_t info{};
  return ::waitid(P_PID, id_t(child), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0;
}

bool endsWithin(pid_t child, std::chrono::milliseconds time) {
  using Clock = std::chrono::steady_clock;
  constexpr int pause = 10;  // milliseconds, for systems without such files
  const OwnedFile process(int(::syscall(SYS_pidfd_open, child, 0)));
  for (const auto deadline = Clock::now() + time; !hasEnded(child);) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return false;
    pollfd file{process.number(), POLLIN, 0};
    ::poll(&file, 1, process.isOpen() ? int(left) : std::min(int(left), pause));
  }
  return true;
}

std::string nameOfSignal(int signal) {
  const char* const name = ::sigabbrev_np(signal);
  return name != nullptr ? fmt::format("SIG{}", name) : fmt::format("signal {}", signal);
}

}  // namespace kerf::inline process
