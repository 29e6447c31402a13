// Construction of simplified sums, products and powers, and multiplying out.
#include <algorithm>
#include <map>

#include "engine/symbolic/symbolic_node.h"

namespace kerf::inline symbolic {
namespace {

using Kind = SymbolicNode::Kind;
constexpr std::size_t maximumTerms = 2000;

struct Before {
  bool operator()(const Symbolic& a, const Symbolic& b) const { return compareSymbolic(a, b) < 0; }
};

std::size_t mixed(std::size_t hash, std::size_t value) { return (hash ^ value) * 0x9e3779b97f4a7c15ULL + (hash >> 29); }

std::size_t hashOf(const SymbolicNode& node) {
  std::size_t hash = mixed(std::size_t(node.kind), std::hash<std::string>()(node.name));
  // Numbers of equal value are equal, whatever their form.
  if (node.name.empty() && node.arguments.empty()) hash = mixed(hash, std::hash<double>()(node.value.asDouble()));
  for (const Symbolic& argument : node.arguments) hash = mixed(hash, argument.hash());
  return hash;
}

Symbolic makeConstant(Kind kind, const SymbolicValue& value) {
  auto node = std::make_shared<SymbolicNode>();
  node->kind = kind;
  node->value = value;
  node->hash = hashOf(*node);
  return Symbolic(std::move(node));
}

void flatten(Kind kind, const Symbolic& item, std::vector<Symbolic>& into) {
  if (!isKind(item, kind)) return into.push_back(item);
  for (const Symbolic& inner : item.node().arguments) flatten(kind, inner, into);
}

Symbolic asNumber(const Symbolic& item) { return isKind(item, Kind::Boolean) ? makeNumber(item.node().value) : item; }

Symbolic withCoefficient(const SymbolicValue& coefficient, const Symbolic& rest) {
  if (rest.asInteger() == 1) return makeNumber(coefficient);
  return Symbolic::mul({makeNumber(coefficient), rest});
}

/// Factors by base with the sum of their integer exponents; numbers multiply into one.
struct Product {
  SymbolicValue number = SymbolicValue::integer(1);
  std::vector<Symbolic> overflowing;  ///< numbers that do not fit into `number`
  std::map<Symbolic, std::int64_t, Before> powers;

  void take(const Symbolic& factor) {
    if (isNumber(factor)) {
      const auto next = mulValues(number, factor.node().value);
      if (next)
        number = *next;
      else
        overflowing.push_back(factor);
      return;
    }
    const SymbolicFactor split = splitExponent(factor);
    std::int64_t& exponent = powers[split.base];
    if (__builtin_add_overflow(exponent, split.exponent, &exponent)) exponent = INT64_MAX;
  }
};

/// number * (a + b) → number*a + number*b, as sympy does for a lone sum.
Symbolic distribute(const SymbolicValue& number, const Symbolic& sum) {
  std::vector<Symbolic> terms;
  for (const Symbolic& term : sum.node().arguments) terms.push_back(Symbolic::mul({makeNumber(number), term}));
  return Symbolic::add(std::move(terms));
}

/// A term without its coefficient; null where that would be a new product.
const Symbolic* bareTerm(const Symbolic& term) {
  const std::vector<Symbolic>& factors = term.node().arguments;
  if (!isKind(term, Kind::Mul) || !isNumber(factors[0])) return &term;
  return factors.size() == 2 ? &factors[1] : nullptr;
}

/// False where two terms of a sum stay two.
bool mayAddUp(const Symbolic& a, const Symbolic& b) {
  if (isNumber(a) || isNumber(b)) return isNumber(a) && isNumber(b);
  const Symbolic *left = bareTerm(a), *right = bareTerm(b);
  return left == nullptr || right == nullptr || left->hash() == right->hash();
}

/// A sum and a term that adds up with none of its terms: it goes to its place. None where that is not so.
std::optional<Symbolic> withOneMore(const Symbolic& sum, const Symbolic& term) {
  if (!isKind(sum, Kind::Add) || isKind(term, Kind::Add) || isKind(term, Kind::Boolean)) return {};
  const std::vector<Symbolic>& terms = sum.node().arguments;
  if (term.asInteger() == 0 || std::ranges::any_of(terms, [&](const Symbolic& own) { return mayAddUp(own, term); }))
    return {};
  const auto place = std::ranges::upper_bound(terms, term, Before());
  std::vector<Symbolic> more;
  more.reserve(terms.size() + 1);
  more.assign(terms.begin(), place);
  more.push_back(term);
  more.insert(more.end(), place, terms.end());
  return makeNode(Kind::Add, {}, std::move(more));
}

/// The difference of two sums from the terms that they do not share.
Symbolic differenceOfSums(const std::vector<Symbolic>& a, const std::vector<Symbolic>& b) {
  std::vector<Symbolic> terms;
  auto left = a.begin();
  for (auto right = b.begin(); left != a.end() || right != b.end();) {
    const int order = left == a.end() ? 1 : right == b.end() ? -1 : compareSymbolic(*left, *right);
    if (order < 0) terms.push_back(*left);
    if (order > 0) terms.push_back(Symbolic::mul({Symbolic::integer(-1), *right}));
    if (order <= 0) ++left;
    if (order >= 0) ++right;
  }
  return Symbolic::add(std::move(terms));
}

/// Sum of the products of every term of `a` with every term of `b`; none where that would be too many.
std::optional<Symbolic> multiplyOut(const Symbolic& a, const Symbolic& b) {
  std::vector<Symbolic> left, right, terms;
  flatten(Kind::Add, a, left);
  flatten(Kind::Add, b, right);
  if (left.size() * right.size() > maximumTerms) return {};
  for (const Symbolic& x : left)
    for (const Symbolic& y : right) terms.push_back(Symbolic::mul({x, y}));
  return Symbolic::add(std::move(terms));
}

Symbolic expandedMul(const std::vector<Symbolic>& factors) {
  Symbolic result = Symbolic::integer(1);
  std::vector<Symbolic> rest;
  for (const Symbolic& factor : factors) {
    const Symbolic expanded = factor.expanded();
    if (auto product = multiplyOut(result, expanded))
      result = *product;
    else
      rest.push_back(expanded);
  }
  if (rest.empty()) return result;
  rest.push_back(result);
  return Symbolic::mul(std::move(rest));
}

Symbolic expandedPow(const Symbolic& base, const Symbolic& exponent) {
  const auto count = exponent.asInteger();
  const Symbolic whole = Symbolic::pow(base, exponent);
  if (!count || *count < 2 || *count > 64 || !isKind(base, Kind::Add)) return whole;
  Symbolic result = base;
  for (std::int64_t i = 1; i < *count; ++i) {
    const auto product = multiplyOut(result, base);
    if (!product) return whole;
    result = *product;
  }
  return result;
}

}  // namespace

Symbolic makeNumber(const SymbolicValue& value) { return makeConstant(Kind::Number, value); }

Symbolic makeNode(Kind kind, std::string name, std::vector<Symbolic> arguments) {
  auto node = std::make_shared<SymbolicNode>();
  node->kind = kind;
  node->name = std::move(name);
  node->arguments = std::move(arguments);
  node->hash = hashOf(*node);
  for (const Symbolic& argument : node->arguments)
    if (__builtin_add_overflow(node->weight, argument.weight(), &node->weight)) node->weight = SIZE_MAX;
  return Symbolic(std::move(node));
}

bool isFunction(const Symbolic& expression, std::string_view name) {
  return isKind(expression, Kind::Function) && expression.node().name == name;
}

Symbolic Symbolic::integer(std::int64_t value) { return makeNumber(SymbolicValue::integer(value)); }
Symbolic Symbolic::real(double value) { return makeNumber(SymbolicValue::floating(value)); }
Symbolic Symbolic::boolean(bool value) { return makeConstant(Kind::Boolean, SymbolicValue::integer(value ? 1 : 0)); }
Symbolic Symbolic::symbol(std::string name) { return makeNode(Kind::Symbol, std::move(name), {}); }
Symbolic Symbolic::rational(std::int64_t numerator, std::int64_t denominator) {
  const auto value = fraction(numerator, denominator);
  if (value) return makeNumber(*value);
  return mul({integer(numerator), makeNode(Kind::Pow, {}, {integer(denominator), integer(-1)})});
}

Symbolic Symbolic::add(std::vector<Symbolic> terms) {
  std::vector<Symbolic> flat, rest;
  for (const Symbolic& term : terms) flatten(Kind::Add, asNumber(term), flat);
  std::map<Symbolic, SymbolicValue, Before> sums;
  for (const Symbolic& term : flat) {
    const SymbolicTerm split = splitCoefficient(term);
    const auto [entry, fresh] = sums.emplace(split.rest, split.coefficient);
    if (fresh) continue;
    const auto next = addValues(entry->second, split.coefficient);
    if (next)
      entry->second = *next;
    else
      rest.push_back(term);
  }
  for (const auto& [term, coefficient] : sums)
    if (!coefficient.isZero() || !coefficient.exact) rest.push_back(withCoefficient(coefficient, term));
  if (rest.empty()) return integer(0);
  if (rest.size() == 1) return rest[0];
  std::ranges::stable_sort(rest, Before());
  return makeNode(Kind::Add, {}, std::move(rest));
}

Symbolic Symbolic::mul(std::vector<Symbolic> factors) {
  std::vector<Symbolic> flat;
  for (const Symbolic& factor : factors) flatten(Kind::Mul, asNumber(factor), flat);
  Product product;
  for (const Symbolic& factor : flat) product.take(factor);
  if (product.number.isZero() && product.number.exact) return integer(0);
  std::vector<Symbolic> rest;
  for (const auto& [base, exponent] : product.powers)
    if (exponent != 0) rest.push_back(exponent == 1 ? base : pow(base, integer(exponent)));
  std::ranges::stable_sort(rest, Before());
  rest.insert(rest.begin(), product.overflowing.begin(), product.overflowing.end());
  if (rest.empty()) return makeNumber(product.number);
  if (product.number == SymbolicValue::integer(1)) return rest.size() == 1 ? rest[0] : makeNode(Kind::Mul, {}, rest);
  if (rest.size() == 1 && isKind(rest[0], Kind::Add)) return distribute(product.number, rest[0]);
  rest.insert(rest.begin(), makeNumber(product.number));
  return makeNode(Kind::Mul, {}, std::move(rest));
}

Symbolic Symbolic::pow(const Symbolic& base, const Symbolic& exponent) {
  const auto count = exponent.asInteger();
  if (count == 0) return integer(1);
  if (count == 1) return base;
  if (count && isNumber(base))
    if (const auto value = powValues(base.node().value, *count)) return makeNumber(*value);
  const bool baseIsPower = isKind(base, Kind::Pow);
  const auto inner = baseIsPower ? base.node().arguments[1].asInteger() : std::nullopt;
  std::int64_t both = 0;
  if (count && inner && !__builtin_mul_overflow(*count, *inner, &both))
    return pow(base.node().arguments[0], integer(both));
  if (count && isKind(base, Kind::Mul)) {
    std::vector<Symbolic> factors;
    for (const Symbolic& factor : base.node().arguments) factors.push_back(pow(factor, exponent));
    return mul(std::move(factors));
  }
  return makeNode(Kind::Pow, {}, {base, exponent});
}

Symbolic Symbolic::expanded() const {
  const SymbolicNode& self = node();
  if (self.arguments.empty()) return *this;
  if (self.kind == Kind::Mul) return expandedMul(self.arguments);
  std::vector<Symbolic> arguments;
  for (const Symbolic& argument : self.arguments) arguments.push_back(argument.expanded());
  if (self.kind == Kind::Add) return add(std::move(arguments));
  if (self.kind == Kind::Pow) return expandedPow(arguments[0], arguments[1]);
  auto result = call(self.name, arguments);
  return result ? *result : *this;
}

bool Symbolic::equals(const Symbolic& other) const { return expanded() == other.expanded(); }
bool Symbolic::operator==(const Symbolic& other) const {
  return m_node == other.m_node || (hash() == other.hash() && compareSymbolic(*this, other) == 0);
}
std::size_t Symbolic::hash() const { return m_node->hash; }
std::size_t Symbolic::weight() const { return m_node->weight; }

std::optional<std::int64_t> Symbolic::asInteger() const {
  if (!isNumber(*this) || !node().value.isInteger()) return {};
  return node().value.numerator;
}

Symbolic operator+(const Symbolic& a, const Symbolic& b) {
  if (auto sum = withOneMore(a, b)) return std::move(*sum);
  if (auto sum = withOneMore(b, a)) return std::move(*sum);
  return Symbolic::add({a, b});
}
Symbolic operator-(const Symbolic& a, const Symbolic& b) {
  if (isKind(a, Kind::Add) && isKind(b, Kind::Add)) return differenceOfSums(a.node().arguments, b.node().arguments);
  return Symbolic::add({a, Symbolic::mul({Symbolic::integer(-1), b})});
}
Symbolic operator*(const Symbolic& a, const Symbolic& b) { return Symbolic::mul({a, b}); }

}  // namespace kerf::inline symbolic
