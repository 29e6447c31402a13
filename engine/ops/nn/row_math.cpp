#include "engine/ops/nn/row_math.h"

#include <algorithm>
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
    for (std::int64_t i = 0; i < count; ++i) x[i] = static_cast<T>(double(x[i]) / divisor);
  }
};
struct GradientKernel {
  template <class T>
  KERF_KERNEL void run(T* d, const T* p, double sum, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) d[i] = static_cast<T>(double(p[i]) * (double(d[i]) - sum));
  }
};

template <class T>
double expShiftedOf(T* x, double shift, std::int64_t count) {
  double sum = 0;
  perIsa<ShiftKernel>(static_cast<const T*>(x), x, shift, count);
  vectorExp(x, x, count);
  perIsa<SumKernel>(static_cast<const T*>(x), count, &sum);
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

double dot(const float* x, const float* y, std::int64_t count) { return dotOf(x, y, count); }
double dot(const double* x, const double* y, std::int64_t count) { return dotOf(x, y, count); }

void softmaxGradient(float* d, const float* p, double sum, std::int64_t count) {
  perIsa<GradientKernel>(d, p, sum, count);
}
void softmaxGradient(double* d, const double* p, double sum, std::int64_t count) {
  perIsa<GradientKernel>(d, p, sum, count);
}

}  // namespace kerf::inline ops::rowmath
