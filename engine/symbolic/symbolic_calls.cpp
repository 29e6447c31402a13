// Construction of function calls: FloorDiv by a common factor, flattened Max, relations that are decided.
#include <algorithm>
#include <numeric>

#include "engine/symbolic/shape_env.h"
#include "engine/symbolic/symbolic_node.h"

namespace kerf::inline symbolic {
namespace {

using Kind = SymbolicNode::Kind;
using Arguments = std::vector<Symbolic>;

bool isZero(const Symbolic& item) { return item.asInteger() == 0; }
bool isOne(const Symbolic& item) { return item.asInteger() == 1; }

std::vector<Symbolic> termsOf(const Symbolic& expression) {
  return isKind(expression, Kind::Add) ? expression.node().arguments : Arguments{expression};
}

/// Factors that a term is a multiple of: its integer coefficient, and how often each base divides it.
std::optional<Symbolic> dividedTerm(const Symbolic& term, const Symbolic& divisor) {
  const SymbolicTerm split = splitCoefficient(term);
  const SymbolicTerm by = splitCoefficient(divisor);
  if (!split.coefficient.isInteger() || !by.coefficient.isInteger() || by.coefficient.numerator == 0) return {};
  if (by.coefficient.numerator == -1 || split.coefficient.numerator % by.coefficient.numerator != 0) return {};
  Arguments factors{Symbolic::integer(split.coefficient.numerator / by.coefficient.numerator), split.rest};
  if (isOne(by.rest)) return Symbolic::mul(factors);
  const Arguments parts = isKind(by.rest, Kind::Mul) ? by.rest.node().arguments : Arguments{by.rest};
  const Arguments have = isKind(split.rest, Kind::Mul) ? split.rest.node().arguments : Arguments{split.rest};
  for (const Symbolic& part : parts) {
    const SymbolicFactor wanted = splitExponent(part);
    const bool divides = wanted.exponent > 0 && std::ranges::any_of(have, [&](const Symbolic& factor) {
                           const SymbolicFactor held = splitExponent(factor);
                           return held.base == wanted.base && held.exponent >= wanted.exponent;
                         });
    if (!divides) return {};
    factors.push_back(Symbolic::pow(part, Symbolic::integer(-1)));
  }
  return Symbolic::mul(std::move(factors));
}

/// expression / divisor where every term is a multiple of the divisor.
std::optional<Symbolic> exactQuotient(const Symbolic& expression, const Symbolic& divisor) {
  Arguments terms;
  for (const Symbolic& term : termsOf(expression)) {
    auto divided = dividedTerm(term, divisor);
    if (!divided) return {};
    terms.push_back(std::move(*divided));
  }
  return Symbolic::add(std::move(terms));
}

/// Greatest common divisor of all integer coefficients; 1 if one is no integer.
std::int64_t contentOf(const Symbolic& expression) {
  std::int64_t divisor = 0;
  for (const Symbolic& term : termsOf(expression)) {
    const SymbolicValue coefficient = splitCoefficient(term).coefficient;
    if (!coefficient.isInteger() || coefficient.numerator == INT64_MIN) return 1;
    divisor = std::gcd(divisor, coefficient.numerator);
  }
  return std::max<std::int64_t>(divisor, 1);
}

/// (x + k*d) // d as x // d + k, for a number d.
std::optional<Symbolic> withoutMultiples(const Symbolic& base, const Symbolic& divisor) {
  if (!divisor.asInteger()) return {};
  Arguments rest, quotients;
  for (const Symbolic& term : termsOf(base)) {
    auto quotient = dividedTerm(term, divisor);
    if (quotient)
      quotients.push_back(std::move(*quotient));
    else
      rest.push_back(term);
  }
  if (quotients.empty()) return {};
  quotients.push_back(*Symbolic::call("FloorDiv", {Symbolic::add(std::move(rest)), divisor}));
  return Symbolic::add(std::move(quotients));
}

/// The integer and the factors of a divisor that all terms of a base have, too.
Symbolic commonFactor(const Symbolic& base, const Symbolic& divisor) {
  Arguments common{Symbolic::integer(std::gcd(contentOf(base), contentOf(divisor)))};
  if (termsOf(divisor).size() != 1) return common.front();
  const Symbolic rest = splitCoefficient(divisor).rest;
  const Arguments factors = isKind(rest, Kind::Mul) ? rest.node().arguments : Arguments{rest};
  for (const Symbolic& factor : factors)
    if (!isOne(factor) && exactQuotient(base, factor)) common.push_back(factor);
  return Symbolic::mul(std::move(common));
}

std::optional<Symbolic> simplifyFloorDiv(const Arguments& arguments) {
  const Symbolic& base = arguments[0];
  const Symbolic& divisor = arguments[1];
  if (isZero(divisor)) return {};
  if (isZero(base)) return Symbolic::integer(0);
  if (isOne(divisor)) return base;
  if (divisor.asInteger() == -1) return Symbolic::mul({base, divisor});
  if (auto quotient = exactQuotient(base, divisor)) return quotient;
  const auto number = divisor.asInteger();
  if (auto sum = withoutMultiples(base, divisor)) return sum;
  const bool nested = isFunction(base, "FloorDiv") && number && *number > 0;
  const auto inner = nested ? base.node().arguments[1].asInteger() : std::nullopt;
  std::int64_t both = 0;
  if (inner && *inner > 0 && !__builtin_mul_overflow(*inner, *number, &both))
    return *Symbolic::call("FloorDiv", {base.node().arguments[0], Symbolic::integer(both)});
  const Symbolic by = commonFactor(base, divisor);
  if (isOne(by)) return {};
  return *Symbolic::call("FloorDiv", {*exactQuotient(base, by), *exactQuotient(divisor, by)});
}

std::optional<Symbolic> simplifyMod(const Arguments& arguments) {
  if (isZero(arguments[1])) return {};
  if (isZero(arguments[0]) || isOne(arguments[1]) || arguments[0] == arguments[1]) return Symbolic::integer(0);
  if (exactQuotient(arguments[0], arguments[1])) return Symbolic::integer(0);
  return {};
}

std::optional<Symbolic> simplifyCeilDiv(const Arguments& arguments) {
  if (isZero(arguments[1])) return {};
  if (auto quotient = exactQuotient(arguments[0], arguments[1])) return quotient;
  const Symbolic raised = Symbolic::add({arguments[0], arguments[1], Symbolic::integer(-1)});
  return *Symbolic::call("FloorDiv", {raised, arguments[1]});
}

std::optional<Symbolic> simplifyCleanDiv(const Arguments& arguments) {
  if (isZero(arguments[1])) return {};
  return exactQuotient(arguments[0], arguments[1]);
}

std::optional<Symbolic> simplifyModularIndexing(const Arguments& arguments) {
  if (isZero(arguments[0]) || isOne(arguments[2])) return Symbolic::integer(0);
  return {};
}

/// Arguments of the same function moved up, sorted, without repetitions, constants folded into one.
std::optional<Symbolic> flattened(std::string_view name, const Arguments& arguments) {
  Arguments items, constants;
  for (const Symbolic& argument : arguments) {
    const Arguments inner = isFunction(argument, name) ? argument.node().arguments : Arguments{argument};
    for (const Symbolic& item : inner) (isConstant(item) ? constants : items).push_back(item);
  }
  std::ranges::sort(items, [](const Symbolic& a, const Symbolic& b) { return compareSymbolic(a, b) < 0; });
  items.erase(std::ranges::unique(items).begin(), items.end());
  if (!constants.empty()) {
    std::vector<SymbolicValue> values;
    for (const Symbolic& constant : constants) values.push_back(constant.node().value);
    const SymbolicFunction& function = *findSymbolicFunction(name);
    const SymbolicValue value = *function.evaluate(values);
    const Symbolic folded = function.truth ? Symbolic::boolean(!value.isZero()) : makeNumber(value);
    const bool decides = function.truth && value.isZero() == (name == "And");
    if (decides || items.empty()) return folded;
    if (!function.truth) items.insert(items.begin(), folded);
  }
  if (items.size() == 1) return items[0];
  return makeNode(Kind::Function, std::string(name), std::move(items));
}

std::optional<Symbolic> simplifyMax(const Arguments& arguments) { return flattened("Max", arguments); }
std::optional<Symbolic> simplifyMin(const Arguments& arguments) { return flattened("Min", arguments); }
std::optional<Symbolic> simplifyAnd(const Arguments& arguments) { return flattened("And", arguments); }
std::optional<Symbolic> simplifyOr(const Arguments& arguments) { return flattened("Or", arguments); }

/// Relations of two sides whose difference is a number are decided.
std::optional<Symbolic> decided(std::string_view name, const Arguments& arguments) {
  if (isKind(arguments[0], Kind::Boolean) || isKind(arguments[1], Kind::Boolean)) return {};
  const Symbolic difference = arguments[0] - arguments[1];
  if (!isNumber(difference)) return {};
  const std::vector<SymbolicValue> sides = {difference.node().value, SymbolicValue::integer(0)};
  const auto value = findSymbolicFunction(name)->evaluate(sides);
  return value ? std::optional(Symbolic::boolean(!value->isZero())) : std::nullopt;
}

struct Opposite {
  std::string_view name, opposite;
};
constexpr Opposite opposites[] = {{"Eq", "Ne"}, {"Ne", "Eq"}, {"Lt", "Ge"}, {"Ge", "Lt"}, {"Gt", "Le"}, {"Le", "Gt"}};

std::optional<Symbolic> simplifyNot(const Arguments& arguments) {
  if (isFunction(arguments[0], "Not")) return arguments[0].node().arguments[0];
  for (const Opposite& entry : opposites)
    if (isFunction(arguments[0], entry.name)) return *Symbolic::call(entry.opposite, arguments[0].node().arguments);
  return {};
}

/// A natural exponent that is known: what ** gives.
std::optional<Symbolic> simplifyNaturalPower(const Arguments& arguments) {
  const auto exponent = arguments[1].asInteger();
  if (!exponent || *exponent < 0) return {};
  return Symbolic::pow(arguments[0], arguments[1]);
}
std::optional<Symbolic> powerOfTwo(const Symbolic& exponent) {
  const auto count = exponent.asInteger();
  if (!count || *count < 0 || *count > 62) return {};
  return Symbolic::integer(std::int64_t{1} << *count);
}
std::optional<Symbolic> simplifyLeftShift(const Arguments& arguments) {
  const auto factor = powerOfTwo(arguments[1]);
  return factor ? std::optional(arguments[0] * *factor) : std::nullopt;
}
std::optional<Symbolic> simplifyRightShift(const Arguments& arguments) {
  const auto divisor = powerOfTwo(arguments[1]);
  return divisor ? std::optional(*Symbolic::call("FloorDiv", {arguments[0], *divisor})) : std::nullopt;
}
std::optional<Symbolic> simplifyWhere(const Arguments& arguments) {
  if (arguments[1] == arguments[2]) return arguments[1];
  if (!isKind(arguments[0], Kind::Boolean)) return {};
  return arguments[arguments[0].node().value.isZero() ? 2 : 1];
}

std::optional<Symbolic> simplifyIdentity(const Arguments& arguments) { return arguments[0]; }
/// Of what is an integer already.
std::optional<Symbolic> simplifyRounding(const Arguments& arguments) {
  const auto hasFraction = [](const Symbolic& term) {
    const SymbolicTerm split = splitCoefficient(term);
    if (!split.coefficient.isInteger()) return true;
    const Arguments factors = isKind(split.rest, Kind::Mul) ? split.rest.node().arguments : Arguments{split.rest};
    return !std::ranges::all_of(factors, [](const Symbolic& factor) {
      const SymbolicFactor power = splitExponent(factor);
      return isOne(factor) || (isKind(power.base, Kind::Symbol) && power.exponent > 0);
    });
  };
  if (std::ranges::any_of(termsOf(arguments[0]), hasFraction)) return {};
  return arguments[0];
}

struct CallRule {
  std::string_view name;
  std::optional<Symbolic> (*simplify)(const Arguments&);
};
constexpr CallRule rules[] = {
    {"FloorDiv", simplifyFloorDiv},
    {"Mod", simplifyMod},
    {"PythonMod", simplifyMod},
    {"CeilDiv", simplifyCeilDiv},
    {"CleanDiv", simplifyCleanDiv},
    {"ModularIndexing", simplifyModularIndexing},
    {"Max", simplifyMax},
    {"Min", simplifyMin},
    {"And", simplifyAnd},
    {"Or", simplifyOr},
    {"Not", simplifyNot},
    {"Identity", simplifyIdentity},
    {"PowByNatural", simplifyNaturalPower},
    {"LShift", simplifyLeftShift},
    {"RShift", simplifyRightShift},
    {"Where", simplifyWhere},
    {"floor", simplifyRounding},
    {"ceiling", simplifyRounding},
    {"FloorToInt", simplifyRounding},
    {"CeilToInt", simplifyRounding},
    {"TruncToInt", simplifyRounding},
    {"RoundToInt", simplifyRounding},
};
constexpr std::string_view relations[] = {"Eq", "Ne", "Lt", "Le", "Gt", "Ge"};

std::optional<Symbolic> folded(const SymbolicFunction& function, const Arguments& arguments) {
  std::vector<SymbolicValue> values;
  for (const Symbolic& argument : arguments) {
    if (!isConstant(argument)) return {};
    values.push_back(argument.node().value);
  }
  const auto value = function.evaluate(values);
  if (!value) return {};
  return function.truth ? Symbolic::boolean(!value->isZero()) : makeNumber(*value);
}

/// Python's & | ^: logical between bools, of the bits between integers.
struct BitwiseName {
  std::string_view name, ofBools, ofIntegers;
};
constexpr BitwiseName bitwiseNames[] = {{"BitwiseAnd", "And", "BitwiseFn_bitwise_and"},
                                        {"BitwiseOr", "Or", "BitwiseFn_bitwise_or"},
                                        {"BitwiseXor", "Ne", "BitwiseFn_bitwise_xor"}};

Result<Symbolic> bitwise(const BitwiseName& names, const Arguments& arguments) {
  const bool logical = std::ranges::all_of(arguments, [](const Symbolic& a) { return kindOf(a) == SymKind::Bool; });
  if (logical && names.name != "BitwiseXor") return Symbolic::call(names.ofBools, arguments);
  Result<Symbolic> value = arguments[0];
  for (const Symbolic& argument : std::span(arguments).subspan(1)) {
    if (!value) return value;
    value = Symbolic::call(logical ? names.ofBools : names.ofIntegers, {*value, argument});
  }
  return value;
}

}  // namespace

std::optional<Symbolic> simplifyCall(std::string_view name, const Arguments& arguments) {
  const auto rule = std::ranges::find(rules, name, &CallRule::name);
  if (rule != std::end(rules))
    if (auto result = rule->simplify(arguments)) return result;
  if (std::ranges::find(relations, name) != std::end(relations)) return decided(name, arguments);
  return {};
}

Result<Symbolic> Symbolic::call(std::string_view name, std::vector<Symbolic> arguments) {
  const std::string_view canonical = canonicalFunctionName(name);
  const auto bits = std::ranges::find(bitwiseNames, canonical, &BitwiseName::name);
  if (bits != std::end(bitwiseNames) && !arguments.empty()) return bitwise(*bits, arguments);
  if (canonical == "Pow" && arguments.size() == 2) return pow(arguments[0], arguments[1]);
  if (canonical == "Add") return add(std::move(arguments));
  if (canonical == "Mul") return mul(std::move(arguments));
  if ((canonical == "Integer" || canonical == "Symbol" || canonical == "Float") && arguments.size() == 1)
    return arguments[0];
  if (canonical == "Rational" && arguments.size() == 2) return mul({arguments[0], pow(arguments[1], integer(-1))});
  if (canonical == "RoundToInt" && arguments.size() == 2) return call("RoundDecimal", std::move(arguments));
  const SymbolicFunction* function = findSymbolicFunction(canonical);
  if (function == nullptr) return fail(ErrorCode::BadInput, "'{}' is not a function of symbolic sizes", name);
  if (arguments.size() < function->minimum || arguments.size() > function->maximum)
    return fail(ErrorCode::BadInput, "{} does not take {} arguments", canonical, arguments.size());
  if (auto value = folded(*function, arguments)) return *value;
  if (auto simpler = simplifyCall(canonical, arguments)) return *simpler;
  return makeNode(Kind::Function, std::string(canonical), std::move(arguments));
}

}  // namespace kerf::inline symbolic
