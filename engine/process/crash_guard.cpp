#include "engine/process/crash_guard.h"

#include <array>
#include <csetjmp>
#include <csignal>
#include <mutex>
#include <vector>

#include "engine/support/sanitizers.h"

namespace kerf::inline process {
namespace {

constexpr std::array<int, 4> crashes{SIGSEGV, SIGFPE, SIGILL, SIGABRT};

thread_local sigjmp_buf* innermost = nullptr;     ///< where a crash of this thread leads to
thread_local volatile std::sig_atomic_t met = 0;  ///< the signal that did

void onCrash(int signal) {
  sigjmp_buf* const escape = innermost;
  if (escape == nullptr) {  // not guarded: it ends the process when this returns
    std::signal(signal, SIG_DFL);
    ::raise(signal);
    return;
  }
  met = signal;
  siglongjmp(*escape, 1);
}

/// The handlers are there while any thread is guarded, and then what was there before.
class Handlers {
 public:
  Handlers() {
    const std::lock_guard lock(mutex);
    if (users++ > 0) return;
    struct sigaction ours{};
    ours.sa_handler = onCrash;
    ours.sa_flags = SA_ONSTACK;
    sigemptyset(&ours.sa_mask);
    for (std::size_t i = 0; i < crashes.size(); ++i) ::sigaction(crashes[i], &ours, &before[i]);
  }
  ~Handlers() {
    const std::lock_guard lock(mutex);
    if (--users > 0) return;
    for (std::size_t i = 0; i < crashes.size(); ++i) ::sigaction(crashes[i], &before[i], nullptr);
  }
  Handlers(const Handlers&) = delete;
  Handlers& operator=(const Handlers&) = delete;

 private:
  static inline std::mutex mutex;
  static inline int users = 0;
  static inline std::array<struct sigaction, crashes.size()> before{};
};

/// A stack for the handler: the thread's own may be what is full.
class HandlerStack {
 public:
  HandlerStack() : m_memory(std::size_t{64} << 10) {
    stack_t ours{};
    ours.ss_sp = m_memory.data();
    ours.ss_size = m_memory.size();
    ::sigaltstack(&ours, &m_before);
  }
  ~HandlerStack() { ::sigaltstack(&m_before, nullptr); }
  HandlerStack(const HandlerStack&) = delete;
  HandlerStack& operator=(const HandlerStack&) = delete;

 private:
  std::vector<char> m_memory;
  stack_t m_before{};
};

/// Nothing here has a destructor that a jump would skip. False: it crashed.
[[gnu::noinline]] bool cameToItsEnd(const std::function<void()>& work, sigjmp_buf* outer) {
  sigjmp_buf escape;
  if (sigsetjmp(escape, 1) != 0) return false;
  innermost = &escape;
  try {
    work();
  } catch (...) {
    innermost = outer;
    throw;
  }
  return true;
}

}  // namespace

std::optional<int> crashOf(const std::function<void()>& work) {
  if (addressSanitizer || threadSanitizer) {
    work();
    return std::nullopt;
  }
  const Handlers handlers;
  const HandlerStack stack;
  sigjmp_buf* const outer = innermost;
  const bool isWhole = cameToItsEnd(work, outer);
  innermost = outer;
  return isWhole ? std::nullopt : std::optional(int(met));
}

}  // namespace kerf::inline process
