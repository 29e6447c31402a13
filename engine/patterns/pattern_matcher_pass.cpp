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

Result<std::vector<ReplacedMatch>> PatternMatcherPass::apply(GraphModule& module, WalkCount* count) const {
  Graph& graph = module.graph;
  MutationRegions regions(graph);
  std::vector<ReplacedMatch> replaced;
  WalkCount walked;
  const std::vector<NodeId> order(graph.order().begin(), graph.order().end());
  for (const NodeId id : std::views::reverse(order)) {
    if (!graph.contains(id)) continue;
    ++walked.nodes;
    const OpId op = graph.node(id).opId();
    const auto found = op ? m_byOp.find(op) : m_byOp.end();
    if (found == m_byOp.end()) continue;
    for (const std::size_t index : found->second) {
      const PatternEntry& entry = m_entries[index];
      ++walked.tries;
      const auto match = matchPattern(graph, entry.pattern, id);
      if (!match) continue;
      const MatchContext context{module, id, *match};
      if (!refusal(entry, context, regions).empty()) continue;
      ReplacedMatch record = recorded(entry, context);
      KERF_TRY(const std::vector<NodeId> made, entry.replace(context));
      for (const NodeId node : made) {
        regions.add(node, match->nodes.front());
        if (graph.contains(node)) record.replacements.push_back(graph.node(node).name());
      }
      replaced.push_back(std::move(record));
      if (!graph.contains(id)) break;
    }
  }
  if (!replaced.empty()) KERF_CHECK(graph.topologicalSort());
  if (count != nullptr) *count = walked;
  return replaced;
}

Result<std::optional<NearMiss>> PatternMatcherPass::explain(const GraphModule& module, std::string_view name) const {
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
    if (!nearest || miss.matched > nearest->matched) nearest = std::move(miss);
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
