#include "engine/symbolic/conditions.h"

#include "engine/symbolic/relations.h"
#include "engine/symbolic/symbolic_node.h"

namespace kerf::inline symbolic {
namespace {

/// difference == 0, != 0, < 0 or <= 0.
struct Normal {
  SymRelation relation;
  Symbolic difference;
};

std::optional<Normal> normal(const Symbolic& condition) {
  const SymbolicNode& node = condition.node();
  const auto relation = relationNamed(node.name);
  if (!relation || node.kind != SymbolicNode::Kind::Function) return std::nullopt;
  const Symbolic difference = node.arguments[0] - node.arguments[1];
  if (*relation == SymRelation::Gt) return Normal{SymRelation::Lt, Symbolic::integer(-1) * difference};
  if (*relation == SymRelation::Ge) return Normal{SymRelation::Le, Symbolic::integer(-1) * difference};
  return Normal{*relation, difference};
}

}  // namespace

bool sameCondition(const Symbolic& a, const Symbolic& b) {
  if (a.equals(b)) return true;
  const auto first = normal(a), second = normal(b);
  if (!first || !second || first->relation != second->relation) return false;
  if (first->difference.equals(second->difference)) return true;
  const bool symmetric = first->relation == SymRelation::Eq || first->relation == SymRelation::Ne;
  return symmetric && first->difference.equals(Symbolic::integer(-1) * second->difference);
}

}  // namespace kerf::inline symbolic
