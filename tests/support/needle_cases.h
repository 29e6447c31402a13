// Needles: calls of a graph that fail only together, an oracle in this process that knows them, and the plain ddmin of
// Zeller and Hildebrandt that a minifier must keep up with.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <set>

#include "minifier/core/candidate.h"
#include "minifier/core/subset_builder.h"
#include "minifier/core/verdict_cache.h"
#include "minifier/reductions/reductions.h"

namespace kerf::testing {

enum class NeedleRule {
  Together,  ///< all needles are computed
  Wide,      ///< and the first operand of each has a dimension above 12
  Ordered,   ///< and each needle's result reaches the next one
};

/// The mark survives every edit that keeps the call.
inline constexpr const char* needleKey = "kerf_test_needle";

inline std::optional<int> needleOf(const Node& node) {
  for (const auto& [key, value] : node.meta().extra)
    if (key == needleKey) return std::stoi(value);
  return std::nullopt;
}

inline void markNeedle(Graph& graph, NodeId id, int number) {
  NodeMeta meta = graph.node(id).meta();
  meta.extra.emplace_back(needleKey, std::to_string(number));
  graph.setMeta(id, std::move(meta));
}

/// Fails if and only if the needles' rule holds.
class NeedleOracle : public Oracle {
 public:
  NeedleOracle(NeedleRule rule, int needles) : m_rule(rule), m_needles(needles) {}

  bool fails(const Candidate& candidate) const {
    std::set<int> found;
    collect(candidate.module, found, 0);
    return int(found.size()) == m_needles;
  }
  Result<Verdict> judge(const Candidate& candidate, std::stop_token) override {
    if (!candidate.module.graph.lint() || candidate.module.graph.placeholders().size() != candidate.inputs.size())
      return fail(ErrorCode::Internal, "the candidate is no valid graph");
    if (fails(candidate)) return Verdict{.kind = VerdictKind::Fails, .fingerprint = "needles"};
    return Verdict{.kind = VerdictKind::Passes};
  }
  std::string identity() const override { return "needles"; }

 private:
  bool isWide(const Graph& graph, const Node& node) const {
    for (const NodeId operand : node.inputs()) {
      const TensorMeta* meta = graph.node(operand).meta().value.tensor();
      if (!meta) continue;
      return std::ranges::any_of(meta->sizes, [](const Dim& dim) { return dim.hint.value_or(0) > 12; });
    }
    return false;
  }
  void collect(const GraphModule& module, std::set<int>& found, int depth) const {
    std::map<NodeId, std::set<int>> reached;  // needles whose results go into a node
    for (const NodeId id : module.graph.order()) {
      const Node& node = module.graph.node(id);
      for (const NodeId input : node.inputs()) reached[id].insert(reached[input].begin(), reached[input].end());
      if (const auto number = isCallNode(node) ? needleOf(node) : std::nullopt) {
        const bool counts = m_rule == NeedleRule::Together ||
                            (m_rule == NeedleRule::Wide && isWide(module.graph, node)) ||
                            (m_rule == NeedleRule::Ordered && (*number == 0 || reached[id].contains(*number - 1)));
        if (counts) found.insert(*number);
        if (counts) reached[id].insert(*number);
      }
      if (isCallNode(node) && depth < 8)
        for (const NestedGraph& nested : nestedGraphs(module, node)) collect(*nested.graph, found, depth + 1);
    }
  }
  NeedleRule m_rule;
  int m_needles;
};

/// What a plain ddmin over sets of calls takes: its final calls and its tests, the start among them.
struct DdminResult {
  std::size_t calls = 0;
  int tests = 1;
};

using DdminWatch = std::function<void(const Candidate&, bool fails)>;
inline DdminResult plainDdmin(const Candidate& start, const NeedleOracle& oracle, const DdminWatch& watch = {});

/// Where the result still calls nested graphs, it goes on with those written out.
inline void goOnInside(const Candidate& candidate, const NeedleOracle& oracle, DdminResult& result) {
  const ReductionInput input{candidate};
  const std::vector<Edit> edits = flattenGraphs().edits(input, {});
  const auto flat = edits.empty() ? std::nullopt : edits.front().build();
  result.tests += flat ? 1 : 0;
  if (!flat || !oracle.fails(*flat)) return;
  const DdminResult inside = plainDdmin(*flat, oracle);
  result.tests += inside.tests - 1;  // the start is what was just asked
  result.calls = inside.calls;
}

inline DdminResult plainDdmin(const Candidate& start, const NeedleOracle& oracle, const DdminWatch& watch) {
  RecordedValues values(start, {});
  SubsetBuilder builder(start, values);
  DdminResult result;
  std::map<UnitSet, bool> known;
  const auto fails = [&](const UnitSet& set) {
    if (const auto found = known.find(set); found != known.end()) return found->second;
    const auto built = builder.build(set);
    result.tests += built ? 1 : 0;
    const bool isFailing = built && oracle.fails(*built);
    if (built && watch) watch(*built, isFailing);
    return known[set] = isFailing;
  };
  UnitSet current;
  for (std::size_t i = 0; i < builder.units().size(); ++i) current.push_back(i);
  for (std::size_t pieces = 2; current.size() > 1;) {
    std::vector<UnitSet> parts;
    for (std::size_t i = 0, at = 0; i < pieces; ++i) {
      const std::size_t end = at + (current.size() - at) / (pieces - i);
      parts.emplace_back(current.begin() + std::ptrdiff_t(at), current.begin() + std::ptrdiff_t(end));
      at = end;
    }
    const auto part = std::ranges::find_if(parts, fails);
    if (part != parts.end()) {
      current = *part;
      pieces = 2;
      continue;
    }
    bool smaller = false;
    for (std::size_t i = 0; pieces > 2 && !smaller && i < pieces; ++i) {
      UnitSet rest;
      for (std::size_t k = 0; k < pieces; ++k)
        if (k != i) rest.insert(rest.end(), parts[k].begin(), parts[k].end());
      if (!fails(rest)) continue;
      current = std::move(rest);
      smaller = true;
    }
    if (smaller) {
      pieces = std::max<std::size_t>(pieces - 1, 2);
    } else {
      if (pieces == current.size()) break;
      pieces = std::min(current.size(), pieces * 2);
    }
  }
  const auto built = builder.build(current);
  result.calls = built ? countCalls(built->module) : 0;
  if (built) goOnInside(*built, oracle, result);
  return result;
}

/// Calls that can be a needle: those whose value somebody uses, of a single value.
inline std::vector<NodeId> needleChoices(const Graph& graph) {
  std::vector<NodeId> choices;
  for (const NodeId id : callNodes(graph)) {
    const Node& node = graph.node(id);
    const bool isTaken =
        node.isCall(knownOp("operator.getitem")) || node.target().starts_with("torch.ops.higher_order");
    if (!isTaken && node.meta().value.tensor() && !node.users().empty()) choices.push_back(id);
  }
  return choices;
}

/// Marks `count` calls, far from each other; for Ordered each a descendant of the one before. Fewer if there are none.
inline int plantNeedles(Graph& graph, NeedleRule rule, int count, unsigned seed) {
  std::mt19937 random(seed);
  const std::vector<NodeId> choices = needleChoices(graph);
  int number = 0;
  if (rule != NeedleRule::Ordered) {
    const std::size_t share = choices.size() / std::size_t(count);
    for (int part = 0; part < count && share > 0; ++part) {
      std::vector<NodeId> range(choices.begin() + std::ptrdiff_t(share * std::size_t(part)),
                                choices.begin() + std::ptrdiff_t(share * std::size_t(part + 1)));
      if (rule == NeedleRule::Wide)
        std::erase_if(range, [&](NodeId id) {
          const auto inputs = graph.node(id).inputs();
          const TensorMeta* meta = inputs.empty() ? nullptr : graph.node(inputs[0]).meta().value.tensor();
          return !meta || std::ranges::none_of(meta->sizes, [](const Dim& dim) { return dim.hint.value_or(0) > 12; });
        });
      if (!range.empty()) markNeedle(graph, range[random() % range.size()], number++);
    }
    return number;
  }
  NodeId current = choices[random() % std::max<std::size_t>(choices.size() / 3, 1)];
  markNeedle(graph, current, number++);
  for (; number < count; ++number) {
    std::set<NodeId> descendants{current};
    std::vector<NodeId> later;
    for (const NodeId id : graph.order()) {
      const auto inputs = graph.node(id).inputs();
      if (std::ranges::none_of(inputs, [&](NodeId input) { return descendants.contains(input); })) continue;
      descendants.insert(id);
      if (std::ranges::find(choices, id) != choices.end()) later.push_back(id);
    }
    if (later.empty()) break;
    current = later[std::min(later.size() - 1, later.size() / 2 + random() % 20)];
    markNeedle(graph, current, number);
  }
  return number;
}

/// Marks one more call, inside a nested graph; false if there is none.
inline bool plantNestedNeedle(GraphModule& module, int number, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::size_t> bodies;
  for (std::size_t i = 0; i < module.submodules.size(); ++i)
    if (module.submodules[i].second.graph && callNodes(module.submodules[i].second.graph->graph).size() > 2)
      bodies.push_back(i);
  if (bodies.empty()) return false;
  auto& submodule = module.submodules.edit()[bodies[random() % bodies.size()]].second;
  GraphModule body = *submodule.graph;
  std::vector<NodeId> calls = callNodes(body.graph);
  std::erase_if(calls, [&](NodeId id) {
    return body.graph.node(id).isCall(knownOp("operator.getitem")) ||
           std::ranges::any_of(body.graph.node(id).users(),
                               [&](NodeId user) { return body.graph.node(user).isCall(knownOp("operator.getitem")); });
  });
  markNeedle(body.graph, calls[random() % calls.size()], number);
  submodule.graph = std::make_shared<const GraphModule>(std::move(body));
  return true;
}

/// Fewest nodes with which the rule can hold if nothing but needles is called: they, one input of each dtype that no
/// needle makes of another, and the output.
inline std::size_t fewestNodes(const GraphModule& module, int needles) {
  std::set<DType> taken, made;
  const auto collect = [&](const auto& self, const GraphModule& inside) -> void {
    for (const NodeId id : callNodes(inside.graph)) {
      const Node& node = inside.graph.node(id);
      for (const NestedGraph& nested : nestedGraphs(inside, node)) self(self, *nested.graph);
      if (!needleOf(node)) continue;
      std::set<DType> own;
      for (const NodeId input : node.inputs())
        if (const TensorMeta* meta = inside.graph.node(input).meta().value.tensor()) own.insert(meta->dtype);
      const TensorMeta* result = node.meta().value.tensor();
      if (result && !own.contains(result->dtype)) made.insert(result->dtype);
      taken.merge(own);
    }
  };
  collect(collect, module);
  std::erase_if(taken, [&](DType dtype) { return made.contains(dtype) && dtype != DType::Float32; });
  return std::size_t(needles) + std::max<std::size_t>(taken.size(), 1) + 1;
}

/// Fewest calls with which the rule can hold, by sets of the graph's own calls: the needles, and for Ordered a shortest
/// way from each to the next (getitems count).
inline std::size_t fewestCalls(const Graph& graph, NeedleRule rule, int needles) {
  auto count = std::size_t(needles);
  for (int number = 1; rule == NeedleRule::Ordered && number < needles; ++number) {
    std::map<NodeId, std::size_t> distance;  // calls on the way from needle number - 1
    for (const NodeId id : graph.order()) {
      const Node& node = graph.node(id);
      const auto mark = needleOf(node);
      if (mark == number - 1) distance[id] = 0;
      for (const NodeId input : node.inputs()) {
        const auto before = distance.find(input);
        if (before == distance.end() || node.op() == Opcode::Output) continue;
        const auto [entry, isNew] = distance.try_emplace(id, before->second + 1);
        if (!isNew) entry->second = std::min(entry->second, before->second + 1);
      }
      if (mark == number && distance.contains(id)) count += distance[id] - 1;
    }
  }
  return count;
}

}  // namespace kerf::testing
