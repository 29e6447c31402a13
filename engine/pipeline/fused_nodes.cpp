#include "engine/pipeline/fused_nodes.h"

#include <algorithm>
#include <unordered_map>

#include "engine/capture/common/fusion_pattern.h"
#include "engine/capture/common/wrapper_code.h"
#include "engine/ops/core/op_registry.h"

namespace kerf::inline pipeline {
namespace {

bool isUnnamedBuffer(const Graph& graph, const std::string& name) {
  return name.starts_with("buf") && !graph.find(name);
}

class FusedGraphBuilder {
 public:
  FusedGraphBuilder(const Graph& graph, std::span<const RecordedFusionGroup> groups)
      : m_graph(graph), m_groups(groups), m_search(graph), m_nodesOf(groups.size()) {
    for (std::size_t g = 0; g < groups.size(); ++g) findNodes(g);
    for (auto id = graph.order().rbegin(); id != graph.order().rend(); ++id) absorb(*id);
  }

  FusedGraph run() {
    for (std::size_t g = 0; g < m_groups.size(); ++g)
      if (isGeneratedKernel(m_groups[g].kernel) && !m_nodesOf[g].empty()) add(g, m_nodesOf[g]);
    return std::move(m_result);
  }

 private:
  void findNodes(std::size_t g) {
    const bool generated = isGeneratedKernel(m_groups[g].kernel);
    for (const std::string& name : m_groups[g].postGradNodes) {
      const auto id = m_graph.find(name);
      if (!id) ++m_result.missing;
      if (!id || m_graph.node(*id).op() != Opcode::CallFunction) continue;
      std::vector<std::size_t>& of = m_groupsOf[*id];
      if (!generated) {
        m_externs.insert(*id);
        if (of.empty()) m_groupsOf.erase(*id);
      } else if (of.empty() || of.back() != g) {
        of.push_back(g);
        m_nodesOf[g].push_back(*id);
      }
    }
  }

  /// Views, and what passes between this graph and the recorded one have removed (conversions there and back), are in
  /// no record: they belong to all kernels that use them, if nobody else does.
  void absorb(NodeId id) {
    const Node& node = m_graph.node(id);
    const OpInfo* op = findOp(node);
    if (op == nullptr || node.op() != Opcode::CallFunction || node.users().empty()) return;
    if (m_groupsOf.contains(id) || m_externs.contains(id)) return;
    if (!has(op->traits, OpTrait::View | OpTrait::Pointwise) || has(op->traits, OpTrait::Inplace)) return;
    std::vector<std::size_t> groups;
    for (const NodeId user : node.users()) {
      const auto of = m_groupsOf.find(user);
      if (of == m_groupsOf.end()) return;
      groups.insert(groups.end(), of->second.begin(), of->second.end());
    }
    std::ranges::sort(groups);
    groups.erase(std::ranges::unique(groups).begin(), groups.end());
    for (const std::size_t g : groups) m_nodesOf[g].push_back(id);
    m_groupsOf[id] = std::move(groups);
  }

  void add(std::size_t g, std::vector<NodeId> nodes) {
    const RecordedFusionGroup& group = m_groups[g];
    joinHalves(group, nodes);
    const std::vector<NodeId> named = found(group.stores);
    KernelMemory memory{loadedBy(group, nodes, named), named, false, {}};
    memory.storesOthers =
        std::ranges::any_of(group.stores, [&](const std::string& name) { return isUnnamedBuffer(m_graph, name); });
    KernelNodes kernel = kernelNodes(m_search, nodes, memory);
    if (kernel.nodes.empty()) return;
    FusedNodes fused{std::move(kernel.nodes), {}, {kernel.sinks.begin(), kernel.sinks.end()}, g};
    fused.members.insert(fused.nodes.begin(), fused.nodes.end());
    for (const NodeId id : fused.nodes)
      if (needsMemory(id, fused.members)) fused.stored.insert(id);
    for (const NodeId id : fused.stored) m_stored.insert(id);
    for (const std::string& name : group.stores)
      if (isUnnamedBuffer(m_graph, name)) m_halves[name] = fused.nodes;
    m_result.kernels.push_back(std::move(fused));
  }

  std::vector<NodeId> found(const std::vector<std::string>& names) const {
    std::vector<NodeId> nodes;
    for (const std::string& name : names)
      if (const auto id = m_graph.find(name)) nodes.push_back(*id);
    return nodes;
  }

  /// What the kernel before left in a buffer that stands for no node, it left in float32.
  void joinHalves(const RecordedFusionGroup& group, std::vector<NodeId>& nodes) const {
    for (const std::string& name : group.loads)
      if (const auto half = m_halves.find(name); half != m_halves.end())
        nodes.insert(nodes.end(), half->second.begin(), half->second.end());
  }

  std::unordered_set<NodeId> loadedBy(const RecordedFusionGroup& group, const std::vector<NodeId>& nodes,
                                      const std::vector<NodeId>& named) const {
    std::unordered_set<NodeId> loaded;
    if (!group.loads.empty() || !group.stores.empty()) {
      for (const std::string& name : group.loads)
        if (const auto id = m_graph.find(name)) loaded.insert(*id);
    } else {
      for (const NodeId id : nodes)
        if (m_stored.contains(id)) loaded.insert(id);
    }
    for (const NodeId id : named) loaded.erase(id);
    return loaded;
  }

  /// Used by a call of no kernel, by one of a kernel that does not compute it, or returned.
  bool needsMemory(NodeId id, const std::unordered_set<NodeId>& members) const {
    for (const NodeId user : m_graph.node(id).users()) {
      if (members.contains(user)) continue;
      const auto of = m_groupsOf.find(user);
      const auto own = m_groupsOf.find(id);
      if (of == m_groupsOf.end() || own == m_groupsOf.end()) return true;
      if (!std::ranges::includes(own->second, of->second)) return true;  // a kernel has the user and not it
    }
    return false;
  }

  const Graph& m_graph;
  const std::span<const RecordedFusionGroup> m_groups;
  SearchedGraph m_search;
  std::vector<std::vector<NodeId>> m_nodesOf;                       ///< by group
  std::unordered_map<NodeId, std::vector<std::size_t>> m_groupsOf;  ///< generated kernels
  std::unordered_set<NodeId> m_externs;
  std::unordered_set<NodeId> m_stored;  ///< by the kernels so far
  std::unordered_map<std::string, std::vector<NodeId>> m_halves;
  FusedGraph m_result;
};

}  // namespace

FusedGraph fusedNodes(const Graph& graph, std::span<const RecordedFusionGroup> groups) {
  return FusedGraphBuilder(graph, groups).run();
}

}  // namespace kerf::inline pipeline
