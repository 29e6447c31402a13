#include "engine/patterns/replacement_order.h"

#include <algorithm>
#include <bit>

namespace kerf::inline patterns {

namespace {

/// Results of a pattern, one bit each.
using Results = std::uint64_t;
constexpr std::size_t mostResults = 64;

/// On which of `outputs` every node depends, itself included; by NodeId::index.
std::vector<Results> dependencies(const Graph& graph, const std::vector<NodeId>& outputs) {
  std::vector<Results> of;
  for (const NodeId id : graph.order()) {
    if (of.size() <= id.index) of.resize(id.index + std::size_t{1});
    for (const NodeId input : graph.node(id).inputs())
      if (input.index < of.size()) of[id.index] |= of[input.index];
    for (std::size_t i = 0; i < outputs.size(); ++i)
      if (outputs[i] == id) of[id.index] |= Results{1} << i;
  }
  return of;
}

/// The same of what a replacement computes, by what it is given.
std::vector<Results> carried(const Graph& replacement, const NodeArguments& values, const std::vector<Results>& outer) {
  std::vector<Results> of;
  for (const NodeId id : replacement.order()) {
    if (of.size() <= id.index) of.resize(id.index + std::size_t{1});
    for (const NodeId input : replacement.node(id).inputs()) of[id.index] |= of[input.index];
    const auto given = values.find(id);
    if (given == values.end()) continue;
    forEachNode(given->second, [&](NodeId node) {
      if (node.index < outer.size()) of[id.index] |= outer[node.index];
    });
  }
  return of;
}

/// The first result that comes from itself; none where there is an order.
std::optional<std::size_t> firstOnCycle(std::vector<Results> from) {
  for (std::size_t pass = 0; pass < from.size(); ++pass)
    for (Results& one : from)
      for (Results left = one; left != 0; left &= left - 1) one |= from[std::size_t(std::countr_zero(left))];
  for (std::size_t i = 0; i < from.size(); ++i)
    if (from[i] >> i & 1) return i;
  return std::nullopt;
}

}  // namespace

std::string orderProblem(const Graph& graph, const MatchedPattern& match, const Graph& replacement,
                         const NodeArguments& values, const ArgumentList& results) {
  if (match.outputs.size() < 2) return {};
  if (match.outputs.size() > mostResults)
    return fmt::format("a pattern may have {} results, not {}", mostResults, match.outputs.size());
  const std::vector<Results> given = carried(replacement, values, dependencies(graph, match.outputs));
  std::vector<Results> from(match.outputs.size());
  for (std::size_t i = 0; i < results.size() && i < from.size(); ++i)
    if (const NodeId* node = results[i].as<NodeId>(); node && match.outputs[i].valid()) from[i] = given[node->index];
  const auto bad = firstOnCycle(std::move(from));
  if (!bad) return {};
  return fmt::format("the replacement of {} would need a value that is computed from it",
                     graph.node(match.outputs[*bad]).name());
}

}  // namespace kerf::inline patterns
