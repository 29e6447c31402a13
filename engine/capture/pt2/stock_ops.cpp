#include "engine/capture/pt2/stock_ops.h"

#include <algorithm>
#include <array>

#include "engine/capture/pt2/pool_offsets.h"

namespace kerf::inline capture::pt2 {
namespace {

constexpr std::size_t poolArguments = 6;  // self, kernel_size, stride, padding, dilation, ceil_mode

/// fma(a, b, c) → a * b + c. The sum keeps the node's name.
void splitProduct(Graph& graph, NodeId id) {
  const Node node = graph.node(id);
  if (node.args().size() != 3 || !node.kwargs().empty()) return;
  NodeId product;
  {
    const InsertionScope scope(graph, InsertionScope::Where::Before, id);
    product =
        graph.callFunction("torch.ops.aten.mul.Tensor", {node.args()[0], node.args()[1]}, {}, node.name() + "_product");
  }
  graph.setMeta(product, node.meta());
  graph.setTarget(id, "torch.ops.aten.add.Tensor");
  graph.setArgs(id, {Argument(product), node.args()[2]});
}

bool usesOffsets(const Graph& graph, const Node& node) {
  return std::ranges::any_of(node.users(), [&](NodeId id) {
    const Node& user = graph.node(id);
    const auto* index = user.args().size() == 2 ? user.args()[1].as<std::int64_t>() : nullptr;
    return !user.isCall("operator.getitem"_op) || index == nullptr || (*index != 0 && !user.users().empty());
  });
}

void poolWithIndices(Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  if (node.args().size() != poolArguments || !node.kwargs().empty()) return;
  if (usesOffsets(graph, node)) return poolOffsetsFromIndices(graph, id);
  const ListArgument* kernel = node.args()[1].asList();
  if (kernel == nullptr || (kernel->items.size() != 2 && kernel->items.size() != 3)) return;
  if (const auto* results = node.meta().value.list(); results != nullptr && results->size() == 2) {
    std::vector<ValueMeta> metas = *results;
    if (const TensorMeta* offsets = metas[1].tensor()) {
      TensorMeta indices = *offsets;
      indices.dtype = DType::Int64;
      metas[1] = {std::move(indices)};
    }
    graph.setValueMeta(id, {std::move(metas)});
  }
  graph.setTarget(id, kernel->items.size() == 2 ? "torch.ops.aten.max_pool2d_with_indices.default"
                                                : "torch.ops.aten.max_pool3d_with_indices.default");
}

struct Rewrite {
  OpId op;
  void (*apply)(Graph&, NodeId);
  std::string_view told;
};
const auto rewrites = std::to_array<Rewrite>(
    {{"prims.fma.default"_op, splitProduct, "prims.fma as aten.mul and aten.add, which round twice"},
     {"prims._low_memory_max_pool_with_offsets.default"_op, poolWithIndices,
      "prims._low_memory_max_pool_with_offsets as pooling with indices"},
     {"prims._low_memory_max_pool_offsets_to_indices.default"_op, poolIndicesFromOffsets,
      "prims._low_memory_max_pool_offsets_to_indices as the indices themselves"}});

}  // namespace

std::vector<std::string> useStockOps(Graph& graph) {
  std::array<int, rewrites.size()> counts = {};
  const std::vector<NodeId> order(graph.order().begin(), graph.order().end());
  for (const NodeId id : order)
    for (std::size_t i = 0; i < rewrites.size(); ++i) {
      if (!graph.contains(id) || !graph.node(id).isCall(rewrites[i].op)) continue;
      rewrites[i].apply(graph, id);
      counts[i] += graph.contains(id) && graph.node(id).isCall(rewrites[i].op) ? 0 : 1;
    }
  std::vector<std::string> notes;
  for (std::size_t i = 0; i < rewrites.size(); ++i)
    if (counts[i] > 0)
      notes.push_back(
          fmt::format("{} {} written: {}", counts[i], counts[i] == 1 ? "op is" : "ops are", rewrites[i].told));
  return notes;
}

}  // namespace kerf::inline capture::pt2
