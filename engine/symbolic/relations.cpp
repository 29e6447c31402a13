#include "engine/symbolic/relations.h"

#include <algorithm>

#include "engine/symbolic/symbolic_node.h"

namespace kerf::inline symbolic {
namespace {

struct RelationInfo {
  SymRelation relation;
  std::string_view name;
  SymRelation opposite;
};
constexpr RelationInfo relations[] = {
    {SymRelation::Eq, "Eq", SymRelation::Ne}, {SymRelation::Ne, "Ne", SymRelation::Eq},
    {SymRelation::Lt, "Lt", SymRelation::Ge}, {SymRelation::Le, "Le", SymRelation::Gt},
    {SymRelation::Gt, "Gt", SymRelation::Le}, {SymRelation::Ge, "Ge", SymRelation::Lt},
};

/// a < b for all values, for none, or neither.
std::optional<bool> less(const ValueRange& a, const ValueRange& b) {
  if (a.hasUpper() && b.hasLower() && a.upper < b.lower) return true;
  if (a.hasLower() && b.hasUpper() && a.lower >= b.upper) return false;
  return {};
}

std::optional<bool> equal(const ValueRange& a, const ValueRange& b) {
  if (less(a, b) == true || less(b, a) == true) return false;
  if (a.lower == a.upper && a == b && a.hasLower() && a.hasUpper()) return true;
  return {};
}

std::optional<bool> negated(std::optional<bool> value) { return value ? std::optional(!*value) : value; }

}  // namespace

SymRelation opposite(SymRelation relation) { return relations[std::size_t(relation)].opposite; }

std::optional<SymRelation> relationNamed(std::string_view name) {
  const auto found = std::ranges::find(relations, name, &RelationInfo::name);
  return found == std::end(relations) ? std::nullopt : std::optional(found->relation);
}

Symbolic relationOf(SymRelation relation, const Symbolic& a, const Symbolic& b) {
  return *Symbolic::call(relations[std::size_t(relation)].name, {a, b});
}

bool compareNumbers(SymRelation relation, std::int64_t a, std::int64_t b) {
  switch (relation) {
    case SymRelation::Eq:
      return a == b;
    case SymRelation::Ne:
      return a != b;
    case SymRelation::Lt:
      return a < b;
    case SymRelation::Le:
      return a <= b;
    case SymRelation::Gt:
      return a > b;
    case SymRelation::Ge:
      return a >= b;
  }
  return false;
}

std::optional<bool> compareRanges(SymRelation relation, const ValueRange& a, const ValueRange& b) {
  switch (relation) {
    case SymRelation::Eq:
      return equal(a, b);
    case SymRelation::Ne:
      return negated(equal(a, b));
    case SymRelation::Lt:
      return less(a, b);
    case SymRelation::Ge:
      return negated(less(a, b));
    case SymRelation::Gt:
      return less(b, a);
    case SymRelation::Le:
      return negated(less(b, a));
  }
  return {};
}

std::vector<std::vector<Symbolic>> atLeastZeroForms(SymRelation relation, const Symbolic& difference) {
  const Symbolic one = Symbolic::integer(1);
  const Symbolic opposed = Symbolic::mul({Symbolic::integer(-1), difference}).expanded();
  switch (relation) {
    case SymRelation::Eq:
      return {{difference, opposed}};
    case SymRelation::Ne:
      return {{difference - one}, {opposed - one}};
    case SymRelation::Lt:
      return {{opposed - one}};
    case SymRelation::Le:
      return {{opposed}};
    case SymRelation::Gt:
      return {{difference - one}};
    case SymRelation::Ge:
      return {{difference}};
  }
  return {};
}

std::optional<ValueRange> linearBound(SymRelation relation, const Symbolic& difference, const ValueRange& known) {
  SymInt slope = 0, constant = 0;
  const std::vector<Symbolic> terms =
      isKind(difference, SymbolicNode::Kind::Add) ? difference.node().arguments : std::vector<Symbolic>{difference};
  for (const Symbolic& term : terms) {
    const SymbolicTerm split = splitCoefficient(term);
    if (!split.coefficient.isInteger()) return {};
    if (isNumber(split.rest))
      constant = split.coefficient.numerator;
    else if (isKind(split.rest, SymbolicNode::Kind::Symbol))
      slope = split.coefficient.numerator;
    else
      return {};
  }
  const std::int64_t c = slope, k = constant;
  if (c == 0 || c == INT64_MIN || k == INT64_MIN) return {};
  const bool rising = c > 0;
  // c*s + k >= 0 is s >= ceil(-k/c) for c > 0, and s <= floor(-k/c) for c < 0.
  const auto atLeast = [&](std::int64_t by) -> std::optional<ValueRange> {  // c*s + k >= by
    std::int64_t right = 0;
    if (__builtin_sub_overflow(by, k, &right) || right == INT64_MIN) return {};
    return rising ? ValueRange{ceilDiv(right, c), ValueRange::greatest}
                  : ValueRange{ValueRange::least, floorDiv(right, c)};
  };
  const auto atMost = [&](std::int64_t by) -> std::optional<ValueRange> {
    std::int64_t right = 0;
    if (__builtin_sub_overflow(by, k, &right) || right == INT64_MIN) return {};
    return rising ? ValueRange{ValueRange::least, floorDiv(right, c)}
                  : ValueRange{ceilDiv(right, c), ValueRange::greatest};
  };
  switch (relation) {
    case SymRelation::Ge:
      return atLeast(0);
    case SymRelation::Gt:
      return atLeast(1);
    case SymRelation::Le:
      return atMost(0);
    case SymRelation::Lt:
      return atMost(-1);
    case SymRelation::Eq:
      if (k % c != 0) return {};
      return ValueRange::single(-k / c);
    case SymRelation::Ne:
      if (k % c != 0) return {};
      if (known.lower == -k / c && known.hasLower()) return ValueRange{known.lower + 1, ValueRange::greatest};
      if (known.upper == -k / c && known.hasUpper()) return ValueRange{ValueRange::least, known.upper - 1};
      return {};
  }
  return {};
}

}  // namespace kerf::inline symbolic
