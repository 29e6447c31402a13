// Affine: an integer expression a·i + c over the loop variables of one kernel; the form of every index Kerf generates.
// Coefficients may be expressions of symbolic sizes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/loops/size_facts.h"
#include "engine/tensor/tensor.h"

namespace kerf::inline loops {

/// coefficients[v] multiplies loop variable v; missing trailing coefficients are 0.
struct Affine {
  SymSizes coefficients;
  SymInt constant = 0;

  static Affine number(SymInt value) { return {{}, value}; }
  static Affine variable(std::size_t index);

  SymInt coefficient(std::size_t variable) const {
    return variable < coefficients.size() ? coefficients[variable] : SymInt(0);
  }
  bool isConstant() const { return coefficients.empty(); }
  /// Drops trailing zeros, so that equal expressions compare equal.
  void trim();
  /// Equal whatever the symbols are.
  bool operator==(const Affine& other) const {
    return sameSize(constant, other.constant) && sameSizes(coefficients, other.coefficients);
  }
  /// "32*i0 + i1 + 4".
  std::string text() const;
};

Affine operator+(const Affine& a, const Affine& b);
Affine operator*(const Affine& a, SymInt factor);

/// One index expression per dimension of a value.
using IndexMap = std::vector<Affine>;

/// Quotient and remainder of `index` by `divisor`, where both are affine for loop variables of these sizes whatever the
/// symbols are.
struct AffineDivision {
  Affine quotient, remainder;
};
std::optional<AffineDivision> divideExactly(const Affine& index, SymInt divisor, const SymSizes& variableSizes);

/// Σ map[d]·strides[d] + offset.
Affine flatten(const IndexMap& map, const SymSizes& strides, SymInt offset);

}  // namespace kerf::inline loops
