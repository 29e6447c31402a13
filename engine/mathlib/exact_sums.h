// ExactSums: while one lives, sums and matrix products started by its thread are formed without rounding and rounded
// once.
#pragma once

#include <utility>

#include "engine/mathlib/super_accumulator.h"
#include "engine/tensor/dtype.h"

namespace kerf::inline mathlib {

class ExactSums {
 public:
  ExactSums() : m_before(std::exchange(wantedHere(), true)) {}
  ~ExactSums() { wantedHere() = m_before; }
  ExactSums(const ExactSums&) = delete;
  ExactSums& operator=(const ExactSums&) = delete;

  /// Whether the calling thread wants them. Kernels ask before they split work over threads.
  static bool wanted() { return wantedHere(); }

 private:
  static bool& wantedHere() {
    static thread_local bool wanted = false;
    return wanted;
  }
  bool m_before;
};

/// Format of a real floating dtype.
inline FloatFormat formatOf(DType dtype) {
  if (dtype == DType::Float32) return {24, -149};
  if (dtype == DType::BFloat16) return {8, -133};
  if (dtype == DType::Float16) return {11, -24};
  return {};
}

}  // namespace kerf::inline mathlib
