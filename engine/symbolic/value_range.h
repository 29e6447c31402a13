// ValueRange: what is known of the value of a symbol or an expression: a least and a greatest integer.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>

#include "engine/symbolic/symbolic.h"

namespace kerf::inline symbolic {

/// Both ends belong to it. The smallest and the largest int64 stand for no bound at all (PyTorch's int_oo).
struct ValueRange {
  static constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
  static constexpr std::int64_t greatest = std::numeric_limits<std::int64_t>::max();
  std::int64_t lower = least;
  std::int64_t upper = greatest;

  static ValueRange single(std::int64_t value) { return {value, value}; }
  bool contains(std::int64_t value) const { return lower <= value && value <= upper; }
  bool isEmpty() const { return lower > upper; }
  bool hasLower() const { return lower != least; }
  bool hasUpper() const { return upper != greatest; }
  ValueRange intersected(const ValueRange& other) const;
  bool operator==(const ValueRange&) const = default;
  /// As PyTorch's logs print it: "VR[2, int_oo]".
  std::string text() const;
};

using SymbolRanges = std::function<ValueRange(std::string_view symbol)>;

/// A range that the expression's value lies in for all values of its symbols within theirs; exact for polynomials whose
/// terms do not pull against each other. Fractions and floats inside have no bounds.
ValueRange rangeOf(const Symbolic& expression, const SymbolRanges& symbols);

}  // namespace kerf::inline symbolic
