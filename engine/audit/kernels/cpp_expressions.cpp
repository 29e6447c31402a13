#include "engine/audit/kernels/cpp_expressions.h"

#include <algorithm>
#include <array>

namespace kerf::inline audit {
namespace {

constexpr int mostCalls = 2000;  ///< of lambdas, in one kernel

}  // namespace

std::string templateType(std::string_view name) {
  const std::size_t open = name.rfind('<');
  const std::size_t end = name.find_first_of(",>", open == std::string_view::npos ? 0 : open);
  if (open == std::string_view::npos || end == std::string_view::npos) return {};
  return elementType(name.substr(open + 1, end - open - 1));
}

KernelValue CppExpressions::indexOf(const SyntaxNode& item) {
  KernelValue index = item.items.size() == 2 ? evaluate(item.items[1]) : unknown();
  if (index.pointer >= 0) index = unknown();
  return index;
}

KernelValue CppExpressions::evaluate(const SyntaxNode& node) {
  switch (node.kind) {
    case SyntaxKind::Name: {
      if (node.text == "true" || node.text == "false") return ofTerm(m_terms.number(node.text == "true"), "bool");
      const auto found = m_values.find(node.text);
      return found == m_values.end() ? unknown() : found->second;
    }
    case SyntaxKind::Number: {
      const auto integer = node.integer();
      return integer ? ofTerm(m_terms.number(*integer), "int64")
                     : unknown(node.text.ends_with('f') ? "float32" : "float64");
    }
    case SyntaxKind::Unary:
      return unary(node);
    case SyntaxKind::Binary: {
      const KernelValue a = evaluate(node.items[0]), b = evaluate(node.items[1]);
      return binary(node.text, a, b);
    }
    case SyntaxKind::Item: {
      const KernelValue pointer = binary("+", evaluate(node.items[0]), indexOf(node));
      if (pointer.pointer < 0) return dataOf(pointer.type);
      note(KernelAccess::Kind::Load, pointer, m_mask, node.line);
      return dataOf(pointer.type);
    }
    case SyntaxKind::Lambda: {
      KernelValue value;
      value.lambda = &node;
      return value;
    }
    case SyntaxKind::Choice:
      return choice(node);
    case SyntaxKind::Call:
      return call(node);
    default:
      return unknown();
  }
}

KernelValue CppExpressions::unary(const SyntaxNode& node) {
  if (node.text == "&" && node.items[0].is(SyntaxKind::Item))
    return binary("+", evaluate(node.items[0].items[0]), indexOf(node.items[0]));
  if (node.text == "*") {
    const KernelValue pointer = evaluate(node.items[0]);
    if (pointer.pointer >= 0) note(KernelAccess::Kind::Load, pointer, m_mask, node.line);
    return dataOf(pointer.type);
  }
  KernelValue value = evaluate(node.items[0]);
  if (node.text == "-") value.term = m_terms.of(TermOp::Mul, m_terms.number(-1), value.term);
  if (node.text == "!" || node.text == "~") value = ofTerm(m_terms.of(TermOp::Not, conditionOf(value)), "bool");
  return value;
}

KernelValue CppExpressions::choice(const SyntaxNode& node) {
  const KernelValue condition = evaluate(node.items[0]);
  const TermId when = conditionOf(condition), outer = m_mask;
  m_mask = outer < 0 ? when : m_terms.of(TermOp::And, outer, when);
  const KernelValue a = evaluate(node.items[1]);
  m_mask = outer;
  const KernelValue b = evaluate(node.items[2]);
  return chosen(condition, a, b);
}

KernelValue CppExpressions::run(const SyntaxNode& lambda) {
  if (++m_calls > mostCalls || m_callDepth > 30) {
    opaque(lambda, "calls too much");
    return unknown();
  }
  ++m_callDepth;
  m_returned = unknown();
  const std::map<std::string, KernelValue, std::less<>> outer = m_values;
  if (!lambda.items.empty()) block(lambda.items[0]);
  m_values = outer;
  --m_callDepth;
  return std::exchange(m_returned, unknown());
}

KernelValue CppExpressions::call(const SyntaxNode& node) {
  const SyntaxNode& callee = node.items[0];
  if (callee.is(SyntaxKind::Member)) return method(node, callee);
  if (callee.is(SyntaxKind::Lambda)) return run(callee);
  const std::string name = callee.dotted();
  if (const auto found = m_values.find(name); found != m_values.end() && found->second.lambda != nullptr)
    return run(*found->second.lambda);
  if (name == "std::min" || name == "std::max" || name == "min" || name == "max" || name.starts_with("std::min<") ||
      name.starts_with("std::max<"))
    return pair(node, name.find("min") != std::string::npos ? TermOp::Min : TermOp::Max);
  if (name == "c10::div_floor_integer" || name == "div_floor_integer") return pair(node, TermOp::FloorDiv);
  if (name == "mod" || name == "c10::modulus" || name == "modulus") return pair(node, TermOp::Mod);
  if (name == "AOTI_TORCH_CHECK" || name == "TORCH_CHECK") {
    if (node.argumentCount() > 0) assume(evaluate(node.argument(0)).term);
    return unknown();
  }
  if (name.starts_with("transpose_mxn<") || name.find("::transpose_mxn<") != std::string::npos)
    return transpose(node, name);
  if (name == "atomic_add" || name.starts_with("atomic_add<") || name.starts_with("atomic_add_vec"))
    return atomic(node, name);
  if (name.ends_with("::loadu") || (name.ends_with("::from") && name.find("VecMask") != std::string::npos) ||
      name.ends_with("::load"))
    return loadVector(node, templateType(name), noTerm);
  if (name.ends_with("::arange")) return arange(node);
  if (isCast(name) && node.argumentCount() >= 1) return castTo(name, evaluate(node.argument(0)));
  return other(node, name);
}

bool CppExpressions::isCast(std::string_view name) {
  static constexpr std::array<std::string_view, 6> casts = {
      "static_cast<", "c10::convert<", "at::vec::convert<", "reinterpret_cast<", "at::vec::VecMask<", "c10::load<"};
  return std::ranges::any_of(casts, [&](std::string_view each) { return name.starts_with(each); }) ||
         (name.starts_with("at::vec::Vectorized") && name.ends_with('>')) || !elementType(name).empty();
}

KernelValue CppExpressions::castTo(const std::string& name, KernelValue value) {
  if (name.starts_with("at::vec::VecMask")) return ofTerm(conditionOf(value), "bool");
  std::string type = templateType(name);
  if (type.empty()) type = elementType(name);
  if (name.find("decltype") != std::string::npos) type.clear();
  if (value.pointer >= 0) return value;
  if (!type.empty()) {
    if (isFloatType(type))
      value.term = noTerm;
    else if (isFloatType(value.type))
      value.term = m_terms.data();
    value.type = type;
  }
  return value;
}

KernelValue CppExpressions::pair(const SyntaxNode& node, TermOp op) {
  if (node.argumentCount() < 2) return unknown();
  const KernelValue a = evaluate(node.argument(0)), b = evaluate(node.argument(1));
  const std::string type = commonType(a.type, b.type);
  return ofTerm(isFloatType(type) ? noTerm : m_terms.of(op, a.term, b.term), type);
}

KernelValue CppExpressions::other(const SyntaxNode& node, const std::string& name) {
  std::string type;
  for (std::size_t i = 0; i < node.argumentCount(); ++i) {
    const KernelValue value = evaluate(node.argument(i));
    if (value.pointer >= 0) noteUnknown(value, node.line);
    if (value.lambda == nullptr) type = commonType(type, value.type);
  }
  if (name.find("vec_reduce_all<") != std::string::npos) {
    type = templateType(name);
    if (node.argumentCount() > 1 && node.argument(1).is(SyntaxKind::Name))
      accumulatorType(node.argument(1).text, type, node.line, false);
  }
  return type == "bool" ? dataOf(type) : unknown(type);
}

KernelValue CppExpressions::method(const SyntaxNode& node, const SyntaxNode& callee) {
  const KernelValue object = evaluate(callee.items[0]);
  if (callee.text == "store" && node.argumentCount() > 0) {
    const KernelValue pointer = evaluate(node.argument(0));
    if (pointer.pointer >= 0) vectorAccess(KernelAccess::Kind::Store, node, pointer, noTerm, object.type);
    return unknown();
  }
  if (callee.text.starts_with("loadu<") && node.argumentCount() > 0)
    return loadVector(node, templateType(callee.text), conditionOf(object));
  if (callee.text.starts_with("cast<") || callee.text.starts_with("to<")) {
    KernelValue value = object;
    if (callee.text.starts_with("to<")) {
      value.type = templateType(callee.text);
      if (isFloatType(value.type)) value.term = noTerm;
    }
    return value;
  }
  for (std::size_t i = 0; i < node.argumentCount(); ++i)
    if (const KernelValue value = evaluate(node.argument(i)); value.pointer >= 0) noteUnknown(value, node.line);
  if (callee.text == "all_zero" || callee.text == "all_masked") return dataOf("bool");
  return object.type == "bool" ? dataOf(object.type) : unknown(object.type);
}

}  // namespace kerf::inline audit
