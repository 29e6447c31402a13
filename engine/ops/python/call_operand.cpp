#include "engine/ops/python/call_operand.h"

#include "engine/ops/core/op_call.h"

namespace kerf::inline ops {
namespace {

constexpr OperandKind symbolicKinds[] = {OperandKind::SymInt, OperandKind::SymFloat, OperandKind::SymBool};

CallOperand of(OperandKind kind) {
  CallOperand operand;
  operand.kind = kind;
  return operand;
}

struct OfValue {
  CallOperand operator()(std::monostate) const { return {}; }
  CallOperand operator()(bool) const { return of(OperandKind::Bool); }
  CallOperand operator()(std::int64_t) const { return of(OperandKind::Int); }
  CallOperand operator()(double) const { return of(OperandKind::Float); }
  CallOperand operator()(const std::string& text) const {
    CallOperand operand = of(text == "..." ? OperandKind::Ellipsis : OperandKind::String);
    operand.text = text;
    return operand;
  }
  CallOperand operator()(DType) const { return of(OperandKind::Dtype); }
  CallOperand operator()(const Device&) const { return of(OperandKind::Device); }
  CallOperand operator()(Layout) const { return of(OperandKind::Layout); }
  CallOperand operator()(MemoryFormat) const { return of(OperandKind::MemoryFormat); }
  CallOperand operator()(const SymNumber& number) const { return of(symbolicKinds[std::size_t(number.kind)]); }
  CallOperand operator()(const Tensor& tensor) const {
    CallOperand operand = of(OperandKind::Tensor);
    operand.dtype = tensor.dtype();
    operand.dim = tensor.dim();
    operand.requiresGrad = tensor.requiresGrad;
    if (!tensor.isSymbolic()) operand.elementCount = tensor.numel();
    return operand;
  }
  CallOperand operator()(const std::shared_ptr<const ValueList>& list) const {
    CallOperand operand = of(OperandKind::List);
    for (const Value& item : *list) operand.items.push_back(operandOf(item));
    return operand;
  }
};

struct OfArgument {
  const std::function<CallOperand(NodeId)>& nodes;

  CallOperand operator()(NodeId id) const { return nodes(id); }
  CallOperand operator()(const SymExpr&) const { return of(OperandKind::SymInt); }
  CallOperand operator()(Ellipsis) const { return of(OperandKind::Ellipsis); }
  CallOperand operator()(const ComplexNumber&) const { return of(OperandKind::Complex); }
  CallOperand operator()(const SubgraphRef&) const { return of(OperandKind::String); }
  CallOperand operator()(const PythonName&) const { return of(OperandKind::Unknown); }
  CallOperand operator()(const std::shared_ptr<const SliceArgument>&) const { return of(OperandKind::Slice); }
  CallOperand operator()(const std::shared_ptr<const DictArgument>&) const { return of(OperandKind::Unknown); }
  CallOperand operator()(const std::shared_ptr<const ListArgument>& list) const {
    CallOperand operand = of(OperandKind::List);
    for (const Argument& item : list->items) operand.items.push_back(operandOf(item, nodes));
    return operand;
  }
  template <class T>
  CallOperand operator()(const T& held) const {
    return OfValue{}(held);
  }
};

constexpr std::string_view kindTexts[] = {
    "NoneType", "bool",        "int",          "float",        "complex",
    "str",      "torch.dtype", "torch.layout", "torch.device", "torch.memory_format",
    "Tensor",   "list",        "slice",        "ellipsis",     "SymInt",
    "SymFloat", "SymBool",     "unknown"};

}  // namespace

CallOperand tensorOperand() { return of(OperandKind::Tensor); }

CallOperand operandOf(const Value& value) { return std::visit(OfValue{}, value.variant()); }

CallOperand operandOf(const Argument& argument, const std::function<CallOperand(NodeId)>& nodes) {
  return std::visit(OfArgument{nodes}, argument.variant());
}

std::string typeText(const CallOperand& operand) {
  if (operand.kind != OperandKind::List) return std::string(kindTexts[std::size_t(operand.kind)]);
  std::string inner;
  for (const CallOperand& item : operand.items) inner += (inner.empty() ? "" : ", ") + typeText(item);
  return "list of (" + inner + ")";
}

}  // namespace kerf::inline ops
