#include "engine/mathlib/blas_turn.h"

#include <algorithm>
#include <atomic>
#include <new>
#include <vector>

#include <dlfcn.h>
#include <pthread.h>

#include "engine/support/out_of_memory.h"
#include "engine/support/thread_pool.h"

namespace kerf::inline mathlib {
namespace {

enum class BufferSpace : int { Unknown, ForAllThreads, ForOneThread };

std::atomic<BufferSpace> bufferSpace{BufferSpace::Unknown};
std::mutex turns;

constexpr int mostBuffers = 64;  // OpenBLAS has places for a few more

int buffers = 0;  ///< that OpenBLAS has; a child finds them where they were

/// OpenBLAS keeps buffers for later calls: those that it is made to have now are there then.
void haveBuffers(int count) {
  using Alloc = void* (*)(int);
  using Free = void (*)(void*);
  static const auto alloc = reinterpret_cast<Alloc>(::dlsym(RTLD_DEFAULT, "blas_memory_alloc"));
  static const auto free = reinterpret_cast<Free>(::dlsym(RTLD_DEFAULT, "blas_memory_free"));
  if (alloc == nullptr || free == nullptr) return;
  std::vector<void*> taken;
  for (int i = 0; i < count; ++i)
    if (void* const buffer = alloc(0)) taken.push_back(buffer);
  for (void* buffer : taken) free(buffer);
  buffers = std::max(buffers, count);
}

BufferSpace findBufferSpace() {
  const std::lock_guard guard(turns);
  if (const BufferSpace known = bufferSpace.load(std::memory_order_acquire); known != BufferSpace::Unknown)
    return known;
  if (addressSpaceIsFree()) {
    bufferSpace.store(BufferSpace::ForAllThreads, std::memory_order_release);
    return BufferSpace::ForAllThreads;
  }
  const int wanted = std::min(threadCount(), mostBuffers);
  const BufferSpace found =
      buffers >= wanted || spaceHoldsThreads(wanted - buffers) ? BufferSpace::ForAllThreads : BufferSpace::ForOneThread;
  if (found == BufferSpace::ForOneThread && buffers == 0 && !spaceHoldsThreads(1)) throw std::bad_alloc();
  haveBuffers(found == BufferSpace::ForAllThreads ? wanted : 1);
  bufferSpace.store(found, std::memory_order_release);
  return found;
}

// Where calls take turns none is going on while a child is made, which may have another limit.
void beforeFork() { turns.lock(); }
void afterFork() { turns.unlock(); }
void afterForkInChild() {
  bufferSpace.store(BufferSpace::Unknown, std::memory_order_relaxed);
  turns.unlock();
}
const int forkHandler = ::pthread_atfork(beforeFork, afterFork, afterForkInChild);

}  // namespace

BlasTurn::BlasTurn() {
  BufferSpace known = bufferSpace.load(std::memory_order_acquire);
  if (known == BufferSpace::Unknown) known = findBufferSpace();
  if (known == BufferSpace::ForOneThread) m_alone = std::unique_lock(turns);
}

}  // namespace kerf::inline mathlib
