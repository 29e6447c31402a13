#include "engine/tensor/storage.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <new>

#include <unistd.h>

#include "engine/tensor/block_cache.h"
#include "engine/tensor/empty.h"
#include "engine/tensor/storage_limit.h"
#include "engine/tensor/storage_peak.h"

namespace kerf::inline tensor {
namespace {

constexpr std::int64_t alignment = 64;
constexpr std::int64_t alwaysAllowed = 4096;  // scalars and shapes are never refused

std::atomic<std::int64_t> liveBytes{0};
std::atomic<std::int64_t> peakBytes{0};
std::atomic<std::int64_t> ownLimit{0};  // of this process; 0: none

void countLive(std::int64_t bytes) {
  const std::int64_t now = liveBytes.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  std::int64_t known = peakBytes.load(std::memory_order_relaxed);
  while (now > known && !peakBytes.compare_exchange_weak(known, now, std::memory_order_relaxed)) {
  }
}

std::int64_t physicalMemory() {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long pageSize = ::sysconf(_SC_PAGESIZE);
  if (pages <= 0 || pageSize <= 0) return std::numeric_limits<std::int64_t>::max();
  return std::int64_t(pages) * pageSize;
}

std::int64_t controlGroupMemory() {
  std::int64_t bytes = std::numeric_limits<std::int64_t>::max();
  for (const char* path : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    std::int64_t value = 0;
    if (std::ifstream file(path); file >> value && value > 0) bytes = std::min(bytes, value);
  }
  return bytes;
}

std::int64_t roundUp(std::int64_t bytes) {
  return std::max(alignment, (bytes + alignment - 1) / alignment * alignment);
}

/// Memory for a storage of `bytes`, counted as live.
Result<std::byte*> takeMemory(std::int64_t bytes, bool& zeroed) {
  if (bytes < 0) return fail(ErrorCode::BadInput, "a storage cannot have {} bytes", bytes);
  if (bytes > alwaysAllowed && bytes > storageLimit() - liveStorageBytes())
    return fail(ErrorCode::TooLarge, "{} more bytes of tensor data exceed this machine's {} bytes ({} in use)", bytes,
                storageLimit(), liveStorageBytes());
  const std::int64_t own = ownLimit.load(std::memory_order_relaxed);
  if (own > 0 && bytes > alwaysAllowed && bytes > own - liveStorageBytes())
    return fail(ErrorCode::TooLarge, Hint{Advice::RaiseMemory},
                "{} more bytes of tensor data exceed the limit of {} bytes ({} in use)", bytes, own,
                liveStorageBytes());
  if (bytes > (1 << 20) && bytes > storageLimit() - liveStorageBytes() - keptBlockBytes()) releaseBlocks();
  std::byte* memory = takeBlock(roundUp(bytes), zeroed);
  if (memory == nullptr) return fail(ErrorCode::TooLarge, "this process cannot have {} bytes of memory", bytes);
  countLive(roundUp(bytes));
  return memory;
}

/// Owner of a block that was not cleared: Storage itself only ever owns zero-filled ones.
struct EmptyBlock {
  std::byte* memory;
  std::int64_t bytes;
  ~EmptyBlock() {
    returnBlock(memory, bytes);
    liveBytes.fetch_sub(bytes, std::memory_order_relaxed);
  }
};

}  // namespace

Result<StoragePtr> emptyStorage(std::int64_t bytes) {
  bool zeroed = false;
  KERF_TRY(std::byte* const memory, takeMemory(bytes, zeroed));
  auto owner = std::make_shared<const EmptyBlock>(memory, roundUp(bytes));
  return Storage::borrow(memory, bytes, std::move(owner));
}

void limitLiveStorage(std::int64_t bytes) {
  ownLimit.store(bytes > 0 ? liveStorageBytes() + bytes : 0, std::memory_order_relaxed);
}

std::int64_t storageLimit() {
  static const std::int64_t limit = std::min(physicalMemory(), controlGroupMemory());
  return limit;
}

std::int64_t liveStorageBytes() { return liveBytes.load(std::memory_order_relaxed); }

std::int64_t takePeakStorageBytes() {
  const std::int64_t now = liveStorageBytes();
  return std::max(now, peakBytes.exchange(now, std::memory_order_relaxed));
}

Result<std::shared_ptr<Storage>> Storage::allocate(std::int64_t bytes) {
  bool zeroed = false;
  KERF_TRY(std::byte* const memory, takeMemory(bytes, zeroed));
  if (!zeroed) std::memset(memory, 0, std::size_t(roundUp(bytes)));
  return std::shared_ptr<Storage>(new Storage(memory, bytes, nullptr));
}

std::shared_ptr<Storage> Storage::borrow(std::byte* data, std::int64_t bytes, std::shared_ptr<const void> owner) {
  static const auto nobody = std::make_shared<int>(0);  // marks memory as not ours when the caller names no owner
  return std::shared_ptr<Storage>(new Storage(data, bytes, owner ? std::move(owner) : nobody));
}

Storage::~Storage() {
  if (m_owner) return;
  const std::int64_t rounded = roundUp(m_bytes);
  returnBlock(m_data, rounded);
  liveBytes.fetch_sub(rounded, std::memory_order_relaxed);
}

}  // namespace kerf::inline tensor
