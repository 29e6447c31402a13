#include "engine/diff/match_inputs.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "engine/diff/sequence_alignment.h"

namespace kerf::inline diff {

namespace {

std::vector<int> openPlaceholders(const ComparedGraph& graph, const auto& isMatched) {
  std::vector<int> open;
  for (int at = 0; at < graph.size(); ++at)
    if (graph.isPlaceholder(at) && !isMatched(at)) open.push_back(at);
  return open;
}

std::optional<int> placeholderNamed(const ComparedGraph& graph, const std::string& name) {
  const auto found = graph.graph().find(name);
  if (!found || !graph.isPlaceholder(graph.at(*found))) return std::nullopt;
  return graph.at(*found);
}

void matchNames(Partners& partners) {
  const ComparedGraph &before = partners.before(), &after = partners.after();
  for (int at = 0; at < before.size(); ++at) {
    if (!before.isPlaceholder(at)) continue;
    if (const auto other = placeholderNamed(after, before.node(at).name())) partners.pair(at, *other, Evidence::Name);
  }
}

/// Without values on both sides, or where as many are left, the place alone decides.
void matchPlaces(Partners& partners) {
  const auto mine = openPlaceholders(partners.before(), [&](int at) { return partners.has(at); });
  const auto theirs = openPlaceholders(partners.after(), [&](int at) { return partners.taken(at); });
  const auto valuesOf = [](const ComparedGraph& graph, const std::vector<int>& positions) {
    std::vector<Key> values;
    for (const int at : positions) values.push_back(graph.value(at));
    return values;
  };
  const auto mineValues = valuesOf(partners.before(), mine), theirValues = valuesOf(partners.after(), theirs);
  if (mine.size() == theirs.size()) {
    for (std::size_t i = 0; i < mine.size(); ++i) partners.pair(mine[i], theirs[i], Evidence::Place);
    return;
  }
  // The rest of the longer list comes last: tangents, saved values.
  const std::size_t common = std::min(mine.size(), theirs.size());
  if (std::equal(mineValues.begin(), mineValues.begin() + std::ptrdiff_t(common), theirValues.begin())) {
    for (std::size_t i = 0; i < common; ++i) partners.pair(mine[i], theirs[i], Evidence::Place);
    return;
  }
  for (const auto& [i, j] : alignSequences(mineValues, theirValues))
    partners.pair(mine[std::size_t(i)], theirs[std::size_t(j)], Evidence::Place);
}

/// A user of `before` has a partner that takes a value of the class `after` at the same place.
bool usesAgree(const Partners& partners, const Classes& classes, int before, int after) {
  return std::ranges::any_of(partners.before().users(before), [&](const Use& use) {
    const int other = partners.of(use.node);
    if (other == Partners::none || partners.before().isOutput(use.node)) return false;
    const auto inputs = partners.after().inputs(other);
    const auto slot = std::size_t(use.slot);
    return slot < inputs.size() && classes.after[std::size_t(inputs[slot])] == after;
  });
}

}  // namespace

void matchInputs(Partners& partners) {
  matchNames(partners);
  matchPlaces(partners);
  const auto mine = partners.before().graph().outputNode(), theirs = partners.after().graph().outputNode();
  if (mine.valid() && theirs.valid())
    partners.pair(partners.before().at(mine), partners.after().at(theirs), Evidence::Structure);
}

GivenValues givenValues(const Partners& partners) {
  const ComparedGraph &before = partners.before(), &after = partners.after();
  GivenValues values;
  for (int at = 0; at < before.size(); ++at) {
    if (partners.has(at) || before.isOutput(at)) continue;
    const auto found = after.graph().find(before.node(at).name());
    if (!found) continue;
    const int other = after.at(*found);
    if (partners.taken(other) || after.isOutput(other)) continue;
    const bool oneIsGiven = before.isPlaceholder(at) != after.isPlaceholder(other);
    if (oneIsGiven && before.value(at) == after.value(other)) values.emplace_back(at, other);
  }
  return values;
}

int confirmGivenValues(Partners& partners, const GivenValues& values, const Classes& classes) {
  std::unordered_map<int, std::vector<int>> members;
  for (const auto& [before, after] : values) members[classes.before[std::size_t(before)]];
  for (int at = 0; at < partners.before().size(); ++at)
    if (const auto found = members.find(classes.before[std::size_t(at)]); found != members.end())
      found->second.push_back(at);
  int confirmed = 0;
  for (const auto& [before, after] : values) {
    if (partners.has(before) || partners.taken(after)) continue;
    const int theirs = classes.after[std::size_t(after)];
    if (std::ranges::none_of(members[classes.before[std::size_t(before)]],
                             [&](int at) { return usesAgree(partners, classes, at, theirs); }))
      continue;
    partners.pair(before, after, Evidence::Structure);
    ++confirmed;
  }
  return confirmed;
}

void acceptGivenNames(Partners& partners, const GivenValues& values) {
  const auto confirmed =
      std::ranges::count_if(values, [&](const auto& value) { return partners.of(value.first) == value.second; });
  const auto contradicted = std::ranges::count_if(values, [&](const auto& value) {
    const int other = partners.of(value.first), origin = partners.back(value.second);
    return (other != Partners::none && other != value.second) || (origin != Partners::none && origin != value.first);
  });
  if (confirmed == 0 || contradicted * 8 > confirmed) return;
  for (const auto& [before, after] : values)
    if (partners.isOpen(before) && partners.isOpenAfter(after) && partners.before().value(before) != 0)
      partners.pair(before, after, Evidence::Name);
}

}  // namespace kerf::inline diff
