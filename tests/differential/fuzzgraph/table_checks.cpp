// GraphBuilder: what kernels give, against what the table says of it.
#include <set>

#include "engine/ops/core/memory_use.h"
#include "tests/differential/fuzzgraph/graph_builder.h"

namespace kerf::fuzzgraph {

void forEachTensor(const Value& value, const std::function<void(const Tensor&)>& visit) {
  if (value.isTensor()) visit(value.tensor());
  if (value.isList())
    for (const Value& item : value.list()) forEachTensor(item, visit);
}

std::vector<const Operand*> operandsOf(const PlannedCall& call) {
  std::vector<const Operand*> result;
  for (const Operand& operand : call.positional) result.push_back(&operand);
  for (const auto& [name, operand] : call.keywords) result.push_back(&operand);
  return result;
}

void GraphBuilder::checkShapes(const OpInfo& op, const Value& planned, const Value& result, const PlannedCall& call) {
  std::vector<Tensor> rule, kernel;
  forEachTensor(planned, [&](const Tensor& tensor) { rule.push_back(tensor); });
  forEachTensor(result, [&](const Tensor& tensor) { kernel.push_back(tensor); });
  bool same = rule.size() == kernel.size();
  for (std::size_t i = 0; same && i < rule.size(); ++i)
    same = rule[i].dtype() == kernel[i].dtype() && rule[i].sizes() == kernel[i].sizes() &&
           (rule[i].strides() == kernel[i].strides() || rule[i].numel() == 0);
  if (same) return;
  std::string text = op.schema.qualifiedName() + "(";
  const auto describe = [](const Tensor& t) {
    return fmt::format("{}[{}]/[{}]", dtypeInfo(t.dtype()).shortCode, fmt::join(t.sizes(), ","),
                       fmt::join(t.strides(), ","));
  };
  for (const Operand* operand : operandsOf(call))
    forEachTensor(operand->value, [&](const Tensor& t) { text += describe(t) + " "; });
  text += ") rule: ";
  for (const Tensor& t : rule) text += describe(t) + " ";
  text += "kernel: ";
  for (const Tensor& t : kernel) text += describe(t) + " ";
  shapeFaults.push_back(std::move(text));
}

/// Passes and the planner of memory go by what the table says of sharing.
void GraphBuilder::checkMemory(const OpInfo& op, const Value& result, const PlannedCall& call) {
  if (mayShareMemory(op)) return;
  std::set<const Storage*> given;
  for (const Operand* operand : operandsOf(call))
    forEachTensor(operand->value, [&](const Tensor& tensor) { given.insert(tensor.storage().get()); });
  forEachTensor(result, [&](const Tensor& tensor) {
    if (tensor.numel() > 0 && given.contains(tensor.storage().get()))
      shapeFaults.push_back(op.schema.qualifiedName() + " gives memory of an argument, which the table does not say");
  });
}

}  // namespace kerf::fuzzgraph
