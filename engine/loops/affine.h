// Affine: an integer expression a·i + c over the loop variables of one kernel; the form of every index Kerf generates.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/tensor/tensor.h"

namespace kerf::inline loops {

/// coefficients[v] multiplies loop variable v; missing trailing coefficients are 0.
struct Affine {
  Sizes coefficients;
  std::int64_t constant = 0;

  static Affine number(std::int64_t value) { return {{}, value}; }
  static Affine variable(std::size_t index);

  std::int64_t coefficient(std::size_t variable) const {
    return variable < coefficients.size() ? coefficients[variable] : 0;
  }
  bool isConstant() const { return coefficients.empty(); }
  /// Drops trailing zeros, so that equal expressions compare equal.
  void trim();
  bool operator==(const Affine&) const = default;
  /// "32*i0 + i1 + 4".
  std::string text() const;
};

Affine operator+(const Affine& a, const Affine& b);
Affine operator*(const Affine& a, std::int64_t factor);

/// One index expression per dimension of a value.
using IndexMap = std::vector<Affine>;

/// Quotient and remainder of `index` by `divisor`, where both are affine for loop variables of these sizes.
struct AffineDivision {
  Affine quotient, remainder;
};
std::optional<AffineDivision> divideExactly(const Affine& index, std::int64_t divisor, const Sizes& variableSizes);

/// Σ map[d]·strides[d] + offset.
Affine flatten(const IndexMap& map, const Sizes& strides, std::int64_t offset);

}  // namespace kerf::inline loops
