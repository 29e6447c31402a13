// The element-wise engine: an op is a function over contiguous runs of float, double or int64; the engine does the rest
// (promotion, broadcasting, strides, conversion from and to the stored dtype, threads).
#pragma once

#include <limits>
#include <utility>

#include "engine/ops/core/op_call.h"
#include "engine/ops/core/op_row.h"
#include "engine/tensor/simd.h"

namespace kerf::inline ops {

/// out[i] = f(in[0][i], in[1][i], …) for `count` elements, all of one compute type; out overlaps no input.
using ChunkFunction = void (*)(const void* const* in, void* out, std::int64_t count);

enum class Promotion : std::uint8_t {
  Same,           ///< result and computation in the promoted type
  Floating,       ///< as Same, integers become float32 first
  ToBool,         ///< computed in the promoted type, result bool
  ConditionFirst  ///< first operand is a condition and takes no part in promotion (where)
};

/// How Python numbers enter a float16 or bfloat16 computation: exact (in float), or rounded to the tensor's type.
enum class NumberRounding : std::uint8_t { ToResultType, Exact };

struct PointwiseSpec {
  ChunkFunction f32 = nullptr;
  ChunkFunction f64 = nullptr;
  ChunkFunction i64 = nullptr;      ///< null: not for integers
  ChunkFunction boolean = nullptr;  ///< over int64 zeros and ones, instead of i64 when the promoted type is bool
  int arity = 1;
  Promotion promotion = Promotion::Same;
  NumberRounding rounding = NumberRounding::ToResultType;
  bool allowBool = true;
  bool checkDivisor = false;  ///< an integer zero in the second operand is an error
  /// Another spec by the call's other arguments (a rounding mode, `approximate="tanh"`).
  const PointwiseSpec* (*select)(const BoundArguments&) = nullptr;
  /// For uint64 instead of i64, whose numbers from 2^63 are negative: over uint64_t; null where the sign plays no part.
  ChunkFunction u64 = nullptr;
};

namespace detail {

template <class F, class T, std::size_t... I>
struct ChunkKernel {
  KERF_KERNEL void run(const void* const* in, void* out, std::int64_t count) {
    T* const target = static_cast<T*>(out);
    const T* const source[] = {static_cast<const T*>(in[I])...};
    for (std::int64_t i = 0; i < count; ++i) target[i] = F::apply(source[I][i]...);
  }
};

template <class F, class T, std::size_t... I>
void runChunk(const void* const* in, void* out, std::int64_t count, std::index_sequence<I...>) {
  perIsa<ChunkKernel<F, T, I...>>(in, out, count);
}

template <class F, class T>
void chunkOf(const void* const* in, void* out, std::int64_t count) {
  runChunk<F, T>(in, out, count, std::make_index_sequence<F::arity>());
}

}  // namespace detail

/// Spec of a functor `struct F { static constexpr int arity; template <class T> static T apply(T…); }`.
template <class F>
constexpr PointwiseSpec floatSpec(Promotion promotion = Promotion::Floating,
                                  NumberRounding rounding = NumberRounding::ToResultType) {
  return {detail::chunkOf<F, float>, detail::chunkOf<F, double>, nullptr, nullptr, F::arity, promotion, rounding};
}
template <class F>
constexpr PointwiseSpec numberSpec(Promotion promotion = Promotion::Same,
                                   NumberRounding rounding = NumberRounding::ToResultType) {
  return {detail::chunkOf<F, float>,
          detail::chunkOf<F, double>,
          detail::chunkOf<F, std::int64_t>,
          nullptr,
          F::arity,
          promotion,
          rounding};
}
/// What order, quotients or magnitudes decide: uint64 needs a function of its own.
template <class F>
constexpr PointwiseSpec withUnsigned(PointwiseSpec spec) {
  spec.u64 = detail::chunkOf<F, std::uint64_t>;
  return spec;
}
template <class F>
constexpr PointwiseSpec ordered = withUnsigned<F>(numberSpec<F>());
/// Integers and bool only.
template <class F>
constexpr PointwiseSpec integerSpec() {
  return {nullptr, nullptr, detail::chunkOf<F, std::int64_t>, nullptr, F::arity, Promotion::Same};
}

/// Operands of a call: the Tensor and Scalar arguments in schema order, as many as the spec takes.
Result<Tensor> pointwiseMeta(const BoundArguments& args, const PointwiseSpec& spec, const ValueList& operands);
/// Fills an existing tensor of the broadcast shape; computes in the type `compute`.
Result<void> runPointwiseInto(const BoundArguments& args, const PointwiseSpec& spec, const ValueList& operands,
                              DType compute, const Tensor& out);

/// Shape rule and kernel of every row that has a PointwiseSpec.
Result<Value> pointwiseShape(const BoundArguments& args);
Result<Value> pointwiseKernel(const BoundArguments& args);

/// A pointwise row in one line.
constexpr OpRow pointwiseRow(const char* schema, const PointwiseSpec& spec) {
  return {schema, OpTrait::Pointwise, pointwiseShape, pointwiseKernel, &spec};
}

}  // namespace kerf::inline ops

// `KERF_ELEMENT1(Exp, std::exp(x))` declares a functor for the specs above.
#define KERF_ELEMENT1(Name, expression)              \
  struct Name {                                      \
    [[maybe_unused]] static constexpr int arity = 1; \
    template <class T>                               \
    static T apply([[maybe_unused]] T x) {           \
      return T(expression);                          \
    }                                                \
  }
#define KERF_ELEMENT2(Name, expression)                          \
  struct Name {                                                  \
    [[maybe_unused]] static constexpr int arity = 2;             \
    template <class T>                                           \
    static T apply([[maybe_unused]] T x, [[maybe_unused]] T y) { \
      return T(expression);                                      \
    }                                                            \
  }
#define KERF_ELEMENT3(Name, expression)                                                \
  struct Name {                                                                        \
    [[maybe_unused]] static constexpr int arity = 3;                                   \
    template <class T>                                                                 \
    static T apply([[maybe_unused]] T x, [[maybe_unused]] T y, [[maybe_unused]] T z) { \
      return T(expression);                                                            \
    }                                                                                  \
  }
#define KERF_ELEMENT4(Name, expression)                                                                      \
  struct Name {                                                                                              \
    [[maybe_unused]] static constexpr int arity = 4;                                                         \
    template <class T>                                                                                       \
    static T apply([[maybe_unused]] T x, [[maybe_unused]] T y, [[maybe_unused]] T z, [[maybe_unused]] T w) { \
      return T(expression);                                                                                  \
    }                                                                                                        \
  }
