#include "engine/ir/graph_diff.h"

#include <algorithm>
#include <deque>
#include <unordered_map>

#include "engine/ir/argument_hash.h"
#include "engine/ir/printer.h"

namespace kerf::inline ir {

namespace {

/// Partners found so far, in both directions.
class Matching {
 public:
  Matching(const Graph& before, const Graph& after) : m_before(before), m_after(after) {}

  void run() {
    matchOutputs();
    matchEqualNames([this](const Node& a, const Node& b) { return namesAgree(a, b); });
    matchStructure();
    matchEqualNames([](const Node& a, const Node& b) { return a.op() == b.op() && a.target() == b.target(); });
    matchStructure();
    matchEqualNames([](const Node& a, const Node& b) { return a.op() == b.op(); });
    matchStructure();
    if (matchArguments()) matchStructure();
  }

  NodeId partnerOf(NodeId beforeId) const { return lookUp(m_partners, beforeId); }
  bool isTaken(NodeId afterId) const { return lookUp(m_taken, afterId).valid(); }
  NodeId originOf(NodeId afterId) const { return lookUp(m_taken, afterId); }

  /// `argument` of the first graph in terms of the second; nodes without a partner become invalid ids.
  Argument translated(const Argument& argument) const {
    return mapNodes(argument, [this](NodeId id) { return Argument(partnerOf(id)); });
  }

 private:
  using Partners = std::unordered_map<NodeId, NodeId>;
  using Candidates = std::unordered_map<Hash128, std::deque<NodeId>>;
  static NodeId lookUp(const Partners& partners, NodeId id) {
    const auto found = partners.find(id);
    return found == partners.end() ? NodeId{} : found->second;
  }
  void pair(NodeId a, NodeId b) {
    m_partners.emplace(a, b);
    m_taken.emplace(b, a);
  }

  void matchOutputs() {
    if (m_before.outputNode().valid() && m_after.outputNode().valid())
      pair(m_before.outputNode(), m_after.outputNode());
  }

  std::string callByNames(const Graph& graph, const Node& node) const {
    std::string text = fmt::format("{} {}", int(node.op()), node.target());
    for (const auto& argument : node.args()) text += "," + printArgument(graph, argument, ArgumentStyle::GraphText);
    for (const auto& [name, value] : node.kwargs())
      text += "," + name + "=" + printArgument(graph, value, ArgumentStyle::GraphText);
    return text;
  }
  bool namesAgree(const Node& a, const Node& b) const { return callByNames(m_before, a) == callByNames(m_after, b); }

  template <class Accept>
  void matchEqualNames(Accept accept) {
    for (const auto id : m_before.order()) {
      if (partnerOf(id).valid()) continue;
      const auto& node = m_before.node(id);
      const auto other = m_after.find(node.name());
      if (other && !isTaken(*other) && accept(node, m_after.node(*other))) pair(id, *other);
    }
  }

  /// What a call computes, in terms of the second graph; none while one of its inputs has no partner.
  std::optional<Hash128> keyOf(const Node& node, bool isBefore) const {
    HashBuffer buffer;
    buffer.number(std::uint64_t(node.op()));
    if (node.op() == Opcode::Placeholder) {
      buffer.text(printAnnotation(node.meta(), true, true));
      return buffer.hash();
    }
    for (const auto input : node.inputs()) {
      if (isBefore ? !partnerOf(input).valid() : !isTaken(input)) return std::nullopt;
    }
    buffer.text(node.target());
    for (const auto& argument : node.args()) buffer.argument(isBefore ? translated(argument) : argument);
    for (const auto& [name, value] : node.kwargs()) {
      buffer.text(name);
      buffer.argument(isBefore ? translated(value) : value);
    }
    return buffer.hash();
  }

  /// A node of the second graph can be found by its key once all of its inputs are matched.
  void offer(Candidates& open, NodeId id) const {
    if (const auto key = keyOf(m_after.node(id), false)) open[*key].push_back(id);
  }

  /// Walks the first graph in order: a match lets what uses it be recognised in turn.
  void matchStructure() {
    Candidates open;
    for (const auto id : m_after.order()) {
      if (!isTaken(id)) offer(open, id);
    }
    for (const auto id : m_before.order()) {
      if (partnerOf(id).valid() || m_before.node(id).op() == Opcode::Output) continue;
      const auto key = keyOf(m_before.node(id), true);
      const auto found = key ? open.find(*key) : open.end();
      if (found == open.end() || found->second.empty()) continue;
      const auto partner = found->second.front();
      found->second.pop_front();
      pair(id, partner);
      for (const auto user : m_after.node(partner).users()) {
        if (!isTaken(user)) offer(open, user);
      }
    }
  }

  /// From the outputs up: arguments at the same place of matched calls. Returns whether any pair was found.
  bool matchArguments() {
    bool found = false;
    const auto order = m_before.order();
    for (auto id = order.rbegin(); id != order.rend(); ++id) {
      const auto partner = partnerOf(*id);
      if (!partner.valid()) continue;
      const auto mine = m_before.node(*id).inputs(), theirs = m_after.node(partner).inputs();
      for (std::size_t i = 0; i < std::min(mine.size(), theirs.size()); ++i) {
        const auto& a = m_before.node(mine[i]);
        const auto& b = m_after.node(theirs[i]);
        if (partnerOf(a.id()).valid() || isTaken(b.id()) || a.op() != b.op() || a.target() != b.target()) continue;
        pair(a.id(), b.id());
        found = true;
      }
    }
    return found;
  }

  const Graph& m_before;
  const Graph& m_after;
  Partners m_partners, m_taken;
};

bool sameCall(const Node& a, const Node& b, const Matching& matching) {
  const bool sameTarget = a.op() == Opcode::Placeholder || a.target() == b.target();
  if (a.op() != b.op() || !sameTarget || a.args().size() != b.args().size() || a.kwargs().size() != b.kwargs().size())
    return false;
  for (std::size_t i = 0; i < a.args().size(); ++i) {
    if (!(matching.translated(a.args()[i]) == b.args()[i])) return false;
  }
  for (std::size_t i = 0; i < a.kwargs().size(); ++i) {
    if (a.kwargs()[i].first != b.kwargs()[i].first) return false;
    if (!(matching.translated(a.kwargs()[i].second) == b.kwargs()[i].second)) return false;
  }
  return true;
}

bool metaDiffers(const Node& a, const Node& b) {
  if (!a.meta().value.known() || !b.meta().value.known()) return false;
  return printAnnotation(a.meta(), true, true) != printAnnotation(b.meta(), true, true);
}

/// Which positions belong to a longest increasing subsequence; the others have moved.
std::vector<bool> keepsOrder(const std::vector<std::size_t>& positions) {
  constexpr std::size_t none = SIZE_MAX;
  std::vector<std::size_t> tails, previous(positions.size(), none);  // tails: indices into positions
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const auto place = std::ranges::lower_bound(tails, positions[i], {}, [&](std::size_t at) { return positions[at]; });
    if (place != tails.begin()) previous[i] = *std::prev(place);
    if (place == tails.end())
      tails.push_back(i);
    else
      *place = i;
  }
  std::vector<bool> kept(positions.size(), false);
  for (std::size_t at = tails.empty() ? none : tails.back(); at != none; at = previous[at]) kept[at] = true;
  return kept;
}

NodeDelta deltaOf(const Graph& before, const Graph& after, const Matching& matching, NodeId a, NodeId b) {
  const auto& mine = before.node(a);
  const auto& theirs = after.node(b);
  return {a, b, mine.name() != theirs.name(), false, !sameCall(mine, theirs, matching), metaDiffers(mine, theirs)};
}

}  // namespace

bool GraphDiff::same() const {
  return std::ranges::all_of(nodes, [](const NodeDelta& delta) { return delta.same(); });
}
std::size_t GraphDiff::count(bool (NodeDelta::*predicate)() const) const {
  return std::size_t(std::ranges::count_if(nodes, [&](const NodeDelta& delta) { return (delta.*predicate)(); }));
}
std::size_t GraphDiff::count(bool NodeDelta::*flag) const {
  return std::size_t(std::ranges::count_if(nodes, [&](const NodeDelta& delta) { return delta.*flag; }));
}

GraphDiff diffGraphs(const Graph& before, const Graph& after) {
  Matching matching(before, after);
  matching.run();
  std::unordered_map<NodeId, std::size_t> placeBefore;
  for (const auto id : before.order()) placeBefore.emplace(id, placeBefore.size());
  std::vector<std::size_t> positions;
  for (const auto id : after.order()) {
    if (matching.isTaken(id)) positions.push_back(placeBefore.at(matching.originOf(id)));
  }
  const auto kept = keepsOrder(positions);
  GraphDiff diff;
  std::size_t nextBefore = 0, matched = 0;
  const auto emitRemovedUpTo = [&](std::size_t place) {
    for (; nextBefore < place; ++nextBefore) {
      const auto id = before.order()[nextBefore];
      if (!matching.partnerOf(id).valid()) diff.nodes.push_back({.before = id, .after = {}});
    }
  };
  for (const auto id : after.order()) {
    const auto origin = matching.originOf(id);
    if (!origin.valid()) {
      diff.nodes.push_back({.before = {}, .after = id});
      continue;
    }
    auto delta = deltaOf(before, after, matching, origin, id);
    delta.moved = !kept[matched];
    if (kept[matched]) emitRemovedUpTo(positions[matched]);
    ++matched;
    diff.nodes.push_back(delta);
  }
  emitRemovedUpTo(before.size());
  return diff;
}

std::vector<std::pair<std::string, GraphDiff>> diffModules(const GraphModule& before, const GraphModule& after) {
  static const GraphModule empty;
  std::vector<std::pair<std::string, GraphDiff>> diffs;
  diffs.emplace_back("", diffGraphs(before.graph, after.graph));
  const auto addNested = [&](const std::string& path) {
    const auto* mine = before.submodule(path);
    const auto* theirs = after.submodule(path);
    const auto& a = mine != nullptr && mine->graph ? *mine->graph : empty;
    const auto& b = theirs != nullptr && theirs->graph ? *theirs->graph : empty;
    for (auto& [inner, diff] : diffModules(a, b))
      diffs.emplace_back(inner.empty() ? path : path + "." + inner, std::move(diff));
  };
  for (const auto& [path, submodule] : before.submodules) {
    if (submodule.graph) addNested(path);
  }
  for (const auto& [path, submodule] : after.submodules) {
    const auto* mine = before.submodule(path);
    if (submodule.graph && (mine == nullptr || !mine->graph)) addNested(path);
  }
  return diffs;
}

}  // namespace kerf::inline ir
