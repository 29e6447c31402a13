#include "engine/audit/meaning/number_difference.h"

#include <algorithm>
#include <cmath>

namespace kerf::inline audit {
namespace {

bool isSameNumber(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

/// Mean of the amounts that are no marks of emptiness.
double usualSize(const NumberArray& numbers) {
  constexpr double mostUsual = 1e12;
  double sum = 0;
  std::size_t counted = 0;
  for (const double each : numbers)
    if (std::isfinite(each) && std::abs(each) < mostUsual) {
      sum += std::abs(each);
      ++counted;
    }
  return counted == 0 ? 0 : sum / double(counted);
}

/// 2 to the mean of their exponents: 1e30 among them is one of many. 1 at most.
double typicalSize(const NumberArray& numbers) {
  double exponents = 0;
  std::size_t counted = 0;
  for (const double each : numbers)
    if (std::isfinite(each) && each != 0) {
      exponents += std::ilogb(each);
      ++counted;
    }
  return counted == 0 ? 1 : std::exp2(std::min(0.0, exponents / double(counted)));
}

}  // namespace

bool isSameForSure(const NumberArray& given, const NumberArray& wanted, bool isFloat) {
  if (given.size() != wanted.size()) return false;
  if (given.data() == wanted.data()) return true;
  constexpr double relative = 1e-9, rest = 1e-12;
  double floor = -1;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const double a = given[i], b = wanted[i];
    if (isSameNumber(a, b)) continue;
    if (!isFloat || !std::isfinite(a) || !std::isfinite(b)) return false;
    const double apart = std::abs(a - b);
    if (apart <= relative * std::max(std::abs(a), std::abs(b))) continue;
    if (floor < 0) floor = rest * typicalSize(wanted);
    if (apart > floor) return false;
  }
  return true;
}

std::optional<NumberDifference> firstDifference(const NumberArray& given, const NumberArray& wanted, bool isFloat) {
  if (given.data() == wanted.data()) return std::nullopt;
  std::size_t first = 0;
  while (first < wanted.size() && isSameNumber(given[first], wanted[first])) ++first;
  if (first == wanted.size()) return std::nullopt;
  const double scale = usualSize(wanted);
  for (std::size_t i = first; i < wanted.size(); ++i) {
    const double a = given[i], b = wanted[i];
    if (isSameNumber(a, b)) continue;
    const double slack = isFloat ? 1e-5 * (std::abs(a) + std::abs(b) + scale) : 0;
    if (std::isfinite(a) && std::isfinite(b) && std::abs(a - b) <= slack) continue;
    return NumberDifference{i, a, b};
  }
  return std::nullopt;
}

}  // namespace kerf::inline audit
