#include "engine/audit/meaning/split_fma.h"

#include <vector>

namespace kerf::inline audit {
namespace {

bool hasSizesOf(const Graph& graph, const Argument& argument, const Node& node) {
  const auto* const id = argument.as<NodeId>();
  const TensorMeta* const given = id == nullptr ? nullptr : graph.node(*id).meta().value.tensor();
  const TensorMeta* const wanted = node.meta().value.tensor();
  return given != nullptr && wanted != nullptr && given->concreteSizes() == wanted->concreteSizes();
}

NodeId fmaPart(Graph& graph, const Node& fma, std::string_view target, ArgumentList args, ValueMeta meta) {
  const NodeId id = graph.callFunction(target, std::move(args), {}, fma.name() + "_part");
  graph.setValueMeta(id, std::move(meta));
  return id;
}

/// fma(a, b, c) → a * b + c
void splitFma(Graph& graph, NodeId id) {
  const Node node = graph.node(id);
  graph.insertBefore(id);
  const bool isWhole = hasSizesOf(graph, node.args()[0], node) || hasSizesOf(graph, node.args()[1], node);
  const NodeId product = fmaPart(graph, node, "torch.ops.aten.mul.Tensor", {node.args()[0], node.args()[1]},
                                 isWhole ? node.meta().value : ValueMeta());
  const NodeId sum = fmaPart(graph, node, "torch.ops.aten.add.Tensor", {product, node.args()[2]}, node.meta().value);
  graph.replaceAllUsesWith(id, sum);
  (void)graph.eraseNode(id);
}

}  // namespace

GraphModule withSplitFma(GraphModule graph) {
  const auto order = graph.graph.order();
  for (const NodeId id : std::vector<NodeId>(order.begin(), order.end())) {
    const Node& node = graph.graph.node(id);
    if (node.target() == "torch.ops.prims.fma.default" && node.args().size() == 3 && node.kwargs().empty())
      splitFma(graph.graph, id);
  }
  graph.graph.insertAtEnd();
  return graph;
}

}  // namespace kerf::inline audit
