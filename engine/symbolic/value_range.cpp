// Interval arithmetic over expressions, and the sign of polynomials by moving their symbols' least values to 0.
#include "engine/symbolic/value_range.h"

#include <algorithm>
#include <array>
#include <optional>

#include "engine/symbolic/symbolic_node.h"

namespace kerf::inline symbolic {
namespace {

using Kind = SymbolicNode::Kind;
constexpr auto least = ValueRange::least;
constexpr auto greatest = ValueRange::greatest;

bool isInfinite(std::int64_t value) { return value == least || value == greatest; }

std::int64_t clamped(__int128 value) {
  return value <= least ? least : value >= greatest ? greatest : static_cast<std::int64_t>(value);
}

/// Sum of two lower ends or of two upper ends: no bound stays no bound.
std::int64_t addEnds(std::int64_t a, std::int64_t b) {
  if (isInfinite(a)) return a;
  return isInfinite(b) ? b : clamped(static_cast<__int128>(a) + b);
}

std::int64_t mulEnds(std::int64_t a, std::int64_t b) {
  if (a == 0 || b == 0) return 0;
  if (isInfinite(a) || isInfinite(b)) return (a < 0) == (b < 0) ? greatest : least;
  return clamped(static_cast<__int128>(a) * b);
}

ValueRange added(const ValueRange& a, const ValueRange& b) {
  return {addEnds(a.lower, b.lower), addEnds(a.upper, b.upper)};
}

ValueRange hull(std::initializer_list<std::int64_t> values) {
  return {std::ranges::min(values), std::ranges::max(values)};
}

ValueRange multiplied(const ValueRange& a, const ValueRange& b) {
  return hull(
      {mulEnds(a.lower, b.lower), mulEnds(a.lower, b.upper), mulEnds(a.upper, b.lower), mulEnds(a.upper, b.upper)});
}

std::int64_t floorEnds(std::int64_t a, std::int64_t b) {
  if (isInfinite(b)) return isInfinite(a) ? 0 : ((a < 0) != (b < 0) && a != 0 ? -1 : 0);
  if (isInfinite(a)) return (a < 0) == (b < 0) ? greatest : least;
  const std::int64_t quotient = a / b;
  return quotient - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

/// Divisors of one sign.
ValueRange floorDivided(const ValueRange& a, const ValueRange& b) {
  if (b.lower <= 0 && b.upper >= 0) return {};
  ValueRange result = hull({floorEnds(a.lower, b.lower), floorEnds(a.lower, b.upper), floorEnds(a.upper, b.lower),
                            floorEnds(a.upper, b.upper)});
  // Neither end of an unbounded divisor says what the others give: between 0 and the dividend.
  if (b.hasLower() && b.hasUpper()) return result;
  if (a.lower < 0) result.lower = std::min<std::int64_t>(result.lower, -1);
  return result;
}

ValueRange modulo(const ValueRange& a, const ValueRange& b) {
  if (b.lower <= 0) return {};
  if (a.lower >= 0 && a.hasUpper() && a.upper < b.lower) return a;
  const std::int64_t most = b.hasUpper() ? b.upper - 1 : greatest;
  return {0, a.lower >= 0 ? std::min(most, a.upper) : most};
}

ValueRange power(const ValueRange& base, std::int64_t exponent) {
  if (exponent < 0 || exponent > 64) return {};
  ValueRange result = ValueRange::single(1);
  for (std::int64_t i = 0; i < exponent; ++i) result = multiplied(result, base);
  if (exponent % 2 == 0) result.lower = std::max<std::int64_t>(result.lower, 0);
  return result;
}

class Ranges {
 public:
  explicit Ranges(const SymbolRanges& symbols) : m_symbols(symbols) {}

  ValueRange of(const Symbolic& expression) const {
    const SymbolicNode& node = expression.node();
    switch (node.kind) {
      case Kind::Number:
        return ofNumber(node.value);
      case Kind::Boolean:
        return ValueRange::single(node.value.numerator);
      case Kind::Symbol:
        return m_symbols(node.name);
      case Kind::Add:
        return ofSum(expression);
      case Kind::Mul:
        return ofProduct(node);
      case Kind::Pow:
        if (const auto exponent = node.arguments[1].asInteger()) return power(of(node.arguments[0]), *exponent);
        return {};
      case Kind::Function:
        return ofFunction(node);
    }
    return {};
  }

 private:
  static ValueRange ofNumber(const SymbolicValue& value) {
    if (value.isInteger()) return ValueRange::single(value.numerator);
    const double real = value.asDouble();
    if (!(real > -9e18 && real < 9e18)) return {};
    const auto below = static_cast<std::int64_t>(real) - (real < 0 ? 1 : 0);
    return {below, below + 1};
  }

  ValueRange ofSum(const Symbolic& expression) const {
    ValueRange sum = ValueRange::single(0);
    for (const Symbolic& term : expression.node().arguments) {
      if (!isWhole(term)) return {};
      sum = added(sum, of(term));
    }
    const auto shifted = byShifting(expression);
    return shifted ? sum.intersected(*shifted) : sum;
  }

  static bool isWhole(const Symbolic& term) { return splitCoefficient(term).coefficient.isInteger(); }

  ValueRange ofProduct(const SymbolicNode& node) const {
    ValueRange product = ValueRange::single(1);
    for (const Symbolic& factor : node.arguments) {
      if (isNumber(factor) && !factor.node().value.isInteger()) return {};
      product = multiplied(product, of(factor));
    }
    return product;
  }

  ValueRange ofFunction(const SymbolicNode& node) const {
    const auto& arguments = node.arguments;
    if (node.name == "FloorDiv" || node.name == "CleanDiv") return floorDivided(of(arguments[0]), of(arguments[1]));
    if (node.name == "Mod" || node.name == "PythonMod") return modulo(of(arguments[0]), of(arguments[1]));
    if (node.name == "ModularIndexing")
      return modulo(floorDivided(of(arguments[0]), of(arguments[1])), of(arguments[2]));
    if (node.name == "Max" || node.name == "Min") return ofExtremum(arguments, node.name == "Max");
    if (node.name == "Where") return either(of(arguments[1]), of(arguments[2]));
    if (node.name == "Identity" || node.name == "FloorToInt" || node.name == "CeilToInt" || node.name == "TruncToInt")
      return whole(arguments[0]) ? of(arguments[0]) : ValueRange{};
    if (node.name == "PowByNatural")
      if (const auto exponent = arguments[1].asInteger()) return power(of(arguments[0]), *exponent);
    if (node.name == "Abs") {
      const ValueRange inner = of(arguments[0]);
      return {inner.lower > 0 ? inner.lower : 0, std::max(inner.upper, mulEnds(inner.lower, -1))};
    }
    if (findSymbolicFunction(node.name)->truth) return {0, 1};
    return {};
  }

  /// Whether no fraction or float can hide in the value.
  static bool whole(const Symbolic& expression) { return isKind(expression, Kind::Symbol); }

  ValueRange ofExtremum(const std::vector<Symbolic>& arguments, bool greatestOne) const {
    ValueRange result = of(arguments[0]);
    for (const Symbolic& argument : std::span(arguments).subspan(1)) {
      const ValueRange other = of(argument);
      result = greatestOne ? ValueRange{std::max(result.lower, other.lower), std::max(result.upper, other.upper)}
                           : ValueRange{std::min(result.lower, other.lower), std::min(result.upper, other.upper)};
    }
    return result;
  }

  static ValueRange either(const ValueRange& a, const ValueRange& b) {
    return {std::min(a.lower, b.lower), std::max(a.upper, b.upper)};
  }

  /// Every atom is its least value plus something >= 0. Where all coefficients of the polynomial in that have one sign,
  /// the constant is its least (or greatest) value: s0*s1 - s0 for s0, s1 >= 2 is >= 2.
  std::optional<ValueRange> byShifting(const Symbolic& expression) const {
    if (expression.node().arguments.size() > maximumShifted || expression.weight() > maximumWeight) return {};
    std::vector<Symbolic> terms;
    for (const Symbolic& term : expression.node().arguments) {
      const auto shifted = shiftedTerm(term);
      if (!shifted) return {};
      terms.push_back(*shifted);
    }
    const Symbolic polynomial = Symbolic::add(std::move(terms)).expanded();
    const std::vector<Symbolic> sum =
        isKind(polynomial, Kind::Add) ? polynomial.node().arguments : std::vector<Symbolic>{polynomial};
    bool rises = true, falls = true;
    std::int64_t constant = 0;
    for (const Symbolic& term : sum) {
      const SymbolicTerm split = splitCoefficient(term);
      if (!split.coefficient.isInteger()) return {};
      if (isNumber(split.rest)) {
        constant = split.coefficient.numerator;
        continue;
      }
      rises = rises && split.coefficient.numerator >= 0;
      falls = falls && split.coefficient.numerator <= 0;
    }
    if (!rises && !falls) return {};
    return ValueRange{rises ? constant : least, falls ? constant : greatest};
  }

  std::optional<Symbolic> shiftedTerm(const Symbolic& term) const {
    const SymbolicTerm split = splitCoefficient(term);
    if (isNumber(split.rest)) return term;
    std::vector<Symbolic> factors{makeNumber(split.coefficient)};
    const std::vector<Symbolic> parts =
        isKind(split.rest, Kind::Mul) ? split.rest.node().arguments : std::vector<Symbolic>{split.rest};
    if (parts.size() > 6) return {};
    for (const Symbolic& part : parts) {
      const SymbolicFactor power = splitExponent(part);
      const ValueRange range = of(power.base);
      if (power.exponent < 1 || power.exponent > 4 || !range.hasLower()) return {};
      factors.push_back(Symbolic::pow(power.base + Symbolic::integer(range.lower), Symbolic::integer(power.exponent)));
    }
    return Symbolic::mul(std::move(factors));
  }

  static constexpr std::size_t maximumShifted = 24, maximumWeight = 200;  ///< multiplying out costs more than it tells
  const SymbolRanges& m_symbols;
};

}  // namespace

ValueRange ValueRange::intersected(const ValueRange& other) const {
  return {std::max(lower, other.lower), std::min(upper, other.upper)};
}

std::string ValueRange::text() const {
  const auto end = [](std::int64_t value) {
    return value == least ? std::string("-int_oo") : value == greatest ? std::string("int_oo") : std::to_string(value);
  };
  return fmt::format("VR[{}, {}]", end(lower), end(upper));
}

ValueRange rangeOf(const Symbolic& expression, const SymbolRanges& symbols) { return Ranges(symbols).of(expression); }

}  // namespace kerf::inline symbolic
