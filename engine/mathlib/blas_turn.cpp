#include "engine/mathlib/blas_turn.h"

#include <atomic>
#include <new>
#include <vector>

#include <dlfcn.h>
#include <pthread.h>

#include "engine/support/out_of_memory.h"
#include "engine/support/thread_pool.h"

namespace kerf::inline mathlib {
namespace {

enum class Room : int { Unknown, ForAll, ForOne };

std::atomic<Room> room{Room::Unknown};
std::mutex turns;

/// OpenBLAS keeps buffers for later calls: those that it is made to have now are there then.
void haveBuffers(int count) {
  using Alloc = void* (*)(int);
  using Free = void (*)(void*);
  static const auto alloc = reinterpret_cast<Alloc>(::dlsym(RTLD_DEFAULT, "blas_memory_alloc"));
  static const auto free = reinterpret_cast<Free>(::dlsym(RTLD_DEFAULT, "blas_memory_free"));
  if (alloc == nullptr || free == nullptr) return;
  std::vector<void*> buffers;
  buffers.reserve(std::size_t(count));
  for (int i = 0; i < count; ++i) buffers.push_back(alloc(0));
  for (void* buffer : buffers) free(buffer);
}

Room findRoom() {
  const std::lock_guard guard(turns);
  if (const Room known = room.load(std::memory_order_acquire); known != Room::Unknown) return known;
  if (addressSpaceIsFree()) {
    room.store(Room::ForAll, std::memory_order_release);
    return Room::ForAll;
  }
  const Room found = spaceHoldsThreads(threadCount()) ? Room::ForAll : Room::ForOne;
  if (found == Room::ForOne && !spaceHoldsThreads(1)) throw std::bad_alloc();
  haveBuffers(found == Room::ForAll ? threadCount() : 1);
  room.store(found, std::memory_order_release);
  return found;
}

// No call is going on while a child is made, which may have another limit.
void beforeFork() { turns.lock(); }
void afterFork() { turns.unlock(); }
void afterForkInChild() {
  room.store(Room::Unknown, std::memory_order_relaxed);
  turns.unlock();
}
const int forkHandler = ::pthread_atfork(beforeFork, afterFork, afterForkInChild);

}  // namespace

BlasTurn::BlasTurn() {
  Room known = room.load(std::memory_order_acquire);
  if (known == Room::Unknown) known = findRoom();
  if (known == Room::ForOne) m_alone = std::unique_lock(turns);
}

}  // namespace kerf::inline mathlib
