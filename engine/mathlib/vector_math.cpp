#include "engine/mathlib/vector_math.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <string>

#include <dlfcn.h>

#include "engine/tensor/simd.h"

#if KERF_HAS_ISA_VARIANTS
#include <immintrin.h>
#endif

namespace kerf::inline mathlib {
namespace {

using Unary = double (*)(double);
using Binary = double (*)(double, double);

/// One function: its name in the C library, and the library's own scalar form of it.
struct Function {
  const char* name;
  Unary unary;
  Binary binary;
};

constexpr int functionCount = int(VectorFunction::Hypot) + 1;
// In the order of VectorFunction.
constexpr Function functions[functionCount] = {
    {"exp", ::exp, nullptr},     {"exp2", ::exp2, nullptr},   {"expm1", ::expm1, nullptr}, {"log", ::log, nullptr},
    {"log2", ::log2, nullptr},   {"log10", ::log10, nullptr}, {"log1p", ::log1p, nullptr}, {"sin", ::sin, nullptr},
    {"cos", ::cos, nullptr},     {"tan", ::tan, nullptr},     {"asin", ::asin, nullptr},   {"acos", ::acos, nullptr},
    {"atan", ::atan, nullptr},   {"sinh", ::sinh, nullptr},   {"cosh", ::cosh, nullptr},   {"tanh", ::tanh, nullptr},
    {"asinh", ::asinh, nullptr}, {"acosh", ::acosh, nullptr}, {"atanh", ::atanh, nullptr}, {"erf", ::erf, nullptr},
    {"erfc", ::erfc, nullptr},   {"pow", nullptr, ::pow},     {"atan2", nullptr, ::atan2}, {"hypot", nullptr, ::hypot},
};

/// Clang passes wide vectors in memory, where libmvec does not look, unless the whole file is for that instruction set.
#if defined(__clang__)
constexpr bool passesVectors = false;
#else
constexpr bool passesVectors = true;
#endif

/// The vector forms that glibc's libmvec has for the best instruction set, found when they are first wanted; null where
/// the library, the function or the instruction set is missing.
struct VectorForms {
  std::array<void*, functionCount> entry{};
  Isa best = isa();

  VectorForms() {
    void* const library =
        best == Isa::Base || !passesVectors ? nullptr : ::dlopen("libmvec.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return;
    for (int i = 0; i < functionCount; ++i) {
      const std::string prefix = best == Isa::Avx512 ? "_ZGVeN8" : "_ZGVdN4";
      const std::string operands = functions[i].binary != nullptr ? "vv_" : "v_";
      entry[std::size_t(i)] = ::dlsym(library, (prefix + operands + functions[i].name).c_str());
    }
  }
};

const VectorForms& forms() {
  static const VectorForms instance;
  return instance;
}

#if KERF_HAS_ISA_VARIANTS

constexpr std::int64_t widest = 8;

KERF_TARGET_AVX512 void unaryAvx512(void* entry, const double* x, double* y, std::int64_t count) {
  const auto function = reinterpret_cast<__m512d (*)(__m512d)>(entry);
  std::int64_t i = 0;
  for (; i + 8 <= count; i += 8) _mm512_storeu_pd(y + i, function(_mm512_loadu_pd(x + i)));
  if (i == count) return;
  const auto mask = static_cast<__mmask8>((1u << (count - i)) - 1);
  _mm512_mask_storeu_pd(y + i, mask, function(_mm512_mask_loadu_pd(_mm512_set1_pd(0.5), mask, x + i)));
}

KERF_TARGET_AVX512 void binaryAvx512(void* entry, const double* x, const double* y, double* out, std::int64_t count) {
  const auto function = reinterpret_cast<__m512d (*)(__m512d, __m512d)>(entry);
  std::int64_t i = 0;
  for (; i + 8 <= count; i += 8) _mm512_storeu_pd(out + i, function(_mm512_loadu_pd(x + i), _mm512_loadu_pd(y + i)));
  if (i == count) return;
  const auto mask = static_cast<__mmask8>((1u << (count - i)) - 1);
  const __m512d filler = _mm512_set1_pd(0.5);
  _mm512_mask_storeu_pd(out + i, mask,
                        function(_mm512_mask_loadu_pd(filler, mask, x + i), _mm512_mask_loadu_pd(filler, mask, y + i)));
}

KERF_TARGET_AVX2 void unaryAvx2(void* entry, const double* x, double* y, std::int64_t count) {
  const auto function = reinterpret_cast<__m256d (*)(__m256d)>(entry);
  std::int64_t i = 0;
  for (; i + 4 <= count; i += 4) _mm256_storeu_pd(y + i, function(_mm256_loadu_pd(x + i)));
  if (i == count) return;
  double rest[widest] = {0.5, 0.5, 0.5, 0.5};
  std::copy(x + i, x + count, rest);
  _mm256_storeu_pd(rest, function(_mm256_loadu_pd(rest)));
  std::copy(rest, rest + (count - i), y + i);
}

KERF_TARGET_AVX2 void binaryAvx2(void* entry, const double* x, const double* y, double* out, std::int64_t count) {
  const auto function = reinterpret_cast<__m256d (*)(__m256d, __m256d)>(entry);
  std::int64_t i = 0;
  for (; i + 4 <= count; i += 4) _mm256_storeu_pd(out + i, function(_mm256_loadu_pd(x + i), _mm256_loadu_pd(y + i)));
  if (i == count) return;
  double left[widest] = {0.5, 0.5, 0.5, 0.5}, right[widest] = {0.5, 0.5, 0.5, 0.5};
  std::copy(x + i, x + count, left);
  std::copy(y + i, y + count, right);
  _mm256_storeu_pd(left, function(_mm256_loadu_pd(left), _mm256_loadu_pd(right)));
  std::copy(left, left + (count - i), out + i);
}

#endif

/// e^x = 2^n e^r with |r| <= ln(2) / 2; e^r by its Taylor series, whose rest after r^13 is below 2^-57. The two factors
/// of 2^n reach subnormal results without rounding twice more than needed.
struct ExpKernel {
  template <class T>
  KERF_KERNEL void run(const T* x, T* y, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) y[i] = static_cast<T>(one(double(x[i])));
  }
  KERF_KERNEL double one(double x) {
    const double low = x < -746.0 ? -746.0 : x;
    const double bounded = low > 710.0 ? 710.0 : low;
    constexpr double shifter = 0x1.8p52;  // adding it rounds to an integer
    const double shifted = bounded * 1.4426950408889634 + shifter;
    const double n = shifted - shifter;
    const double r = (bounded - n * 0x1.62e42fee00000p-1) - n * 0x1.a39ef35793c76p-33;
    double p = 1.0 / 6227020800;
    p = p * r + 1.0 / 479001600;
    p = p * r + 1.0 / 39916800;
    p = p * r + 1.0 / 3628800;
    p = p * r + 1.0 / 362880;
    p = p * r + 1.0 / 40320;
    p = p * r + 1.0 / 5040;
    p = p * r + 1.0 / 720;
    p = p * r + 1.0 / 120;
    p = p * r + 1.0 / 24;
    p = p * r + 1.0 / 6;
    p = p * r + 0.5;
    p = p * r + 1.0;
    p = p * r + 1.0;
    const std::int64_t exponent = std::bit_cast<std::int64_t>(shifted) - std::bit_cast<std::int64_t>(shifter);
    const std::int64_t half = exponent >> 1;
    const double first = std::bit_cast<double>((half + 1023) << 52);
    const double second = std::bit_cast<double>((exponent - half + 1023) << 52);
    const double result = p * first * second;
    return x != x ? x : result;
  }
};

}  // namespace

void vectorExp(const double* x, double* y, std::int64_t count) { perIsa<ExpKernel>(x, y, count); }
void vectorExp(const float* x, float* y, std::int64_t count) { perIsa<ExpKernel>(x, y, count); }

void vectorMath(VectorFunction function, const double* x, double* y, std::int64_t count) {
  if (function == VectorFunction::Exp) return vectorExp(x, y, count);
  const auto index = std::size_t(function);
#if KERF_HAS_ISA_VARIANTS
  if (void* const entry = forms().entry[index]) {
    if (forms().best == Isa::Avx512) return unaryAvx512(entry, x, y, count);
    return unaryAvx2(entry, x, y, count);
  }
#endif
  std::transform(x, x + count, y, functions[index].unary);
}

void vectorMath(VectorFunction function, const double* x, const double* y, double* out, std::int64_t count) {
  const auto index = std::size_t(function);
#if KERF_HAS_ISA_VARIANTS
  if (void* const entry = forms().entry[index]) {
    if (forms().best == Isa::Avx512) return binaryAvx512(entry, x, y, out, count);
    return binaryAvx2(entry, x, y, out, count);
  }
#endif
  std::transform(x, x + count, y, out, functions[index].binary);
}

}  // namespace kerf::inline mathlib
