#include "engine/audit/access/access_form.h"

#include <algorithm>
#include <utility>

namespace kerf::inline audit {
namespace {

constexpr int deepest = 60;

SymInt leastOf(SymInt a, SymInt b) {
  if (isAlways(SymRelation::Le, a, b)) return a;
  if (isAlways(SymRelation::Le, b, a)) return b;
  return symMin(a, b);
}
SymInt greatestOf(SymInt a, SymInt b) {
  if (isAlways(SymRelation::Ge, a, b)) return a;
  if (isAlways(SymRelation::Ge, b, a)) return b;
  return symMax(a, b);
}
bool isMultiple(SymInt value, SymInt of) { return isSameSize(value, 0) || isSameSize(floorMod(value, of), 0); }

}  // namespace

ElementBox AccessForm::box() const {
  ElementBox made{first, {}};
  for (const FormDigit& digit : digits) made.steps.push_back({digit.stride, digit.count});
  made.normalise();
  return made;
}

std::optional<SymInt> FormBuilder::constant(TermId id) const {
  if (id < 0) return std::nullopt;
  const IndexTerm& term = m_terms[id];
  if (term.op == TermOp::Number) return SymInt(term.number);
  if (term.op == TermOp::Size) {
    const auto fixed = m_model.fixedSizes.find(int(term.number));
    if (fixed != m_model.fixedSizes.end()) return SymInt(fixed->second);
    return m_sizes(int(term.number));
  }
  if (term.op == TermOp::Variable || term.op == TermOp::Data || term.op == TermOp::Choice) return std::nullopt;
  const auto a = constant(term.a), b = constant(term.b);
  if (!a || !b) return std::nullopt;
  switch (term.op) {
    case TermOp::Add:
      return *a + *b;
    case TermOp::Mul:
      return *a * *b;
    case TermOp::FloorDiv:
      return isSameSize(*b, 0) ? std::nullopt : std::optional(floorDiv(*a, *b));
    case TermOp::Mod:
      return isSameSize(*b, 0) ? std::nullopt : std::optional(floorMod(*a, *b));
    case TermOp::Min:
      return leastOf(*a, *b);
    case TermOp::Max:
      return greatestOf(*a, *b);
    default:
      return std::nullopt;
  }
}

void FormBuilder::variablesOf(TermId id, std::vector<int>& into, int depth) const {
  if (id < 0 || depth > deepest) return;
  const IndexTerm& term = m_terms[id];
  if (term.op == TermOp::Variable && std::ranges::find(into, int(term.number)) == into.end())
    into.push_back(int(term.number));
  variablesOf(term.a, into, depth + 1);
  variablesOf(term.b, into, depth + 1);
}

/// Conditions `v < t`, `t < v` and `t <= v` move the ends of the variable.
void FormBuilder::narrow(Axis& axis, const std::vector<TermId>& conditions, SymInt& upper) {
  const TermId self = [&] {
    for (TermId id = 0; id < TermId(m_terms.count()); ++id)
      if (m_terms[id].op == TermOp::Variable && m_terms[id].number == axis.variable) return id;
    return noTerm;
  }();
  for (const TermId id : conditions) {
    const IndexTerm& less = m_terms[id];
    if (less.op != TermOp::Less) continue;
    if (less.a == self) {
      if (const auto limit = constant(less.b)) upper = leastOf(upper, *limit);
    } else if (less.b == self) {
      if (const auto limit = constant(less.a)) axis.begin = greatestOf(axis.begin, *limit + 1);
    } else if (m_terms[less.b].op == TermOp::Add && m_terms[less.b].a == self &&
               m_terms.value(m_terms[less.b].b) == 1) {
      if (const auto limit = constant(less.a)) axis.begin = greatestOf(axis.begin, *limit);
    }
  }
}

bool FormBuilder::addAxis(int index, const std::vector<TermId>& conditions) {
  const KernelVariable& variable = m_model.variables[std::size_t(index)];
  const auto begin = constant(variable.begin), end = constant(variable.end);
  if (!begin || !end) return false;
  Axis axis{index, *begin, *end, {}, 0};
  if (variable.block > 1 && !isSameSize(*end, 1) && !isMultiple(*end, variable.block))
    axis.end = ceilDiv(*end, variable.block) * variable.block;
  const SymInt start = axis.begin;
  SymInt upper = axis.end;
  if (variable.block > 1 && std::ranges::any_of(conditions, [&](TermId id) {
        const IndexTerm& less = m_terms[id];
        return less.op == TermOp::Less && m_terms[less.a].op == TermOp::Variable && m_terms[less.a].number == index &&
               less.b == variable.end;
      }))
    upper = *end;  // the mask of the axis
  narrow(axis, conditions, upper);
  axis.end = upper;
  const SymInt step = variable.step;
  // The values that are left, counted in steps.
  const SymInt skipped = isSameSize(axis.begin, start) ? SymInt(0) : ceilDiv(axis.begin - start, step);
  axis.begin = start + skipped * step;
  if (isAlways(SymRelation::Le, axis.end, axis.begin)) m_isNever = true;
  m_axes.push_back(std::move(axis));
  return true;
}

/// So that term // divisor and term % divisor are sums of digits.
void FormBuilder::needCut(TermId id, SymInt divisor, int depth) {
  if (id < 0 || depth > deepest) return;
  const IndexTerm& term = m_terms[id];
  switch (term.op) {
    case TermOp::Variable: {
      const auto axis = std::ranges::find(m_axes, int(term.number), &Axis::variable);
      if (axis == m_axes.end()) return;
      if (std::ranges::none_of(axis->cuts, [&](SymInt each) { return isSameSize(each, divisor); }))
        axis->cuts.push_back(divisor);
      return;
    }
    case TermOp::FloorDiv:
      if (const auto inner = constant(term.b)) needCut(term.a, divisor * *inner, depth + 1);
      return;
    case TermOp::Mod:
      return needCut(term.a, divisor, depth + 1);
    case TermOp::Add:
      needCut(term.a, divisor, depth + 1);
      return needCut(term.b, divisor, depth + 1);
    case TermOp::Mul: {
      for (const auto& [factor, other] : {std::pair(term.a, term.b), std::pair(term.b, term.a)})
        if (const auto by = constant(factor))
          if (!isSameSize(*by, 0) && isMultiple(divisor, *by) && !isSameSize(divisor, *by))
            needCut(other, floorDiv(divisor, *by), depth + 1);
      return;
    }
    default:
      return;
  }
}

void FormBuilder::findCuts(TermId id, int depth) {
  if (id < 0 || depth > deepest) return;
  const IndexTerm& term = m_terms[id];
  if (term.op == TermOp::FloorDiv || term.op == TermOp::Mod)
    if (const auto divisor = constant(term.b); divisor && !isSameSize(*divisor, 0)) needCut(term.a, *divisor);
  findCuts(term.a, depth + 1);
  findCuts(term.b, depth + 1);
}

void FormBuilder::makeDigits() {
  for (Axis& axis : m_axes) {
    axis.firstDigit = m_digits.size();
    const SymInt step = m_model.variables[std::size_t(axis.variable)].step;
    std::vector<SymInt> cuts;
    if (isSameSize(step, 1) && isSameSize(axis.begin, 0)) cuts = axis.cuts;
    for (std::size_t i = 1; i < cuts.size(); ++i)
      for (std::size_t j = i; j > 0 && isAlways(SymRelation::Lt, cuts[j], cuts[j - 1]); --j)
        std::swap(cuts[j], cuts[j - 1]);
    std::erase_if(cuts, [&](SymInt cut) { return isSameSize(cut, 1) || isAlways(SymRelation::Ge, cut, axis.end); });
    SymInt weight = 1;
    int part = 0;
    for (const SymInt& cut : cuts) {
      if (!isMultiple(cut, weight)) continue;
      const SymInt count = floorDiv(cut, weight);
      m_digits.push_back({axis.variable, part++, weight, 0, count, false});
      weight = cut;
    }
    if (part == 0) {
      m_digits.push_back({axis.variable, 0, step, 0, ceilDiv(axis.end - axis.begin, step), false});
    } else {
      if (!isMultiple(axis.end, weight)) m_isExact = false;
      m_digits.push_back({axis.variable, part, weight, 0, ceilDiv(axis.end, weight), false});
    }
  }
}

void FormBuilder::add(Sum& into, const Sum& from, SymInt factor) const {
  into.constant += from.constant * factor;
  if (into.coefficients.size() < from.coefficients.size()) into.coefficients.resize(from.coefficients.size());
  for (std::size_t i = 0; i < from.coefficients.size(); ++i)
    if (!from.coefficients[i].isIdentical(0)) into.coefficients[i] += from.coefficients[i] * factor;
}

std::optional<FormBuilder::Sum> FormBuilder::sum(TermId id, int depth) {
  if (id < 0 || depth > deepest) return std::nullopt;
  if (const auto value = constant(id)) return Sum{*value, {}};
  const IndexTerm& term = m_terms[id];
  if (term.op == TermOp::Variable) {
    Sum made;
    for (const Axis& axis : m_axes) {
      if (axis.variable != int(term.number)) continue;
      made.constant = axis.begin;
      made.coefficients.resize(m_digits.size());
      for (std::size_t i = 0; i < m_digits.size(); ++i)
        if (m_digits[i].variable == axis.variable && !m_digits[i].isData) made.coefficients[i] = m_digits[i].weight;
      return made;
    }
    return std::nullopt;
  }
  if (term.op == TermOp::Add) {
    auto a = sum(term.a, depth + 1);
    const auto b = sum(term.b, depth + 1);
    if (!a || !b) return std::nullopt;
    add(*a, *b, 1);
    return a;
  }
  if (term.op == TermOp::Mul) {
    for (const auto& [factor, other] : {std::pair(term.a, term.b), std::pair(term.b, term.a)}) {
      const auto by = constant(factor);
      if (!by) continue;
      const auto inner = sum(other, depth + 1);
      if (!inner) return std::nullopt;
      Sum made;
      add(made, *inner, *by);
      return made;
    }
    return std::nullopt;
  }
  if (term.op == TermOp::FloorDiv || term.op == TermOp::Mod)
    if (auto made = divided(term, depth)) return made;
  return opaque(id);
}

/// What the divisor divides comes out; the rest must stay below it.
std::optional<FormBuilder::Sum> FormBuilder::divided(const IndexTerm& term, int depth) {
  const auto divisor = constant(term.b);
  if (!divisor || !isAlways(SymRelation::Gt, *divisor, 0)) return std::nullopt;
  const auto inner = sum(term.a, depth + 1);
  if (!inner) return std::nullopt;
  Sum whole, rest;
  whole.coefficients.resize(inner->coefficients.size());
  rest.coefficients.resize(inner->coefficients.size());
  const SymInt quotient = floorDiv(inner->constant, *divisor);
  whole.constant = quotient;
  rest.constant = inner->constant - quotient * *divisor;
  SymInt low = rest.constant, high = rest.constant;
  for (std::size_t i = 0; i < inner->coefficients.size(); ++i) {
    const SymInt each = inner->coefficients[i];
    if (each.isIdentical(0)) continue;
    if (isMultiple(each, *divisor)) {
      whole.coefficients[i] = floorDiv(each, *divisor);
      continue;
    }
    rest.coefficients[i] = each;
    const SymInt from = each * m_digits[i].from, to = each * (m_digits[i].to - 1);
    low += leastOf(from, to);
    high += greatestOf(from, to);
  }
  if (!isAlways(SymRelation::Ge, low, 0) || !isAlways(SymRelation::Lt, high, *divisor)) return std::nullopt;
  return term.op == TermOp::FloorDiv ? whole : rest;
}

std::optional<ValueSpan> FormBuilder::spanOf(TermId id, int depth) {
  if (id < 0 || depth > deepest) return std::nullopt;
  if (const auto value = constant(id)) return ValueSpan{*value, *value};
  if (const auto found = m_model.asserted.find(id); found != m_model.asserted.end()) {
    const auto from = constant(found->second.first), to = constant(found->second.second);
    if (from && to) return ValueSpan{*from, *to - 1};
  }
  const IndexTerm& term = m_terms[id];
  if (term.op == TermOp::Variable) {
    for (const Axis& axis : m_axes)
      if (axis.variable == int(term.number)) return ValueSpan{axis.begin, axis.end - 1};
    return std::nullopt;
  }
  const auto b = term.op == TermOp::Data ? std::nullopt : spanOf(term.b, depth + 1);
  if (term.op == TermOp::Mod && b && isAlways(SymRelation::Gt, b->from, 0)) return ValueSpan{0, b->to - 1};
  const auto a = term.op == TermOp::Data ? std::nullopt : spanOf(term.a, depth + 1);
  if (term.op == TermOp::Min && (a || b)) {
    if (!a || !b) return std::nullopt;
    return ValueSpan{leastOf(a->from, b->from), leastOf(a->to, b->to)};
  }
  if (!a || !b) return std::nullopt;
  switch (term.op) {
    case TermOp::Add:
      return ValueSpan{a->from + b->from, a->to + b->to};
    case TermOp::Max:
      return ValueSpan{greatestOf(a->from, b->from), greatestOf(a->to, b->to)};
    case TermOp::Choice:
      return ValueSpan{leastOf(a->from, b->from), greatestOf(a->to, b->to)};
    case TermOp::Mul:
      if (isAlways(SymRelation::Ge, a->from, 0) && isAlways(SymRelation::Ge, b->from, 0))
        return ValueSpan{a->from * b->from, a->to * b->to};
      if (isSameSize(a->from, a->to) && isAlways(SymRelation::Le, a->from, 0))
        return ValueSpan{a->from * b->to, a->from * b->from};
      return std::nullopt;
    case TermOp::FloorDiv:
      if (isSameSize(b->from, b->to) && isAlways(SymRelation::Gt, b->from, 0))
        return ValueSpan{floorDiv(a->from, b->from), floorDiv(a->to, b->from)};
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

/// A term that is no sum becomes a digit of its own, where its range is known.
std::optional<FormBuilder::Sum> FormBuilder::opaque(TermId id) {
  const auto known = m_opaque.find(id);
  std::size_t digit = known == m_opaque.end() ? m_digits.size() : known->second;
  const auto span = spanOf(id);
  if (!span) return std::nullopt;
  if (known == m_opaque.end()) {
    m_digits.push_back({-1, 0, 1, 0, span->to - span->from + 1, true});
    m_opaque.emplace(id, digit);
  }
  m_isExact = false;
  if (m_terms.usesData(id)) m_hasData = true;
  Sum made;
  made.constant = span->from;
  made.coefficients.resize(digit + 1);
  made.coefficients[digit] = 1;
  return made;
}

void FormBuilder::constrain(TermId id) {
  const IndexTerm& term = m_terms[id];
  if (term.op == TermOp::Number) {
    m_isNever = m_isNever || term.number == 0;
    return;
  }
  TermId less = id;
  bool isNegated = false;
  if (term.op == TermOp::Not) {
    less = term.a;
    isNegated = true;
  }
  const IndexTerm& asked = m_terms[less];
  if (asked.op == TermOp::Less) {
    const auto a = sum(asked.a), b = sum(asked.b);
    if (a && b) {
      Sum difference;  // b - a - 1 >= 0, or a - b >= 0
      add(difference, *b, isNegated ? -1 : 1);
      add(difference, *a, isNegated ? 1 : -1);
      if (!isNegated) difference.constant -= 1;
      if (constrainDigit(difference)) return;
      m_limits.push_back(std::move(difference));
    }
  }
  m_isExact = false;
  if (m_terms.usesData(id)) m_hasData = true;
}

/// A condition on one digit alone moves its ends; one that always holds is no condition.
bool FormBuilder::constrainDigit(const Sum& limit) {
  std::size_t which = 0, count = 0;
  SymInt low = limit.constant;
  for (std::size_t i = 0; i < limit.coefficients.size(); ++i) {
    const SymInt by = limit.coefficients[i];
    if (by.isIdentical(0) || isSameSize(by, 0)) continue;
    which = i;
    ++count;
    low += leastOf(by * m_digits[i].from, by * (m_digits[i].to - 1));
  }
  if (isAlways(SymRelation::Ge, low, 0)) return true;
  if (count != 1) return false;
  Digit& digit = m_digits[which];
  const SymInt by = limit.coefficients[which];
  if (isAlways(SymRelation::Gt, by, 0)) {
    digit.from = greatestOf(digit.from, ceilDiv(-limit.constant, by));
  } else if (isAlways(SymRelation::Lt, by, 0)) {
    digit.to = leastOf(digit.to, floorDiv(limit.constant, -by) + 1);
  } else {
    return false;
  }
  if (isAlways(SymRelation::Le, digit.to, digit.from)) m_isNever = true;
  return true;
}

void FormBuilder::bound(const Sum& index, AccessForm& form) const {
  const auto reach = [&](std::size_t i, SymInt by, bool isLow) {
    const SymInt from = by * m_digits[i].from, to = by * (m_digits[i].to - 1);
    return isLow ? leastOf(from, to) : greatestOf(from, to);
  };
  for (const bool isLow : {true, false}) {
    SymInt best = index.constant;
    for (std::size_t i = 0; i < index.coefficients.size(); ++i)
      if (!index.coefficients[i].isIdentical(0)) best += reach(i, index.coefficients[i], isLow);
    // index = factor·limit + rest, and limit >= 0.
    for (const Sum& limit : m_limits) {
      SymInt factor = 0;
      bool fits = true;
      for (std::size_t i = 0; i < limit.coefficients.size() && fits; ++i) {
        const SymInt by = limit.coefficients[i];
        if (by.isIdentical(0)) continue;
        const SymInt mine = i < index.coefficients.size() ? index.coefficients[i] : SymInt(0);
        if (!isMultiple(mine, by) || mine.isIdentical(0))
          fits = false;
        else if (factor.isIdentical(0))
          factor = floorDiv(mine, by);
        else
          fits = isSameSize(floorDiv(mine, by), factor);
      }
      if (!fits || factor.isIdentical(0) || !isAlways(isLow ? SymRelation::Gt : SymRelation::Lt, factor, 0)) continue;
      SymInt other = index.constant - factor * limit.constant;
      for (std::size_t i = 0; i < index.coefficients.size(); ++i) {
        const SymInt inLimit = i < limit.coefficients.size() ? limit.coefficients[i] : SymInt(0);
        const SymInt left = index.coefficients[i] - factor * inLimit;
        if (!left.isIdentical(0)) other += reach(i, left, isLow);
      }
      best = isLow ? greatestOf(best, other) : leastOf(best, other);
    }
    (isLow ? form.lowest : form.highest) = best;
  }
}

AccessForm FormBuilder::build(const KernelAccess& access) {
  m_axes.clear();
  m_digits.clear();
  m_limits.clear();
  m_opaque.clear();
  m_isExact = true;
  m_hasData = m_isNever = false;
  AccessForm form;
  if (access.index < 0) {
    form.unknown = "its index is not known";
    return form;
  }
  std::vector<TermId> conditions;
  m_terms.conjuncts(access.mask, conditions);
  std::vector<int> variables = access.loops;
  variablesOf(access.index, variables);
  for (const TermId each : conditions) variablesOf(each, variables);
  if (m_model.language == KernelModel::Language::Triton && access.kind != KernelAccess::Kind::Load)
    for (std::size_t i = 0; i < m_model.variables.size(); ++i)
      if (m_model.variables[i].kind == KernelVariable::Kind::Parallel &&
          std::ranges::find(variables, int(i)) == variables.end())
        variables.push_back(int(i));
  for (const int each : variables)
    if (!addAxis(each, conditions)) {
      form.unknown = "the range of " + m_model.variables[std::size_t(each)].name + " is not known";
      return form;
    }
  findCuts(access.index);
  for (const TermId each : conditions) findCuts(each);
  makeDigits();
  const auto index = sum(access.index);
  if (!index) {
    form.unknown =
        m_terms.usesData(access.index) ? "the index is data, and nothing bounds it" : "the index is no sum of steps";
    form.hasData = m_terms.usesData(access.index);
    return form;
  }
  for (const TermId each : conditions) constrain(each);
  form.isNever = m_isNever;
  bound(*index, form);
  form.first = index->constant;
  for (std::size_t i = 0; i < m_digits.size(); ++i) {
    const Digit& digit = m_digits[i];
    const SymInt by = i < index->coefficients.size() ? index->coefficients[i] : SymInt(0);
    if (digit.isData && by.isIdentical(0)) continue;
    form.first += by * digit.from;
    form.digits.push_back({digit.isData ? -1 : digit.variable, digit.part, by, digit.to - digit.from});
  }
  form.isExact = m_isExact;
  form.hasData = m_hasData;
  return form;
}

}  // namespace kerf::inline audit
