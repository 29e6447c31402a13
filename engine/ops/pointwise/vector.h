// Element-wise functions as programs over runs of doubles, for what the vector maths library computes. Floats go
// through double and are rounded once.
#pragma once

#include <algorithm>
#include <array>

#include "engine/mathlib/vector_math.h"
#include "engine/ops/pointwise/engine.h"

namespace kerf::inline ops {

namespace detail {

constexpr std::int64_t programLength = 256;

struct WidenKernel {
  KERF_KERNEL void run(const float* from, double* to, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) to[i] = double(from[i]);
  }
};
struct NarrowKernel {
  KERF_KERNEL void run(const double* from, float* to, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) to[i] = float(from[i]);
  }
};

template <class P>
void programOnDoubles(const void* const* in, void* out, std::int64_t count) {
  std::array<const double*, P::arity> sources;
  for (std::int64_t begin = 0; begin < count; begin += programLength) {
    for (std::size_t k = 0; k < P::arity; ++k) sources[k] = static_cast<const double*>(in[k]) + begin;
    P::run(sources.data(), static_cast<double*>(out) + begin, std::min(programLength, count - begin));
  }
}

template <class P>
void programOnFloats(const void* const* in, void* out, std::int64_t count) {
  alignas(64) double buffers[P::arity][programLength];
  alignas(64) double result[programLength];
  std::array<const double*, P::arity> sources;
  for (std::int64_t begin = 0; begin < count; begin += programLength) {
    const std::int64_t length = std::min(programLength, count - begin);
    for (std::size_t k = 0; k < P::arity; ++k) {
      perIsa<WidenKernel>(static_cast<const float*>(in[k]) + begin, &buffers[k][0], length);
      sources[k] = buffers[k];
    }
    P::run(sources.data(), &result[0], length);
    perIsa<NarrowKernel>(&result[0], static_cast<float*>(out) + begin, length);
  }
}

}  // namespace detail

/// One library function as a program.
template <VectorFunction function>
struct VectorUnary {
  static constexpr std::size_t arity = 1;
  static void run(const double* const* in, double* out, std::int64_t count) { vectorMath(function, in[0], out, count); }
};
template <VectorFunction function>
struct VectorBinary {
  static constexpr std::size_t arity = 2;
  static void run(const double* const* in, double* out, std::int64_t count) {
    vectorMath(function, in[0], in[1], out, count);
  }
};

/// Spec of a program `struct P { static constexpr std::size_t arity; static void run(const double* const* in, double*
/// out, std::int64_t count); }` over at most `detail::programLength` elements; `out` overlaps no input.
template <class P>
constexpr PointwiseSpec programSpec(Promotion promotion = Promotion::Floating,
                                    NumberRounding rounding = NumberRounding::ToResultType) {
  return {
      detail::programOnFloats<P>, detail::programOnDoubles<P>, nullptr, nullptr, int(P::arity), promotion, rounding};
}

/// A program of element functions before and after the library: y = After(x…, f(Before(x…))).
template <class Before, VectorFunction function, class After>
struct Around {
  static constexpr std::size_t arity = Before::arity;
  struct BeforeKernel {
    KERF_KERNEL void run(const double* const* in, double* out, std::int64_t count) {
      if constexpr (arity == 1)
        for (std::int64_t i = 0; i < count; ++i) out[i] = Before::apply(in[0][i]);
      else
        for (std::int64_t i = 0; i < count; ++i) out[i] = Before::apply(in[0][i], in[1][i]);
    }
  };
  struct AfterKernel {
    KERF_KERNEL void run(const double* const* in, double* out, std::int64_t count) {
      if constexpr (arity == 1)
        for (std::int64_t i = 0; i < count; ++i) out[i] = After::apply(in[0][i], out[i]);
      else
        for (std::int64_t i = 0; i < count; ++i) out[i] = After::apply(in[0][i], in[1][i], out[i]);
    }
  };
  static void run(const double* const* in, double* out, std::int64_t count) {
    perIsa<BeforeKernel>(in, out, count);
    vectorMath(function, out, out, count);
    perIsa<AfterKernel>(in, out, count);
  }
};

}  // namespace kerf::inline ops
