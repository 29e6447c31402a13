// Fractions of checked 64-bit integers, and doubles where a fraction will not do.
#include <cmath>
#include <numeric>

#include "engine/symbolic/symbolic_node.h"

namespace kerf::inline symbolic {
namespace {

std::optional<std::int64_t> product(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) return {};
  return result;
}

}  // namespace

std::optional<SymbolicValue> fraction(std::int64_t numerator, std::int64_t denominator) {
  if (denominator == 0 || numerator == INT64_MIN || denominator == INT64_MIN) {
    if (denominator == 1) return SymbolicValue::integer(numerator);
    return {};
  }
  const std::int64_t divisor = std::gcd(numerator, denominator);
  const std::int64_t sign = denominator < 0 ? -1 : 1;
  return SymbolicValue{true, sign * numerator / divisor, sign * denominator / divisor, 0};
}

std::optional<SymbolicValue> addValues(const SymbolicValue& a, const SymbolicValue& b) {
  if (!a.exact || !b.exact) return SymbolicValue::floating(a.asDouble() + b.asDouble());
  const auto left = product(a.numerator, b.denominator);
  const auto right = product(b.numerator, a.denominator);
  const auto denominator = product(a.denominator, b.denominator);
  std::int64_t sum = 0;
  if (!left || !right || !denominator || __builtin_add_overflow(*left, *right, &sum)) return {};
  return fraction(sum, *denominator);
}

std::optional<SymbolicValue> mulValues(const SymbolicValue& a, const SymbolicValue& b) {
  if (!a.exact || !b.exact) return SymbolicValue::floating(a.asDouble() * b.asDouble());
  const auto numerator = product(a.numerator, b.numerator);
  const auto denominator = product(a.denominator, b.denominator);
  if (!numerator || !denominator) return {};
  return fraction(*numerator, *denominator);
}

std::optional<SymbolicValue> divideValues(const SymbolicValue& a, const SymbolicValue& b) {
  if (b.isZero()) return {};
  if (!a.exact || !b.exact) return SymbolicValue::floating(a.asDouble() / b.asDouble());
  const auto numerator = product(a.numerator, b.denominator);
  const auto denominator = product(a.denominator, b.numerator);
  if (!numerator || !denominator) return {};
  return fraction(*numerator, *denominator);
}

std::optional<SymbolicValue> powValues(const SymbolicValue& base, std::int64_t exponent) {
  if (!base.exact) return SymbolicValue::floating(std::pow(base.real, double(exponent)));
  if (exponent == INT64_MIN || (exponent < 0 && base.numerator == 0)) return {};
  SymbolicValue square = base;
  SymbolicValue result = SymbolicValue::integer(1);
  for (std::int64_t left = std::abs(exponent); left != 0; left >>= 1) {
    if ((left & 1) != 0) {
      const auto next = mulValues(result, square);
      if (!next) return {};
      result = *next;
    }
    if (left == 1) break;
    const auto next = mulValues(square, square);
    if (!next) return {};
    square = *next;
  }
  return exponent < 0 ? fraction(result.denominator, result.numerator) : result;
}

int compareValues(const SymbolicValue& a, const SymbolicValue& b) {
  if (a.exact && b.exact) {
    const auto left = static_cast<__int128>(a.numerator) * b.denominator;
    const auto right = static_cast<__int128>(b.numerator) * a.denominator;
    return left < right ? -1 : left > right ? 1 : 0;
  }
  const double left = a.asDouble(), right = b.asDouble();
  return left < right ? -1 : left > right ? 1 : 0;
}

}  // namespace kerf::inline symbolic
