#include "engine/diff/slot_pairs.h"

#include <span>
#include <unordered_map>

#include "engine/diff/sequence_alignment.h"

namespace kerf::inline diff {

namespace {

using Pairs = std::vector<std::pair<int, int>>;

/// Slots of operands that are partners, both increasing, and the ends of both lists.
Pairs anchorsOf(const Partners& partners, std::span<const int> mine, std::span<const int> theirs) {
  std::unordered_map<int, std::vector<int>> slots;
  for (std::size_t j = theirs.size(); j-- > 0;) slots[theirs[j]].push_back(int(j));
  Pairs known;
  std::vector<int> places;
  for (std::size_t i = 0; i < mine.size(); ++i) {
    const auto found = partners.has(mine[i]) ? slots.find(partners.of(mine[i])) : slots.end();
    if (found == slots.end() || found->second.empty()) continue;
    known.emplace_back(int(i), found->second.back());
    places.push_back(found->second.back());
    found->second.pop_back();
  }
  const auto kept = keepsOrder(places);
  Pairs anchors;
  for (std::size_t k = 0; k < known.size(); ++k)
    if (kept[k]) anchors.push_back(known[k]);
  anchors.emplace_back(int(mine.size()), int(theirs.size()));
  return anchors;
}

}  // namespace

Pairs slotPairs(const Partners& partners, int before, int after) {
  const auto mine = partners.before().inputs(before), theirs = partners.after().inputs(after);
  Pairs pairs;
  const auto add = [&](int i, int j, int count) {
    for (int k = 0; k < count; ++k) pairs.emplace_back(mine[std::size_t(i + k)], theirs[std::size_t(j + k)]);
  };
  if (mine.size() == theirs.size() && !partners.before().isOutput(before)) {
    add(0, 0, int(mine.size()));
    return pairs;
  }
  // Forward graphs return first what their joint graph does.
  const bool both = !mine.empty() && !theirs.empty();
  if (both && partners.before().value(mine[0]) != 0 && sameValueKnown(partners, mine[0], theirs[0])) add(0, 0, 1);
  int i = 0, j = 0;
  for (const auto& [nextI, nextJ] : anchorsOf(partners, mine, theirs)) {
    if (nextI - i == nextJ - j) add(i, j, nextI - i);
    if (nextI < int(mine.size())) add(nextI, nextJ, 1);
    i = nextI + 1;
    j = nextJ + 1;
  }
  return pairs;
}

}  // namespace kerf::inline diff
