// SharedRing: bytes from one process to another through memory that both see. One writes, one reads.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

namespace kerf::inline distributed::inline processes {

/// At the start of a ring's memory; zeroes are an empty ring. Each side moves only its own counter.
struct RingHead {
  alignas(64) std::atomic<std::uint64_t> written;
  alignas(64) std::atomic<std::uint64_t> read;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

class SharedRing {
 public:
  SharedRing() = default;
  SharedRing(RingHead* head, char* bytes, std::size_t size) : m_head(head), m_bytes(bytes), m_size(size) {}

  /// As many of the bytes as fit.
  std::size_t put(std::span<const char> bytes);
  /// Appends what is there. False where the other side's counter cannot be.
  bool takeAll(std::vector<char>& into);

 private:
  RingHead* m_head = nullptr;
  char* m_bytes = nullptr;
  std::size_t m_size = 0;
};

}  // namespace kerf::inline distributed::inline processes
