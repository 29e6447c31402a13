// The tree behind Symbolic, and the table of functions it knows. Private to engine/symbolic.
#pragma once

#include <optional>

#include "engine/symbolic/symbolic.h"

namespace kerf::inline symbolic {

/// A fraction in lowest terms (denominator > 0), or a double where `exact` is false.
struct SymbolicValue {
  bool exact = true;
  std::int64_t numerator = 0;
  std::int64_t denominator = 1;
  double real = 0;

  static SymbolicValue integer(std::int64_t value) { return {true, value, 1, 0}; }
  static SymbolicValue floating(double value) { return {false, 0, 1, value}; }
  bool isInteger() const { return exact && denominator == 1; }
  bool isZero() const { return exact ? numerator == 0 : real == 0; }
  double asDouble() const { return exact ? double(numerator) / double(denominator) : real; }
  bool operator==(const SymbolicValue&) const = default;
};

/// Checked: none on overflow or (divide) on a zero divisor.
std::optional<SymbolicValue> addValues(const SymbolicValue& a, const SymbolicValue& b);
std::optional<SymbolicValue> mulValues(const SymbolicValue& a, const SymbolicValue& b);
std::optional<SymbolicValue> divideValues(const SymbolicValue& a, const SymbolicValue& b);
std::optional<SymbolicValue> powValues(const SymbolicValue& base, std::int64_t exponent);
/// The fraction numerator/denominator in lowest terms.
std::optional<SymbolicValue> fraction(std::int64_t numerator, std::int64_t denominator);
/// -1, 0, 1; exact wherever both are.
int compareValues(const SymbolicValue& a, const SymbolicValue& b);

struct SymbolicNode {
  enum class Kind : std::uint8_t { Number, Boolean, Symbol, Mul, Add, Pow, Function };
  Kind kind = Kind::Number;
  SymbolicValue value;              ///< Number; Boolean as 0 or 1
  std::string name;                 ///< Symbol, Function
  std::vector<Symbolic> arguments;  ///< Add: terms; Mul: factors (a number first); Pow: base, exponent
  std::size_t hash = 0;             ///< of all of the above
  std::size_t weight = 1;           ///< nodes of the tree, shared ones as often as they occur; saturates
};

inline bool isNumber(const Symbolic& expression) { return expression.node().kind == SymbolicNode::Kind::Number; }
inline bool isConstant(const Symbolic& expression) {
  return isNumber(expression) || expression.node().kind == SymbolicNode::Kind::Boolean;
}
inline bool isKind(const Symbolic& expression, SymbolicNode::Kind kind) { return expression.node().kind == kind; }
bool isFunction(const Symbolic& expression, std::string_view name);
Symbolic makeNumber(const SymbolicValue& value);
/// A tree as it stands, nothing simplified.
Symbolic makeNode(SymbolicNode::Kind kind, std::string name, std::vector<Symbolic> arguments);

/// sympy's default_sort_key order. 0 only for identical expressions.
int compareSymbolic(const Symbolic& a, const Symbolic& b);

/// A term as coefficient and the rest ("3*s0" → 3, s0); a number has the rest 1.
struct SymbolicTerm {
  SymbolicValue coefficient;
  Symbolic rest;
};
SymbolicTerm splitCoefficient(const Symbolic& term);
/// A factor as base and integer exponent; exponent 1 unless it is a power with an integer.
struct SymbolicFactor {
  Symbolic base;
  std::int64_t exponent = 1;
};
SymbolicFactor splitExponent(const Symbolic& factor);

/// One function of sympy or torch.utils._sympy.functions on numbers. `evaluate` gives none on overflow, a zero divisor
/// or an argument outside its domain.
struct SymbolicFunction {
  std::string_view name;
  std::size_t minimum;
  std::size_t maximum;
  std::optional<SymbolicValue> (*evaluate)(std::span<const SymbolicValue>);
  bool truth = false;           ///< gives a bool
  std::string_view infix = {};  ///< printed between its two arguments
};
/// The sympy name of `name` ("math.floor" → "floor"); itself if there is no alias.
std::string_view canonicalFunctionName(std::string_view name);
const SymbolicFunction* findSymbolicFunction(std::string_view canonicalName);
/// Rules of single functions: FloorDiv by a common factor, flattened Max, Eq of equals. None: no rule fits.
std::optional<Symbolic> simplifyCall(std::string_view name, const std::vector<Symbolic>& arguments);

}  // namespace kerf::inline symbolic
