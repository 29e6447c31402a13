// Symbolic: the integer and boolean expressions of PyTorch's ShapeEnv ("2*s0 + 1", "(s0//2)", "Eq(u0, 4)"): read,
// simplified, compared, printed as sympy prints them, evaluated, and solved for their symbols.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/support/result.h"

namespace kerf::inline symbolic {

/// Values of symbols by name.
using SymbolBindings = std::map<std::string, std::int64_t, std::less<>>;
/// What an expression evaluates to: relations give a bool, true division and roots a double.
using SymbolicNumber = std::variant<bool, std::int64_t, double>;

struct SymbolicNode;

/// An immutable expression; copies share it. Built simplified as sympy does on construction: terms and factors are
/// collected and sorted, numbers folded (unless they overflow: then they stay apart).
class Symbolic {
 public:
  Symbolic() : Symbolic(integer(0)) {}
  explicit Symbolic(std::shared_ptr<const SymbolicNode> node) : m_node(std::move(node)) {}

  static Symbolic integer(std::int64_t value);
  static Symbolic real(double value);
  static Symbolic boolean(bool value);
  static Symbolic symbol(std::string name);
  /// numerator/denominator in lowest terms; the denominator must not be 0.
  static Symbolic rational(std::int64_t numerator, std::int64_t denominator);
  static Symbolic add(std::vector<Symbolic> terms);
  static Symbolic mul(std::vector<Symbolic> factors);
  static Symbolic pow(const Symbolic& base, const Symbolic& exponent);
  /// A named function ("FloorDiv", "Max", "Eq"); aliases ("torch.sym_max", "math.floor") become the sympy name.
  /// BadInput for an unknown name or a wrong number of arguments.
  static Result<Symbolic> call(std::string_view name, std::vector<Symbolic> arguments);

  /// Reads sympy's str() and the Python that PyTorch prints for guards and sizes. BadInput names the position; nesting
  /// above 200 and texts above 64 KiB are TooLarge.
  static Result<Symbolic> parse(std::string_view text);

  /// As PyTorch prints it; parse(text()) gives an equal expression.
  std::string text() const;
  const SymbolicNode& node() const { return *m_node; }
  /// Equal for equal expressions.
  std::size_t hash() const;
  /// Parts of the expression, shared ones as often as they occur.
  std::size_t weight() const;

  /// The value as a plain integer, if the expression is one.
  std::optional<std::int64_t> asInteger() const;
  std::set<std::string> symbols() const;
  Symbolic substitute(const SymbolBindings& values) const;
  /// Expressions in the place of symbols; a symbol for which `replacement` gives none stays.
  Symbolic substitute(const std::function<std::optional<Symbolic>(std::string_view)>& replacement) const;
  /// Exact where it can be: integers and fractions are 64-bit checked. BadInput for a symbol without value (all missing
  /// ones are named), overflow, division by zero, or a logarithm of a negative number.
  Result<SymbolicNumber> evaluate(const SymbolBindings& values = {}) const;
  /// evaluate() where the result must be an integer.
  Result<std::int64_t> evaluateInteger(const SymbolBindings& values = {}) const;
  /// evaluate() where the result must be a bool (or a number, compared with 0).
  Result<bool> evaluateBool(const SymbolBindings& values = {}) const;

  /// Products of sums multiplied out, inside functions too: equal polynomials become identical. Stops multiplying where
  /// the result would have more than 2,000 terms.
  Symbolic expanded() const;
  /// Identical after expanded(): exact for polynomials and functions of them.
  bool equals(const Symbolic& other) const;
  /// Identical as they stand.
  bool operator==(const Symbolic& other) const;

 private:
  std::shared_ptr<const SymbolicNode> m_node;
};

Symbolic operator+(const Symbolic& a, const Symbolic& b);
Symbolic operator-(const Symbolic& a, const Symbolic& b);
Symbolic operator*(const Symbolic& a, const Symbolic& b);

/// "input 'x', dimension 0" has the size written as `text` and the value `value`.
struct SizeEquation {
  std::string where;
  std::string text;
  std::int64_t value = 0;
};
/// Values of the symbols for which all equations hold: linear equations in one unknown are solved, over and over while
/// that finds more; the rest is checked. `known` values hold from the start. BadInput naming `where` on a
/// contradiction. Symbols that no equation settles stay out of the result.
Result<SymbolBindings> solveSizes(std::span<const SizeEquation> equations, const SymbolBindings& known = {});

/// Value of a size as text: a number, or an expression of `values`.
Result<std::int64_t> evaluateSize(std::string_view text, const SymbolBindings& values);
/// Adds the symbols of `text` to `names`; a text that cannot be read adds nothing.
void collectSymbols(std::string_view text, std::set<std::string>& names);

}  // namespace kerf::inline symbolic
