#include "engine/passes/joint/joint_passes.h"

#include <algorithm>
#include <unordered_map>

#include "engine/ir/interpreter.h"
#include "engine/passes/call_arguments.h"
#include "engine/passes/node_facts.h"

namespace kerf::inline passes {

namespace {

/// Which argument of a creation fills it; none: the number itself.
struct Creation {
  std::string_view target, argument;
  double number = 0;
};
constexpr Creation creations[] = {
    {"torch.ops.aten.full.default", "fill_value"}, {"torch.ops.aten.full_like.default", "fill_value"},
    {"torch.ops.aten.zeros.default", "", 0},       {"torch.ops.aten.zeros_like.default", "", 0},
    {"torch.ops.aten.ones.default", "", 1},        {"torch.ops.aten.ones_like.default", "", 1},
    {"torch.ops.aten.scalar_tensor.default", "s"},
};

/// Ops that move elements around, or repeat them, and make no others.
constexpr std::string_view movers[] = {
    "torch.ops.aten.view.default",       "torch.ops.aten.reshape.default",   "torch.ops.aten._unsafe_view.default",
    "torch.ops.aten.expand.default",     "torch.ops.aten.permute.default",   "torch.ops.aten.t.default",
    "torch.ops.aten.transpose.int",      "torch.ops.aten.unsqueeze.default", "torch.ops.aten.squeeze.default",
    "torch.ops.aten.squeeze.dim",        "torch.ops.aten.squeeze.dims",      "torch.ops.aten.slice.Tensor",
    "torch.ops.aten.select.int",         "torch.ops.aten.alias.default",     "torch.ops.aten.clone.default",
    "torch.ops.aten.contiguous.default", "torch.ops.aten.repeat.default",    "torch.ops.prims.device_put.default",
};

bool canBeWritten(DType dtype) {
  return !isComplex(dtype) && (isFloating(dtype) || dtype == DType::Bool || dtype == DType::Int8 ||
                               dtype == DType::Int16 || dtype == DType::Int32 || dtype == DType::Int64);
}

Argument fillValue(const Tensor& one) {
  if (one.dtype() == DType::Bool) return one.itemAsInt() != 0;
  if (isIntegral(one.dtype())) return one.itemAsInt();
  return one.itemAsDouble();
}

/// One element of each tensor that is uniform, in its dtype; of no dimensions where the tensor has none, because that
/// decides about promotion.
class UniformValues {
 public:
  explicit UniformValues(const Graph& graph) {
    for (const NodeId id : graph.order())
      if (auto one = valueOf(graph.node(id))) m_ones.emplace(id, std::move(*one));
  }
  const Tensor* find(NodeId id) const {
    const auto found = m_ones.find(id);
    return found == m_ones.end() ? nullptr : &found->second;
  }

 private:
  std::optional<Tensor> valueOf(const Node& node) const {
    const TensorMeta* meta = node.meta().value.tensor();
    if (node.op() != Opcode::CallFunction || !meta || !isPureCall(node)) return std::nullopt;
    if (const auto creation = std::ranges::find(creations, node.target(), &Creation::target);
        creation != std::end(creations))
      return created(node, *creation, *meta);
    if (std::ranges::find(movers, node.target()) != std::end(movers)) return moved(node, *meta);
    return computed(node, *meta);
  }

  static std::optional<Tensor> filled(const Argument& number, const TensorMeta& meta) {
    const auto value = argumentToValue(number, [](NodeId) -> const Value& { std::abort(); });
    if (!value) return std::nullopt;
    const Value sizes = meta.sizes.empty() ? Value(ValueList()) : Value(ValueList(1, Value(std::int64_t{1})));
    const auto one = referenceOps().call("aten.full.default"_op, {sizes, *value}, {{"dtype", meta.dtype}});
    return one && one->isTensor() ? std::optional(one->tensor()) : std::nullopt;
  }

  static std::optional<Tensor> created(const Node& node, const Creation& creation, const TensorMeta& meta) {
    if (creation.argument.empty()) return filled(creation.number, meta);
    const Argument* number = argumentNamed(node, creation.argument);
    return number && numberOf(*number) ? filled(*number, meta) : std::nullopt;
  }

  std::optional<Tensor> moved(const Node& node, const TensorMeta& meta) const {
    const NodeId* source = node.args().empty() ? nullptr : node.args()[0].as<NodeId>();
    const Tensor* one = source ? find(*source) : nullptr;
    return one && one->dtype() == meta.dtype ? filled(fillValue(*one), meta) : std::nullopt;
  }

  /// Integers times 0.
  static std::optional<Tensor> nothing(const Node& node, const TensorMeta& meta) {
    if (!node.isCall("aten.mul.Tensor"_op) && !node.isCall("aten.mul.Scalar"_op)) return std::nullopt;
    const auto isZero = [](const Argument& argument) {
      const auto* number = argument.as<std::int64_t>();
      return number && *number == 0;
    };
    if (!isIntegral(meta.dtype) || std::ranges::none_of(node.args(), isZero)) return std::nullopt;
    return filled(std::int64_t{0}, meta);
  }

  std::optional<Tensor> computed(const Node& node, const TensorMeta& meta) const {
    const OpInfo* op = opOf(node);
    if (!has(op->traits, OpTrait::Pointwise)) return std::nullopt;
    if (auto zero = nothing(node, meta)) return zero;
    const std::vector<NodeId> inputs = node.inputs();
    if (inputs.empty() || !std::ranges::all_of(inputs, [&](NodeId id) { return find(id) != nullptr; }))
      return std::nullopt;
    std::unordered_map<NodeId, Value> values;
    for (const NodeId id : inputs) values.emplace(id, *find(id));
    const auto lookup = [&](NodeId id) -> const Value& { return values.at(id); };
    ValueList args;
    KeywordValues kwargs;
    for (const Argument& argument : node.args()) {
      auto value = argumentToValue(argument, lookup);
      if (!value) return std::nullopt;
      args.push_back(std::move(*value));
    }
    for (const auto& [name, argument] : node.kwargs()) {
      auto value = argumentToValue(argument, lookup);
      if (!value) return std::nullopt;
      if (name != "memory_format" && name != "device" && name != "pin_memory") kwargs.emplace_back(name, *value);
    }
    const auto result = referenceOps().call(OpTarget(node.opId(), node.target()), args, kwargs);
    if (!result || !result->isTensor() || result->tensor().dtype() != meta.dtype) return std::nullopt;
    return result->tensor().numel() == 1 ? std::optional(result->tensor()) : std::nullopt;
  }

  std::unordered_map<NodeId, Tensor> m_ones;
};

bool mayBecomeFull(const Graph& graph, const AliasGroups& aliases, const Node& node) {
  const TensorMeta& meta = *node.meta().value.tensor();
  if (node.isCall("aten.full.default"_op) || !canBeWritten(meta.dtype) || !isFixedRowMajor(meta)) return false;
  if (aliases.touchesMutation(node)) return false;
  if (mayGiveView(node) && aliases.returned(node.id())) return false;
  return !node.users().empty() && graph.contains(node.id());
}

/// Whether somebody other than a uniform call reads it.
bool isFrontier(const UniformValues& values, const Node& node) {
  return std::ranges::any_of(node.users(), [&](NodeId user) { return values.find(user) == nullptr; });
}

void makeFull(Graph& graph, NodeId id, const Tensor& one) {
  const TensorMeta meta = *graph.node(id).meta().value.tensor();
  const auto known = meta.concreteSizes();
  ArgumentList sizes(known->begin(), known->end());
  KeywordArguments kwargs{
      {"dtype", meta.dtype}, {"layout", Layout::Strided}, {"device", meta.device}, {"pin_memory", false}};
  NodeId full;
  {
    const InsertionScope scope(graph, InsertionScope::Where::Before, id);
    full = graph.callFunction("torch.ops.aten.full.default", {Argument::list(std::move(sizes)), fillValue(one)},
                              std::move(kwargs), "full_default");
  }
  NodeMeta own = graph.node(id).meta();
  own.fromNodes = provenance(graph.node(id));
  graph.setMeta(full, std::move(own));
  graph.replaceAllUsesWith(id, full);
}

Result<void> runConstantFoldUniformValue(GraphModule& module, const PassContext&) {
  Graph& graph = module.graph;
  const UniformValues values(graph);
  std::vector<NodeId> found;
  {
    const AliasGroups aliases(graph);
    for (const NodeId id : graph.order())
      if (values.find(id) && mayBecomeFull(graph, aliases, graph.node(id)) && isFrontier(values, graph.node(id)))
        found.push_back(id);
  }
  for (const NodeId id : found) makeFull(graph, id, *values.find(id));
  if (!found.empty()) graph.eliminateDeadCode(mustStay);
  return {};
}

}  // namespace

Pass constantFoldUniformValuePass() {
  return {.name = "constant_fold_uniform_value",
          .stage = PassStage::Joint,
          .description = "Makes tensors of one known number by aten.full.",
          .run = runConstantFoldUniformValue};
}

}  // namespace kerf::inline passes
