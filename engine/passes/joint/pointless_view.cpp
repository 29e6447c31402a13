#include "engine/passes/joint/joint_passes.h"

#include <algorithm>

#include "engine/ir/value_meta.h"
#include "engine/passes/call_arguments.h"
#include "engine/passes/forwarding.h"

namespace kerf::inline passes {

namespace {

/// What the outer of two views must be called with to be a view of the inner one's source; none: it cannot.
using Composed = std::optional<ArgumentList> (*)(const Node& inner, const Node& outer);

std::optional<ArgumentList> ofSource(const Node& inner, const Node& outer) {
  ArgumentList args = outer.args();
  args[0] = inner.args()[0];
  return args;
}

/// permute(permute(x, p), q)[i] is x's dimension p[q[i]].
std::optional<ArgumentList> permuted(const Node& inner, const Node& outer) {
  const auto p = integersNamed(inner, "dims"), q = integersNamed(outer, "dims");
  if (!p || !q || p->size() != q->size()) return std::nullopt;
  ArgumentList dims;
  for (const std::int64_t dim : *q) {
    const auto at = wrappedDim(dim, p->size());
    const auto source = at ? wrappedDim((*p)[std::size_t(*at)], p->size()) : std::nullopt;
    if (!source) return std::nullopt;
    dims.emplace_back(*source);
  }
  return ArgumentList{inner.args()[0], Argument::list(std::move(dims))};
}

struct ChainRow {
  std::string_view target;
  Composed compose;
};
constexpr ChainRow chains[] = {
    {"torch.ops.aten.view.default", ofSource},
    {"torch.ops.aten.reshape.default", ofSource},
    {"torch.ops.aten.expand.default", ofSource},
    {"torch.ops.aten.permute.default", permuted},
};

std::optional<NodeId> callBelow(const Node& node) {
  const NodeId* id = node.args().empty() ? nullptr : node.args()[0].as<NodeId>();
  return id ? std::optional(*id) : std::nullopt;
}

/// Whether the call with these arguments has the very sizes and strides that the node has; symbolic ones are left.
bool givesTheSame(const Graph& graph, const Node& node, const ArgumentList& args) {
  const TensorMeta* wanted = node.meta().value.tensor();
  const TensorMeta* source = tensorOf(graph, *args[0].as<NodeId>());
  if (!wanted || !source || !fixedSizes(*wanted) || !fixedSizes(*source)) return false;
  const auto value = valueOf({*source});
  if (!value) return false;
  ValueList list;
  for (const Argument& item : args[1].asList()->items) {
    const auto* number = item.as<std::int64_t>();
    if (!number) return false;
    list.push_back(*number);
  }
  const auto shape = inferShapes(OpTarget(node.opId(), node.target()), {*value, std::move(list)}, {});
  if (!shape || !shape->isTensor()) return false;
  const Tensor& tensor = shape->tensor();
  return tensor.sizes() == *wanted->concreteSizes() && tensor.strides() == wanted->concreteStrides();
}

/// view(view(x)) → view(x), in place: the node keeps its name and meta.
bool shorten(Graph& graph, const Node& node) {
  const auto row = std::ranges::find(chains, node.target(), &ChainRow::target);
  const auto below = callBelow(node);
  if (row == std::end(chains) || !below || node.args().size() != 2 || !node.args()[1].asList()) return false;
  const Node& inner = graph.node(*below);
  if (inner.target() != node.target() || inner.args().size() != 2 || !callBelow(inner)) return false;
  auto args = row->compose(inner, node);
  if (!args || !givesTheSame(graph, node, *args)) return false;
  mergeProvenance(graph, inner, node.id());
  graph.setArgs(node.id(), std::move(*args));
  return true;
}

/// permute that leaves every dimension where it is, or a view as it was, or unsqueeze and squeeze of one dimension.
std::optional<NodeId> unchanged(const Graph& graph, const Node& node) {
  const auto source = callBelow(node);
  if (!source) return std::nullopt;
  if (node.isCall("aten.permute.default"_op)) {
    const auto dims = integersNamed(node, "dims");
    for (std::size_t i = 0; dims && i < dims->size(); ++i)
      if (wrappedDim((*dims)[i], dims->size()) != std::int64_t(i)) return std::nullopt;
    return dims ? source : std::nullopt;
  }
  if (node.isCall("aten.view.default"_op) || node.isCall("aten.expand.default"_op)) return source;
  const Node& inner = graph.node(*source);
  if (!node.isCall("aten.squeeze.dim"_op) || !inner.isCall("aten.unsqueeze.default"_op)) return std::nullopt;
  const TensorMeta* meta = inner.meta().value.tensor();
  const auto added = integerNamed(inner, "dim"), dropped = integerNamed(node, "dim");
  if (!meta || !added || !dropped) return std::nullopt;
  const auto at = wrappedDim(*added, meta->sizes.size());
  return at && at == wrappedDim(*dropped, meta->sizes.size()) ? callBelow(inner) : std::nullopt;
}

Result<void> runPointlessView(GraphModule& module, const PassContext&) {
  Graph& graph = module.graph;
  Forwarding forwarding(graph);
  const std::vector<NodeId> order(graph.order().begin(), graph.order().end());
  bool changed = false;
  for (const NodeId id : order) {
    const Node& node = graph.node(id);
    if (node.op() != Opcode::CallFunction || forwarding.aliases().touchesMutation(node)) continue;
    changed |= shorten(graph, node);
    const Node& now = graph.node(id);
    const auto source = unchanged(graph, now);
    if (!source || !forwarding.allows(now, *source)) continue;
    forwarding.forward(graph, id, *source);
    changed = true;
  }
  if (changed) graph.eliminateDeadCode(mustStay);
  return {};
}

}  // namespace

Pass pointlessViewPass() {
  return {.name = "pointless_view",
          .stage = PassStage::Joint,
          .description = "Makes one view, or none, of a chain of views.",
          .run = runPointlessView};
}

}  // namespace kerf::inline passes
