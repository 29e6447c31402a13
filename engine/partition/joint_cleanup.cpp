#include "engine/partition/joint_cleanup.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "engine/ir/argument_hash.h"
#include "engine/ops/core/op_registry.h"
#include "engine/ops/core/purity.h"
#include "engine/partition/op_classes.h"
#include "engine/partition/storages.h"

namespace kerf::inline partition {

namespace {

/// torch/_functorch/compile_utils.py: draws that are no rows with the trait Random, and memory that holds no value yet.
constexpr std::string_view neverMerged[] = {"aten.empty", "aten.dropout", "aten.rrelu"};

Hash128 callHash(const Node& node) {
  HashBuffer buffer;
  buffer.text(node.target());
  buffer.arguments(node.args());
  buffer.number(node.kwargs().size());
  for (const auto& [name, argument] : node.kwargs()) {
    buffer.text(name);
    buffer.argument(argument);
  }
  return buffer.hash();
}

bool isMergeable(const Node& node) {
  if (node.op() != Opcode::CallFunction || hasEffects(node)) return false;
  if (has(opClassOf(node), OpClass::Random)) return false;
  return std::ranges::find(neverMerged, packetName(node)) == std::end(neverMerged);
}

std::unordered_set<int> returnedStorages(const Graph& graph, const std::vector<int>& storages) {
  std::unordered_set<int> returned;
  for (const NodeId id : graph.node(graph.outputNode()).inputs())
    if (storages[id.index] != noStorage) returned.insert(storages[id.index]);
  return returned;
}

}  // namespace

bool hasEffects(const Node& node) {
  if (node.op() == Opcode::Placeholder || node.op() == Opcode::Output) return true;
  const OpInfo* op = findOp(node);
  if (op != nullptr) return has(op->traits, OpTrait::Inplace | OpTrait::Impure);
  return purityOf(node) == Purity::Impure;
}

bool writesMemory(const Node& node) {
  const OpInfo* op = findOp(node);
  return op != nullptr && has(op->traits, OpTrait::Inplace);
}

void mergeEqualCalls(Graph& graph) {
  const std::vector<int> storages = storagesOf(graph);
  const std::unordered_set<int> returned = returnedStorages(graph, storages);
  std::unordered_map<Hash128, NodeId> first;
  std::vector<NodeId> merged;
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (!isMergeable(node) || returned.contains(storages[id.index])) continue;
    const auto [entry, isNew] = first.try_emplace(callHash(node), id);
    if (isNew) continue;
    graph.replaceAllUsesWith(id, entry->second);
    merged.push_back(id);
  }
  for (const NodeId id : merged) (void)graph.eraseNode(id);  // nobody uses them any more
}

void cleanJointGraph(Graph& graph) {
  graph.eliminateDeadCode(hasEffects);
  mergeEqualCalls(graph);
}

}  // namespace kerf::inline partition
