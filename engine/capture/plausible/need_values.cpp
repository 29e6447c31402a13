#include "engine/capture/plausible/need_values.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace kerf::inline capture {
namespace {

using Pattern = ValueNeed::Pattern;

constexpr double plainIntegers = 7;  ///< integers that nothing is known of are in [0, 7]
constexpr double openWidth = 4;      ///< of a range that is open at one end

/// Largest number of an integer dtype that a double and the dtype hold.
double largestOf(DType dtype) {
  switch (dtype) {
    case DType::Bool:
      return 1;
    case DType::Int8:
      return 127;
    case DType::UInt8:
      return 255;
    case DType::Int16:
      return 32767;
    case DType::UInt16:
      return 65535;
    case DType::Int32:
      return 2147483647.0;
    case DType::UInt32:
      return 4294967295.0;
    default:
      return 9007199254740992.0;
  }
}

NeedRange closed(NeedRange range, double width) {
  if (!std::isfinite(range.lower) && std::isfinite(range.upper)) range.lower = range.upper - width;
  if (!std::isfinite(range.upper) && std::isfinite(range.lower)) range.upper = range.lower + width;
  return range;
}

/// The likely part of what is allowed, else all of it.
NeedRange rangeOf(const ValueNeed& need) {
  const NeedRange both = need.hard.intersected(need.likely);
  return both.empty() ? need.hard : both;
}

ElementLaw wholeLaw(const ValueNeed& need, DType dtype) {
  NeedRange range = rangeOf(need);
  if (!range.bounded()) range = {0, plainIntegers};
  // A need that starts below 0 in the middle of nowhere still prefers numbers from 0 on.
  if (!std::isfinite(range.lower)) range.lower = std::min(0.0, range.upper);
  range = closed(range, plainIntegers);
  ElementLaw law;
  law.isBell = false;
  law.isWhole = true;
  law.lower = std::ceil(range.lower - 1e-9);
  law.upper = std::max(law.lower, std::floor(range.upper + 1e-9));
  if (!isIntegral(dtype)) return law;
  const bool isUnsigned = dtype == DType::Bool || dtype == DType::UInt8 || dtype == DType::UInt16 ||
                          dtype == DType::UInt32 || dtype == DType::UInt64;
  const double largest = largestOf(dtype);
  law.lower = std::clamp(law.lower, isUnsigned ? 0 : -largest, largest);
  law.upper = std::clamp(law.upper, law.lower, largest);
  return law;
}

ElementLaw realLaw(const ValueNeed& need) {
  ElementLaw law;
  law.lower = -std::numeric_limits<double>::infinity();
  law.upper = std::numeric_limits<double>::infinity();
  const NeedRange range = closed(rangeOf(need), openWidth);
  const bool hasRange = range.bounded();
  if (hasRange) law.lower = range.lower, law.upper = range.upper;
  law.isBell = !hasRange || need.centre || need.spread;
  law.centre = need.centre.value_or(hasRange ? (range.lower + range.upper) / 2 : 0);
  law.spread = need.spread.value_or(hasRange ? (range.upper - range.lower) / 6 : 1);
  if (hasRange && (law.centre < law.lower || law.centre > law.upper)) law.isBell = false;
  return law;
}

/// Row k's permutation of [0, count): an affine map modulo a number that is prime to its factor.
std::int64_t permuted(std::uint64_t seed, std::int64_t row, std::int64_t index, std::int64_t count) {
  if (count <= 1) return 0;
  const auto shift = std::int64_t(mixedBits(seed, std::uint64_t(row) * 2) % std::uint64_t(count));
  auto factor = std::int64_t(mixedBits(seed, std::uint64_t(row) * 2 + 1) % std::uint64_t(count));
  while (std::gcd(factor, count) != 1) factor = (factor + 1) % count;
  return std::int64_t((__int128(factor) * (index % count) + shift) % count);
}

void fillDistinct(const ElementLaw& law, std::uint64_t seed, std::int64_t row, std::span<double> values) {
  const auto count = std::int64_t(law.upper - law.lower) + 1;
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = law.lower + double(permuted(seed, row, std::int64_t(i), count));
}

void fillSorted(const ElementLaw& law, std::uint64_t seed, std::int64_t row, std::span<double> values) {
  const bool isOpen = !std::isfinite(law.lower) || !std::isfinite(law.upper);
  const double lower = isOpen ? -2 : law.lower, upper = isOpen ? 2 : law.upper;
  const double step = (upper - lower) / double(std::max<std::size_t>(values.size(), 1));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double jitter = law.isWhole ? 0.5 : uniformValue(seed + std::uint64_t(row), i);
    const double value = lower + step * (double(i) + jitter);
    values[i] = law.isWhole ? std::floor(value) : value;
  }
}

void fillOffsets(const ValueNeed& need, std::span<double> values) {
  const auto count = std::int64_t(values.size());
  const std::int64_t parts = std::max<std::int64_t>(need.endsAtTotal ? count - 1 : count, 1);
  for (std::int64_t i = 0; i < count; ++i)
    values[std::size_t(i)] = double(std::int64_t(__int128(need.total) * i / parts));
}

void fillLengths(const ValueNeed& need, std::span<double> values) {
  const auto count = std::int64_t(values.size());
  for (std::int64_t i = 0; i < count; ++i)
    values[std::size_t(i)] = double(need.total / count + (i < need.total % count ? 1 : 0));
}

void fillSoftmax(bool takesLog, std::uint64_t seed, std::int64_t row, std::span<double> values) {
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = bellValue(seed, std::uint64_t(row) * values.size() + i);
    sum += std::exp(values[i]);
  }
  for (double& value : values) value = takesLog ? value - std::log(sum) : std::exp(value) / sum;
}

void fillBinary(const ValueNeed& need, std::uint64_t seed, std::int64_t row, std::span<double> values) {
  if (need.total > 0) {  // so many ones, the first places of the tensor
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = row * std::int64_t(values.size()) + std::int64_t(i) < need.total ? 1 : 0;
    return;
  }
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = uniformValue(seed, std::uint64_t(row) * values.size() + i) < need.ones ? 1 : 0;
  // A row that hides everything would leave a softmax nothing to share out.
  if (!values.empty()) values[0] = need.ones >= 0.5 ? 1 : 0;
}

/// One row of a symmetric matrix whose diagonal outweighs the rest of it.
void fillDefinite(std::uint64_t seed, std::int64_t row, std::span<double> values) {
  const auto size = std::int64_t(values.size());
  const std::int64_t i = row % size, matrix = row / size;
  for (std::int64_t j = 0; j < size; ++j) {
    const auto key = std::uint64_t((matrix * size + std::min(i, j)) * size + std::max(i, j));
    values[std::size_t(j)] = i == j ? 1.5 + uniformValue(seed, key) : 0.3 * bellValue(seed, key) / double(size);
  }
}

}  // namespace

std::uint64_t mixedBits(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t value = seed + (index + 1) * 0x9e3779b97f4a7c15u;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

double bellValue(std::uint64_t seed, std::uint64_t index) {
  const std::uint64_t bits = mixedBits(seed, index);
  const std::uint64_t sum = (bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) + (bits >> 48);
  return (double(sum) / 65535 - 2) * std::numbers::sqrt3;
}

double uniformValue(std::uint64_t seed, std::uint64_t index) { return double(mixedBits(seed, index) >> 11) * 0x1p-53; }

double ElementLaw::at(std::uint64_t seed, std::uint64_t index) const {
  if (isWhole) {
    const double count = upper - lower + 1;
    return lower + std::min(std::floor(uniformValue(seed, index) * count), count - 1);
  }
  if (isBell) return std::clamp(centre + spread * bellValue(seed, index), lower, upper);
  return lower + (upper - lower) * uniformValue(seed, index);
}

ElementLaw lawOf(const ValueNeed& need, DType dtype) {
  if (need.pattern == Pattern::Zero) return {.lower = 0, .upper = 0, .isBell = false, .isWhole = true};
  return need.whole || isIntegral(dtype) || dtype == DType::Bool ? wholeLaw(need, dtype) : realLaw(need);
}

bool isRowwise(const ValueNeed& need) { return need.pattern != Pattern::Free && need.pattern != Pattern::Zero; }

void fillRow(const ValueNeed& need, const ElementLaw& law, std::uint64_t seed, std::int64_t row,
             std::span<double> values) {
  switch (need.pattern) {
    case Pattern::Distinct:
      return fillDistinct(law, seed, row, values);
    case Pattern::Sorted:
      return fillSorted(law, seed, row, values);
    case Pattern::Offsets:
      return fillOffsets(need, values);
    case Pattern::Lengths:
      return fillLengths(need, values);
    case Pattern::Softmax:
    case Pattern::LogSoftmax:
      return fillSoftmax(need.pattern == Pattern::LogSoftmax, seed, row, values);
    case Pattern::Binary:
      return fillBinary(need, seed, row, values);
    case Pattern::PositiveDefinite:
      return fillDefinite(seed, row, values);
    case Pattern::Free:
    case Pattern::Zero:
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = law.at(seed, std::uint64_t(row) * values.size() + i);
      return;
  }
}

}  // namespace kerf::inline capture
