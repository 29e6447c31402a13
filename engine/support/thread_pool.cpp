#include "engine/support/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <unistd.h>

#include "engine/support/environment.h"
#include "engine/support/parallel_state.h"
#include "engine/support/spin_lock.h"

namespace kerf::inline support {
namespace {

thread_local bool insideLoop = false;
std::atomic<int> wantedThreads{0};

constexpr int piecesPerThread = 4;  // so that a thread that the machine gives little time to holds nobody up
constexpr int pausesPerLook = 64;   // at the clock, while a thread waits actively

using Clock = std::chrono::steady_clock;

/// How long a thread waits actively for the next loop. Waking a sleeping thread takes tens of microseconds, so where
/// loops follow one another within `longSpin` and cores abound, it stays awake between them.
constexpr auto longSpin = std::chrono::microseconds(1000);
constexpr auto shortSpin = std::chrono::microseconds(15);

int readDefaultThreads() {
  constexpr std::int64_t most = 1024;
  const int cores = int(std::max(1u, std::thread::hardware_concurrency()));
  return int(environmentNumber("KERF_NUM_THREADS", 1, most).value_or(cores));
}

int defaultThreads() {
  static const int count = readDefaultThreads();  // asking the system takes tens of microseconds
  return count;
}

bool coresAbound() {
  static const bool abound = std::thread::hardware_concurrency() >= 4;
  return abound;
}

constexpr std::size_t cacheLine = 64;

/// The pieces that one thread begins with: the same ones each time that a loop of this size comes, so that what it left
/// in its caches is used again. What all write has a cache line to itself.
struct alignas(cacheLine) Share {
  std::atomic<std::int64_t> next{0};
  std::int64_t end = 0;
};

/// One loop. Who has done its own share helps with the others'.
class Loop {
 public:
  const std::function<void(std::int64_t, std::int64_t)>* body = nullptr;

  void divide(std::int64_t size, std::int64_t step, int threads) {
    m_problem = nullptr;
    m_size = size;
    m_step = step;
    m_threads = threads;
    if (int(m_shares.size()) < threads) m_shares = std::vector<Share>(std::size_t(threads));
    const std::int64_t pieces = (size + step - 1) / step;
    for (int t = 0; t < threads; ++t) {
      Share& share = m_shares[std::size_t(t)];
      share.end = pieces * (t + 1) / threads;
      share.next.store(pieces * t / threads, std::memory_order_relaxed);
    }
    m_open.store(threads, std::memory_order_relaxed);
  }

  /// What a piece throws ends the loop, and is thrown by rethrow().
  void takePieces(int thread) {
    try {
      takeAll(thread);
    } catch (...) {
      const std::lock_guard guard(m_problemLock);
      if (!m_problem) m_problem = std::current_exception();
      for (Share& share : m_shares) share.next.store(share.end, std::memory_order_relaxed);
    }
  }
  /// When no thread works on it any more.
  void rethrow() {
    if (m_problem) std::rethrow_exception(std::exchange(m_problem, nullptr));
  }

 private:
  void takeAll(int thread) {
    for (int i = 0; i < m_threads && m_open.load(std::memory_order_relaxed) > 0; ++i) {
      Share& share = m_shares[std::size_t((thread + i) % m_threads)];
      if (i == 0 || share.next.load(std::memory_order_relaxed) < share.end) takeFrom(share);
    }
  }

  void takeFrom(Share& share) {
    for (;;) {
      const std::int64_t piece = share.next.fetch_add(1, std::memory_order_relaxed);
      if (piece == share.end) m_open.fetch_sub(1, std::memory_order_relaxed);  // for whoever finds it first
      if (piece >= share.end) return;
      (*body)(piece* m_step, std::min((piece + 1) * m_step, m_size));
    }
  }

  std::int64_t m_size = 0, m_step = 1;
  int m_threads = 0;
  std::vector<Share> m_shares;
  std::exception_ptr m_problem;
  SpinLock m_problemLock;
  alignas(cacheLine) std::atomic<int> m_open{0};  ///< shares that have pieces left
};

/// A thread that waits for its turn. `Offered` turns into `Taken` by the worker, or back into `Idle` by the owner of
/// the loop when the work is done before the worker woke up. No two of them share a cache line, which they look at all
/// the time.
class alignas(cacheLine) Worker {
 public:
  Worker(Loop& loop, int number) : m_loop(loop), m_number(number), m_thread([this] { work(); }) {}
  ~Worker() {
    m_state.store(Stop);
    m_state.notify_one();
    m_thread.join();
  }

  void offer() {
    m_state.store(Offered, std::memory_order_release);
    m_state.notify_one();
  }
  /// Afterwards the worker does not touch the loop.
  void withdraw() {
    int expected = Offered;
    if (m_state.compare_exchange_strong(expected, Idle, std::memory_order_acq_rel)) return;
    if (spinWhile(Taken, coresAbound() ? longSpin : shortSpin)) return;
    while (m_state.load(std::memory_order_acquire) == Taken) m_state.wait(Taken, std::memory_order_acquire);
  }

 private:
  enum State : int { Idle, Offered, Taken, Stop };

  void work() {
    insideLoop = true;
    for (;;) {
      const int state = waitForTurn();
      if (state == Stop) return;
      int expected = Offered;
      if (!m_state.compare_exchange_strong(expected, Taken, std::memory_order_acq_rel)) continue;
      m_loop.takePieces(m_number);
      m_state.store(Idle, std::memory_order_release);
      m_state.notify_one();
    }
  }

  /// Whether the state left `state` within `time`.
  bool spinWhile(int state, std::chrono::microseconds time) const {
    const auto end = Clock::now() + time;
    for (int i = 1; m_state.load(std::memory_order_acquire) == state; ++i) {
      relaxProcessor();
      if (i % pausesPerLook == 0 && Clock::now() > end) return false;
    }
    return true;
  }

  int waitForTurn() {
    const auto start = Clock::now();
    if (!spinWhile(Idle, m_spin))
      while (m_state.load(std::memory_order_acquire) == Idle) m_state.wait(Idle, std::memory_order_acquire);
    m_spin = coresAbound() && Clock::now() - start < longSpin ? longSpin : shortSpin;
    return m_state.load(std::memory_order_acquire);
  }

  Loop& m_loop;
  int m_number;
  std::atomic<int> m_state{Idle};
  std::chrono::microseconds m_spin = shortSpin;
  std::thread m_thread;
};

class Pool {
 public:
  Pool() : m_owner(::getpid()) {}
  pid_t owner() const { return m_owner; }

  void run(std::int64_t size, std::int64_t step, int threads,
           const std::function<void(std::int64_t, std::int64_t)>& body) {
    threads = raised(threads);
    m_loop.body = &body;
    m_loop.divide(size, step, threads);
    const auto helpers = std::size_t(threads - 1);
    for (std::size_t i = 0; i < helpers; ++i) m_workers[i]->offer();
    m_loop.takePieces(0);
    for (std::size_t i = 0; i < helpers; ++i) m_workers[i]->withdraw();
    m_loop.rethrow();
  }

 private:
  /// As many threads as the system gives, this one among them.
  int raised(int threads) {
    try {
      while (int(m_workers.size()) + 1 < std::min(threads, m_most))
        m_workers.push_back(std::make_unique<Worker>(m_loop, int(m_workers.size()) + 1));
    } catch (const std::exception&) {  // no thread, or no memory for its stack
      m_most = int(m_workers.size()) + 1;
    }
    return std::min(threads, int(m_workers.size()) + 1);
  }

  pid_t m_owner;
  int m_most = std::numeric_limits<int>::max();  ///< threads that the system gives
  Loop m_loop;
  std::vector<std::unique_ptr<Worker>> m_workers;
};

// One loop at a time uses the workers; another thread's loop runs on that thread alone meanwhile.
struct SharedPool {
  std::atomic_flag busy;
  std::unique_ptr<Pool> pool;
};
SharedPool& shared() {
  static SharedPool* const instance = new SharedPool;  // never destroyed: loops may run while statics go away
  return *instance;
}

}  // namespace

bool insideParallelFor() { return insideLoop; }

int threadCount() {
  const int wanted = wantedThreads.load(std::memory_order_relaxed);
  return wanted > 0 ? wanted : defaultThreads();
}

void setThreadCount(int count) { wantedThreads = std::max(1, count); }

void parallelFor(std::int64_t size, std::int64_t grain, const std::function<void(std::int64_t, std::int64_t)>& body) {
  if (size <= 0) return;
  const std::int64_t least = std::max<std::int64_t>(grain, 1);
  const std::int64_t threads = std::min<std::int64_t>(threadCount(), size / least);
  SharedPool& workers = shared();
  if (insideLoop || threads <= 1 || workers.busy.test_and_set(std::memory_order_acquire)) return body(0, size);
  struct Turn {  // also when a piece throws
    std::atomic_flag& busy;
    explicit Turn(std::atomic_flag& flag) : busy(flag) { insideLoop = true; }
    ~Turn() {
      insideLoop = false;
      busy.clear(std::memory_order_release);
    }
  } turn(workers.busy);
  const std::int64_t pieces = std::min(threads * piecesPerThread, size / least);
  const std::int64_t step = (size + pieces - 1) / pieces;
  // A forked child inherits the object but not its threads: such a pool is abandoned, never joined.
  if (workers.pool && workers.pool->owner() != ::getpid()) (void)workers.pool.release();
  if (!workers.pool) workers.pool = std::make_unique<Pool>();
  workers.pool->run(size, step, int(threads), body);
}

}  // namespace kerf::inline support
