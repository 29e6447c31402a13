// After how many iterations a while_loop is given up.
#pragma once

#include <cstdint>

namespace kerf::inline ops {

/// One million, or what a LoopLimit of this thread says.
std::int64_t loopLimit();

/// Gives up earlier while it lives: for trials that need not run to the end.
class LoopLimit {
 public:
  explicit LoopLimit(std::int64_t iterations);
  ~LoopLimit();
  LoopLimit(const LoopLimit&) = delete;
  LoopLimit& operator=(const LoopLimit&) = delete;

 private:
  std::int64_t m_before;
};

}  // namespace kerf::inline ops
