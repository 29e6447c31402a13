#include "engine/ops/higher_order/higher_order.h"

#include <algorithm>

#include "engine/ops/core/symbolic_checks.h"

namespace kerf::inline ops {
namespace {

constexpr std::string_view prefix = "torch.ops.higher_order.";

/// Ops whose bodies are code that Kerf has no way to run.
struct OpaqueOp {
  std::string_view name;
  std::string_view reason;
};
constexpr OpaqueOp opaqueOps[] = {
    {"triton_kernel_wrapper_mutation", "a user's Triton kernel needs a GPU and Triton"},
    {"triton_kernel_wrapper_functional", "a user's Triton kernel needs a GPU and Triton"},
    {"call_torchbind", "a TorchBind object is compiled C++ code outside the graph"},
    {"executorch_call_delegate", "a delegate is compiled code outside the graph"},
    {"aoti_call_delegate", "a delegate is compiled code outside the graph"},
    {"cutedsl_grouped_mm", "a CuTe kernel needs a GPU"},
};

std::string_view bareName(std::string_view target) {
  if (target.starts_with(prefix)) target.remove_prefix(prefix.size());
  return target;
}

}  // namespace

const Value* HigherOrderCall::find(std::size_t i, std::string_view key) const {
  if (i < args.size()) return &args[i];
  for (const auto& [name, value] : kwargs)
    if (!key.empty() && name == key) return &value;
  return nullptr;
}

Result<std::string> HigherOrderCall::graph(std::size_t i) const {
  const std::string* path = i < args.size() ? args[i].as<std::string>() : nullptr;
  if (path != nullptr) return *path;
  return fail(ErrorCode::ShapeMismatch, "{}: argument {} must be a nested graph", name, i);
}

ValueList HigherOrderCall::list(std::size_t i, std::string_view key) const {
  const Value* value = find(i, key);
  if (value == nullptr || value->isNone()) return {};
  return partsOf(*value);
}

Result<Value> HigherOrderCall::aten(std::string_view op, const ValueList& operands,
                                    const KeywordValues& keywords) const {
  return ops.call(fmt::format("torch.ops.aten.{}", op), operands, keywords);
}

Result<Tensor> HigherOrderCall::atenTensor(std::string_view op, const ValueList& operands,
                                           const KeywordValues& keywords) const {
  KERF_TRY(const Value value, aten(op, operands, keywords));
  if (value.isTensor()) return value.tensor();
  return fail(ErrorCode::Internal, "aten.{} gave no tensor", op);
}

ValueList partsOf(const Value& value) { return value.isList() ? value.list() : ValueList{value}; }

const HigherOrderRow* findHigherOrder(std::string_view target) {
  const std::string_view name = bareName(target);
  for (const HigherOrderRows rows : {loopRows(), wrapperRows(), functionalRows(), randomStateRows(), flexRows()}) {
    const auto found = std::ranges::find(rows, name, &HigherOrderRow::name);
    if (found != rows.end()) return &*found;
  }
  return nullptr;
}

Result<Value> callHigherOrderOp(std::string_view target, const ValueList& args, const KeywordValues& kwargs,
                                const SubgraphCaller& subgraphs, const OpCaller& ops, bool shapesOnly) {
  const std::string_view name = bareName(target);
  if (const HigherOrderRow* row = findHigherOrder(name))
    return withoutThrowing([&] { return row->run({name, args, kwargs, subgraphs, ops, shapesOnly}); });
  const auto opaque = std::ranges::find(opaqueOps, name, &OpaqueOp::name);
  if (opaque != std::end(opaqueOps))
    return fail(ErrorCode::UnsupportedOp, "{} cannot run here: {}", name, opaque->reason);
  return fail(ErrorCode::UnsupportedOp, "no higher-order op '{}'", name);
}

}  // namespace kerf::inline ops
