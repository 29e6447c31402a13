#include "engine/distributed/processes/shared_ring.h"

#include <algorithm>
#include <cstring>

namespace kerf::inline distributed::inline processes {

std::size_t SharedRing::put(std::span<const char> bytes) {
  const std::uint64_t written = m_head->written.load(std::memory_order_relaxed);
  const std::uint64_t taken = written - m_head->read.load(std::memory_order_acquire);
  if (taken > m_size) return 0;
  const std::size_t count = std::min<std::size_t>(bytes.size(), m_size - std::size_t(taken));
  const std::size_t at = std::size_t(written % m_size), first = std::min(count, m_size - at);
  if (first > 0) std::memcpy(m_bytes + at, bytes.data(), first);
  if (count > first) std::memcpy(m_bytes, bytes.data() + first, count - first);
  m_head->written.store(written + count, std::memory_order_release);
  return count;
}

bool SharedRing::takeAll(std::vector<char>& into) {
  const std::uint64_t read = m_head->read.load(std::memory_order_relaxed);
  const std::uint64_t there = m_head->written.load(std::memory_order_acquire) - read;
  if (there > m_size) return false;
  const std::size_t at = std::size_t(read % m_size), first = std::min(std::size_t(there), m_size - at);
  into.insert(into.end(), m_bytes + at, m_bytes + at + first);
  into.insert(into.end(), m_bytes, m_bytes + (std::size_t(there) - first));
  m_head->read.store(read + there, std::memory_order_release);
  return true;
}

}  // namespace kerf::inline distributed::inline processes
