#include "engine/loops/affine.h"

#include <fmt/format.h>

namespace kerf::inline loops {

Affine Affine::variable(std::size_t index) {
  Affine result;
  result.coefficients.assign(index + 1, 0);
  result.coefficients[index] = 1;
  return result;
}

void Affine::trim() {
  while (!coefficients.empty() && isZero(coefficients.back())) coefficients.pop_back();
}

namespace {

/// As a factor: sums in parentheses.
std::string factorText(SymInt factor) {
  std::string text = symText(factor);
  return text.find(' ') == std::string::npos ? text : fmt::format("({})", text);
}

/// None where it depends on the symbols whether there is a rest.
std::optional<SymInt> exactQuotient(SymInt number, SymInt divisor) {
  if (isZero(number)) return SymInt(0);
  if (!isZero(floorMod(number, divisor))) return {};
  return floorDiv(number, divisor);
}

}  // namespace

std::string Affine::text() const {
  std::string out;
  for (std::size_t v = 0; v < coefficients.size(); ++v) {
    const SymInt factor = coefficients[v];
    if (isZero(factor)) continue;
    if (!out.empty()) out += " + ";
    out += factor.isIdentical(1) ? fmt::format("i{}", v) : fmt::format("{}*i{}", factorText(factor), v);
  }
  if (out.empty()) return symText(constant);
  if (!isZero(constant)) out += fmt::format(" + {}", constant);
  return out;
}

Affine operator+(const Affine& a, const Affine& b) {
  Affine result{{}, a.constant + b.constant};
  result.coefficients.resize(std::max(a.coefficients.size(), b.coefficients.size()));
  for (std::size_t v = 0; v < result.coefficients.size(); ++v)
    result.coefficients[v] = a.coefficient(v) + b.coefficient(v);
  result.trim();
  return result;
}

Affine operator*(const Affine& a, SymInt factor) {
  if (isZero(factor)) return {};
  Affine result = a;
  for (SymInt& coefficient : result.coefficients) coefficient *= factor;
  result.constant *= factor;
  return result;
}

std::optional<AffineDivision> divideExactly(const Affine& index, SymInt divisor, const SymSizes& variableSizes) {
  AffineDivision parts;
  parts.quotient.coefficients.assign(index.coefficients.size(), 0);
  parts.remainder.coefficients.assign(index.coefficients.size(), 0);
  if (!staticallyKnown(divisor > 0) || !staticallyKnown(index.constant >= 0)) return std::nullopt;
  if (!isZero(index.constant)) {
    parts.quotient.constant = floorDiv(index.constant, divisor);
    parts.remainder.constant = floorMod(index.constant, divisor);
  }
  SymInt largest = parts.remainder.constant;
  for (std::size_t v = 0; v < index.coefficients.size(); ++v) {
    const SymInt factor = index.coefficients[v];
    if (!staticallyKnown(factor >= 0)) return std::nullopt;
    if (const auto quotient = exactQuotient(factor, divisor)) {
      parts.quotient.coefficients[v] = *quotient;
    } else {
      parts.remainder.coefficients[v] = factor;
      largest += factor * (variableSizes[v] - 1);
    }
  }
  if (!staticallyKnown(largest < divisor)) return std::nullopt;
  parts.quotient.trim();
  parts.remainder.trim();
  return parts;
}

Affine flatten(const IndexMap& map, const SymSizes& strides, SymInt offset) {
  Affine result = Affine::number(offset);
  for (std::size_t d = 0; d < map.size(); ++d) result = result + map[d] * strides[d];
  return result;
}

}  // namespace kerf::inline loops
