#include "app/graph_server/mailbox.h"

#include <atomic>
#include <chrono>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace kerf::graph_server {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::microseconds looked{200};  ///< after a call, before the thread sleeps
constexpr timespec nap{0, 50'000'000};            ///< after which it looks whether it is still wanted

std::uint32_t load(std::uint32_t* word) { return std::atomic_ref(*word).load(std::memory_order_seq_cst); }
void store(std::uint32_t* word, std::uint32_t value) { std::atomic_ref(*word).store(value, std::memory_order_seq_cst); }

void pauseALittle() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

Mailbox::Mailbox(std::shared_ptr<SharedRegion> region, Call call)
    : m_region(std::move(region)),
      m_call(std::move(call)),
      m_thread([this](const std::stop_token& stop) { serve(stop); }) {}

Mailbox::~Mailbox() {
  m_thread.request_stop();
  syscall(SYS_futex, word(Asked), FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

void Mailbox::awaitCall(std::uint32_t last) {
  for (const auto begin = Clock::now(); Clock::now() - begin < looked;)
    for (int i = 0; i < 64; ++i) {
      if (load(word(Asked)) != last) return;
      pauseALittle();
    }
  store(word(ServerSleeps), 1);
  if (load(word(Asked)) == last) syscall(SYS_futex, word(Asked), FUTEX_WAIT, last, &nap, nullptr, 0);
  store(word(ServerSleeps), 0);
}

void Mailbox::serve(const std::stop_token& stop) {
  for (std::uint32_t last = 0; !stop.stop_requested();) {
    const std::uint32_t asked = load(word(Asked));
    if (asked == last) {
      awaitCall(last);
      continue;
    }
    last = asked;
    store(word(Status), std::uint32_t(m_call(load(word(Graph)))));
    store(word(Answered), asked);
    if (load(word(ClientSleeps)) != 0) syscall(SYS_futex, word(Answered), FUTEX_WAKE, 1, nullptr, nullptr, 0);
  }
}

}  // namespace kerf::graph_server
