#include "engine/mathlib/sums.h"

#include <cstring>

#include "engine/tensor/simd.h"

namespace kerf::inline mathlib {
namespace {

constexpr std::int64_t lanes = 8;
typedef double Lanes __attribute__((vector_size(lanes * sizeof(double))));

/// Lane-wise two-sum.
struct LaneSums {
  Lanes high, low;
};
__attribute__((always_inline)) inline void addLanes(LaneSums& sums, const double* x) {
  Lanes value;
  std::memcpy(&value, x, sizeof value);
  const Lanes sum = sums.high + value;
  const Lanes part = sum - sums.high;
  sums.low += (sums.high - (sum - part)) + (value - part);
  sums.high = sum;
}

struct RunKernel {
  KERF_KERNEL void run(ExactSum* total, const double* x, std::int64_t count) {
    LaneSums sums[4] = {};
    std::int64_t i = 0;
    for (; i + 4 * lanes <= count; i += 4 * lanes)
      for (int k = 0; k < 4; ++k) addLanes(sums[k], x + i + k * lanes);
    for (; i + lanes <= count; i += lanes) addLanes(sums[0], x + i);
    for (; i < count; ++i) total->add(x[i]);
    if (count < lanes) return;
    for (const LaneSums& part : sums)
      for (int lane = 0; lane < lanes; ++lane) {
        total->add(part.high[lane]);
        total->low += part.low[lane];
      }
  }
};

struct ColumnsKernel {
  KERF_KERNEL void run(double* __restrict high, double* __restrict low, const double* __restrict x,
                       std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      const double sum = high[i] + x[i];
      const double part = sum - high[i];
      low[i] += (high[i] - (sum - part)) + (x[i] - part);
      high[i] = sum;
    }
  }
};

}  // namespace

void addRun(ExactSum& sum, const double* x, std::int64_t count) { perIsa<RunKernel>(&sum, x, count); }

void addColumns(double* high, double* low, const double* x, std::int64_t count) {
  perIsa<ColumnsKernel>(high, low, x, count);
}

}  // namespace kerf::inline mathlib
