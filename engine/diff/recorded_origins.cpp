#include "engine/diff/recorded_origins.h"

#include <algorithm>
#include <unordered_map>

namespace kerf::inline diff {

std::string forwardNodeOf(const Node& node) {
  const auto& extra = node.meta().extra;
  const auto found = std::ranges::find(extra, "fwd_node", &std::pair<std::string, std::string>::first);
  return found == extra.end() ? std::string() : found->second;
}

RecordedOrigins recordedOrigins(const Graph& before, const Graph& after) {
  const bool captured =
      std::ranges::all_of(before.order(), [&](NodeId id) { return before.node(id).meta().fromNodes.empty(); });
  RecordedOrigins origins;
  if (!captured) return origins;
  std::unordered_map<std::string_view, std::size_t> places;
  for (const NodeId id : after.order()) {
    const Node& node = after.node(id);
    if (node.meta().fromNodes.empty() || !forwardNodeOf(node).empty()) continue;
    const std::string& from = node.meta().fromNodes.front();
    if (!before.find(from)) continue;
    const auto [found, fresh] = places.try_emplace(from, origins.size());
    if (fresh) origins.emplace_back(from, std::vector<std::string>());
    origins[found->second].second.push_back(node.name());
  }
  return origins;
}

}  // namespace kerf::inline diff
