// Copy on write: data that copies share until one of them changes it, and the number by which a change is seen.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

namespace kerf::inline ir {

/// What `shared` holds, as the only owner: a copy of it where others look at it too.
template <class T>
T& ownCopy(std::shared_ptr<T>& shared) {
  if (shared.use_count() > 1) shared = std::make_shared<T>(*shared);
  std::atomic_thread_fence(std::memory_order_acquire);
  return *shared;
}

/// Changes whenever its owner does. Copies keep it, so within one process owners of one revision have one content. What
/// is still empty, or was moved from, has revision 0.
class Revision {
 public:
  Revision() = default;
  Revision(const Revision&) = default;
  Revision& operator=(const Revision&) = default;
  Revision(Revision&& other) noexcept : m_number(std::exchange(other.m_number, 0)) {}
  Revision& operator=(Revision&& other) noexcept {
    m_number = std::exchange(other.m_number, 0);
    return *this;
  }

  std::uint64_t number() const { return m_number; }
  /// A number that nothing else has or had.
  void renew() { m_number = s_last.fetch_add(1, std::memory_order_relaxed) + 1; }

 private:
  inline static std::atomic<std::uint64_t> s_last = 0;
  std::uint64_t m_number = 0;
};

}  // namespace kerf::inline ir
