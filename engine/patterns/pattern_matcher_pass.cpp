// The walk over a graph, and the same place by place for a pattern that did not match.
#include "engine/patterns/pattern_matcher_pass.h"

#include <algorithm>
#include <ranges>

#include "engine/ir/printer.h"

namespace kerf::inline patterns {

namespace {

ReplacedMatch recorded(const PatternEntry& entry, const MatchContext& context) {
  const Graph& graph = context.module.graph;
  ReplacedMatch record{entry.name, graph.node(context.anchor).name(), {}, {}, {}};
  for (const NodeId node : context.match.nodes) record.nodes.push_back(graph.node(node).name());
  for (const auto& [name, value] : context.match.named)
    record.arguments.emplace_back(name, printArgument(graph, value, ArgumentStyle::Python));
  return record;
}

/// Names that share most of their beginning with `name`.
std::string similarNames(const std::vector<PatternEntry>& entries, std::string_view name) {
  std::vector<std::string_view> names;
  for (const PatternEntry& entry : entries)
    if (entry.name.find(name) != std::string::npos) names.push_back(entry.name);
  if (names.empty())
    for (const PatternEntry& entry : entries) names.push_back(entry.name);
  constexpr std::size_t most = 12;
  const std::size_t left = names.size() > most ? names.size() - most : 0;
  names.resize(names.size() - left);
  return fmt::format("{}{}", fmt::join(names, ", "), left > 0 ? fmt::format(" and {} more", left) : "");
}

}  // namespace

void PatternMatcherPass::add(PatternEntry entry) {
  for (const OpId op : anchorOf(*entry.pattern).ops) m_byOp[op].push_back(m_entries.size());
  m_texts.insert(patternText(*entry.pattern));
  m_entries.push_back(std::move(entry));
}

std::string PatternMatcherPass::refusal(const PatternEntry& entry, const MatchContext& context,
                                        const MutationRegions& regions) {
  const Graph& graph = context.module.graph;
  const auto apart = std::ranges::find_if(
      context.match.nodes, [&](NodeId node) { return regions.of(node) != regions.of(context.match.nodes.front()); });
  if (apart != context.match.nodes.end()) {
    NodeId first = context.match.nodes.front(), last = *apart;
    if (regions.of(first) > regions.of(last)) std::swap(first, last);
    const NodeId barrier = regions.barrierAfter(first);
    return fmt::format("{} writes to memory between {} and {}",
                       barrier.valid() && graph.contains(barrier) ? graph.node(barrier).name() : "something",
                       graph.node(first).name(), graph.node(last).name());
  }
  for (const auto& check : entry.checks)
    if (std::string reason = check(context); !reason.empty()) return reason;
  return {};
}

/// Replaces what is found from the last call to the first. Where two calls of a pattern stand for one call of the graph,
/// another place may have one for each: it is taken first, and what is left of the others after it.
class PatternMatcherPass::Walk {
 public:
  Walk(const PatternMatcherPass& patterns, GraphModule& module)
      : m_patterns(patterns), m_module(module), m_regions(module.graph) {}

  Result<void> run() {
    const auto calls = m_module.graph.order();
    std::vector<NodeId> left(calls.rbegin(), calls.rend());
    for (const bool mayShare : {false, true}) {
      std::vector<NodeId> later;
      for (const NodeId id : left) {
        KERF_TRY(const bool postponed, visit(id, mayShare));
        if (postponed) later.push_back(id);
      }
      left = std::move(later);
    }
    return {};
  }

  std::vector<ReplacedMatch> replaced;
  WalkCount count;

 private:
  /// Whether a match here is to wait.
  Result<bool> visit(NodeId id, bool mayShare) {
    const Graph& graph = m_module.graph;
    if (!graph.contains(id)) return false;
    ++count.nodes;
    const OpId op = graph.node(id).opId();
    const auto found = op ? m_patterns.m_byOp.find(op) : m_patterns.m_byOp.end();
    if (found == m_patterns.m_byOp.end()) return false;
    for (const std::size_t index : found->second) {
      const PatternEntry& entry = m_patterns.m_entries[index];
      ++count.tries;
      const auto match = matchPattern(graph, entry.pattern, id);
      if (!match) continue;
      const MatchContext context{m_module, id, *match};
      if (!refusal(entry, context, m_regions).empty()) continue;
      if (!mayShare && match->nodes.size() < callCount(*entry.pattern)) return true;
      KERF_CHECK(replace(entry, context));
      if (!graph.contains(id)) break;
    }
    return false;
  }

  Result<void> replace(const PatternEntry& entry, const MatchContext& context) {
    ReplacedMatch record = recorded(entry, context);
    KERF_TRY(const std::vector<NodeId> made, entry.replace(context));
    for (const NodeId node : made) {
      m_regions.add(node, context.match.nodes.front());
      if (m_module.graph.contains(node)) record.replacements.push_back(m_module.graph.node(node).name());
    }
    replaced.push_back(std::move(record));
    if (context.match.outputs.size() > 1) KERF_CHECK(m_module.graph.topologicalSort());  // operands may stand behind
    return {};
  }

  const PatternMatcherPass& m_patterns;
  GraphModule& m_module;
  MutationRegions m_regions;
};

Result<std::vector<ReplacedMatch>> PatternMatcherPass::apply(GraphModule& module, WalkCount* count) const {
  Walk walk(*this, module);
  KERF_CHECK(walk.run());
  if (!walk.replaced.empty()) KERF_CHECK(module.graph.topologicalSort());
  if (count != nullptr) *count = walk.count;
  return std::move(walk.replaced);
}

Result<std::optional<NearMiss>> PatternMatcherPass::explain(const GraphModule& module, std::string_view name,
                                                            std::string_view at) const {
  const auto entry =
      std::ranges::find(m_entries, name, [](const PatternEntry& one) -> std::string_view { return one.name; });
  if (entry == m_entries.end())
    return fail(ErrorCode::NotFound, "there is no pattern '{}'; there is {}", name, similarNames(m_entries, name));
  GraphModule copy = module;
  const MutationRegions regions(copy.graph);
  const PatternExpr& anchor = anchorOf(*entry->pattern);
  const std::size_t calls = callCount(*entry->pattern);
  std::optional<NearMiss> nearest;
  std::size_t places = 0;
  for (const NodeId id : copy.graph.order()) {
    const Node& node = copy.graph.node(id);
    if (std::ranges::none_of(anchor.ops, [&](OpId op) { return node.isCall(op); })) continue;
    ++places;
    if (!at.empty() && node.name() != at) continue;
    const auto match = matchPattern(copy.graph, entry->pattern, id);
    NearMiss miss{entry->name, node.name(), node.name(), "", calls, calls};
    if (match) {
      miss.reason = refusal(*entry, {copy, id, *match}, regions);
      if (miss.reason.empty()) continue;
    } else {
      miss.node = copy.graph.node(match.error().node).name();
      miss.reason = match.error().reason;
      miss.matched = match.error().matched;
    }
    if (!nearest || miss.matched >= nearest->matched) nearest = std::move(miss);
  }
  if (places > 0) return nearest;
  std::vector<std::string_view> ops;
  for (const OpId op : anchor.ops) ops.push_back(opName(op));
  return NearMiss{
      entry->name, "",
      "",          fmt::format("the graph has no call of {}, which gives the pattern's result", fmt::join(ops, " or ")),
      0,           calls};
}

}  // namespace kerf::inline patterns
