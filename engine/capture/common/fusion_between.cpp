#include "engine/capture/common/fusion_between.h"

#include <algorithm>

namespace kerf::inline capture {
namespace {

class BetweenPlacer {
 public:
  BetweenPlacer(const WrapperCode& code, const SearchedGraph& graph, KnownValues known)
      : m_code(code), m_graph(graph.graph()), m_search(graph), m_known(std::move(known)) {
    for (std::size_t c = 0; c < code.calls.size(); ++c) {
      for (const std::string& argument : code.calls[c].arguments) m_maker.try_emplace(argument, c);
      if (!code.calls[c].result.empty()) m_maker.try_emplace(code.calls[c].result, c);
    }
  }

  void run(std::vector<RecordedFusionGroup>& groups) {
    const auto isOpen = [&](std::size_t c) {
      return isGeneratedKernel(m_code.calls[c].callee) && groups[c].postGradNodes.empty();
    };
    bool any = false;
    for (std::size_t c = 0; c < m_code.calls.size(); ++c) any = any || isOpen(c);
    if (!any) return;
    nameReturned();
    for (std::size_t c = 0; c < m_code.calls.size(); ++c)
      if (groups[c].postGradNodes.size() == 1 && !isGeneratedKernel(m_code.calls[c].callee))
        nameTaken(m_code.calls[c], *m_graph.find(groups[c].postGradNodes.front()));
    for (std::size_t c = 0; c < m_code.calls.size(); ++c)
      if (isOpen(c)) place(c, groups[c]);
  }

 private:
  void place(std::size_t call, RecordedFusionGroup& group) const {
    std::vector<NodeId> results;
    std::unordered_set<NodeId> given = m_known.externs;
    for (const std::string& argument : m_code.calls[call].arguments) {
      const NodeId id = held(argument);
      if (!id.valid()) continue;
      if (m_maker.at(argument) == call && argument.starts_with("buf"))
        results.push_back(id);
      else
        given.insert(id);
    }
    addBetween(given, results, group);
  }

  NodeId held(const std::string& name) const {
    const auto at = m_known.held.find(name);
    return at == m_known.held.end() ? NodeId() : at->second;
  }

  void nameReturned() {
    const NodeId output = m_graph.outputNode();
    if (!output.valid() || m_graph.node(output).args().empty()) return;
    const ListArgument* list = m_graph.node(output).args()[0].asList();
    if (list == nullptr || list->items.size() != m_code.returned.size()) return;
    for (std::size_t i = 0; i < list->items.size(); ++i)
      if (const NodeId* id = list->items[i].as<NodeId>()) hold(m_code.returned[i], *id);
  }

  /// One argument that is not known yet, for one input that nothing holds.
  void nameTaken(const WrapperCall& call, NodeId id) {
    std::vector<std::string> open;
    for (const std::string& argument : call.arguments)
      if (argument.starts_with("buf") && argument != call.result && !held(argument).valid()) open.push_back(argument);
    if (open.size() != 1) return;
    std::unordered_set<NodeId> known;
    for (const auto& [name, node] : m_known.held) known.insert(node);
    std::vector<NodeId> inputs;
    for (const NodeId input : m_graph.node(id).inputs())
      if (!known.contains(rootOf(input))) inputs.push_back(input);
    if (inputs.size() == 1) hold(open.front(), inputs.front());
  }

  void hold(const std::string& name, NodeId id) {
    if (name.starts_with("buf") && m_graph.node(rootOf(id)).op() == Opcode::CallFunction)
      m_known.held.try_emplace(name, rootOf(id));
  }

  NodeId rootOf(NodeId id) const {
    while (isViewCall(m_graph.node(id))) id = m_graph.node(id).inputs().front();
    return id;
  }

  void addBetween(const std::unordered_set<NodeId>& given, const std::vector<NodeId>& results,
                  RecordedFusionGroup& group) const {
    std::unordered_set<NodeId> reached;
    std::vector<NodeId> stack = results;
    while (!stack.empty()) {
      const NodeId id = stack.back();
      stack.pop_back();
      if (m_graph.node(id).op() != Opcode::CallFunction || given.contains(id) || !reached.insert(id).second) continue;
      for (const NodeId input : m_graph.node(id).inputs()) stack.push_back(input);
    }
    std::vector<NodeId> nodes(reached.begin(), reached.end());
    m_search.sort(nodes);
    for (const NodeId id : nodes) group.postGradNodes.push_back(m_graph.node(id).name());
    if (nodes.empty()) return;
    for (const NodeId id : given)
      if (std::ranges::any_of(m_graph.node(id).users(), [&](NodeId user) { return reached.contains(user); }))
        group.loads.push_back(m_graph.node(id).name());
    std::ranges::sort(group.loads);
    for (const NodeId id : results) group.stores.push_back(m_graph.node(id).name());
  }

  const WrapperCode& m_code;
  const Graph& m_graph;
  const SearchedGraph& m_search;
  KnownValues m_known;
  std::unordered_map<std::string, std::size_t> m_maker;  ///< of buffers: the first call that mentions them
};

}  // namespace

void placeBetween(const WrapperCode& code, const SearchedGraph& graph, KnownValues known,
                  std::vector<RecordedFusionGroup>& groups) {
  BetweenPlacer(code, graph, std::move(known)).run(groups);
}

}  // namespace kerf::inline capture
