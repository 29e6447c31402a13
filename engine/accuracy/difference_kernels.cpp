#include "engine/accuracy/difference_kernels.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/tensor/simd.h"

namespace kerf::inline accuracy {
namespace {

constexpr int lanes = 8;
constexpr std::int64_t block = 1024;  ///< elements that are summed before their sum is added to the others

// Without FMA, unlike perIsa: a rounding less would be another result.
#if KERF_HAS_ISA_VARIANTS
template <class Kernel, class... Args>
__attribute__((target("avx2"))) void runOnAvx2(Args... args) {
  Kernel::run(args...);
}
#endif
template <class Kernel, class... Args>
void runKernel(Args... args) {
#if KERF_HAS_ISA_VARIANTS
  if (isa() != Isa::Base) return runOnAvx2<Kernel, Args...>(args...);
#endif
  Kernel::run(args...);
}

template <class T>
struct FiguresKernel {
  KERF_KERNEL void run(const T* a, const T* b, std::int64_t count, DifferenceFigures* out) {
    constexpr double largest = std::numeric_limits<double>::max();
    double most[lanes] = {};
    std::int64_t finite[lanes] = {}, nanA[lanes] = {}, nanB[lanes] = {}, finiteA[lanes] = {}, finiteB[lanes] = {};
    std::int64_t i = 0;
    const auto look = [&](std::int64_t at, int k) __attribute__((always_inline)) {
      const auto x = double(a[at]), y = double(b[at]);
      const double difference = std::fabs(x - y);
      const bool finiteX = std::fabs(x) <= largest, finiteY = std::fabs(y) <= largest;
      nanA[k] += std::int64_t(x != x);
      nanB[k] += std::int64_t(y != y);
      finiteA[k] += std::int64_t(finiteX);
      finiteB[k] += std::int64_t(finiteY);
      finite[k] += std::int64_t(finiteX & finiteY);
      const double bounded = difference <= largest ? difference : 0;
      most[k] = bounded > most[k] ? bounded : most[k];
    };
    for (; i + lanes <= count; i += lanes)
      for (int k = 0; k < lanes; ++k) look(i + k, k);
    for (; i < count; ++i) look(i, 0);
    DifferenceFigures& total = *out;
    std::int64_t sumA = 0, sumB = 0;
    for (int k = 0; k < lanes; ++k) {
      total.most = std::max(total.most, most[k]);
      total.finite += finite[k];
      total.nanA += nanA[k];
      total.nanB += nanB[k];
      sumA += finiteA[k];
      sumB += finiteB[k];
    }
    total.infA = count - sumA - total.nanA;
    total.infB = count - sumB - total.nanB;
  }
};

template <class T>
struct SquaresKernel {
  KERF_KERNEL void run(const double* a, const T* b, std::int64_t count, double* out) {
    double total = 0;
    for (std::int64_t begin = 0; begin < count; begin += block) {
      const std::int64_t end = std::min(count, begin + block);
      double sums[lanes] = {};
      std::int64_t i = begin;
      for (; i + lanes <= end; i += lanes)
        for (int k = 0; k < lanes; ++k) {
          const double difference = a[i + k] - double(b[i + k]);
          sums[k] += difference * difference;
        }
      for (; i < end; ++i) sums[0] += (a[i] - double(b[i])) * (a[i] - double(b[i]));
      for (int width = lanes / 2; width > 0; width /= 2)
        for (int k = 0; k < width; ++k) sums[k] += sums[k + width];
      total += sums[0];
    }
    *out = total;
  }
};

template <class T>
struct CloseKernel {
  KERF_KERNEL void run(const T* a, const T* b, std::int64_t count, T tolerance, bool equalNan, CloseFigures* out) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    constexpr T largest = std::numeric_limits<T>::max();
    double worst[lanes] = {};
    std::int64_t far[lanes] = {};
    const auto look = [&](std::int64_t at, int k) __attribute__((always_inline)) {
      const T x = a[at], y = b[at];
      const T actual = std::fabs(x - y), scaled = std::fabs(y * tolerance);
      const T allowed = scaled + tolerance;
      const bool equal = (x == y) | (equalNan & (x != x) & (y != y));
      const double ratio = double(actual) / double(allowed);
      // NaN where a NaN or infinity decides; an infinite `allowed` with a finite `actual` is a ratio of 0
      const double counted = ((actual <= largest) & (ratio == ratio)) ? ratio : infinity;
      const double mine = equal ? 0 : counted;
      worst[k] = mine > worst[k] ? mine : worst[k];
      far[k] += std::int64_t(!equal & !((actual <= largest) & (actual <= allowed)));
    };
    std::int64_t i = 0;
    for (; i + lanes <= count; i += lanes)
      for (int k = 0; k < lanes; ++k) look(i + k, k);
    for (; i < count; ++i) look(i, 0);
    for (int k = 0; k < lanes; ++k) {
      out->worst = std::max(out->worst, worst[k]);
      out->close &= far[k] == 0;
    }
  }
};

template <class T>
DifferenceFigures figures(const T* a, const T* b, std::int64_t count) {
  DifferenceFigures total;
  runKernel<FiguresKernel<T>>(a, b, count, &total);
  return total;
}
template <class T>
double squares(const double* a, const T* b, std::int64_t count) {
  double total = 0;
  runKernel<SquaresKernel<T>>(a, b, count, &total);
  return total;
}
template <class T>
CloseFigures closeness(const T* a, const T* b, std::int64_t count, T tolerance, bool equalNan) {
  CloseFigures total;
  runKernel<CloseKernel<T>>(a, b, count, tolerance, equalNan, &total);
  return total;
}

}  // namespace

DifferenceFigures differenceFigures(const float* a, const float* b, std::int64_t count) { return figures(a, b, count); }
DifferenceFigures differenceFigures(const double* a, const double* b, std::int64_t count) {
  return figures(a, b, count);
}
double squaredDifferences(const double* a, const float* b, std::int64_t count) { return squares(a, b, count); }
double squaredDifferences(const double* a, const double* b, std::int64_t count) { return squares(a, b, count); }
CloseFigures closeFigures(const float* a, const float* b, std::int64_t count, float tolerance, bool equalNan) {
  return closeness(a, b, count, tolerance, equalNan);
}
CloseFigures closeFigures(const double* a, const double* b, std::int64_t count, double tolerance, bool equalNan) {
  return closeness(a, b, count, tolerance, equalNan);
}

}  // namespace kerf::inline accuracy
