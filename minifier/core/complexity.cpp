#include "minifier/core/complexity.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "engine/ops/core/op_registry.h"
#include "minifier/core/call_slots.h"
#include "minifier/core/call_units.h"
#include "minifier/core/tensor_like.h"

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

std::size_t opWeight(const Node& node) {
  for (const OpId plainest : {"aten.neg.default"_op, "aten.add.Tensor"_op, "aten.mul.Tensor"_op})
    if (node.isCall(plainest)) return 0;
  const OpInfo* op = findOp(node);
  if (op == nullptr) return 3;
  if (has(op->traits, OpTrait::Pointwise)) return 1;
  return has(op->traits, OpTrait::Matmul) ? 2 : 3;
}

/// Whether all bytes of the tensor's storage repeat its first element's; a storage with more than the tensor's own
/// elements may say no.
bool isUniform(const Tensor& tensor) {
  const auto bytes = tensor.storage()->view();
  const auto size = std::size_t(itemSize(tensor.dtype()));
  return bytes.size() >= size && bytes.size() % size == 0 &&
         std::memcmp(bytes.data(), bytes.data() + size, bytes.size() - size) == 0;
}

bool isAllZeroBytes(const Tensor& uniform) {
  const auto first = uniform.storage()->view().first(std::size_t(itemSize(uniform.dtype())));
  return std::ranges::all_of(first, [](std::byte byte) { return byte == std::byte{0}; });
}

}  // namespace

int dtypeComplexity(DType dtype) {
  return dtype == DType::Float32 || dtype == DType::Int64 || dtype == DType::Bool ? 0 : 1;
}

int valueComplexity(const Value& value) {
  constexpr int plain = 0, ones = 1, integers = 2, any = 3;
  if (!hasData(value)) return plain;
  const Tensor elements = collapsed(value.tensor());
  if (elements.numel() == 0) return plain;
  const bool uniform = isUniform(elements);
  if (isComplex(elements.dtype())) return uniform && isAllZeroBytes(elements) ? plain : any;
  if (!uniform && elements.numel() > mostReadableElements) return any;
  bool isZero = true, isOne = true;
  for (std::int64_t i = 0; i < (uniform ? 1 : elements.numel()); ++i) {
    const double element = elements.itemAsDouble(i);
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
  forEachSlot(graph, [&](const CallSlot&, const Argument& argument, const SchemaArgument* schema) {
    const bool isDefault = schema && schema->defaultValue && *schema->defaultValue == argument;
    if (!isDefault) sum += weight(argument);
  });
  return sum;
}

}  // namespace kerf::inline minifier::inline core
