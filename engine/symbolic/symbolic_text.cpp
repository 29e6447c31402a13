// Symbolic::text: sympy's StrPrinter with the infix forms of PyTorch's own functions.
#include <algorithm>
#include <cmath>
#include <functional>

#include "engine/support/python_float.h"
#include "engine/symbolic/symbolic_node.h"

namespace kerf::inline symbolic {
namespace {

using Kind = SymbolicNode::Kind;

// sympy's precedences; FloorDiv says 35 of itself and writes its own parentheses.
constexpr int ofOr = 20, ofAnd = 30, ofFloorDiv = 35, ofRelation = 35, ofAdd = 40, ofMul = 50, ofPow = 60,
              ofAtom = 1000;

std::string print(const Symbolic& expression);

int precedenceOf(const Symbolic& expression) {
  const SymbolicNode& node = expression.node();
  if (node.kind == Kind::Add) return ofAdd;
  if (node.kind == Kind::Pow) return ofPow;
  if (node.kind == Kind::Mul) return splitCoefficient(expression).coefficient.asDouble() < 0 ? ofAdd : ofMul;
  if (node.kind == Kind::Number) {
    if (node.value.asDouble() < 0) return ofAdd;
    return node.value.exact && node.value.denominator != 1 ? ofMul : ofAtom;
  }
  if (node.kind != Kind::Function) return ofAtom;
  if (node.name == "FloorDiv") return ofFloorDiv;
  if (node.name == "And") return ofAnd;
  if (node.name == "Or") return ofOr;
  return findSymbolicFunction(node.name)->infix.empty() ? ofAtom : ofRelation;
}

std::string parenthesized(const Symbolic& expression, int level, bool strict = false) {
  const int own = precedenceOf(expression);
  const bool needed = own < level || (!strict && own <= level);
  return needed ? "(" + print(expression) + ")" : print(expression);
}

/// sympy's str of a Float inside an expression: 15 digits, zeros at the end left out.
std::string printReal(double value) {
  if (std::isnan(value) || std::isinf(value) || value == 0) return pythonFloat(value);
  const std::string scientific = fmt::format("{:.14e}", value);
  const std::size_t split = scientific.find('e');
  std::string digits;
  for (const char c : scientific.substr(0, split))
    if (c >= '0' && c <= '9') digits += c;
  digits.erase(digits.find_last_not_of('0') + 1);
  const int exponent = std::stoi(scientific.substr(split + 1));
  const std::string sign = value < 0 ? "-" : "";
  const auto count = static_cast<int>(digits.size());
  if (exponent <= -5 || exponent >= 15)
    return fmt::format("{}{}.{}e{}", sign, digits[0], count > 1 ? digits.substr(1) : "0", exponent);
  if (exponent < 0) return sign + "0." + std::string(std::size_t(-exponent - 1), '0') + digits;
  if (count <= exponent + 1) return sign + digits + std::string(std::size_t(exponent + 1 - count), '0') + ".0";
  return sign + digits.substr(0, std::size_t(exponent) + 1) + "." + digits.substr(std::size_t(exponent) + 1);
}

std::string printNumber(const SymbolicValue& value) {
  if (!value.exact) return printReal(value.real);
  if (value.denominator == 1) return std::to_string(value.numerator);
  return fmt::format("{}/{}", value.numerator, value.denominator);
}

/// Numerator and denominator of a product without its sign, as the factors to print.
struct Split {
  std::vector<Symbolic> above, below;
};

void place(const Symbolic& factor, Split& split) {
  if (isNumber(factor) && factor.node().value.exact) {
    const SymbolicValue& value = factor.node().value;
    if (value.numerator != 1) split.above.push_back(Symbolic::integer(value.numerator));
    if (value.denominator != 1) split.below.push_back(Symbolic::integer(value.denominator));
    return;
  }
  const SymbolicFactor power = splitExponent(factor);
  if (power.exponent >= 0 || power.exponent == INT64_MIN) return split.above.push_back(factor);
  split.below.push_back(Symbolic::pow(power.base, Symbolic::integer(-power.exponent)));
}

std::string joined(const std::vector<Symbolic>& factors) {
  std::string text;
  for (const Symbolic& factor : factors) text += (text.empty() ? "" : "*") + parenthesized(factor, ofMul);
  return text.empty() ? "1" : text;
}

std::string printMul(const Symbolic& expression) {
  const SymbolicValue coefficient = splitCoefficient(expression).coefficient;
  const bool negative = coefficient.asDouble() < 0;
  const auto opposite = negative ? mulValues(coefficient, SymbolicValue::integer(-1)) : std::nullopt;
  Split split;
  for (const Symbolic& factor : expression.node().arguments) {
    const bool isCoefficient = &factor == expression.node().arguments.data() && isNumber(factor);
    if (isCoefficient && opposite && *opposite == SymbolicValue::integer(1)) continue;
    place(isCoefficient && opposite ? makeNumber(*opposite) : factor, split);
  }
  std::string text = (opposite ? "-" : "") + joined(split.above);
  if (split.below.empty()) return text;
  if (split.below.size() == 1) return text + "/" + parenthesized(split.below[0], ofMul);
  return text + "/(" + joined(split.below) + ")";
}

/// The bases of a term with their exponents.
using Monomial = std::vector<std::pair<Symbolic, std::int64_t>>;

Monomial monomialOf(const Symbolic& term) {
  Monomial powers;
  const Symbolic rest = splitCoefficient(term).rest;
  if (isNumber(rest)) return powers;
  const std::vector<Symbolic> factors = isKind(rest, Kind::Mul) ? rest.node().arguments : std::vector<Symbolic>{rest};
  for (const Symbolic& factor : factors) {
    const SymbolicFactor split = splitExponent(factor);
    const auto known = std::ranges::find(powers, split.base, &Monomial::value_type::first);
    if (known == powers.end())
      powers.emplace_back(split.base, split.exponent);
    else
      known->second += split.exponent;
  }
  return powers;
}

/// Terms in sympy's lexicographic order of the exponents of all bases.
std::vector<Symbolic> orderedTerms(const std::vector<Symbolic>& terms) {
  std::vector<Symbolic> bases;
  std::vector<Monomial> monomials;
  for (const Symbolic& term : terms) {
    monomials.push_back(monomialOf(term));
    for (const auto& [base, exponent] : monomials.back()) bases.push_back(base);
  }
  std::ranges::sort(bases, [](const Symbolic& a, const Symbolic& b) { return compareSymbolic(a, b) < 0; });
  bases.erase(std::ranges::unique(bases).begin(), bases.end());
  std::vector<std::pair<std::vector<std::int64_t>, Symbolic>> rows;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    std::vector<std::int64_t> exponents(bases.size(), 0);
    for (const auto& [base, exponent] : monomials[i])
      exponents[std::size_t(std::ranges::find(bases, base) - bases.begin())] = exponent;
    rows.emplace_back(std::move(exponents), terms[i]);
  }
  std::ranges::stable_sort(rows, std::ranges::greater(), [](const auto& row) -> const auto& { return row.first; });
  std::vector<Symbolic> ordered;
  for (auto& row : rows) ordered.push_back(std::move(row.second));
  return ordered;
}

std::string printAdd(const Symbolic& expression) {
  // The order costs terms × bases; beyond that size any order will do.
  const std::vector<Symbolic>& terms = expression.node().arguments;
  std::string text;
  for (const Symbolic& term : terms.size() > 200 ? terms : orderedTerms(terms)) {
    std::string item = print(term);
    const bool negative = item.starts_with('-') && precedenceOf(term) != ofFloorDiv;
    if (negative) item.erase(0, 1);
    if (precedenceOf(term) < ofAdd) item = "(" + item + ")";
    if (text.empty())
      text = (negative ? "-" : "") + item;
    else
      text += (negative ? " - " : " + ") + item;
  }
  return text;
}

std::string printPow(const Symbolic& expression) {
  const Symbolic& base = expression.node().arguments[0];
  const Symbolic& exponent = expression.node().arguments[1];
  const auto count = exponent.asInteger();
  if (isNumber(exponent) && exponent.node().value == SymbolicValue{true, 1, 2, 0}) return "sqrt(" + print(base) + ")";
  if (count && *count == -1) return "1/" + parenthesized(base, ofMul);
  return parenthesized(base, ofPow) + "**" + parenthesized(exponent, ofPow);
}

std::string list(const std::vector<Symbolic>& arguments) {
  std::string text;
  for (const Symbolic& argument : arguments) text += (text.empty() ? "" : ", ") + print(argument);
  return text;
}

std::string printPiecewise(const std::vector<Symbolic>& arguments) {
  std::string text;
  for (std::size_t i = 0; i + 1 < arguments.size(); i += 2)
    text += fmt::format("{}({}, {})", text.empty() ? "" : ", ", print(arguments[i]), print(arguments[i + 1]));
  return "Piecewise(" + text + ")";
}

std::string printFunction(const Symbolic& expression) {
  const SymbolicNode& node = expression.node();
  if (node.name == "FloorDiv")
    return fmt::format("({}//{})", parenthesized(node.arguments[0], ofAtom - 1, true),
                       parenthesized(node.arguments[1], ofAtom - 1, true));
  if (node.name == "Piecewise") return printPiecewise(node.arguments);
  if (node.name == "Not") return "~" + parenthesized(node.arguments[0], ofAtom - 1, true);
  const std::string_view infix = findSymbolicFunction(node.name)->infix;
  if (infix.empty()) return node.name + "(" + list(node.arguments) + ")";
  std::string text;
  const bool joins = node.name == "And" || node.name == "Or";
  for (const Symbolic& argument : node.arguments) {
    if (!text.empty()) text += infix;
    text += joins ? parenthesized(argument, ofAtom - 1, true) : parenthesized(argument, ofRelation);
  }
  return text;
}

std::string print(const Symbolic& expression) {
  const SymbolicNode& node = expression.node();
  switch (node.kind) {
    case Kind::Number:
      return printNumber(node.value);
    case Kind::Boolean:
      return node.value.isZero() ? "False" : "True";
    case Kind::Symbol:
      return node.name;
    case Kind::Add:
      return printAdd(expression);
    case Kind::Mul:
      return printMul(expression);
    case Kind::Pow:
      return printPow(expression);
    case Kind::Function:
      return printFunction(expression);
  }
  return {};
}

}  // namespace

std::string Symbolic::text() const { return print(*this); }

}  // namespace kerf::inline symbolic
