#include "engine/ops/nn/row_math.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "engine/mathlib/vector_math.h"
#include "engine/tensor/simd.h"

namespace kerf::inline ops::rowmath {
namespace {

constexpr std::int64_t lanes = 16;  // partial results that vector code keeps side by side

struct LargestKernel {
  template <class T>
  KERF_KERNEL void run(const T* x, std::int64_t count, T* result) {
    T parts[lanes];
    int nan = 0;
    for (std::int64_t k = 0; k < lanes; ++k) parts[k] = -std::numeric_limits<T>::infinity();
    std::int64_t i = 0;
    for (; i + lanes <= count; i += lanes)
      for (std::int64_t k = 0; k < lanes; ++k) parts[k] = x[i + k] > parts[k] ? x[i + k] : parts[k];
    for (; i < count; ++i) parts[0] = x[i] > parts[0] ? x[i] : parts[0];
    for (std::int64_t k = 0; k < count; ++k) nan |= x[k] != x[k];
    for (std::int64_t k = 1; k < lanes; ++k) parts[0] = parts[k] > parts[0] ? parts[k] : parts[0];
    *result = nan != 0 ? std::numeric_limits<T>::quiet_NaN() : parts[0];
  }
};

struct SumKernel {
  template <class T>
  KERF_KERNEL void run(const T* x, std::int64_t count, double* result) {
    double parts[lanes] = {};
    std::int64_t i = 0;
    for (; i + lanes <= count; i += lanes)
      for (std::int64_t k = 0; k < lanes; ++k) parts[k] += double(x[i + k]);
    for (; i < count; ++i) parts[0] += double(x[i]);
    for (std::int64_t k = 1; k < lanes; ++k) parts[0] += parts[k];
    *result = parts[0];
  }
};

struct DotKernel {
  template <class T>
  KERF_KERNEL void run(const T* x, const T* y, std::int64_t count, double* result) {
    double parts[lanes] = {};
    std::int64_t i = 0;
    for (; i + lanes <= count; i += lanes)
      for (std::int64_t k = 0; k < lanes; ++k) parts[k] += double(x[i + k]) * double(y[i + k]);
    for (; i < count; ++i) parts[0] += double(x[i]) * double(y[i]);
    for (std::int64_t k = 1; k < lanes; ++k) parts[0] += parts[k];
    *result = parts[0];
  }
};

struct ShiftKernel {
  template <class T>
  KERF_KERNEL void run(const T* x, T* out, double shift, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) out[i] = x[i] - static_cast<T>(shift);
  }
};
struct ScaleKernel {
  template <class T>
  KERF_KERNEL void run(T* x, double factor, double addend, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) x[i] = static_cast<T>(double(x[i]) * factor + addend);
  }
};
struct DivideKernel {
  template <class T>
  KERF_KERNEL void run(T* x, double divisor, std::int64_t count) {
    const double inverse = 1 / divisor;  // its error does not reach a float
    for (std::int64_t i = 0; i < count; ++i)
      x[i] =
          sizeof(T) < sizeof(double) ? static_cast<T>(double(x[i]) * inverse) : static_cast<T>(double(x[i]) / divisor);
  }
};
struct AddKernel {
  template <class T>
  KERF_KERNEL void run(T* x, const T* y, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) x[i] += y[i];
  }
};
struct GradientKernel {
  template <class T>
  KERF_KERNEL void run(T* d, const T* p, double sum, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) d[i] = static_cast<T>(double(p[i]) * (double(d[i]) - sum));
  }
};

/// x[i] = e^(x[i] - shift) in float32, within 1.5 units in the last place, and their sum: x - shift = n ln 2 + r with n
/// whole and |r| <= ln(2) / 2; e^r = 1 + r + r² P(r), P by interpolation at Chebyshev's points.
struct ExpSumKernel {
  KERF_KERNEL float one(float x) {
    constexpr float lowest = -104, highest = 89;  // beyond, the result is 0 or infinity
    constexpr float shifter = 0x1.8p23f;          // adding it rounds to an integer
    constexpr float log2E = 1.44269504f, ln2High = 0.693359375f, ln2Low = -2.12194440e-4f;
    const float low = x < lowest ? lowest : x;  // NaN stays
    const float bounded = low > highest ? highest : low;
    const float shifted = bounded * log2E + shifter;
    const float n = shifted - shifter;
    const float r = (bounded - n * ln2High) - n * ln2Low;
    float p = 0.0013926250394433737f;
    p = p * r + 0.00836323294788599f;
    p = p * r + 0.04166655242443085f;
    p = p * r + 0.16666576266288757f;
    p = p * r + 0.5f;
    const float power = (p * r * r + r) + 1.0f;
    const std::int32_t exponent = std::bit_cast<std::int32_t>(shifted) - std::bit_cast<std::int32_t>(shifter);
    const std::int32_t half = exponent >> 1;  // two factors reach subnormal results
    return power * std::bit_cast<float>((half + 127) << 23) * std::bit_cast<float>((exponent - half + 127) << 23);
  }
  KERF_KERNEL void run(float* x, float shift, std::int64_t count, double* sum) {
    double parts[lanes] = {};
    std::int64_t i = 0;
    for (; i + lanes <= count; i += lanes) {
      float e[lanes];
      for (std::int64_t k = 0; k < lanes; ++k) e[k] = one(x[i + k] - shift);
      for (std::int64_t k = 0; k < lanes; ++k) x[i + k] = e[k];
      for (std::int64_t k = 0; k < lanes; ++k) parts[k] += double(e[k]);
    }
    if (i < count) {  // as a whole piece, so that an element's bits do not depend on where it lies
      float e[lanes] = {};
      for (std::int64_t k = 0; k < count - i; ++k) e[k] = x[i + k] - shift;
      for (std::int64_t k = 0; k < lanes; ++k) e[k] = one(e[k]);
      for (std::int64_t k = 0; k < count - i; ++k) parts[k] += double(x[i + k] = e[k]);
    }
    for (std::int64_t k = 1; k < lanes; ++k) parts[0] += parts[k];
    *sum = parts[0];
  }
};

double expShiftedOf(float* x, double shift, std::int64_t count) {
  double sum = 0;
  perIsa<ExpSumKernel>(x, float(shift), count, &sum);
  return sum;
}

double expShiftedOf(double* x, double shift, std::int64_t count) {
  double sum = 0;
  perIsa<ShiftKernel>(static_cast<const double*>(x), x, shift, count);
  vectorExp(x, x, count);
  perIsa<SumKernel>(static_cast<const double*>(x), count, &sum);
  return sum;
}

template <class T>
T largestOf(const T* x, std::int64_t count) {
  T result;
  perIsa<LargestKernel>(x, count, &result);
  return result;
}

template <class T>
double dotOf(const T* x, const T* y, std::int64_t count) {
  double result;
  perIsa<DotKernel>(x, y, count, &result);
  return result;
}

}  // namespace

float largest(const float* x, std::int64_t count) { return largestOf(x, count); }
double largest(const double* x, std::int64_t count) { return largestOf(x, count); }

double expShifted(float* x, double shift, std::int64_t count) { return expShiftedOf(x, shift, count); }
double expShifted(double* x, double shift, std::int64_t count) { return expShiftedOf(x, shift, count); }

double sumOfExp(const double* x, double shift, std::int64_t count) {
  alignas(64) double buffer[512];
  double total = 0;
  for (std::int64_t i = 0; i < count; i += 512) {
    const std::int64_t length = std::min<std::int64_t>(512, count - i);
    std::copy(x + i, x + i + length, buffer);
    total += expShiftedOf(&buffer[0], shift, length);
  }
  return total;
}

void scale(float* x, double factor, double addend, std::int64_t count) {
  perIsa<ScaleKernel>(x, factor, addend, count);
}
void scale(double* x, double factor, double addend, std::int64_t count) {
  perIsa<ScaleKernel>(x, factor, addend, count);
}
void divide(float* x, double divisor, std::int64_t count) { perIsa<DivideKernel>(x, divisor, count); }
void divide(double* x, double divisor, std::int64_t count) { perIsa<DivideKernel>(x, divisor, count); }

void add(float* x, const float* y, std::int64_t count) { perIsa<AddKernel>(x, y, count); }
void add(double* x, const double* y, std::int64_t count) { perIsa<AddKernel>(x, y, count); }

double dot(const float* x, const float* y, std::int64_t count) { return dotOf(x, y, count); }
double dot(const double* x, const double* y, std::int64_t count) { return dotOf(x, y, count); }

void softmaxGradient(float* d, const float* p, double sum, std::int64_t count) {
  perIsa<GradientKernel>(d, p, sum, count);
}
void softmaxGradient(double* d, const double* p, double sum, std::int64_t count) {
  perIsa<GradientKernel>(d, p, sum, count);
}

}  // namespace kerf::inline ops::rowmath
