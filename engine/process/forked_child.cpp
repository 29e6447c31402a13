#include "engine/process/forked_child.h"

#include <csignal>

#include <fcntl.h>
#include <sys/resource.h>

#include "engine/process/owned_file.h"

namespace kerf::inline process {

void setLimit(int resource, std::int64_t value) {
  const rlimit both{rlim_t(value), rlim_t(value)};
  ::setrlimit(static_cast<__rlimit_resource_t>(resource), &both);
}

void offerToTheKernel() {
  const OwnedFile file(::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC));
  if (file.isOpen()) (void)!::write(file.number(), "800", 3);
}

void usualSignals() {
  for (int signal = 1; signal <= SIGSYS; ++signal)
    if (signal != SIGKILL && signal != SIGSTOP) std::signal(signal, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

}  // namespace kerf::inline process
