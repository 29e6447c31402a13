// Vectors of a given width, and kernels that are compiled for the widest one of the machine. Private to mathlib.
#pragma once

#include "engine/tensor/simd.h"

namespace kerf::inline mathlib {

/// A vector of `bytes`; sizes are written out, since an attribute takes no template argument.
template <class T, int bytes>
struct VectorOf;
template <>
struct VectorOf<float, 16> {
  using Type = float __attribute__((vector_size(16)));
  using Loose = float __attribute__((vector_size(16), aligned(4), may_alias));  // lies anywhere in memory
};
template <>
struct VectorOf<float, 32> {
  using Type = float __attribute__((vector_size(32)));
  using Loose = float __attribute__((vector_size(32), aligned(4), may_alias));  // lies anywhere in memory
};
template <>
struct VectorOf<float, 64> {
  using Type = float __attribute__((vector_size(64)));
  using Loose = float __attribute__((vector_size(64), aligned(4), may_alias));  // lies anywhere in memory
};
template <>
struct VectorOf<double, 16> {
  using Type = double __attribute__((vector_size(16)));
  using Loose = double __attribute__((vector_size(16), aligned(8), may_alias));  // lies anywhere in memory
};
template <>
struct VectorOf<double, 32> {
  using Type = double __attribute__((vector_size(32)));
  using Loose = double __attribute__((vector_size(32), aligned(8), may_alias));  // lies anywhere in memory
};
template <>
struct VectorOf<double, 64> {
  using Type = double __attribute__((vector_size(64)));
  using Loose = double __attribute__((vector_size(64), aligned(8), may_alias));  // lies anywhere in memory
};

/// Kernel<T, bytes> with the widest vectors that the machine has. Each width is compiled for its own instruction set
/// alone: perIsa would compile all three for each.
template <template <class, int> class Kernel, class T, class... Args>
void perWidth(Args... args) {
#if KERF_HAS_ISA_VARIANTS
  const Isa best = isa();
  if (best == Isa::Avx512) return tensor::detail::runAvx512<Kernel<T, 64>, Args...>(args...);
  if (best == Isa::Avx2) return tensor::detail::runAvx2<Kernel<T, 32>, Args...>(args...);
#endif
  tensor::detail::runBase<Kernel<T, 16>, Args...>(args...);
}

}  // namespace kerf::inline mathlib
