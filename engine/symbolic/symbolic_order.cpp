// The order of terms and factors (sympy's default_sort_key), and how a term or factor splits.
#include "engine/symbolic/symbolic_node.h"

namespace kerf::inline symbolic {
namespace {

using Kind = SymbolicNode::Kind;

/// sympy's class_key: numbers, symbols, products, sums, powers, functions; Max and Min come last.
int rank(const SymbolicNode& node) {
  if (node.kind != Kind::Function) return int(node.kind);
  return node.name == "Max" || node.name == "Min" ? 8 : 7;
}

int compareLists(std::span<const Symbolic> a, std::span<const Symbolic> b) {
  if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (const int order = compareSymbolic(a[i], b[i]); order != 0) return order;
  return 0;
}

/// Two expressions without coefficient that are no powers.
int compareBases(const Symbolic& a, const Symbolic& b) {
  const SymbolicNode& x = a.node();
  const SymbolicNode& y = b.node();
  if (const int left = rank(x), right = rank(y); left != right) return left < right ? -1 : 1;
  if (const int names = x.name.compare(y.name); names != 0) return names;
  if (const int lists = compareLists(x.arguments, y.arguments); lists != 0) return lists;
  if (x.value.exact != y.value.exact) return x.value.exact ? -1 : 1;
  return compareValues(x.value, y.value);
}

std::pair<Symbolic, Symbolic> baseAndExponent(const Symbolic& expression) {
  if (isKind(expression, Kind::Pow)) return {expression.node().arguments[0], expression.node().arguments[1]};
  return {expression, Symbolic::integer(1)};
}

}  // namespace

int compareSymbolic(const Symbolic& a, const Symbolic& b) {
  if (&a.node() == &b.node()) return 0;
  if (isConstant(a) || isConstant(b)) return compareBases(a, b);
  if (isKind(a, Kind::Symbol) && isKind(b, Kind::Symbol)) return a.node().name.compare(b.node().name);
  const SymbolicTerm left = splitCoefficient(a);
  const SymbolicTerm right = splitCoefficient(b);
  const auto [leftBase, leftExponent] = baseAndExponent(left.rest);
  const auto [rightBase, rightExponent] = baseAndExponent(right.rest);
  if (const int bases = compareBases(leftBase, rightBase); bases != 0) return bases;
  if (const int exponents = compareSymbolic(leftExponent, rightExponent); exponents != 0) return exponents;
  return compareValues(left.coefficient, right.coefficient);
}

SymbolicTerm splitCoefficient(const Symbolic& term) {
  const SymbolicNode& node = term.node();
  if (isNumber(term)) return {node.value, Symbolic::integer(1)};
  if (node.kind != Kind::Mul || !isNumber(node.arguments[0])) return {SymbolicValue::integer(1), term};
  if (node.arguments.size() == 2) return {node.arguments[0].node().value, node.arguments[1]};
  return {node.arguments[0].node().value,
          makeNode(Kind::Mul, {}, std::vector<Symbolic>(node.arguments.begin() + 1, node.arguments.end()))};
}

SymbolicFactor splitExponent(const Symbolic& factor) {
  const SymbolicNode& node = factor.node();
  if (node.kind != Kind::Pow) return {factor, 1};
  const auto exponent = node.arguments[1].asInteger();
  if (!exponent) return {factor, 1};
  return {node.arguments[0], *exponent};
}

}  // namespace kerf::inline symbolic
