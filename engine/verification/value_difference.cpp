#include "engine/verification/value_difference.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include <fmt/ranges.h>

#include "engine/support/thread_pool.h"

namespace kerf::inline verification {
namespace {

constexpr std::int64_t chunk = 1 << 15;

struct Sums {
  double differences = 0, squares = 0, maxDifference = 0, maximum = 0;
  std::int64_t finite = 0, specials = 0;  ///< specials: NaN or infinite on one side only, or of another kind

  void add(const Sums& other) {
    differences += other.differences;
    squares += other.squares;
    maxDifference = std::max(maxDifference, other.maxDifference);
    maximum = std::max(maximum, other.maximum);
    finite += other.finite;
    specials += other.specials;
  }
};

Sums sumsOf(const double* a, const double* b, std::int64_t begin, std::int64_t end) {
  Sums sums;
  for (std::int64_t i = begin; i < end; ++i) {
    if (std::isfinite(a[i]) && std::isfinite(b[i])) {
      const double difference = std::abs(a[i] - b[i]);
      sums.differences += difference * difference;
      sums.squares += a[i] * a[i];
      sums.maxDifference = std::max(sums.maxDifference, difference);
      sums.maximum = std::max(sums.maximum, std::abs(a[i]));
      ++sums.finite;
    } else {
      sums.specials += a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i])) ? 0 : 1;
    }
  }
  return sums;
}

Sums sumsOf(const double* a, const double* b, std::int64_t count) {
  std::vector<Sums> parts(std::size_t((count + chunk - 1) / chunk));
  parallelFor(std::int64_t(parts.size()), 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      parts[std::size_t(i)] = sumsOf(a, b, i * chunk, std::min(count, (i + 1) * chunk));
  });
  Sums total;
  for (const Sums& part : parts) total.add(part);
  return total;
}

Result<Tensor> flatDoubles(const Tensor& tensor) {
  KERF_TRY(const Tensor wide, tensor.to(isComplex(tensor.dtype()) ? DType::Complex128 : DType::Float64));
  return wide.contiguous();
}

bool isInteger(const Tensor& tensor) { return !isFloating(tensor.dtype()) && !isComplex(tensor.dtype()); }

/// Integers that doubles do not tell apart.
Result<bool> sameIntegers(const Tensor& a, const Tensor& b) {
  KERF_TRY(Tensor first, a.to(DType::Int64));
  KERF_TRY(Tensor second, b.to(DType::Int64));
  KERF_TRY(first, first.contiguous());
  KERF_TRY(second, second.contiguous());
  return std::equal(first.data<std::int64_t>(), first.data<std::int64_t>() + first.numel(),
                    second.data<std::int64_t>());
}

ValueDifference different(std::string reason) { return {.reason = std::move(reason)}; }

Result<ValueDifference> tensorDifference(const Tensor& a, const Tensor& b) {
  if (a.sizes() != b.sizes())
    return different(fmt::format("shape [{}] and [{}]", fmt::join(a.sizes(), ", "), fmt::join(b.sizes(), ", ")));
  if (isComplex(a.dtype()) != isComplex(b.dtype())) return different("one is complex, the other is not");
  const std::int64_t parts = isComplex(a.dtype()) ? 2 : 1, count = a.numel() * parts;
  ValueDifference result{.elements = a.numel()};
  if (count == 0) return result;
  KERF_TRY(const Tensor first, flatDoubles(a));
  KERF_TRY(const Tensor second, flatDoubles(b));
  const auto data = [&](const Tensor& t) {
    return reinterpret_cast<const double*>(t.storage()->data()) + t.offset() * parts;
  };
  const Sums sums = sumsOf(data(first), data(second), count);
  result.finite = sums.finite / parts;
  result.maxAbsError = sums.maxDifference;
  if (sums.specials > 0) result.reason = fmt::format("{} elements are NaN or infinite on one side only", sums.specials);
  if (sums.maxDifference == 0 && sums.maximum >= 0x1p53 && isInteger(a) && isInteger(b)) {
    KERF_TRY(const bool same, sameIntegers(a, b));
    if (!same) result.maxAbsError = 1, result.relativeError = 1 / sums.maximum;
  }
  if (sums.maxDifference == 0) return result;
  const double rms = std::sqrt(sums.squares), apart = std::sqrt(sums.differences);
  const double byRms = rms > 0 ? apart / rms : HUGE_VAL,
               byMaximum = sums.maximum > 0 ? sums.maxDifference / sums.maximum : HUGE_VAL;
  result.relativeError = std::max(byRms, byMaximum);
  return result;
}

std::optional<double> numberOf(const Value& value) {
  if (const auto* real = value.as<double>()) return *real;
  if (const auto* integer = value.as<std::int64_t>()) return double(*integer);
  if (const auto* flag = value.as<bool>()) return *flag ? 1 : 0;
  return std::nullopt;
}

void merge(ValueDifference& total, const ValueDifference& part) {
  if (total.reason.empty()) total.reason = part.reason;
  total.maxAbsError = std::max(total.maxAbsError, part.maxAbsError);
  total.relativeError = std::max(total.relativeError, part.relativeError);
  total.finite += part.finite;
  total.elements += part.elements;
}

}  // namespace

Result<ValueDifference> differenceOf(const Value& a, const Value& b) {
  if (a.isTensor() && b.isTensor()) return tensorDifference(a.tensor(), b.tensor());
  if (a.isList() && b.isList()) {
    ValueDifference total;
    if (a.list().size() != b.list().size()) return different("lists of different lengths");
    for (std::size_t i = 0; i < a.list().size(); ++i) {
      KERF_TRY(const auto part, differenceOf(a.list()[i], b.list()[i]));
      merge(total, part);
    }
    return total;
  }
  const auto first = numberOf(a), second = numberOf(b);
  if (first && second && !(std::isfinite(*first) && std::isfinite(*second)))
    return *first == *second || (std::isnan(*first) && std::isnan(*second))
               ? ValueDifference{.elements = 1}
               : different("NaN or infinite on one side only");
  if (first && second)
    return ValueDifference{
        .maxAbsError = std::abs(*first - *second),
        .relativeError = *first == *second ? 0 : std::abs(*first - *second) / std::max(std::abs(*first), 1e-300),
        .finite = 1,
        .elements = 1};
  if (a.variant().index() == b.variant().index()) return ValueDifference();
  return different(a.isNone() ? "None and a value" : b.isNone() ? "a value and None" : "values of different kinds");
}

}  // namespace kerf::inline verification
