#include "engine/diff/graph_diff.h"

#include <algorithm>
#include <map>
#include <unordered_set>

#include "engine/diff/gradient_half.h"
#include "engine/diff/match_inputs.h"
#include "engine/diff/match_sequences.h"
#include "engine/diff/match_structure.h"
#include "engine/diff/order_effects.h"
#include "engine/diff/sequence_alignment.h"
#include "engine/ir/printer.h"

namespace kerf::inline diff {

namespace {

bool mostlyAten(const ComparedGraph& graph) {
  int calls = 0, aten = 0;
  for (int at = 0; at < graph.size(); ++at) {
    if (!graph.isInner(at) || graph.isAttribute(at)) continue;
    const std::string& target = graph.node(at).target();
    ++calls;
    aten += target.starts_with("torch.ops.") || target.find("getitem") != std::string::npos;
  }
  return 2 * aten > calls;
}

bool hasOrigins(const ComparedGraph& graph) {
  for (int at = 0; at < graph.size(); ++at)
    if (graph.isInner(at) && graph.origin(at) != 0) return true;
  return false;
}

std::vector<FoundRewrite> match(Partners& partners, const RecordedOrigins& recorded) {
  std::vector<FoundRewrite> rewrites;
  const auto take = [&](std::vector<FoundRewrite> found) {
    rewrites.insert(rewrites.end(), std::make_move_iterator(found.begin()), std::make_move_iterator(found.end()));
  };
  const Classes classes{valueClasses(partners.before()), valueClasses(partners.after())};
  matchInputs(partners);
  const GivenValues given = givenValues(partners);
  matchStructure(partners, given, classes);
  take(recordedRewrites(partners, recorded));
  // Ops of a framework and what they are lowered to have nothing in common but their order; ATen ops have neighbours.
  const bool lowered = !mostlyAten(partners.before()) && mostlyAten(partners.after());
  if (lowered) {
    take(loweredRewrites(partners));
    matchStructure(partners, given, classes);
  }
  for (const ValueRule rule : {ValueRule::Same, ValueRule::Any}) {
    while (matchPlaces(partners, rule) || matchOrigins(partners, rule) || matchNames(partners, rule))
      matchStructure(partners, given, classes);
    acceptGivenNames(partners, given);
    replaceRegions(partners, rewrites);
  }
  // Without source lines any call could have become any other of its operands.
  if (!lowered && hasOrigins(partners.before()) && hasOrigins(partners.after())) take(loweredRewrites(partners));
  take(mergedNodes(partners, classes));
  return rewrites;
}

class Comparison {
 public:
  explicit Comparison(const Partners& partners) : m_partners(partners) {}

  NodeDelta deltaOf(int before, int after) const {
    const Node &mine = m_partners.before().node(before), &theirs = m_partners.after().node(after);
    NodeDelta delta{.before = mine.id(), .after = theirs.id(), .evidence = m_partners.evidence(before)};
    delta.renamed = mine.name() != theirs.name();
    delta.given = (mine.op() == Opcode::Placeholder) != (theirs.op() == Opcode::Placeholder);
    delta.callChanged = !delta.given && !sameCall(mine, theirs);
    delta.metaChanged = metaDiffers(mine, theirs);
    return delta;
  }

 private:
  /// `argument` of the first graph in terms of the second; nodes that nothing came of become invalid ids.
  Argument translated(const Argument& argument) const {
    return mapNodes(argument, [this](NodeId id) {
      const int value = m_partners.valueOf(m_partners.before().at(id));
      return Argument(value == Partners::none ? NodeId() : m_partners.after().id(value));
    });
  }

  bool sameCall(const Node& a, const Node& b) const {
    const bool sameTarget = a.op() == Opcode::Placeholder || a.target() == b.target();
    if (a.op() != b.op() || !sameTarget || a.args().size() != b.args().size() || a.kwargs().size() != b.kwargs().size())
      return false;
    for (std::size_t i = 0; i < a.args().size(); ++i)
      if (!(translated(a.args()[i]) == b.args()[i])) return false;
    for (std::size_t i = 0; i < a.kwargs().size(); ++i) {
      if (a.kwargs()[i].first != b.kwargs()[i].first) return false;
      if (!(translated(a.kwargs()[i].second) == b.kwargs()[i].second)) return false;
    }
    return true;
  }

  static bool metaDiffers(const Node& a, const Node& b) {
    if (!a.meta().value.known() || !b.meta().value.known() || a.meta().value == b.meta().value) return false;
    return printAnnotation(a.meta(), true, true) != printAnnotation(b.meta(), true, true);
  }

  const Partners& m_partners;
};

std::vector<OpCount> opCounts(const Graph& before, const Graph& after) {
  std::map<std::string, OpCount> counts;
  const auto add = [&](const Graph& graph, int OpCount::* side) {
    for (const NodeId id : graph.order()) {
      const Node& node = graph.node(id);
      if (node.op() == Opcode::Placeholder || node.op() == Opcode::Output) continue;
      ++(counts[baseName(node)].*side);
    }
  };
  add(before, &OpCount::before);
  add(after, &OpCount::after);
  std::vector<OpCount> differing;
  for (auto& [op, count] : counts)
    if (count.before != count.after) differing.push_back({op, count.before, count.after});
  return differing;
}

/// Lines in the order of the second graph, with what only the first one has where it stood.
class Listing {
 public:
  Listing(const Partners& partners, const std::vector<FoundRewrite>& rewrites)
      : m_partners(partners), m_rewrites(rewrites), m_comparison(partners) {
    m_mine.assign(std::size_t(partners.before().size()), -1);
    m_theirs.assign(std::size_t(partners.after().size()), -1);
    for (std::size_t i = 0; i < rewrites.size(); ++i) {
      if (rewrites[i].kind != FoundRewrite::Kind::Duplicated)
        for (const int at : rewrites[i].before) m_mine[std::size_t(at)] = int(i);
      if (rewrites[i].kind != FoundRewrite::Kind::Merged)
        for (const int at : rewrites[i].after) m_theirs[std::size_t(at)] = int(i);
    }
    m_written.assign(rewrites.size(), 0);
  }

  std::vector<NodeDelta> run() {
    const ComparedGraph& after = m_partners.after();
    std::vector<int> positions;
    for (int at = 0; at < after.size(); ++at)
      if (m_partners.taken(at)) positions.push_back(m_partners.back(at));
    const auto kept = keepsOrder(positions);
    std::size_t matched = 0;
    for (int at = 0; at < after.size(); ++at) {
      if (!m_partners.taken(at)) {
        writeAfter(at);
        continue;
      }
      if (kept[matched]) writeBeforeUpTo(positions[matched]);
      ++matched;
      m_lines.push_back(m_comparison.deltaOf(m_partners.back(at), at));
    }
    writeBeforeUpTo(m_partners.before().size());
    const auto moved = movedNodes(m_partners);
    for (NodeDelta& line : m_lines)
      if (line.before.valid() && line.after.valid() && !line.rewritten())
        line.moved = std::ranges::binary_search(moved, m_partners.before().at(line.before));
    return std::move(m_lines);
  }

 private:
  void writeAfter(int at) {
    NodeDelta line{.before = {}, .after = m_partners.after().id(at)};
    line.rewrite = m_theirs[std::size_t(at)];
    if (line.rewritten() && m_rewrites[std::size_t(line.rewrite)].kind == FoundRewrite::Kind::Rewritten) {
      const auto& from = m_rewrites[std::size_t(line.rewrite)].before;
      std::size_t& written = m_written[std::size_t(line.rewrite)];
      if (written < from.size()) line.before = m_partners.before().id(from[written++]);
      m_lines.push_back(line);
      if (at != m_rewrites[std::size_t(line.rewrite)].after.back()) return;
      while (written < from.size()) {
        NodeDelta rest{.before = m_partners.before().id(from[written++]), .after = {}};
        rest.rewrite = line.rewrite;
        m_lines.push_back(rest);
      }
      return;
    }
    m_lines.push_back(line);
  }

  void writeBeforeUpTo(int place) {
    for (; m_next < place; ++m_next) {
      if (m_partners.has(m_next)) continue;
      NodeDelta line{.before = m_partners.before().id(m_next), .after = {}};
      line.rewrite = m_mine[std::size_t(m_next)];
      if (line.rewritten() && m_rewrites[std::size_t(line.rewrite)].kind == FoundRewrite::Kind::Rewritten) continue;
      m_lines.push_back(line);
    }
  }

  const Partners& m_partners;
  const std::vector<FoundRewrite>& m_rewrites;
  Comparison m_comparison;
  std::vector<int> m_mine, m_theirs;   ///< by position: index of the rewrite
  std::vector<std::size_t> m_written;  ///< by rewrite: how many of its nodes before stand in a line
  std::vector<NodeDelta> m_lines;
  int m_next = 0;
};

/// Where one graph computes gradients and the other has none.
void markGradients(std::vector<NodeDelta>& lines, const Graph& before, const Graph& after) {
  const auto mine = gradientHalf(before), theirs = gradientHalf(after);
  if (mine.empty() == theirs.empty()) return;
  const std::unordered_set<NodeId> half(mine.begin(), mine.end()), other(theirs.begin(), theirs.end());
  for (NodeDelta& line : lines)
    line.gradient = (line.removed() && half.contains(line.before)) || (line.added() && other.contains(line.after));
}

}  // namespace

std::string_view evidenceName(Evidence evidence) {
  constexpr std::string_view names[] = {"none", "recorded", "structure", "origin", "place", "name"};
  return names[std::size_t(evidence)];
}

bool GraphDiff::same() const {
  return std::ranges::all_of(nodes, [](const NodeDelta& delta) { return delta.same(); });
}
std::size_t GraphDiff::count(bool (NodeDelta::*predicate)() const) const {
  return std::size_t(std::ranges::count_if(nodes, [&](const NodeDelta& delta) { return (delta.*predicate)(); }));
}
std::size_t GraphDiff::count(bool NodeDelta::* flag) const {
  return std::size_t(std::ranges::count_if(nodes, [&](const NodeDelta& delta) { return delta.*flag; }));
}

GraphDiff diffGraphs(const Graph& before, const Graph& after, const RecordedOrigins& recorded) {
  const ComparedGraph mine(before), theirs(after);
  Partners partners(mine, theirs);
  auto rewrites = match(partners, recorded.empty() ? recordedOrigins(before, after) : recorded);
  std::ranges::stable_sort(rewrites, {}, [](const FoundRewrite& rewrite) { return rewrite.before.front(); });
  GraphDiff diff;
  diff.nodes = Listing(partners, rewrites).run();
  markGradients(diff.nodes, before, after);
  for (const FoundRewrite& found : rewrites) {
    Rewrite rewrite{found.kind, {}, {}, found.evidence};
    for (const int at : found.before) rewrite.before.push_back(mine.id(at));
    for (const int at : found.after) rewrite.after.push_back(theirs.id(at));
    diff.rewrites.push_back(std::move(rewrite));
  }
  diff.ops = opCounts(before, after);
  return diff;
}

std::vector<std::pair<std::string, GraphDiff>> diffModules(const GraphModule& before, const GraphModule& after,
                                                           const RecordedOrigins& recorded) {
  static const GraphModule empty;
  std::vector<std::pair<std::string, GraphDiff>> diffs;
  diffs.emplace_back("", diffGraphs(before.graph, after.graph, recorded));
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

}  // namespace kerf::inline diff
