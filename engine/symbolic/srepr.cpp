#include "engine/symbolic/srepr.h"

#include <algorithm>

#include "engine/support/python_float.h"
#include "engine/symbolic/symbolic_node.h"

namespace kerf::inline symbolic {
namespace {

using Kind = SymbolicNode::Kind;

/// sympy's classes of relations, which have other names than their short forms.
struct RelationClass {
  std::string_view name, sympy;
};
constexpr RelationClass relationClasses[] = {{"Eq", "Equality"}, {"Ne", "Unequality"},        {"Lt", "StrictLessThan"},
                                             {"Le", "LessThan"}, {"Gt", "StrictGreaterThan"}, {"Ge", "GreaterThan"}};

std::string numberRepr(const SymbolicValue& value) {
  if (!value.exact) return fmt::format("Float('{}', precision=53)", pythonFloat(value.real));
  if (value.denominator == 1) return fmt::format("Integer({})", value.numerator);
  return fmt::format("Rational({}, {})", value.numerator, value.denominator);
}

std::string symbolRepr(const std::string& name) {
  const char* assumptions = name.starts_with('z')   ? "real=True"
                            : name.starts_with('u') ? "integer=True"
                                                    : "positive=True, integer=True";
  return fmt::format("Symbol('{}', {})", name, assumptions);
}

std::string className(const SymbolicNode& node) {
  if (node.kind == Kind::Add) return "Add";
  if (node.kind == Kind::Mul) return "Mul";
  if (node.kind == Kind::Pow) return "Pow";
  const auto relation = std::ranges::find(relationClasses, node.name, &RelationClass::name);
  return std::string(relation == std::end(relationClasses) ? node.name : relation->sympy);
}

}  // namespace

std::string sreprOf(const Symbolic& expression) {
  const SymbolicNode& node = expression.node();
  if (node.kind == Kind::Number) return numberRepr(node.value);
  if (node.kind == Kind::Boolean) return node.value.isZero() ? "false" : "true";
  if (node.kind == Kind::Symbol) return symbolRepr(node.name);
  std::vector<Symbolic> arguments = node.arguments;
  if (node.kind == Kind::Add)  // sympy prints the number of a sum last
    std::ranges::stable_partition(arguments, [](const Symbolic& term) { return !isNumber(term); });
  std::string text;
  for (const Symbolic& argument : arguments) text += (text.empty() ? "" : ", ") + sreprOf(argument);
  return className(node) + "(" + text + ")";
}

}  // namespace kerf::inline symbolic
