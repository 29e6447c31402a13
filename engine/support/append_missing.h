// appendMissing(): lists without repetition, whose order counts.
#pragma once

#include <algorithm>
#include <ranges>
#include <unordered_set>
#include <vector>

namespace kerf::inline support {

/// Appends what `list` does not have yet, in order and once each; in linear time where the lists are long.
template <class T>
void appendMissing(std::vector<T>& list, const std::vector<T>& items) {
  constexpr std::size_t fewPairs = 1024;
  if ((list.size() + items.size()) * items.size() <= fewPairs) {
    for (const T& item : items)
      if (std::ranges::find(list, item) == list.end()) list.push_back(item);
    return;
  }
  std::unordered_set<T> known(list.begin(), list.end());
  std::ranges::copy_if(items, std::back_inserter(list), [&](const T& item) { return known.insert(item).second; });
}

}  // namespace kerf::inline support
