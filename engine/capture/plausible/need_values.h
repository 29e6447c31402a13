// Values of one element, or of one row, that meet a need. Private to engine/capture.
#pragma once

#include <cstdint>
#include <span>

#include "engine/capture/plausible/value_need.h"
#include "engine/tensor/dtype.h"

namespace kerf::inline capture {

/// splitmix64 of (seed, index): the same value whatever the threads.
std::uint64_t mixedBits(std::uint64_t seed, std::uint64_t index);
/// Mean 0, variance 1, nearly normal, within +-3.47, and quick: large models have 10^8 weights.
double bellValue(std::uint64_t seed, std::uint64_t index);
/// Uniform in [0, 1).
double uniformValue(std::uint64_t seed, std::uint64_t index);

/// What elements of their own are drawn from: uniform in [lower, upper], or a bell clamped to it.
struct ElementLaw {
  double lower = 0, upper = 0, centre = 0, spread = 1;
  bool isBell = true, isWhole = false;

  double at(std::uint64_t seed, std::uint64_t index) const;
};
/// The law for elements of `dtype`, whose numbers it can hold.
ElementLaw lawOf(const ValueNeed& need, DType dtype);

/// Whether the need is about rows, not single elements.
bool isRowwise(const ValueNeed& need);
/// Fills one row of such a need; `length` elements of the row numbered `row`.
void fillRow(const ValueNeed& need, const ElementLaw& law, std::uint64_t seed, std::int64_t row,
             std::span<double> values);

}  // namespace kerf::inline capture
