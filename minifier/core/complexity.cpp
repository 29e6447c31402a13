#include "minifier/core/complexity.h"

#include <cmath>

#include "engine/ops/core/op_registry.h"
#include "minifier/core/call_units.h"

namespace kerf::inline minifier::inline core {

namespace {

constexpr std::size_t operandWeight = 4;

std::size_t weight(const Argument& argument) {
  if (argument.isNone()) return 0;
  if (argument.as<NodeId>()) return operandWeight;
  if (const auto* number = argument.as<std::int64_t>()) return std::abs(*number) <= 1 ? 1 : 2;
  if (const auto* number = argument.as<double>()) return *number == 0 || *number == 1 ? 1 : 2;
  std::size_t sum = 1;
  if (const ListArgument* list = argument.asList())
    for (const Argument& item : list->items) sum += weight(item);
  return sum;
}

bool isDefault(const OpInfo* op, std::size_t index, const Argument& argument) {
  if (op == nullptr || index >= op->schema.arguments.size()) return false;
  const auto& usual = op->schema.arguments[index].defaultValue;
  return usual && *usual == argument;
}

std::size_t indexOf(const OpInfo* op, std::string_view name) {
  if (op == nullptr) return SIZE_MAX;
  for (std::size_t i = 0; i < op->schema.arguments.size(); ++i)
    if (op->schema.arguments[i].name == name) return i;
  return SIZE_MAX;
}

std::size_t opWeight(const Node& node) {
  for (const OpId plainest : {"aten.neg.default"_op, "aten.add.Tensor"_op, "aten.mul.Tensor"_op})
    if (node.isCall(plainest)) return 0;
  const OpInfo* op = findOp(node);
  if (op == nullptr) return 3;
  if (has(op->traits, OpTrait::Pointwise)) return 1;
  return has(op->traits, OpTrait::Matmul) ? 2 : 3;
}

}  // namespace

int dtypeComplexity(DType dtype) {
  return dtype == DType::Float32 || dtype == DType::Int64 || dtype == DType::Bool ? 0 : 1;
}

int valueComplexity(const Value& value) {
  constexpr int plain = 0, ones = 1, integers = 2, any = 3;
  constexpr std::int64_t looksAt = 1 << 16;  // of more elements nobody reads the values
  if (!value.isTensor() || !value.tensor().defined()) return plain;
  const Tensor& tensor = value.tensor();
  if (tensor.numel() > looksAt || isComplex(tensor.dtype())) return any;
  bool isZero = true, isOne = true;
  for (std::int64_t i = 0; i < tensor.numel(); ++i) {
    const double element = tensor.itemAsDouble(i);
    isZero = isZero && element == 0;
    isOne = isOne && element == 1;
    if (!(std::abs(element) < 10) || element != std::floor(element)) return any;
  }
  return isZero ? plain : isOne ? ones : integers;
}

std::size_t opComplexity(const Graph& graph) {
  std::size_t sum = 0;
  for (const NodeId id : callNodes(graph)) sum += opWeight(graph.node(id));
  return sum;
}

std::size_t argumentComplexity(const Graph& graph) {
  std::size_t sum = 0;
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (!isCallNode(node)) continue;
    const OpInfo* op = findOp(node);
    for (std::size_t i = 0; i < node.args().size(); ++i)
      if (!isDefault(op, i, node.args()[i])) sum += weight(node.args()[i]);
    for (const auto& [name, argument] : node.kwargs())
      if (!isDefault(op, indexOf(op, name), argument)) sum += weight(argument);
  }
  return sum;
}

}  // namespace kerf::inline minifier::inline core
