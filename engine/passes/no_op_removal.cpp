// No-op removal: one table row per op that can be a no-op, with the test that says when it is one.
#include "engine/passes/no_op_removal.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "engine/passes/node_facts.h"

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

std::optional<double> numberOf(const Argument& argument) {
  if (const auto* integer = argument.as<std::int64_t>()) return double(*integer);
  if (const auto* real = argument.as<double>()) return *real;
  return std::nullopt;
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

struct NoOpRow {
  std::string_view target;
  NoOpTest test;
};

// With equal metas, these return their operand's elements in their own order.
constexpr std::array<NoOpRow, 20> Rows{{{"torch.ops.aten.alias.default", firstOperand},
                                        {"torch.ops.aten.detach.default", firstOperand},
                                        {"torch.ops.aten.clone.default", firstOperand},
                                        {"torch.ops.aten.view.default", firstOperand},
                                        {"torch.ops.aten.reshape.default", firstOperand},
                                        {"torch.ops.aten._unsafe_view.default", firstOperand},
                                        {"torch.ops.aten.expand.default", firstOperand},
                                        {"torch.ops.aten.squeeze.dim", firstOperand},
                                        {"torch.ops.aten.squeeze.dims", firstOperand},
                                        {"torch.ops.aten.contiguous.default", firstOperand},
                                        {"torch.ops.aten.permute.default", identityPermute},
                                        {"torch.ops.aten.cat.default", singleConcat},
                                        {"torch.ops.aten._to_copy.default", conversion},
                                        {"torch.ops.prims.convert_element_type.default", conversion},
                                        {"torch.ops.aten.mul.Tensor", timesOne},
                                        {"torch.ops.aten.mul.Scalar", timesOne},
                                        {"torch.ops.aten.div.Tensor", dividedByOne},
                                        {"torch.ops.aten.add.Tensor", plusZero},
                                        {"torch.ops.aten.sub.Tensor", minusZero},
                                        {"torch.ops.aten.slice.Tensor", firstOperand}}};

bool sameMeta(const Node& a, const Node& b) {
  const TensorMeta* x = a.meta().value.tensor();
  const TensorMeta* y = b.meta().value.tensor();
  return x && y && x->dtype == y->dtype && x->sizes == y->sizes && x->strides == y->strides && x->device == y->device;
}

std::optional<NodeId> unchangedOperand(const Graph& graph, const Node& node) {
  const auto row = std::ranges::find(Rows, std::string_view(node.target()), &NoOpRow::target);
  if (node.op() != Opcode::CallFunction || row == Rows.end()) return std::nullopt;
  const std::optional<NodeId> source = row->test(graph, node);
  return source && sameMeta(graph.node(*source), node) ? source : std::nullopt;
}

/// Whether memory that `id` looks at comes from outside of the graph.
bool isGiven(const Graph& graph, const AliasGroups& aliases, NodeId id) {
  return std::ranges::any_of(graph.order(), [&](NodeId other) {
    const Opcode op = graph.node(other).op();
    return (op == Opcode::Placeholder || op == Opcode::GetAttr) && aliases.together(other, id);
  });
}

/// An output must not become an input, an attribute, or the same tensor as another output; nor a view of them, where it
/// has memory of its own (torch._inductor's remove_noop_ops).
bool wouldAliasOutput(const Graph& graph, const AliasGroups& aliases, const Node& node, NodeId source) {
  if (isReturned(graph, node.id()) && (graph.node(source).op() != Opcode::CallFunction || isReturned(graph, source)))
    return true;
  if (mayGiveView(node) || !aliases.returned(node.id())) return false;
  return aliases.returned(source) || isGiven(graph, aliases, source);
}

/// Ops that look at memory by its own offset and extent, not by what their operand says of it: `source` with the same
/// sizes and strides may begin elsewhere in its storage.
constexpr std::string_view storageReaders[] = {
    "aten::as_strided",         "aten::as_strided_",     "aten::as_strided_copy",
    "aten::as_strided_scatter", "aten::view_as_complex", "aten::view_as_complex_copy",
};

bool readsStorage(const Node& node) {
  const OpInfo* op = opOf(node);
  if (op == nullptr) return false;
  if (op->schema.qualifiedName() == "aten.view.dtype") return true;
  return std::ranges::find(storageReaders, std::string_view(op->schema.name)) != std::end(storageReaders);
}

std::vector<NodeId> nodesThatReadStorage(const Graph& graph) {
  std::vector<NodeId> result;
  for (const NodeId id : graph.order())
    if (readsStorage(graph.node(id))) result.push_back(id);
  return result;
}

/// Fresh memory begins at its offset 0 and ends with its last element.
bool lendsItsStorage(const Graph& graph, const AliasGroups& aliases, const std::vector<NodeId>& readers,
                     const Node& node) {
  if (mayGiveView(node)) return false;
  return std::ranges::any_of(readers, [&](NodeId reader) {
    const auto& inputs = graph.node(reader).inputs();
    return std::ranges::any_of(inputs, [&](NodeId input) { return aliases.together(input, node.id()); });
  });
}

Result<void> run(GraphModule& module, const PassContext&) {
  Graph& graph = module.graph;
  AliasGroups aliases(graph);
  const std::vector<NodeId> readers = nodesThatReadStorage(graph);
  std::vector<NodeId> removed;
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    const std::optional<NodeId> source = unchangedOperand(graph, node);
    if (!source || wouldAliasOutput(graph, aliases, node, *source) || aliases.touchesMutation(node)) continue;
    if (lendsItsStorage(graph, aliases, readers, node)) continue;
    graph.replaceAllUsesWith(id, *source);
    removed.push_back(id);
    aliases.unite(id, *source);
  }
  for (NodeId id : removed) KERF_CHECK(graph.eraseNode(id));
  return {};
}

}  // namespace

Pass noOpRemovalPass() {
  return {.name = "no_op_removal",
          .stage = PassStage::PostGrad,
          .description = "Skips calls that return their input unchanged.",
          .run = run};
}

}  // namespace kerf::inline passes
