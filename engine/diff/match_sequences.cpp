#include "engine/diff/match_sequences.h"

#include <algorithm>

#include "engine/diff/sequence_alignment.h"

namespace kerf::inline diff {

namespace {

/// Positions that are still open, with the keys by which they are aligned.
struct Sequence {
  std::vector<int> positions;
  std::vector<Key> keys;
};

Sequence sequenceOf(const ComparedGraph& graph, bool withValue, const auto& isOpen) {
  Sequence sequence;
  for (int at = 0; at < graph.size(); ++at) {
    if (!graph.isInner(at) || graph.origin(at) == 0 || !isOpen(at)) continue;
    sequence.positions.push_back(at);
    const Key key = mixed(graph.op(at), graph.origin(at));
    sequence.keys.push_back(withValue ? mixed(key, graph.value(at)) : key);
  }
  return sequence;
}

bool alignOrigins(Partners& partners, bool withValue) {
  const auto mine = sequenceOf(partners.before(), withValue, [&](int at) { return partners.isOpen(at); });
  const auto theirs = sequenceOf(partners.after(), withValue, [&](int at) { return partners.isOpenAfter(at); });
  const auto pairs = alignSequences(mine.keys, theirs.keys);
  for (const auto& [i, j] : pairs)
    partners.pair(mine.positions[std::size_t(i)], theirs.positions[std::size_t(j)], Evidence::Origin);
  return !pairs.empty();
}

/// A partner of one's input or user is the other's input or user.
bool haveCommonNeighbour(const Partners& partners, int before, int after) {
  constexpr std::size_t looked = 16;
  const auto theirs = partners.after().inputs(after);
  for (const int input : partners.before().inputs(before))
    if (partners.has(input) && std::ranges::find(theirs, partners.of(input)) != theirs.end()) return true;
  const auto mine = partners.before().users(before), users = partners.after().users(after);
  for (const Use& use : mine.first(std::min(looked, mine.size()))) {
    const int other = partners.of(use.node);
    const auto known = users.first(std::min(looked, users.size()));
    if (other != Partners::none && !partners.before().isOutput(use.node) &&
        std::ranges::any_of(known, [&](const Use& each) { return each.node == other; }))
      return true;
  }
  return false;
}

}  // namespace

bool matchOrigins(Partners& partners, ValueRule rule) {
  const bool same = alignOrigins(partners, true);
  return (rule == ValueRule::Any && alignOrigins(partners, false)) || same;
}

bool matchNames(Partners& partners, ValueRule rule) {
  const ComparedGraph &before = partners.before(), &after = partners.after();
  bool any = false;
  for (int at = 0; at < before.size(); ++at) {
    if (!partners.isOpen(at) || !before.isInner(at)) continue;
    const auto found = after.graph().find(before.node(at).name());
    if (!found) continue;
    const int other = after.at(*found);
    const bool alike = after.isInner(other) && partners.isOpenAfter(other) && before.op(at) == after.op(other);
    const Key mine = before.origin(at), theirs = after.origin(other);
    const bool sameOrigin = mine == 0 || theirs == 0 || mine == theirs;
    const bool fits = rule == ValueRule::Any || sameValueKnown(partners, at, other);
    if (!alike || !sameOrigin || !fits || !haveCommonNeighbour(partners, at, other)) continue;
    partners.pair(at, other, Evidence::Name);
    any = true;
  }
  return any;
}

}  // namespace kerf::inline diff
