#include "minifier/core/suspects.h"

#include <algorithm>
#include <map>

namespace kerf::inline minifier::inline core {

namespace {

/// Calls of the same target and result type behave alike, more often than not.
std::pair<std::string, int> kindOf(const Node& node) {
  const ValueMeta* meta = &node.meta().value;
  if (const auto* items = meta->list(); items && !items->empty()) meta = &items->front();
  return {node.target(), meta->tensor() ? int(meta->tensor()->dtype) : -1};
}

UnitSet valuesOf(const std::map<std::pair<std::string, int>, std::size_t>& byKind) {
  UnitSet set;
  for (const auto& [kind, unit] : byKind) set.push_back(unit);
  std::ranges::sort(set);
  return set;
}

}  // namespace

std::vector<UnitSet> suspectSets(const Graph& graph, const std::vector<CallUnit>& units) {
  std::map<std::pair<std::string, int>, std::size_t> first;
  for (std::size_t i = 0; i < units.size(); ++i) {
    const auto kind = kindOf(graph.node(units[i].call));
    first.emplace(kind, i);
  }
  if (first.size() * 2 > units.size()) return {};
  return {valuesOf(first)};
}

}  // namespace kerf::inline minifier::inline core
