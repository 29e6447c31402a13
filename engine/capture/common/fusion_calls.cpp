#include "engine/capture/common/fusion_calls.h"

#include <algorithm>

#include "engine/capture/common/fusion_between.h"

namespace kerf::inline capture {
namespace {

constexpr std::size_t viewsLookedThrough = 64;

/// "addmm" of "torch.ops.aten.addmm.default", "extern_kernels.addmm", "aten.addmm_"; seeds are made by randint.
std::string opName(std::string_view callee) {
  for (const std::string_view prefix : {"torch.ops.", "extern_kernels.", "aten.", "prims."})
    if (callee.starts_with(prefix)) callee.remove_prefix(prefix.size());
  for (const std::string_view space : {"aten.", "prims.", "mkldnn.", "inductor.", "quantized.", "higher_order."})
    if (callee.starts_with(space)) callee.remove_prefix(space.size());
  const bool isSeeds = callee == "randint.low_out";
  callee = callee.substr(0, callee.find('.'));
  while (callee.size() > 1 && callee.ends_with('_')) callee.remove_suffix(1);
  return isSeeds ? "inductor_seeds" : std::string(callee);
}

class CallPlacer {
 public:
  CallPlacer(const WrapperCode& code, const Graph& graph) : m_code(code), m_graph(graph), m_search(graph) {
    for (const NodeId id : graph.placeholders()) m_held[graph.node(id).name()] = id;
    for (const NodeId id : graph.order())
      if (graph.node(id).op() == Opcode::CallFunction) m_calls[opName(graph.node(id).target())].push_back(id);
    for (const auto& [item, tuple] : code.items) m_tupleOf[item] = tuple;
  }

  std::vector<RecordedFusionGroup> run() {
    std::vector<RecordedFusionGroup> groups;
    for (const WrapperCall& call : m_code.calls) {
      RecordedFusionGroup group;
      group.kernel = call.name();
      group.preGradNodes = call.sources;
      if (isGeneratedKernel(call.callee))
        placeKernel(call, group);
      else
        placeExtern(call, group);
      groups.push_back(std::move(group));
    }
    placeBetween(m_code, m_search, {m_held, m_placedExterns}, groups);
    return groups;
  }

 private:
  /// A definition with the nodes of its first call.
  struct Placed {
    KernelNodes nodes;
    std::vector<std::string> loads, stores;
    const WrapperCall* first = nullptr;
    std::vector<NodeId> argumentNodes;  ///< of the first call, by position; invalid: not known
    std::unordered_set<NodeId> taken;   ///< sinks of all calls so far
  };

  void placeKernel(const WrapperCall& call, RecordedFusionGroup& group) {
    const WrapperKernel* kernel = m_code.kernel(call.callee);
    if (kernel == nullptr || kernel->computed.empty()) return;
    const auto [slot, fresh] = m_placed.try_emplace(call.callee);
    Placed& placed = slot->second;
    if (fresh)
      placeFirst(*kernel, call, placed, group);
    else
      placeAgain(call, placed, group);
  }

  void placeFirst(const WrapperKernel& kernel, const WrapperCall& call, Placed& placed, RecordedFusionGroup& group) {
    KernelMemory memory;
    for (const NodeId id : found(kernel.loaded)) memory.loaded.insert(id);
    memory.stored = found(kernel.stored);
    memory.storesOthers = memory.stored.size() < kernel.stored.size();
    for (const NodeId id : memory.stored) memory.loaded.erase(id);  // also written here: used as it is in registers
    for (const std::string& argument : call.arguments)
      if (const auto half = m_half.find(argument); half != m_half.end()) memory.finished.insert(half->second);
    placed.nodes = kernelNodes(m_search, found(kernel.computed), memory);
    placed.first = &call;
    for (const std::string& argument : call.arguments) placed.argumentNodes.push_back(held(argument));
    for (const std::string& name : kernel.loaded)
      if (std::ranges::find(kernel.stored, name) == kernel.stored.end()) placed.loads.push_back(name);
    placed.stores = kernel.stored;
    group.loads = placed.loads;
    group.stores = placed.stores;
    finish(call, placed, placed.nodes.nodes, placed.nodes.sinks, group);
  }

  void placeAgain(const WrapperCall& call, Placed& placed, RecordedFusionGroup& group) {
    NodeMapping known, halves;
    const std::unordered_set<NodeId> inside(placed.nodes.nodes.begin(), placed.nodes.nodes.end());
    for (std::size_t i = 0; i < call.arguments.size() && i < placed.argumentNodes.size(); ++i) {
      const NodeId ours = placed.argumentNodes[i];
      const NodeId theirs = held(call.arguments[i]);
      if (ours.valid() && theirs.valid() && !inside.contains(ours)) known.emplace(ours, theirs);
      const auto ourHalf = m_half.find(placed.first->arguments[i]);
      const auto theirHalf = m_half.find(call.arguments[i]);
      if (ourHalf != m_half.end() && theirHalf != m_half.end()) halves.emplace(ourHalf->second, theirHalf->second);
    }
    known.insert(halves.begin(), halves.end());
    auto map = findAgain(m_search, placed.nodes, known, placed.taken);
    if (!map) {  // what buffers hold was concluded; what inputs are called was written
      std::erase_if(known, [&](const auto& one) {
        return m_graph.node(one.second).op() != Opcode::Placeholder && !halves.contains(one.first);
      });
      map = findAgain(m_search, placed.nodes, known, placed.taken);
    }
    if (!map) return;
    const auto mapped = [&](const std::vector<NodeId>& nodes) {
      std::vector<NodeId> result;
      for (const NodeId id : nodes)
        if (const auto at = map->find(id); at != map->end()) result.push_back(at->second);
      return result;
    };
    const auto names = [&](const std::vector<std::string>& ours) {
      std::vector<std::string> result;
      for (const std::string& name : ours) {
        const auto id = m_graph.find(name);
        const auto at = id ? map->find(*id) : map->end();
        if (at != map->end()) result.push_back(m_graph.node(at->second).name());
        const auto place = std::ranges::find(placed.first->arguments, name);
        const auto position = std::size_t(place - placed.first->arguments.begin());
        if (!id && position < call.arguments.size()) result.push_back(call.arguments[position]);
      }
      return result;
    };
    group.loads = names(placed.loads);
    group.stores = names(placed.stores);
    finish(call, placed, mapped(placed.nodes.nodes), mapped(placed.nodes.sinks), group);
  }

  void finish(const WrapperCall& call, Placed& placed, std::vector<NodeId> nodes, const std::vector<NodeId>& sinks,
              RecordedFusionGroup& group) {
    m_search.sort(nodes);
    for (const NodeId id : nodes) group.postGradNodes.push_back(m_graph.node(id).name());
    placed.taken.insert(sinks.begin(), sinks.end());
    holdResults(call, sinks, placed.stores);
  }

  /// Buffers that the call sees for the first time are its results, if there are as many of them. Those of which the
  /// definition has no node are the first half of one.
  void holdResults(const WrapperCall& call, const std::vector<NodeId>& sinks, const std::vector<std::string>& stores) {
    const std::vector<std::string> fresh = freshBuffers(call);
    if (fresh.size() != sinks.size()) return;
    const bool named = std::ranges::all_of(stores, [&](const std::string& name) { return bool(m_graph.find(name)); });
    const bool unnamed =
        std::ranges::none_of(stores, [&](const std::string& name) { return bool(m_graph.find(name)); });
    for (std::size_t i = 0; i < fresh.size(); ++i) {
      if (named) m_held[fresh[i]] = sinks[i];
      if (unnamed) m_half[fresh[i]] = sinks[i];
    }
  }

  /// A kernel's stores are listed in the order of their buffers; one that overwrites an input is its first argument.
  std::vector<std::string> freshBuffers(const WrapperCall& call) {
    std::vector<std::string> fresh;
    for (const std::string& argument : call.arguments)
      if (argument.starts_with("buf") && !m_held.contains(argument) && m_written.insert(argument).second)
        fresh.push_back(argument);
    std::ranges::sort(fresh, {}, [](const std::string& name) { return std::pair(name.size(), name); });
    return fresh;
  }

  void placeExtern(const WrapperCall& call, RecordedFusionGroup& group) {
    const auto candidates = m_calls.find(opName(call.callee));
    if (candidates == m_calls.end()) return;
    std::unordered_set<NodeId> inputs;
    for (const std::string& argument : call.arguments)
      if (const NodeId id = held(argument); id.valid()) inputs.insert(id);
    NodeId best;
    int bestScore = -1'000'000;
    for (const NodeId id : candidates->second) {
      if (m_placedExterns.contains(id)) continue;
      const int score = fit(id, inputs);
      if (score > bestScore) {
        best = id;
        bestScore = score;
      }
    }
    if (!best.valid()) return;
    m_placedExterns.insert(best);
    group.postGradNodes.push_back(m_graph.node(best).name());
    group.stores = group.postGradNodes;
    m_held[call.result.empty() && !call.arguments.empty() ? call.arguments.back() : call.result] = best;
  }

  /// How many of a call's arguments the node has, through views; what it has not counts against it.
  int fit(NodeId id, const std::unordered_set<NodeId>& inputs) const {
    std::unordered_set<NodeId> seen;
    std::vector<NodeId> stack = m_graph.node(id).inputs();
    while (!stack.empty() && seen.size() < viewsLookedThrough) {
      const NodeId at = stack.back();
      stack.pop_back();
      if (!seen.insert(at).second) continue;
      const Node& node = m_graph.node(at);
      if (isViewCall(node) || node.target() == "operator.getitem")
        for (const NodeId input : node.inputs()) stack.push_back(input);
    }
    int score = 0;
    for (const NodeId input : inputs) score += seen.contains(input) ? 1 : -1;
    return score;
  }

  std::vector<NodeId> found(const std::vector<std::string>& names) const {
    std::vector<NodeId> nodes;
    for (const std::string& name : names)
      if (const auto id = m_graph.find(name)) nodes.push_back(*id);
    return nodes;
  }

  NodeId held(const std::string& name) const {
    const auto tuple = m_tupleOf.find(name);
    const auto at = m_held.find(tuple == m_tupleOf.end() ? name : tuple->second);
    return at == m_held.end() || tuple != m_tupleOf.end() ? NodeId() : at->second;
  }

  const WrapperCode& m_code;
  const Graph& m_graph;
  SearchedGraph m_search;
  std::unordered_map<std::string, NodeId> m_held;  ///< what buffers and inputs hold
  std::unordered_map<std::string, NodeId> m_half;  ///< buffers with what the first half of a reduction left
  std::unordered_set<std::string> m_written;       ///< buffers with values that no node is known for
  std::unordered_map<std::string, std::string> m_tupleOf;
  std::unordered_map<std::string, std::vector<NodeId>> m_calls;  ///< by opName()
  std::unordered_map<std::string, Placed> m_placed;              ///< by kernel
  std::unordered_set<NodeId> m_placedExterns;
};

}  // namespace

std::vector<RecordedFusionGroup> groupsOfCalls(const WrapperCode& code, const Graph& lowered) {
  return CallPlacer(code, lowered).run();
}

std::vector<NodeId> computingNodes(const Graph& graph) {
  std::vector<NodeId> nodes;
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (node.op() == Opcode::CallFunction && node.target() != "operator.getitem" && !isViewCall(node))
      nodes.push_back(id);
  }
  return nodes;
}

}  // namespace kerf::inline capture
