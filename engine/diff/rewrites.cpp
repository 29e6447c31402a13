#include "engine/diff/rewrites.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "engine/diff/decompositions.h"
#include "engine/diff/slot_pairs.h"

namespace kerf::inline diff {

namespace {

constexpr std::size_t largestRegion = 64;

std::vector<int> positionsOf(const Partners& partners, const std::vector<std::string>& names) {
  std::vector<int> positions;
  const ComparedGraph& after = partners.after();
  for (const std::string& name : names) {
    const auto found = after.graph().find(name);
    if (found && partners.isOpenAfter(after.at(*found)) && after.isInner(after.at(*found)))
      positions.push_back(after.at(*found));
  }
  std::ranges::sort(positions);
  return positions;
}

/// The nodes without partner that a value is computed by, and the values that they take.
struct Region {
  std::vector<int> nodes, inputs;
};

class Regions {
 public:
  Regions(Partners& partners, std::vector<FoundRewrite>& found)
      : m_partners(partners), m_before(partners.before()), m_after(partners.after()), m_found(found) {}

  void run() {
    for (std::size_t i = 0; i < m_found.size(); ++i) remember(i);
    // A rewrite may be what a later one is part of.
    for (bool grows = true; grows;) {
      m_tried.clear();
      grows = look();
    }
  }

 private:
  /// Whether a rewrite was found or grew.
  bool look() {
    m_added = false;
    for (int at = m_before.size() - 1; at >= 0; --at)
      if (m_partners.has(at))
        for (const auto& [mine, theirs] : slotPairs(m_partners, at, m_partners.of(at))) compare(mine, theirs);
    return m_added;
  }

  bool isOpen(int at) const { return m_before.isInner(at) && m_partners.isOpen(at); }
  bool isOpenAfter(int at) const { return m_after.isInner(at) && m_partners.isOpenAfter(at); }

  void compare(int mine, int theirs) {
    if (!isOpen(mine) || !m_tried.insert(mixed(Key(mine), Key(theirs))).second) return;
    if (isOpenAfter(theirs)) return replace(mine, theirs);
    // The user takes what `mine` was made of.
    const auto region = regionOf(m_before, mine, [&](int at) { return isOpen(at); });
    if (region.nodes.size() > largestRegion) return;
    for (const int input : region.inputs)
      if (m_partners.valueOf(input) == theirs) return m_partners.setValue(mine, theirs);
  }

  template <class IsOpen>
  Region regionOf(const ComparedGraph& graph, int from, const IsOpen& isOpenNode) const {
    Region region;
    std::unordered_set<int> seen{from};
    std::vector<int> work{from};
    while (!work.empty() && region.nodes.size() <= largestRegion) {
      const int at = work.back();
      work.pop_back();
      if (!isOpenNode(at)) {
        region.inputs.push_back(at);
        continue;
      }
      region.nodes.push_back(at);
      for (const int input : graph.inputs(at))
        if (seen.insert(input).second) work.push_back(input);
    }
    std::ranges::sort(region.nodes);
    return region;
  }

  void replace(int mine, int theirs) {
    const auto before = regionOf(m_before, mine, [&](int at) { return isOpen(at); });
    const auto after = regionOf(m_after, theirs, [&](int at) { return isOpenAfter(at); });
    if (before.nodes.size() > largestRegion || after.nodes.size() > largestRegion) return;
    if (takeTheSame(before.inputs, after.inputs)) {
      m_found.push_back({FoundRewrite::Kind::Rewritten, {}, {}, Evidence::Place});
      return add(m_found.size() - 1, before.nodes, after.nodes, mine, theirs);
    }
    // softmax: amax became one result of prepare_softmax_online, sum becomes the other.
    std::size_t rewrite = rewriteAmong(after.inputs, m_rewriteOf);
    if (rewrite == m_found.size()) rewrite = rewriteAmong(before.inputs, m_rewriteFrom);
    if (rewrite == m_found.size() || m_found[rewrite].after.size() + after.nodes.size() > largestRegion) return;
    add(rewrite, before.nodes, after.nodes, mine, theirs);
  }

  using Index = std::unordered_map<int, std::size_t>;
  std::size_t rewriteAmong(const std::vector<int>& inputs, const Index& index) const {
    const auto known = std::ranges::find_if(inputs, [&](int at) { return index.contains(at); });
    return known == inputs.end() ? m_found.size() : index.at(*known);
  }

  void add(std::size_t index, const std::vector<int>& before, const std::vector<int>& after, int mine, int theirs) {
    FoundRewrite& rewrite = m_found[index];
    m_partners.setValue(mine, theirs);
    m_partners.claim(before, after);
    rewrite.before.insert(rewrite.before.end(), before.begin(), before.end());
    rewrite.after.insert(rewrite.after.end(), after.begin(), after.end());
    std::ranges::sort(rewrite.before);
    std::ranges::sort(rewrite.after);
    remember(index);
    m_added = true;
  }

  void remember(std::size_t index) {
    if (m_found[index].kind != FoundRewrite::Kind::Rewritten) return;
    for (const int at : m_found[index].before) m_rewriteFrom[at] = index;
    for (const int at : m_found[index].after) m_rewriteOf[at] = index;
  }

  /// One of both takes all that the other takes, and something at all unless neither does.
  bool takeTheSame(const std::vector<int>& before, const std::vector<int>& after) const {
    std::unordered_set<int> values;
    for (const int input : before)
      if (const int value = m_partners.valueOf(input); value != Partners::none) values.insert(value);
    const auto common = std::size_t(std::ranges::count_if(after, [&](int input) { return values.contains(input); }));
    // What another rewrite made, as the seeds of all random calls, is nothing that the first graph could take.
    const auto made = std::size_t(std::ranges::count_if(after, [&](int at) { return m_rewriteOf.contains(at); }));
    if (common == 0) return before.empty() && after.size() == made;
    return common == before.size() || common == after.size();
  }

  Partners& m_partners;
  const ComparedGraph &m_before, &m_after;
  std::unordered_set<Key> m_tried;
  bool m_added = false;
  std::vector<FoundRewrite>& m_found;
  Index m_rewriteFrom, m_rewriteOf;  ///< by position in the first and in the second graph
};

}  // namespace

std::vector<FoundRewrite> recordedRewrites(Partners& partners, const RecordedOrigins& origins) {
  const ComparedGraph &before = partners.before(), &after = partners.after();
  std::vector<FoundRewrite> found;
  std::unordered_map<std::string, std::size_t> byTargets;  // several nodes may have become the same ones
  for (const auto& [name, names] : origins) {
    const auto node = before.graph().find(name);
    if (!node || !partners.isOpen(before.at(*node)) || !before.isInner(before.at(*node))) continue;
    const int at = before.at(*node);
    std::string text;
    for (const std::string& each : names) text += each + ",";
    if (const auto same = byTargets.find(text); same != byTargets.end()) {
      found[same->second].before.push_back(at);
      partners.claim({at}, {});
      continue;
    }
    auto positions = positionsOf(partners, names);
    if (positions.empty()) continue;
    partners.setValue(at, positions.back());
    if (positions.size() == 1 && before.op(at) == after.op(positions[0])) {
      partners.pair(at, positions[0], Evidence::Recorded);
      continue;
    }
    byTargets.emplace(text, found.size());
    partners.claim({at}, positions);
    found.push_back({FoundRewrite::Kind::Rewritten, {at}, std::move(positions), Evidence::Recorded});
  }
  return found;
}

std::vector<FoundRewrite> loweredRewrites(Partners& partners) {
  std::vector<FoundRewrite> found;
  for (Decomposition& each : findDecompositions(partners)) {
    if (each.after.empty()) continue;
    partners.claim(each.before, each.after);
    found.push_back({FoundRewrite::Kind::Rewritten, std::move(each.before), std::move(each.after), Evidence::Origin});
  }
  return found;
}

void replaceRegions(Partners& partners, std::vector<FoundRewrite>& found) { Regions(partners, found).run(); }

std::vector<FoundRewrite> mergedNodes(Partners& partners, const Classes& classes) {
  const ComparedGraph &before = partners.before(), &after = partners.after();
  // The pair that a class has, by the class's first node.
  std::unordered_map<int, int> mine, theirs;
  for (int at = 0; at < before.size(); ++at) {
    if (!partners.has(at)) continue;
    mine.emplace(classes.before[std::size_t(at)], at);
    theirs.emplace(classes.after[std::size_t(partners.of(at))], at);
  }
  std::vector<FoundRewrite> found;
  for (int at = 0; at < before.size(); ++at) {
    const auto same = mine.find(classes.before[std::size_t(at)]);
    if (!partners.isOpen(at) || same == mine.end()) continue;
    partners.setValue(at, partners.of(same->second));
    found.push_back({FoundRewrite::Kind::Merged, {at}, {partners.of(same->second)}, Evidence::Structure});
  }
  for (int at = 0; at < after.size(); ++at) {
    const auto same = theirs.find(classes.after[std::size_t(at)]);
    if (!partners.isOpenAfter(at) || same == theirs.end()) continue;
    found.push_back({FoundRewrite::Kind::Duplicated, {same->second}, {at}, Evidence::Structure});
  }
  return found;
}

}  // namespace kerf::inline diff
