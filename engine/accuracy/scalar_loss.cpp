#include "engine/accuracy/scalar_loss.h"

#include <algorithm>
#include <set>

namespace kerf::inline accuracy {
namespace {

bool isFloatTensor(const Value& value) {
  return value.isTensor() && value.tensor().defined() && isFloating(value.tensor().dtype());
}

bool stopsGradients(const Node& node) {
  return node.target() == "detach" || node.target() == "detach_" || node.target().starts_with("torch.ops.aten.detach");
}

/// (a dict's pairs are its keys and values)
const Value& valueOfItem(const Value& item) {
  const bool isPair = item.isList() && item.list().size() == 2 && item.list()[0].as<std::string>() != nullptr;
  return isPair ? item.list()[1] : item;
}

Result<Value> meanOf(const ValueList& parts, const OpCaller& ops) {
  if (parts.empty()) return fail(ErrorCode::BadInput, "there is no output to take a loss of");
  Value sum = parts[0];
  for (std::size_t i = 1; i < parts.size(); ++i) {
    KERF_TRY(sum, ops.call("torch.ops.aten.add.Tensor", {sum, parts[i]}, {}));
  }
  return ops.call("torch.ops.aten.div.Tensor", {sum, Value(double(parts.size()))}, {});
}

}  // namespace

bool requiresBackwardPass(const GraphModule& module, const ValueList& inputs) {
  std::set<NodeId> tracked;
  std::size_t next = 0;
  for (const NodeId id : module.graph.order()) {
    const Node& node = module.graph.node(id);
    const auto fed = [&] {
      return std::ranges::any_of(node.inputs(), [&](NodeId input) { return tracked.contains(input); });
    };
    bool tracks = false;
    if (node.op() == Opcode::Placeholder) {
      const Value* value = next < inputs.size() ? &inputs[next] : nullptr;
      tracks = value != nullptr && isFloatTensor(*value) && value->tensor().requiresGrad;
      ++next;
    } else if (node.op() == Opcode::GetAttr) {
      const TensorAttribute* attribute = module.attribute(node.target());
      tracks = attribute != nullptr && attribute->isParameter && isFloatTensor(Value(attribute->tensor));
    } else if (node.op() == Opcode::Output) {
      return fed();
    } else {
      const TensorMeta* meta = node.meta().value.tensor();
      tracks = fed() && !stopsGradients(node) && (meta == nullptr || isFloating(meta->dtype));
    }
    if (tracks) tracked.insert(id);
  }
  return false;
}

Result<Value> reduceToScalarLoss(const Value& output, const OpCaller& ops) {
  if (output.isList()) return scalarLoss(output, {}, ops);
  if (!output.isTensor())
    return fail(ErrorCode::BadInput, "a loss is taken of tensors only, and one of the outputs is none");
  KERF_TRY(const Value sum, ops.call("torch.ops.aten.sum.default", {output}, {}));
  return ops.call("torch.ops.aten.div.Tensor", {sum, Value(double(output.tensor().numel()))}, {});
}

Result<Value> scalarLoss(const Value& outputs, const std::map<std::size_t, Value>& parts, const OpCaller& ops) {
  if (!outputs.isList()) return reduceToScalarLoss(outputs, ops);
  ValueList losses;
  for (std::size_t i = 0; i < outputs.list().size(); ++i) {
    const auto known = parts.find(i);
    if (known != parts.end()) {
      losses.push_back(known->second);
      continue;
    }
    KERF_TRY(Value loss, reduceToScalarLoss(valueOfItem(outputs.list()[i]), ops));
    losses.push_back(std::move(loss));
  }
  return meanOf(losses, ops);
}

}  // namespace kerf::inline accuracy
