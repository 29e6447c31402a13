#include "engine/audit/kernels/index_terms.h"

#include <algorithm>

#include "engine/symbolic/sym_int.h"

namespace kerf::inline audit {
namespace {

template <class Test>
bool anyPart(const IndexTerms& terms, TermId id, std::vector<bool>& seen, const Test& test) {
  if (id < 0 || seen[std::size_t(id)]) return false;
  seen[std::size_t(id)] = true;
  if (test(id)) return true;
  const IndexTerm& term = terms[id];
  if (term.op == TermOp::Choice && anyPart(terms, TermId(term.number), seen, test)) return true;
  return anyPart(terms, term.a, seen, test) || anyPart(terms, term.b, seen, test);
}

}  // namespace

TermId IndexTerms::add(const IndexTerm& term) {
  const auto [at, isNew] = m_known.try_emplace(term, TermId(m_terms.size()));
  if (isNew) m_terms.push_back(term);
  return at->second;
}

std::optional<std::int64_t> IndexTerms::folded(TermOp op, std::int64_t a, std::int64_t b) const {
  switch (op) {
    case TermOp::Add:
      return std::int64_t((SymInt(a) + SymInt(b)));
    case TermOp::Mul:
      return std::int64_t((SymInt(a) * SymInt(b)));
    case TermOp::FloorDiv:
      return b == 0 ? std::nullopt : std::optional(std::int64_t(floorDiv(SymInt(a), SymInt(b))));
    case TermOp::Mod:
      return b == 0 ? std::nullopt : std::optional(std::int64_t(floorMod(SymInt(a), SymInt(b))));
    case TermOp::Min:
      return std::min(a, b);
    case TermOp::Max:
      return std::max(a, b);
    case TermOp::Less:
      return a < b;
    case TermOp::Equal:
      return a == b;
    case TermOp::And:
      return a != 0 && b != 0;
    case TermOp::Or:
      return a != 0 || b != 0;
    default:
      return std::nullopt;
  }
}

TermId IndexTerms::of(TermOp op, TermId a, TermId b) {
  if (a < 0) return noTerm;
  if (op == TermOp::Not) {
    if (const auto known = value(a)) return number(*known == 0);
    return add({op, a, noTerm, 0});
  }
  if (b < 0) return noTerm;
  const auto left = value(a), right = value(b);
  if (left && right)
    if (const auto both = folded(op, *left, *right)) return number(*both);
  if (op == TermOp::Add || op == TermOp::Or) {
    if (left == 0) return b;
    if (right == 0) return a;
  }
  if (op == TermOp::Mul || op == TermOp::And) {
    if (left == 1) return b;
    if (right == 1) return a;
    if (left == 0 || right == 0) return number(0);
  }
  if (op == TermOp::FloorDiv && right == 1) return a;
  return add({op, a, b, 0});
}

TermId IndexTerms::choice(TermId condition, TermId a, TermId b) {
  if (condition < 0 || a < 0 || b < 0) return noTerm;
  if (const auto known = value(condition)) return *known != 0 ? a : b;
  if (a == b) return a;
  return add({TermOp::Choice, a, b, condition});
}

void IndexTerms::conjuncts(TermId id, std::vector<TermId>& into) const {
  if (id < 0 || into.size() > 256) return;
  const IndexTerm& term = (*this)[id];
  if (term.op == TermOp::And) {
    conjuncts(term.a, into);
    conjuncts(term.b, into);
  } else if (value(id) != 1) {
    into.push_back(id);
  }
}

bool IndexTerms::contains(TermId id, TermId part) const {
  std::vector<bool> seen(count());
  return anyPart(*this, id, seen, [&](TermId each) { return each == part; });
}

bool IndexTerms::usesVariable(TermId id, int which) const {
  std::vector<bool> seen(count());
  return anyPart(*this, id, seen,
                 [&](TermId each) { return (*this)[each].op == TermOp::Variable && (*this)[each].number == which; });
}

bool IndexTerms::usesData(TermId id) const {
  std::vector<bool> seen(count());
  return anyPart(*this, id, seen, [&](TermId each) { return (*this)[each].op == TermOp::Data; });
}

}  // namespace kerf::inline audit
