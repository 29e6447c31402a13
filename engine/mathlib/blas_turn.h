// BlasTurn: a call of OpenBLAS where memory may be scarce. Each call needs a buffer of 128 MiB of address space; one
// that cannot have it does not fail but tries for ever. Private to mathlib.
#pragma once

#include <mutex>

namespace kerf::inline mathlib {

/// Lives as long as the call. Where a limited address space (ulimit -v) does not hold buffers for all threads, calls
/// take turns; std::bad_alloc where it holds none. Costs nothing once buffers are there.
class BlasTurn {
 public:
  BlasTurn();

 private:
  std::unique_lock<std::mutex> m_alone;
};

}  // namespace kerf::inline mathlib
