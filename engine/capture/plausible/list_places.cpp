#include "engine/capture/plausible/list_places.h"

namespace kerf::inline capture {

const std::vector<std::size_t>& ListPlaces::of(const ListArgument& list, NodeId value) {
  static const std::vector<std::size_t> nowhere;
  const auto [entry, isNew] = m_lists.try_emplace(&list);
  for (std::size_t i = 0; isNew && i < list.items.size(); ++i)
    if (const NodeId* item = list.items[i].as<NodeId>()) entry->second[*item].push_back(i);
  const auto found = entry->second.find(value);
  return found == entry->second.end() ? nowhere : found->second;
}

}  // namespace kerf::inline capture
