// ShapeEnv's decisions: known ones, guards, asserts, and what they settle.
#include <algorithm>

#include "engine/symbolic/relations.h"
#include "engine/symbolic/shape_env.h"
#include "engine/symbolic/symbolic_node.h"

namespace kerf::inline symbolic {
namespace {

/// Operations and relations share the table of results.
constexpr std::uint8_t firstRelation = 64;

/// Sums and products that are equal but multiplied out differently have the difference 0.
Symbolic difference(const Symbolic& a, const Symbolic& b) {
  const Symbolic plain = a - b;
  return plain.weight() <= 400 ? plain.expanded() : plain;
}

}  // namespace

// Decisions

std::optional<bool> ShapeEnv::known(SymRelation relation, SymInt a, SymInt b) {
  a = resolved(a);
  b = resolved(b);
  if (!a.isSymbolic() && !b.isSymbolic()) return compareNumbers(relation, a.bits(), b.bits());
  if (a.isIdentical(b)) return compareNumbers(relation, 0, 0);
  if (const auto decided = decidedByRange(relation, a, b)) return decided;
  if (m_facts.empty()) return {};
  if (isFact(relation, a, b)) return true;
  if (isFact(opposite(relation), a, b)) return false;
  return {};
}

std::optional<bool> ShapeEnv::known(const Symbolic& condition) {
  const SymbolicNode& node = condition.node();
  if (isKind(condition, SymbolicNode::Kind::Boolean)) return !node.value.isZero();
  if (isFunction(condition, "Not")) {
    const auto inner = known(node.arguments[0]);
    return inner ? std::optional(!*inner) : std::nullopt;
  }
  const bool isAnd = isFunction(condition, "And");
  if (isAnd || isFunction(condition, "Or")) {
    bool open = false;
    for (const Symbolic& item : node.arguments) {
      const auto one = known(item);
      if (one && *one != isAnd) return *one;
      open = open || !one;
    }
    return open ? std::nullopt : std::optional(isAnd);
  }
  if (const auto relation = relationNamed(node.name); relation && node.kind == SymbolicNode::Kind::Function)
    return known(*relation, intern(node.arguments[0]), intern(node.arguments[1]));
  return known(SymRelation::Ne, intern(condition), 0);
}

std::optional<bool> ShapeEnv::decidedByRange(SymRelation relation, SymInt a, SymInt b) {
  const ValueRange left = range(a), right = range(b);
  if (const auto decided = compareRanges(relation, left, right)) return decided;
  const Key key{std::uint8_t(SymOp::Sub), a.bits(), b.bits()};
  auto found = m_results.find(key);
  if (found == m_results.end()) found = m_results.emplace(key, intern(difference(expression(a), expression(b)))).first;
  return compareRanges(relation, range(found->second), ValueRange::single(0));
}

bool ShapeEnv::isFact(SymRelation relation, SymInt a, SymInt b) {
  const Symbolic asked = difference(expression(a), expression(b));
  const auto holds = [&](const Symbolic& atLeastZero) {
    return std::ranges::any_of(m_facts, [&](const Symbolic& fact) {
      const auto ranges = [this](std::string_view name) { return symbolRange(name); };
      return rangeOf(difference(atLeastZero, fact), ranges).lower >= 0;
    });
  };
  return std::ranges::any_of(atLeastZeroForms(relation, asked),
                             [&](const std::vector<Symbolic>& all) { return std::ranges::all_of(all, holds); });
}

bool ShapeEnv::decide(SymRelation relation, SymInt a, SymInt b) {
  a = resolved(a);
  b = resolved(b);
  const Key key{std::uint8_t(firstRelation + std::uint8_t(relation)), a.bits(), b.bits()};
  if (const auto found = m_decisions.find(key); found != m_decisions.end()) return found->second;
  auto verdict = known(relation, a, b);
  if (!verdict) {
    const auto left = hint(a), right = hint(b);
    if (!left || !right) failOn(relationOf(relation, expression(a), expression(b)));
    verdict = compareNumbers(relation, *left, *right);
    addGuard(relationOf(*verdict ? relation : opposite(relation), expression(a), expression(b)), {}, false);
  }
  m_decisions.emplace(key, *verdict);
  return *verdict;
}

bool ShapeEnv::decideOr(SymRelation relation, SymInt a, SymInt b, bool fallback) {
  if (const auto verdict = known(relation, a, b)) return *verdict;
  if (!hint(a) || !hint(b)) return fallback;
  return decide(relation, a, b);
}

bool ShapeEnv::decide(const Symbolic& condition) {
  const SymbolicNode& node = condition.node();
  if (isKind(condition, SymbolicNode::Kind::Boolean)) return !node.value.isZero();
  if (isFunction(condition, "Not")) return !decide(node.arguments[0]);
  if (isFunction(condition, "And"))
    return std::ranges::all_of(node.arguments, [this](const Symbolic& item) { return decide(item); });
  if (isFunction(condition, "Or"))
    return std::ranges::any_of(node.arguments, [this](const Symbolic& item) { return decide(item); });
  if (const auto relation = relationNamed(node.name); relation && node.kind == SymbolicNode::Kind::Function)
    return decide(*relation, intern(node.arguments[0]), intern(node.arguments[1]));
  return decide(SymRelation::Ne, intern(condition), 0);
}

std::int64_t ShapeEnv::specialise(SymInt value) {
  value = resolved(value);
  if (!value.isSymbolic()) return value.bits();
  const ValueRange possible = range(value);
  if (possible.lower == possible.upper) {
    learn(relationOf(SymRelation::Eq, expression(value), Symbolic::integer(possible.lower)));
    return possible.lower;
  }
  const auto number = hint(value);
  if (!number) failOn(expression(value));
  addGuard(relationOf(SymRelation::Eq, expression(value), Symbolic::integer(*number)),
           "specialised: its value was needed", false);
  return *number;
}

double ShapeEnv::specialiseReal(SymInt value) {
  const Symbolic known = expression(resolved(value));
  const auto number = known.evaluate(hints());
  if (!number) failOn(known);
  const double real = std::visit([](auto held) { return double(held); }, *number);
  if (known.symbols().empty()) return real;
  const bool flag = std::holds_alternative<bool>(*number);
  addGuard(flag ? (real != 0 ? known : *Symbolic::call("Not", {known}))
                : *Symbolic::call("Eq", {known, Symbolic::real(real)}),
           "specialised: its value was needed", false);
  return real;
}

Result<void> ShapeEnv::assume(const Symbolic& condition) {
  const SymbolicNode& node = condition.node();
  if (isKind(condition, SymbolicNode::Kind::Boolean)) {
    if (node.value.isZero()) return fail(ErrorCode::BadInput, "the assertion is false for every size");
    return {};
  }
  if (isFunction(condition, "And")) {
    for (const Symbolic& item : node.arguments) KERF_CHECK(assume(item));
    return {};
  }
  if (const auto relation = relationNamed(node.name); relation && node.kind == SymbolicNode::Kind::Function) {
    const auto verdict = known(*relation, intern(node.arguments[0]), intern(node.arguments[1]));
    if (verdict && *verdict) return {};
    if (verdict) return fail(ErrorCode::BadInput, "the assertion {} is false for every size", condition.text());
  }
  addGuard(condition, {}, true);
  return {};
}

void ShapeEnv::failOn(const Symbolic& condition) const {
  const std::string text = condition.text();
  const auto names = condition.symbols();
  throw SymbolicFailure{{ErrorCode::UnsupportedOp,
                         fmt::format("GuardOnDataDependentSymNode: could not guard on the data-dependent expression {} "
                                     "(unhinted: {}); consider torch._check on {}",
                                     text, text, fmt::join(names, ", "))}};
}

// Guards

void ShapeEnv::setAsker(std::string_view node, std::string_view file, int line) {
  m_node = node;
  m_file = file;
  m_line = line;
}

ShapeEnv::Mark ShapeEnv::mark() const {
  return {m_symbols.size(), m_guards.size(), m_facts.size(), m_replacements.size(), m_nextUnbacked};
}

void ShapeEnv::rollBack(const Mark& mark) {
  while (m_symbols.size() > mark.symbols) {
    m_symbolIndex.erase(m_symbols.back().name);
    m_symbols.pop_back();
  }
  m_guards.resize(std::min(m_guards.size(), mark.guards));
  m_facts.resize(std::min(m_facts.size(), mark.facts));
  m_replacements.erase(m_replacements.begin() + std::ptrdiff_t(std::min(m_replacements.size(), mark.replacements)),
                       m_replacements.end());
  m_hasReplacements = !m_replacements.empty();
  m_nextUnbacked = mark.nextUnbacked;
  m_decisions.clear();
  m_byText.clear();
  ++m_generation;
}

void ShapeEnv::addGuard(const Symbolic& condition, std::string reason, bool deferred) {
  if (std::ranges::any_of(m_guards, [&](const ShapeGuard& guard) { return guard.expression == condition; })) return;
  std::string where = m_file.empty() ? std::string() : fmt::format("{}:{}", m_file, m_line);
  m_guards.push_back({condition, std::string(m_node), std::move(where), std::move(reason), deferred});
  learn(condition);
}

void ShapeEnv::learn(const Symbolic& condition) {
  const SymbolicNode& node = condition.node();
  if (isFunction(condition, "And"))
    for (const Symbolic& item : node.arguments) learn(item);
  const auto relation = relationNamed(node.name);
  if (relation && node.kind == SymbolicNode::Kind::Function)
    learnRelation(*relation, node.arguments[0], node.arguments[1]);
}

void ShapeEnv::learnRelation(SymRelation relation, const Symbolic& a, const Symbolic& b) {
  const Symbolic distance = difference(a, b);
  if (relation == SymRelation::Eq && solveFor(distance)) return;
  const auto names = distance.symbols();
  if (names.size() == 1)
    if (const auto bound = linearBound(relation, distance, symbolRange(*names.begin()))) narrow(*names.begin(), *bound);
  if (m_facts.size() >= 64 || relation == SymRelation::Ne) return;
  const auto forms = atLeastZeroForms(relation, distance);
  if (forms.size() == 1) m_facts.insert(m_facts.end(), forms[0].begin(), forms[0].end());
  ++m_generation;
}

/// Replaces a symbol that the equation `difference` == 0 determines: by a number if it can, else the youngest one.
bool ShapeEnv::solveFor(const Symbolic& distance) {
  const std::vector<Symbolic> terms =
      isKind(distance, SymbolicNode::Kind::Add) ? distance.node().arguments : std::vector<Symbolic>{distance};
  const Symbolic* best = nullptr;
  std::size_t bestIndex = 0;
  for (const Symbolic& term : terms) {
    const SymbolicTerm split = splitCoefficient(term);
    if (!isKind(split.rest, SymbolicNode::Kind::Symbol) || !split.coefficient.isInteger()) continue;
    const bool unit = split.coefficient.numerator == 1 || split.coefficient.numerator == -1;
    const bool lone = distance.symbols().size() == 1;
    if (!unit && !lone) continue;
    const std::string& name = split.rest.node().name;
    const auto others =
        std::ranges::count_if(terms, [&](const Symbolic& other) { return other.symbols().contains(name); });
    const auto index = m_symbolIndex.find(name);
    if (others != 1 || index == m_symbolIndex.end() || (best && index->second < bestIndex)) continue;
    best = &term;
    bestIndex = index->second;
  }
  if (best == nullptr) return false;
  const SymbolicTerm split = splitCoefficient(*best);
  const Symbolic others = distance - *best;  // c*s + others == 0
  const Symbolic value = split.coefficient.numerator == 1 ? Symbolic::integer(-1) * others
                         : split.coefficient.numerator == -1
                             ? others
                             : Symbolic::mul({Symbolic::rational(-1, split.coefficient.numerator), others});
  if (isNumber(value) && !value.asInteger()) return false;
  return replace(split.rest.node().name, value.expanded());
}

/// False where the value is made of the symbol, or the symbol has a value: so that replacing always comes to an end.
bool ShapeEnv::replace(const std::string& symbol, const Symbolic& given) {
  if (std::ranges::find(m_replacements, symbol, &Replacement::symbol) != m_replacements.end()) return false;
  const SymInt known = resolved(intern(given));
  const Symbolic value = expression(known);
  if (value.symbols().contains(symbol)) return false;
  const ValueRange range = symbolRange(symbol);
  m_replacements.push_back({symbol, value, m_guards.empty() ? 0 : m_guards.size() - 1});
  if (isKind(value, SymbolicNode::Kind::Symbol)) narrow(value.node().name, range);
  m_hasReplacements = true;
  ++m_generation;
  return true;
}

const ShapeGuard* ShapeEnv::violated(const SymbolBindings& values) const {
  for (const ShapeGuard& guard : m_guards) {
    const auto holds = guard.expression.evaluateBool(values);
    if (holds && !*holds) return &guard;
  }
  return nullptr;
}

}  // namespace kerf::inline symbolic
