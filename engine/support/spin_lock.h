// SpinLock: for a few instructions that many threads come to at once, where a mutex would put them to sleep and wake
// them by the system, which takes a hundred times as long.
#pragma once

#include <atomic>
#include <thread>

namespace kerf::inline support {

/// Lets the other thread of this core go ahead while this one waits.
inline void relaxProcessor() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

/// BasicLockable, so that std::lock_guard takes it. Who waits long lets others run.
class SpinLock {
 public:
  void lock() {
    constexpr int patience = 200;
    for (int tries = 1; m_taken.test_and_set(std::memory_order_acquire); ++tries)
      for (; m_taken.test(std::memory_order_relaxed); ++tries)
        tries % patience == 0 ? std::this_thread::yield() : relaxProcessor();
  }
  void unlock() { m_taken.clear(std::memory_order_release); }

 private:
  std::atomic_flag m_taken;
};

}  // namespace kerf::inline support
