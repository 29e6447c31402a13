#include "engine/audit/kernels/kernel_reader.h"

namespace kerf::inline audit {
namespace {

bool isComparison(std::string_view op) {
  return op == "<" || op == "<=" || op == ">" || op == ">=" || op == "==" || op == "!=";
}

bool isCondition(std::string_view type) { return type == "bool"; }

}  // namespace

std::string commonType(const std::string& a, const std::string& b) {
  if (a == b || b.empty()) return a;
  if (a.empty()) return b;
  if (isFloatType(a) != isFloatType(b)) return isFloatType(a) ? a : b;
  return elementBytes(a) >= elementBytes(b) ? a : b;
}

bool isNarrower(std::string_view kept, std::string_view value) {
  if (kept.empty() || value.empty() || kept == value) return false;
  if (isFloatType(value) && !isFloatType(kept)) return true;
  if (isFloatType(kept) && !isFloatType(value)) return false;
  return elementBytes(kept) < elementBytes(value);
}

KernelValue KernelReader::dataOf(const std::string& type) {
  return ofTerm(isFloatType(type) || type.starts_with("complex") ? noTerm : m_terms.data(), type);
}

TermId KernelReader::conditionOf(const KernelValue& value) { return value.term < 0 ? m_terms.data() : value.term; }

KernelValue KernelReader::binary(std::string_view op, const KernelValue& a, const KernelValue& b) {
  if (a.pointer >= 0 || b.pointer >= 0) {
    KernelValue pointer = a.pointer >= 0 ? a : b;
    const TermId other = a.pointer >= 0 ? b.term : a.term;
    pointer.term = op == "+"   ? m_terms.of(TermOp::Add, pointer.term, other)
                   : op == "-" ? m_terms.minus(pointer.term, other)
                               : noTerm;
    pointer.indexType = commonType(pointer.indexType, a.pointer >= 0 ? b.type : a.type);
    return pointer;
  }
  if (isComparison(op)) {
    TermId term = noTerm;
    if (op == "<") term = m_terms.of(TermOp::Less, a.term, b.term);
    if (op == ">") term = m_terms.of(TermOp::Less, b.term, a.term);
    if (op == "<=") term = m_terms.lessOrEqual(a.term, b.term);
    if (op == ">=") term = m_terms.lessOrEqual(b.term, a.term);
    if (op == "==") term = m_terms.of(TermOp::Equal, a.term, b.term);
    if (op == "!=") term = m_terms.of(TermOp::Not, m_terms.of(TermOp::Equal, a.term, b.term));
    return ofTerm(term < 0 ? m_terms.data() : term, "bool");
  }
  const std::string type = commonType(a.type, b.type);
  if (op == "&" || op == "&&" || op == "|" || op == "||") {
    const bool isAnd = op[0] == '&';
    if (isCondition(a.type) || isCondition(b.type) || op.size() == 2)
      return ofTerm(m_terms.of(isAnd ? TermOp::And : TermOp::Or, conditionOf(a), conditionOf(b)), "bool");
    return dataOf(type);
  }
  TermId term = noTerm;
  if (op == "+") term = m_terms.of(TermOp::Add, a.term, b.term);
  if (op == "-") term = m_terms.minus(a.term, b.term);
  if (op == "*") term = m_terms.of(TermOp::Mul, a.term, b.term);
  if (op == "//") term = m_terms.of(TermOp::FloorDiv, a.term, b.term);
  if (op == "/" && !isFloatType(type)) term = m_terms.of(TermOp::FloorDiv, a.term, b.term);
  if (op == "%") term = m_terms.of(TermOp::Mod, a.term, b.term);
  if (isFloatType(type)) term = noTerm;
  return ofTerm(term, type);
}

KernelValue KernelReader::chosen(const KernelValue& condition, const KernelValue& a, const KernelValue& b) {
  KernelValue value = ofTerm(m_terms.choice(conditionOf(condition), a.term, b.term), commonType(a.type, b.type));
  if (value.term < 0 && !value.type.empty() && !isFloatType(value.type)) value = dataOf(value.type);
  value.guard = conditionOf(condition);
  if (a.guard >= 0) value.guard = m_terms.of(TermOp::And, value.guard, a.guard);
  value.isAccumulator = a.isAccumulator || b.isAccumulator;
  return value;
}

void KernelReader::assume(TermId condition) {
  if (condition < 0) return;
  if (m_terms[condition].op == TermOp::Or) {
    assume(m_terms[condition].a);
    return;
  }
  std::vector<TermId> parts;
  m_terms.conjuncts(condition, parts);
  // 0 <= x is 0 < x + 1, as lessOrEqual() writes it.
  for (const TermId lower : parts) {
    const IndexTerm low = m_terms[lower];
    if (low.op != TermOp::Less || !m_terms.value(low.a)) continue;
    for (const TermId upper : parts) {
      const IndexTerm high = m_terms[upper];
      if (high.op != TermOp::Less || upper == lower) continue;
      if (m_terms.of(TermOp::Add, high.a, m_terms.number(1)) == low.b) m_model.asserted[high.a] = {low.a, high.b};
    }
  }
}

void KernelReader::note(KernelAccess::Kind kind, const KernelValue& pointer, TermId mask, int line,
                        std::string valueType) {
  KernelAccess access;
  access.kind = kind;
  access.parameter = pointer.pointer;
  access.index = pointer.term;
  access.mask = m_mask < 0 ? mask : maskWith(mask);
  access.line = line;
  access.nest = m_nest;
  access.loops = m_loops;
  access.valueType = std::move(valueType);
  access.indexType = pointer.indexType;
  m_model.accesses.push_back(std::move(access));
}

void KernelReader::noteUnknown(const KernelValue& pointer, int line) {
  const KernelParameter& parameter = m_model.parameters[std::size_t(pointer.pointer)];
  KernelValue anywhere = pointer;
  anywhere.term = noTerm;
  const bool isOutput = parameter.name.find("out") != std::string::npos && !parameter.isConst;
  note(KernelAccess::Kind::Load, anywhere, noTerm, line);
  if (isOutput) note(KernelAccess::Kind::Store, anywhere, noTerm, line);
}

void KernelReader::claimAtomics(bool isSaid) {
  const bool onlyAdds = addsByName(m_model.name) && m_model.name.find("index_put") == std::string::npos;
  bool isAtomic = false;
  for (std::size_t i = 0; i < m_model.accesses.size(); ++i) {
    const KernelAccess& each = m_model.accesses[i];
    isAtomic = isAtomic || each.kind == KernelAccess::Kind::Atomic;
    if (each.kind == KernelAccess::Kind::Load || each.index < 0 || !m_terms.usesData(each.index) || !onlyAdds) continue;
    remark(KernelRemark::About::Atomic, each.kind == KernelAccess::Kind::Atomic, each.line,
           "it must add at places that data gives, and stores there without an atomic addition");
  }
  if (isSaid)
    remark(KernelRemark::About::Atomic, isAtomic, m_model.line,
           "its header says that it adds atomically, and no statement of it does");
}

}  // namespace kerf::inline audit
