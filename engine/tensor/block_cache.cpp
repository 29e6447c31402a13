#include "engine/tensor/block_cache.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <mutex>
#include <utility>
#include <vector>

#include <pthread.h>
#include <sys/mman.h>

#include "engine/support/sanitizers.h"
#include "engine/support/spin_lock.h"
#include "engine/tensor/storage.h"

namespace kerf::inline tensor {
namespace {

constexpr std::int64_t alignment = 64;
constexpr std::int64_t smallest = 4096;           // below, the C library is as fast
constexpr std::int64_t mapThreshold = 1 << 20;    // from here on straight from the kernel, which gives zero pages
constexpr std::int64_t hugeThreshold = 4 << 20;   // large enough for transparent huge pages to save page faults
constexpr std::int64_t alwaysKept = 1LL << 30;    // of all blocks together, on a machine of any size
constexpr std::int64_t keptFreely = 128LL << 20;  // above the most that was in use at once
constexpr int stepsPerDoubling = 8;               // size classes: at most an eighth of a block is unused
constexpr std::size_t classCount = 64 * stepsPerDoubling;

constexpr bool keepsBlocks = !addressSanitizer;  // it sees more when memory really is given back

/// Bytes of the size class that holds `bytes`, and the class's number.
struct SizeClass {
  std::int64_t bytes;
  std::size_t index;
};
SizeClass classOf(std::int64_t bytes) {
  const auto size = std::uint64_t(std::max(bytes, smallest));
  const int doubling = std::bit_width(size) - 1;
  const std::uint64_t step = (std::uint64_t{1} << doubling) / stepsPerDoubling;
  const std::uint64_t rounded = (size + step - 1) / step * step;
  const int finalDoubling = std::bit_width(rounded) - 1;
  const std::uint64_t within =
      (rounded - (std::uint64_t{1} << finalDoubling)) / ((std::uint64_t{1} << finalDoubling) / stepsPerDoubling);
  return {std::int64_t(rounded), std::size_t(finalDoubling) * stepsPerDoubling + std::size_t(within)};
}

/// Of all blocks together: a quarter of the machine, since clearing the pages of a step's gradients takes as long as
/// computing many of them.
std::int64_t mostKept() {
  static const std::int64_t most = std::max(alwaysKept, storageLimit() / 4);
  return most;
}

struct Kept {
  SpinLock lock;  ///< attention's tiles, one on each thread, take and return blocks at the same moments
  std::vector<std::byte*> blocks[classCount];
  std::uint64_t lastTaken[classCount] = {};  ///< when a block of the class was last asked for
  std::uint64_t takes = 0;
  std::int64_t bytes = 0;
  std::int64_t inUse = 0, mostInUse = 0;  ///< bytes of blocks that were given out, now and since all were released
  std::int64_t asked = 0;                 ///< bytes that the system may refuse yet

  void countTaken(const SizeClass& size) {
    inUse += size.bytes;
    mostInUse = std::max(mostInUse, inUse);
  }
  std::byte* dropKept(const SizeClass& size) {
    std::byte* const block = blocks[size.index].back();
    blocks[size.index].pop_back();
    bytes -= size.bytes;
    return block;
  }
  std::byte* takeKept(const SizeClass& size) {
    if (blocks[size.index].empty()) return nullptr;
    countTaken(size);
    return dropKept(size);
  }
  bool isAboveMost() const { return inUse + asked + bytes > std::max(mostInUse, inUse + asked) + keptFreely; }
  /// The class with blocks that nobody has asked for the longest.
  std::size_t longestIdle() const {
    std::size_t idle = classCount;
    for (std::size_t i = 0; i < classCount; ++i)
      if (!blocks[i].empty() && (idle == classCount || lastTaken[i] < lastTaken[idle])) idle = i;
    return idle;
  }
};

Kept& kept() {
  static Kept* const instance = new Kept;  // storages may outlive static objects
  return *instance;
}

// A child made by fork() must find the lock free.
void lockBeforeFork() { kept().lock.lock(); }
void unlockAfterFork() { kept().lock.unlock(); }
const bool forkHandlerInstalled = ::pthread_atfork(lockBeforeFork, unlockAfterFork, unlockAfterFork) == 0;

void giveToSystem(std::byte* block, std::int64_t bytes) {
  if (bytes < mapThreshold)
    std::free(block);
  else
    ::munmap(block, std::size_t(bytes));
}

std::byte* takeFromSystem(std::int64_t bytes, bool& zeroed) {
  const auto size = std::size_t(bytes);
  zeroed = bytes >= mapThreshold;
  if (!zeroed) return static_cast<std::byte*>(std::aligned_alloc(alignment, size));
  void* memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  if (bytes >= hugeThreshold) ::madvise(memory, size, MADV_HUGEPAGE);
  return static_cast<std::byte*>(memory);
}

/// Whether a block of `bytes` is counted, and kept when it comes back.
bool isCounted(std::int64_t bytes) { return keepsBlocks && forkHandlerInstalled && bytes >= smallest; }

std::int64_t bytesOfClass(std::size_t index) {
  const std::int64_t base = std::int64_t{1} << (index / stepsPerDoubling);
  return base + base / stepsPerDoubling * std::int64_t(index % stepsPerDoubling);
}

/// Hands back kept blocks of sizes that nobody has asked for the longest, so that what a process has stays little more
/// than the most that was in use in it at once. What each run takes again is kept: clearing its pages takes longer than
/// many a kernel.
void makeRoom() {
  Kept& store = kept();
  std::vector<std::pair<std::byte*, std::int64_t>> given;  // to the system, which takes its time, without the lock
  {
    const std::lock_guard guard(store.lock);
    while (store.bytes > 0 && store.isAboveMost()) {
      const std::size_t idle = store.longestIdle();
      const SizeClass size{bytesOfClass(idle), idle};
      given.emplace_back(store.dropKept(size), size.bytes);
    }
  }
  for (const auto& [block, size] : given) giveToSystem(block, size);
}

}  // namespace

std::byte* takeBlock(std::int64_t bytes, bool& zeroed) {
  zeroed = false;
  if (!isCounted(bytes)) return takeFromSystem((bytes + alignment - 1) / alignment * alignment, zeroed);
  const SizeClass size = classOf(bytes);
  Kept& store = kept();
  {
    const std::lock_guard guard(store.lock);
    store.lastTaken[size.index] = ++store.takes;
    if (std::byte* const block = store.takeKept(size)) return block;
    store.asked += size.bytes;
  }
  makeRoom();
  std::byte* block = takeFromSystem(size.bytes, zeroed);
  if (block == nullptr && keptBlockBytes() > 0) {
    releaseBlocks();
    block = takeFromSystem(size.bytes, zeroed);
  }
  const std::lock_guard guard(store.lock);
  store.asked -= size.bytes;
  if (block != nullptr) store.countTaken(size);
  return block;
}

void returnBlock(std::byte* block, std::int64_t bytes) {
  if (!isCounted(bytes)) return giveToSystem(block, (bytes + alignment - 1) / alignment * alignment);
  const SizeClass size = classOf(bytes);
  {
    Kept& store = kept();
    const std::lock_guard guard(store.lock);
    store.inUse -= size.bytes;
    if (size.bytes <= mostKept() / 2 && store.bytes + size.bytes <= mostKept()) {
      store.blocks[size.index].push_back(block);
      store.bytes += size.bytes;
      return;
    }
  }
  giveToSystem(block, size.bytes);
}

void releaseBlocks() {
  Kept& store = kept();
  std::vector<std::byte*> blocks[classCount];
  {
    const std::lock_guard guard(store.lock);
    std::ranges::swap(blocks, store.blocks);
    store.bytes = 0;
    store.mostInUse = store.inUse;
  }
  for (std::size_t index = 0; index < classCount; ++index)
    for (std::byte* block : blocks[index]) giveToSystem(block, bytesOfClass(index));
}

std::int64_t keptBlockBytes() {
  Kept& store = kept();
  const std::lock_guard guard(store.lock);
  return store.bytes;
}

}  // namespace kerf::inline tensor
