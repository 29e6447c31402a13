// The functions of sympy and torch.utils._sympy.functions that sizes and guards use, on numbers.
#include <algorithm>
#include <array>
#include <cmath>

#include "engine/symbolic/symbolic_node.h"

namespace kerf::inline symbolic {
namespace {

using Values = std::span<const SymbolicValue>;
using Outcome = std::optional<SymbolicValue>;

Outcome truth(bool value) { return SymbolicValue::integer(value ? 1 : 0); }

/// A double as an integer value; the infinities stay doubles.
Outcome wholeOf(double value) {
  if (std::isinf(value)) return SymbolicValue::floating(value);
  if (!(std::abs(value) < 9.2e18)) return {};
  return SymbolicValue::integer(std::int64_t(value));
}

std::int64_t floorOfFraction(const SymbolicValue& a) {
  const std::int64_t quotient = a.numerator / a.denominator;
  return quotient - (a.numerator % a.denominator < 0 ? 1 : 0);
}

Outcome floorOf(const SymbolicValue& a) {
  if (a.exact) return SymbolicValue::integer(floorOfFraction(a));
  return wholeOf(std::floor(a.real));
}
Outcome negated(const SymbolicValue& a) { return mulValues(a, SymbolicValue::integer(-1)); }
Outcome ceilingOf(const SymbolicValue& a) {
  const auto opposite = negated(a);
  const auto floored = opposite ? floorOf(*opposite) : Outcome{};
  return floored ? negated(*floored) : Outcome{};
}
Outcome truncOf(const SymbolicValue& a) { return a.asDouble() < 0 ? ceilingOf(a) : floorOf(a); }

Outcome floorDiv(Values v) {
  const auto quotient = divideValues(v[0], v[1]);
  return quotient ? floorOf(*quotient) : Outcome{};
}
/// Python's: the sign of the divisor.
Outcome pythonMod(Values v) {
  const auto quotient = floorDiv(v);
  const auto multiple = quotient ? mulValues(*quotient, v[1]) : Outcome{};
  const auto opposite = multiple ? negated(*multiple) : Outcome{};
  return opposite ? addValues(v[0], *opposite) : Outcome{};
}
Outcome modularIndexing(Values v) {
  const auto quotient = floorDiv(v.first(2));
  if (!quotient) return {};
  const std::array both = {*quotient, v[2]};
  return pythonMod(both);
}
Outcome cleanDiv(Values v) {
  const auto quotient = divideValues(v[0], v[1]);
  return quotient && (!quotient->exact || quotient->isInteger()) ? quotient : Outcome{};
}
Outcome ceilDiv(Values v) {
  const auto quotient = divideValues(v[0], v[1]);
  return quotient ? ceilingOf(*quotient) : Outcome{};
}
Outcome trueDiv(Values v) {
  if (v[1].isZero()) return {};
  return SymbolicValue::floating(v[0].asDouble() / v[1].asDouble());
}
Outcome power(Values v) {
  if (v[1].isInteger()) return powValues(v[0], v[1].numerator);
  return SymbolicValue::floating(std::pow(v[0].asDouble(), v[1].asDouble()));
}
Outcome floatPower(Values v) { return SymbolicValue::floating(std::pow(v[0].asDouble(), v[1].asDouble())); }

Outcome extremum(Values v, int sign) {
  SymbolicValue best = v[0];
  for (const SymbolicValue& candidate : v.subspan(1))
    if (compareValues(candidate, best) == sign) best = candidate;
  return best;
}
Outcome maximum(Values v) { return extremum(v, 1); }
Outcome minimum(Values v) { return extremum(v, -1); }
Outcome absolute(Values v) { return v[0].asDouble() < 0 ? negated(v[0]) : Outcome(v[0]); }

/// Round half to even, as Python.
Outcome roundToInt(Values v) {
  const auto floored = floorOf(v[0]);
  if (!floored || !floored->exact) return floored;
  const double rest = v[0].asDouble() - floored->asDouble();
  const bool up = rest > 0.5 || (rest == 0.5 && floored->numerator % 2 != 0);
  return up ? addValues(*floored, SymbolicValue::integer(1)) : floored;
}
Outcome roundDecimal(Values v) {
  if (!v[1].isInteger() || std::abs(v[1].numerator) > 300) return {};
  const double scale = std::pow(10.0, double(v[1].numerator));
  return SymbolicValue::floating(std::nearbyint(v[0].asDouble() * scale) / scale);
}

/// x * 2**shift; both integers, 0 <= shift < 63.
Outcome shifted(Values v, bool left) {
  if (!v[0].isInteger() || !v[1].isInteger() || v[1].numerator < 0 || v[1].numerator > 62) return {};
  const std::array both = {v[0], SymbolicValue::integer(std::int64_t{1} << v[1].numerator)};
  return left ? mulValues(both[0], both[1]) : floorDiv(both);
}

template <class Combine>
Outcome bitwise(Values v, Combine combine) {
  if (!v[0].isInteger() || !v[1].isInteger()) return {};
  return SymbolicValue::integer(combine(v[0].numerator, v[1].numerator));
}

template <double (*function)(double)>
Outcome unary(Values v) {
  const double result = function(v[0].asDouble());
  if (std::isnan(result)) return {};
  return SymbolicValue::floating(result);
}

/// Piecewise's conditions and values alternate: v0 if c0 else v1 if c1 …
Outcome piecewise(Values v) {
  for (std::size_t i = 0; i + 1 < v.size(); i += 2)
    if (!v[i + 1].isZero()) return v[i];
  return {};
}

/// Sizes, then strides, of a tensor: whether it fills its memory without gaps or overlaps.
Outcome nonOverlappingAndDense(Values v) {
  const std::size_t rank = v.size() / 2;
  if (v.size() % 2 != 0) return {};
  std::vector<std::pair<SymbolicValue, SymbolicValue>> dims;  // stride, size
  for (std::size_t i = 0; i < rank; ++i)
    if (!(v[i] == SymbolicValue::integer(1))) dims.emplace_back(v[rank + i], v[i]);
  std::ranges::sort(dims, [](const auto& a, const auto& b) { return compareValues(a.first, b.first) < 0; });
  Outcome expected = SymbolicValue::integer(1);
  for (const auto& [stride, size] : dims) {
    if (!expected || compareValues(stride, *expected) != 0) return truth(false);
    expected = mulValues(*expected, size);
  }
  return truth(true);
}

constexpr std::size_t many = 64;
constexpr SymbolicFunction functions[] = {
    {"FloorDiv", 2, 2, floorDiv},
    {"Mod", 2, 2, pythonMod},
    {"PythonMod", 2, 2, pythonMod},
    {"ModularIndexing", 3, 3, modularIndexing},
    {"CleanDiv", 2, 2, cleanDiv},
    {"CeilDiv", 2, 2, ceilDiv},
    {"IntTrueDiv", 2, 2, trueDiv},
    {"FloatTrueDiv", 2, 2, trueDiv},
    {"TrueDiv", 2, 2, trueDiv},
    {"PowByNatural", 2, 2, power},
    {"FloatPow", 2, 2, floatPower},
    {"Max", 1, many, maximum},
    {"Min", 1, many, minimum},
    {"Abs", 1, 1, absolute},
    {"Identity", 1, 1, [](Values v) -> Outcome { return v[0]; }},
    {"floor", 1, 1, [](Values v) { return floorOf(v[0]); }},
    {"ceiling", 1, 1, [](Values v) { return ceilingOf(v[0]); }},
    {"FloorToInt", 1, 1, [](Values v) { return floorOf(v[0]); }},
    {"CeilToInt", 1, 1, [](Values v) { return ceilingOf(v[0]); }},
    {"TruncToInt", 1, 1, [](Values v) { return truncOf(v[0]); }},
    {"TruncToFloat", 1, 1, [](Values v) -> Outcome { return SymbolicValue::floating(std::trunc(v[0].asDouble())); }},
    {"RoundToInt", 1, 1, roundToInt},
    {"RoundDecimal", 2, 2, roundDecimal},
    {"ToFloat", 1, 1, [](Values v) -> Outcome { return SymbolicValue::floating(v[0].asDouble()); }},
    {"LShift", 2, 2, [](Values v) { return shifted(v, true); }},
    {"RShift", 2, 2, [](Values v) { return shifted(v, false); }},
    {"BitwiseFn_bitwise_and", 2, 2, [](Values v) { return bitwise(v, [](auto a, auto b) { return a & b; }); }},
    {"BitwiseFn_bitwise_or", 2, 2, [](Values v) { return bitwise(v, [](auto a, auto b) { return a | b; }); }},
    {"BitwiseFn_bitwise_xor", 2, 2, [](Values v) { return bitwise(v, [](auto a, auto b) { return a ^ b; }); }},
    {"OpaqueUnaryFn_sqrt", 1, 1, unary<std::sqrt>},
    {"OpaqueUnaryFn_exp", 1, 1, unary<std::exp>},
    {"OpaqueUnaryFn_log", 1, 1, unary<std::log>},
    {"OpaqueUnaryFn_log2", 1, 1, unary<std::log2>},
    {"OpaqueUnaryFn_sin", 1, 1, unary<std::sin>},
    {"OpaqueUnaryFn_cos", 1, 1, unary<std::cos>},
    {"OpaqueUnaryFn_tan", 1, 1, unary<std::tan>},
    {"OpaqueUnaryFn_asin", 1, 1, unary<std::asin>},
    {"OpaqueUnaryFn_acos", 1, 1, unary<std::acos>},
    {"OpaqueUnaryFn_atan", 1, 1, unary<std::atan>},
    {"OpaqueUnaryFn_sinh", 1, 1, unary<std::sinh>},
    {"OpaqueUnaryFn_cosh", 1, 1, unary<std::cosh>},
    {"OpaqueUnaryFn_tanh", 1, 1, unary<std::tanh>},
    {"OpaqueUnaryFn_asinh", 1, 1, unary<std::asinh>},
    {"sqrt", 1, 1, unary<std::sqrt>},
    {"Where", 3, 3, [](Values v) -> Outcome { return v[0].isZero() ? v[2] : v[1]; }},
    {"Piecewise", 2, many, piecewise},
    {"IsNonOverlappingAndDenseIndicator", 0, many, nonOverlappingAndDense},
    {"Eq", 2, 2, [](Values v) { return truth(compareValues(v[0], v[1]) == 0); }, true},
    {"Ne", 2, 2, [](Values v) { return truth(compareValues(v[0], v[1]) != 0); }, true},
    {"Lt", 2, 2, [](Values v) { return truth(compareValues(v[0], v[1]) < 0); }, true, " < "},
    {"Le", 2, 2, [](Values v) { return truth(compareValues(v[0], v[1]) <= 0); }, true, " <= "},
    {"Gt", 2, 2, [](Values v) { return truth(compareValues(v[0], v[1]) > 0); }, true, " > "},
    {"Ge", 2, 2, [](Values v) { return truth(compareValues(v[0], v[1]) >= 0); }, true, " >= "},
    {"And", 1, many,
     [](Values v) { return truth(std::ranges::none_of(v, [](const SymbolicValue& item) { return item.isZero(); })); },
     true, " & "},
    {"Or", 1, many,
     [](Values v) { return truth(!std::ranges::all_of(v, [](const SymbolicValue& item) { return item.isZero(); })); },
     true, " | "},
    {"Not", 1, 1, [](Values v) { return truth(v[0].isZero()); }, true},
};

struct Alias {
  std::string_view alias;
  std::string_view name;
};
constexpr Alias aliases[] = {
    {"torch.sym_max", "Max"},
    {"torch.sym_min", "Min"},
    {"max", "Max"},
    {"min", "Min"},
    {"abs", "Abs"},
    {"math.floor", "floor"},
    {"math.ceil", "ceiling"},
    {"math.trunc", "TruncToInt"},
    {"trunc", "TruncToInt"},
    {"int", "TruncToInt"},
    {"torch.sym_int", "TruncToInt"},
    {"float", "ToFloat"},
    {"torch.sym_float", "ToFloat"},
    {"round", "RoundToInt"},
    {"math.sqrt", "OpaqueUnaryFn_sqrt"},
    {"torch._sym_sqrt", "OpaqueUnaryFn_sqrt"},
    {"math.exp", "OpaqueUnaryFn_exp"},
    {"math.log", "OpaqueUnaryFn_log"},
    {"math.log2", "OpaqueUnaryFn_log2"},
    {"math.sin", "OpaqueUnaryFn_sin"},
    {"math.cos", "OpaqueUnaryFn_cos"},
    {"math.tan", "OpaqueUnaryFn_tan"},
    {"math.asin", "OpaqueUnaryFn_asin"},
    {"math.acos", "OpaqueUnaryFn_acos"},
    {"math.atan", "OpaqueUnaryFn_atan"},
    {"math.sinh", "OpaqueUnaryFn_sinh"},
    {"math.cosh", "OpaqueUnaryFn_cosh"},
    {"math.tanh", "OpaqueUnaryFn_tanh"},
    {"torch.sym_ite", "Where"},
    {"torch.sym_not", "Not"},
    {"Equality", "Eq"},
    {"Unequality", "Ne"},
    {"StrictLessThan", "Lt"},
    {"LessThan", "Le"},
    {"StrictGreaterThan", "Gt"},
    {"GreaterThan", "Ge"},
};

}  // namespace

std::string_view canonicalFunctionName(std::string_view name) {
  const auto found = std::ranges::find(aliases, name, &Alias::alias);
  return found == std::end(aliases) ? name : found->name;
}

const SymbolicFunction* findSymbolicFunction(std::string_view canonicalName) {
  const auto found = std::ranges::find(functions, canonicalName, &SymbolicFunction::name);
  return found == std::end(functions) ? nullptr : found;
}

}  // namespace kerf::inline symbolic
