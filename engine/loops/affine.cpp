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
  while (!coefficients.empty() && coefficients.back() == 0) coefficients.pop_back();
}

std::string Affine::text() const {
  std::string out;
  for (std::size_t v = 0; v < coefficients.size(); ++v) {
    const std::int64_t factor = coefficients[v];
    if (factor == 0) continue;
    if (!out.empty()) out += " + ";
    out += factor == 1 ? fmt::format("i{}", v) : fmt::format("{}*i{}", factor, v);
  }
  if (out.empty()) return std::to_string(constant);
  if (constant != 0) out += fmt::format(" + {}", constant);
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

Affine operator*(const Affine& a, std::int64_t factor) {
  if (factor == 0) return {};
  Affine result = a;
  for (auto& coefficient : result.coefficients) coefficient *= factor;
  result.constant *= factor;
  return result;
}

std::optional<AffineDivision> divideExactly(const Affine& index, std::int64_t divisor, const Sizes& variableSizes) {
  AffineDivision parts;
  parts.quotient.coefficients.assign(index.coefficients.size(), 0);
  parts.remainder.coefficients.assign(index.coefficients.size(), 0);
  if (divisor <= 0 || index.constant < 0) return std::nullopt;
  parts.quotient.constant = index.constant / divisor;
  parts.remainder.constant = index.constant % divisor;
  std::int64_t largest = parts.remainder.constant;
  for (std::size_t v = 0; v < index.coefficients.size(); ++v) {
    const std::int64_t factor = index.coefficients[v];
    if (factor < 0) return std::nullopt;
    if (factor % divisor == 0) {
      parts.quotient.coefficients[v] = factor / divisor;
    } else {
      parts.remainder.coefficients[v] = factor;
      largest += factor * (variableSizes[v] - 1);
    }
  }
  if (largest >= divisor) return std::nullopt;
  parts.quotient.trim();
  parts.remainder.trim();
  return parts;
}

Affine flatten(const IndexMap& map, const Sizes& strides, std::int64_t offset) {
  Affine result = Affine::number(offset);
  for (std::size_t d = 0; d < map.size(); ++d) result = result + map[d] * strides[d];
  return result;
}

}  // namespace kerf::inline loops
