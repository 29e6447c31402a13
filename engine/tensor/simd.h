// perIsa: one kernel compiled for several instruction sets, the best of which is chosen when the program runs.
#pragma once

#include <cstdint>

#if defined(__x86_64__) && defined(__GNUC__)
#define KERF_HAS_ISA_VARIANTS 1
#if defined(__clang__)
#define KERF_TARGET_AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")))
#else
#define KERF_TARGET_AVX512 \
  __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c,prefer-vector-width=512")))
#endif
#define KERF_TARGET_AVX2 __attribute__((target("avx2,fma,f16c")))
#else
#define KERF_HAS_ISA_VARIANTS 0
#endif

/// For the body of a kernel that perIsa runs: it must be inlined into each variant.
#define KERF_KERNEL __attribute__((always_inline)) static inline

namespace kerf::inline tensor {

enum class Isa : std::uint8_t { Base, Avx2, Avx512 };

/// The best instruction set that this machine has and Kerf uses.
inline Isa isa() {
#if KERF_HAS_ISA_VARIANTS
  static const Isa best = [] {
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
      return Isa::Avx512;
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? Isa::Avx2 : Isa::Base;
  }();
  return best;
#else
  return Isa::Base;
#endif
}

namespace detail {

template <class Kernel, class... Args>
void runBase(Args... args) {
  Kernel::run(args...);
}
#if KERF_HAS_ISA_VARIANTS
template <class Kernel, class... Args>
KERF_TARGET_AVX2 void runAvx2(Args... args) {
  Kernel::run(args...);
}
template <class Kernel, class... Args>
KERF_TARGET_AVX512 void runAvx512(Args... args) {
  Kernel::run(args...);
}
#endif

}  // namespace detail

/// Kernel::run(args…), where `struct Kernel { KERF_KERNEL void run(Args… args) {…} };`. Arguments are passed by value.
template <class Kernel, class... Args>
inline void perIsa(Args... args) {
#if KERF_HAS_ISA_VARIANTS
  const Isa best = isa();
  if (best == Isa::Avx512) return detail::runAvx512<Kernel, Args...>(args...);
  if (best == Isa::Avx2) return detail::runAvx2<Kernel, Args...>(args...);
#endif
  detail::runBase<Kernel, Args...>(args...);
}

}  // namespace kerf::inline tensor
