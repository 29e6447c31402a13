#include "minifier/core/suspects.h"

#include <set>

namespace kerf::inline minifier::inline core {

namespace {

/// Calls of the same target and result type behave alike, more often than not.
std::pair<std::string, int> kindOf(const Node& node) {
  const ValueMeta* meta = &node.meta().value;
  if (const auto* items = meta->list(); items && !items->empty()) meta = &items->front();
  return {node.target(), meta->tensor() ? int(meta->tensor()->dtype) : -1};
}

}  // namespace

std::optional<UnitSet> suspects(const Graph& graph, const std::vector<CallUnit>& units) {
  std::set<std::pair<std::string, int>> seen;
  UnitSet first;
  for (std::size_t i = 0; i < units.size(); ++i)
    if (seen.insert(kindOf(graph.node(units[i].call))).second) first.push_back(i);
  // Where it spares less than five halvings it is asked in vain too often.
  constexpr std::size_t worthwhile = 32;
  return first.size() * worthwhile > units.size() ? std::nullopt : std::optional(std::move(first));
}

}  // namespace kerf::inline minifier::inline core
