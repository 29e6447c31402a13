// Sums of doubles whose rounding errors are carried along, run by run or column by column, with vector instructions.
#pragma once

#include <cmath>
#include <cstdint>

namespace kerf::inline mathlib {

/// Sum with the rounding error carried along (two-sum): the result is as good as twice the precision.
struct ExactSum {
  double high = 0;
  double low = 0;
  void add(double x) {
    const double sum = high + x;
    const double part = sum - high;
    low += (high - (sum - part)) + (x - part);
    high = sum;
  }
  double value() const { return std::isfinite(high) ? high + low : high; }
};

/// Adds a run of numbers to one sum.
void addRun(ExactSum& sum, const double* x, std::int64_t count);
/// Adds x[i] to the i-th of `count` sums, given as separate arrays of high and low parts.
void addColumns(double* high, double* low, const double* x, std::int64_t count);

}  // namespace kerf::inline mathlib
