// No-op removal: one table row per op that can be a no-op, with the test that says when it is one.
#include "engine/passes/remove_noop_ops.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "engine/passes/call_arguments.h"
#include "engine/passes/forwarding.h"

namespace kerf::inline passes {

namespace {

/// Which operand comes through unchanged, or none.
using NoOpTest = std::optional<NodeId> (*)(const Graph&, const Node&);

std::optional<NodeId> nodeArgument(const Node& node, std::size_t i) {
  if (i >= node.args().size()) return std::nullopt;
  const NodeId* id = node.args()[i].as<NodeId>();
  return id ? std::optional(*id) : std::nullopt;
}

std::optional<NodeId> firstOperand(const Graph&, const Node& node) { return nodeArgument(node, 0); }

bool onlyConvertsDtype(const Node& node) {  // no `copy=True`, which promises fresh memory
  return std::ranges::none_of(node.kwargs(), [](const auto& named) {
    const bool* flag = named.second.template as<bool>();
    return named.first == "copy" && flag && *flag;
  });
}

std::optional<NodeId> conversion(const Graph&, const Node& node) {
  return onlyConvertsDtype(node) ? nodeArgument(node, 0) : std::nullopt;
}

std::optional<NodeId> singleConcat(const Graph&, const Node& node) {
  const ListArgument* list = node.args().empty() ? nullptr : node.args()[0].asList();
  const NodeId* only = list && list->items.size() == 1 ? list->items[0].as<NodeId>() : nullptr;
  return only ? std::optional(*only) : std::nullopt;
}

/// A Python number, or a tensor that aten.full fills with one.
std::optional<double> uniformValue(const Graph& graph, const Argument& argument) {
  const NodeId* id = argument.as<NodeId>();
  if (!id) return numberOf(argument);
  const Node& node = graph.node(*id);
  if (!node.isCall("aten.full.default"_op) || node.args().size() < 2) return std::nullopt;
  return numberOf(node.args()[1]);
}

bool isFloatNode(const Node& node) {
  const TensorMeta* meta = node.meta().value.tensor();
  return meta && !isIntegral(meta->dtype);
}

bool hasAlpha(const Node& node) { return !node.kwargs().empty(); }

bool is(const Graph& graph, const Node& node, std::size_t i, double wanted) {
  if (i >= node.args().size()) return false;
  const std::optional<double> value = uniformValue(graph, node.args()[i]);
  return value && *value == wanted && std::signbit(*value) == std::signbit(wanted);
}

std::optional<NodeId> timesOne(const Graph& graph, const Node& node) {
  if (is(graph, node, 1, 1)) return nodeArgument(node, 0);
  return is(graph, node, 0, 1) ? nodeArgument(node, 1) : std::nullopt;
}

std::optional<NodeId> dividedByOne(const Graph& graph, const Node& node) {
  return is(graph, node, 1, 1) && node.kwargs().empty() ? nodeArgument(node, 0) : std::nullopt;
}

/// x + 0 turns -0.0 into 0.0, x + -0.0 does not; integers have one zero.
std::optional<NodeId> plusZero(const Graph& graph, const Node& node) {
  if (hasAlpha(node)) return std::nullopt;
  const double zero = isFloatNode(node) ? -0.0 : 0.0;
  if (is(graph, node, 1, zero)) return nodeArgument(node, 0);
  return is(graph, node, 0, zero) ? nodeArgument(node, 1) : std::nullopt;
}

std::optional<NodeId> minusZero(const Graph& graph, const Node& node) {
  return !hasAlpha(node) && is(graph, node, 1, 0.0) ? nodeArgument(node, 0) : std::nullopt;
}

/// permute and transpose: equal metas are not enough ([2, 2] transposed with strides [1, 1]), so dims must be in place.
std::optional<NodeId> identityPermute(const Graph& graph, const Node& node) {
  const auto source = nodeArgument(node, 0);
  const ListArgument* dims = node.args().size() > 1 ? node.args()[1].asList() : nullptr;
  if (!source || !dims) return std::nullopt;
  const auto rank = std::int64_t(dims->items.size());
  for (std::int64_t i = 0; i < rank; ++i) {
    const auto* dim = dims->items[std::size_t(i)].as<std::int64_t>();
    if (!dim || (*dim != i && *dim != i - rank)) return std::nullopt;
  }
  return graph.contains(*source) ? source : std::nullopt;
}

std::optional<NodeId> secondOperand(const Graph&, const Node& node) { return nodeArgument(node, 1); }

/// Paddings that cancel out keep the sizes and move the elements.
std::optional<NodeId> emptyPadding(const Graph&, const Node& node) {
  const auto padding = integersNamed(node, "pad");
  if (!padding || std::ranges::any_of(*padding, [](std::int64_t p) { return p != 0; })) return std::nullopt;
  return nodeArgument(node, 0);
}

/// ceil, floor, round, trunc.
std::optional<NodeId> wholeNumbers(const Graph&, const Node& node) {
  return isFloatNode(node) ? std::nullopt : nodeArgument(node, 0);
}

std::optional<NodeId> firstPower(const Graph& graph, const Node& node) {
  return is(graph, node, 1, 1) ? nodeArgument(node, 0) : std::nullopt;
}

struct NoOpRow {
  std::string_view target;
  NoOpTest test;
};

// With equal metas, these return their operand's elements in their own order.
constexpr NoOpRow Rows[] = {{"torch.ops.aten.alias.default", firstOperand},
                            {"torch.ops.aten.detach.default", firstOperand},
                            {"torch.ops.aten.clone.default", firstOperand},
                            {"torch.ops.aten.view.default", firstOperand},
                            {"torch.ops.aten.view.dtype", firstOperand},
                            {"torch.ops.aten.reshape.default", firstOperand},
                            {"torch.ops.aten._unsafe_view.default", firstOperand},
                            {"torch.ops.aten.expand.default", firstOperand},
                            {"torch.ops.aten.repeat.default", firstOperand},
                            {"torch.ops.aten.squeeze.dim", firstOperand},
                            {"torch.ops.aten.squeeze.dims", firstOperand},
                            {"torch.ops.aten.contiguous.default", firstOperand},
                            {"torch.ops.aten.permute.default", identityPermute},
                            {"torch.ops.aten.cat.default", singleConcat},
                            {"torch.ops.aten.constant_pad_nd.default", emptyPadding},
                            {"torch.ops.aten._to_copy.default", conversion},
                            {"torch.ops.prims.convert_element_type.default", conversion},
                            {"torch.ops.prims.device_put.default", firstOperand},
                            {"torch.ops.aten.copy.default", secondOperand},
                            {"torch.ops.aten.ceil.default", wholeNumbers},
                            {"torch.ops.aten.floor.default", wholeNumbers},
                            {"torch.ops.aten.round.default", wholeNumbers},
                            {"torch.ops.aten.trunc.default", wholeNumbers},
                            {"torch.ops.aten.pow.Tensor_Scalar", firstPower},
                            {"torch.ops.aten.mul.Tensor", timesOne},
                            {"torch.ops.aten.mul.Scalar", timesOne},
                            {"torch.ops.aten.div.Tensor", dividedByOne},
                            {"torch.ops.aten.add.Tensor", plusZero},
                            {"torch.ops.aten.sub.Tensor", minusZero},
                            {"torch.ops.aten.slice.Tensor", firstOperand},
                            {"torch.ops.aten.slice_scatter.default", secondOperand}};

std::optional<NodeId> unchangedOperand(const Graph& graph, const Node& node) {
  const auto row = std::ranges::find(Rows, std::string_view(node.target()), &NoOpRow::target);
  if (node.op() != Opcode::CallFunction || row == std::end(Rows)) return std::nullopt;
  const std::optional<NodeId> source = row->test(graph, node);
  return source && sameTensorMeta(graph.node(*source), node) ? source : std::nullopt;
}

Result<void> runRemoveNoopOps(GraphModule& module, const PassContext&) {
  Graph& graph = module.graph;
  Forwarding forwarding(graph);
  std::vector<NodeId> removed;
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    const std::optional<NodeId> source = unchangedOperand(graph, node);
    if (!source || !forwarding.allows(node, *source)) continue;
    forwarding.forward(graph, id, *source);
    removed.push_back(id);
  }
  for (NodeId id : removed) KERF_CHECK(graph.eraseNode(id));
  return {};
}

Pass named(const char* name, PassStage stage, const char* description) {
  return {.name = name, .stage = stage, .description = description, .run = runRemoveNoopOps};
}

}  // namespace

Pass removeNoopOpsPass() {
  return named("remove_noop_ops", PassStage::PostGrad, "Skips calls that return their input unchanged.");
}

Pass jointRemoveNoopOpsPass() {
  return named("joint_remove_noop_ops", PassStage::Joint,
               "Skips calls that return their input unchanged, before other passes look at the graph.");
}

}  // namespace kerf::inline passes
