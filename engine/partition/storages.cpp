#include "engine/partition/storages.h"

#include <algorithm>

#include "engine/ops/core/op_registry.h"

namespace kerf::inline partition {

namespace {

const NodeId* firstNode(const Node& node) {
  if (!node.args().empty()) return node.args()[0].as<NodeId>();
  return node.kwargs().empty() ? nullptr : node.kwargs()[0].second.as<NodeId>();
}

/// A reshape that had to copy is a new tensor: its strides tell.
bool sharesWithFirst(const Node& node) {
  if (node.isCall("torch.ops.aten._unsafe_view.default"_op)) return true;
  const OpInfo* op = findOp(node);
  return op != nullptr && has(op->traits, OpTrait::View | OpTrait::Inplace);
}

bool isTuple(const Node& node) { return node.meta().value.list() != nullptr || node.meta().value.sym() != nullptr; }

}  // namespace

std::vector<int> storagesOf(const Graph& graph) {
  std::uint32_t last = 0;
  for (const NodeId id : graph.order()) last = std::max(last, id.index);
  std::vector<int> storages(last + 1, noStorage), bases(last + 1, noStorage);
  int next = 0;
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    const NodeId* first = firstNode(node);
    int storage = noStorage;
    if (first != nullptr && node.isCall("operator.getitem"_op))
      storage = bases[first->index];
    else if (first != nullptr && sharesWithFirst(node))
      storage = storages[first->index];
    if (isTuple(node)) {
      bases[id.index] = storage;
      continue;
    }
    storages[id.index] = storage == noStorage ? next++ : storage;
  }
  return storages;
}

}  // namespace kerf::inline partition
