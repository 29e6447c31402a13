#include "engine/diff/match_structure.h"

#include <algorithm>
#include <unordered_map>

#include "engine/diff/slot_pairs.h"

namespace kerf::inline diff {

namespace {

constexpr int maxRounds = 6;
constexpr Key pairSeed = 0x51ed270b, givenSeed = 0x2545f491, loneSeed = 0x9e3779b9;

/// Which of two graphs is meant.
enum class Side { Before, After };

/// Keys of values that both graphs have: by class, for what has a partner or may be given. Placeholders of one graph
/// have keys of their own.
std::vector<Key> leafKeys(const Partners& partners, const GivenValues& given, const Classes& classes, Side side) {
  const bool isBefore = side == Side::Before;
  const ComparedGraph& graph = isBefore ? partners.before() : partners.after();
  const std::vector<int>& own = isBefore ? classes.before : classes.after;
  std::vector<Key> byClass(std::size_t(graph.size()), 0);
  for (std::size_t i = 0; i < given.size(); ++i) {
    const auto [before, after] = given[i];
    if (!partners.has(before) && !partners.taken(after))
      byClass[std::size_t(own[std::size_t(isBefore ? before : after)])] = mixed(givenSeed, i);
  }
  for (int at = graph.size() - 1; at >= 0; --at) {
    const int pair = isBefore ? (partners.has(at) ? at : Partners::none) : partners.back(at);
    if (pair != Partners::none)
      byClass[std::size_t(own[std::size_t(at)])] = mixed(pairSeed, Key(classes.before[std::size_t(pair)]));
    else if (graph.isPlaceholder(at) && byClass[std::size_t(at)] == 0)
      byClass[std::size_t(at)] = mixed(loneSeed + Key(side), Key(at));
  }
  std::vector<Key> keys;
  for (const int each : own) keys.push_back(byClass[std::size_t(each)]);
  return keys;
}

/// What each node computes, down to leaves.
std::vector<Key> computationKeys(const ComparedGraph& graph, std::vector<Key> keys) {
  for (int at = 0; at < graph.size(); ++at) {
    Key& key = keys[std::size_t(at)];
    if (key != 0) continue;
    key = graph.label(at);
    for (const int input : graph.inputs(at)) key = mixed(key, keys[std::size_t(input)]);
  }
  return keys;
}

/// What becomes of each node's value, down to nodes that have a key of their own. Items of outputs that are of unequal
/// number on both sides say nothing: `outputsAgree` is false.
std::vector<Key> useKeys(const ComparedGraph& graph, std::vector<Key> keys, bool outputsAgree, Side side) {
  for (int at = graph.size() - 1; at >= 0; --at) {
    Key& key = keys[std::size_t(at)];
    if (key != 0) continue;
    Key uses = 0;
    for (const Use& use : graph.users(at)) {
      const bool tells = outputsAgree || !graph.isOutput(use.node);
      uses += tells ? mixed(keys[std::size_t(use.node)], Key(use.slot) + 1) : mixed(loneSeed + Key(side), Key(at));
    }
    key = mixed(graph.label(at), uses);
  }
  return keys;
}

/// How many values a graph returns.
std::size_t outputItems(const ComparedGraph& graph) {
  const NodeId output = graph.graph().outputNode();
  return output.valid() ? graph.inputs(graph.at(output)).size() : 0;
}

/// Nodes of one key without partner, in order.
struct Candidates {
  std::vector<int> before, after;
};

class KeyMatch {
 public:
  KeyMatch(Partners& partners, const std::vector<Key>& before, const std::vector<Key>& after)
      : m_partners(partners), m_before(before), m_after(after) {}

  /// With `evenOnly`, keys that one graph has more often than the other say nothing.
  int run(bool evenOnly) {
    std::unordered_map<Key, Candidates> byKey;
    for (int at = 0; at < m_partners.before().size(); ++at)
      if (m_partners.isOpen(at) && m_partners.before().isInner(at))
        byKey[m_before[std::size_t(at)]].before.push_back(at);
    for (int at = 0; at < m_partners.after().size(); ++at) {
      if (!m_partners.isOpenAfter(at) || !m_partners.after().isInner(at)) continue;
      const auto found = byKey.find(m_after[std::size_t(at)]);
      if (found != byKey.end()) found->second.after.push_back(at);
    }
    int found = 0;
    for (auto& [key, candidates] : byKey)
      if (!evenOnly || candidates.before.size() == candidates.after.size()) found += pair(candidates);
    return found;
  }

 private:
  int pair(const Candidates& candidates) {
    const ComparedGraph &before = m_partners.before(), &after = m_partners.after();
    int found = 0;
    std::unordered_map<std::string_view, int> named;
    if (candidates.before.size() > 1 || candidates.after.size() > 1)
      for (const int at : candidates.after) named.emplace(after.node(at).name(), at);
    for (const int at : candidates.before) {
      const auto same = named.find(before.node(at).name());
      if (same == named.end()) continue;
      m_partners.pair(at, same->second, Evidence::Structure);
      ++found;
    }
    auto next = candidates.after.begin();
    for (const int at : candidates.before) {
      if (m_partners.has(at)) continue;
      while (next != candidates.after.end() && m_partners.taken(*next)) ++next;
      if (next == candidates.after.end()) break;
      m_partners.pair(at, *next, Evidence::Structure);
      ++found;
    }
    return found;
  }

  Partners& m_partners;
  const std::vector<Key>&m_before, &m_after;
};

/// The only user at `slot` with that op that has no partner.
int onlyUser(const ComparedGraph& graph, int at, Key op, int slot, const auto& isMatched) {
  int only = Partners::none;
  for (const Use& use : graph.users(at)) {
    if (use.slot != slot || graph.op(use.node) != op || isMatched(use.node)) continue;
    if (only != Partners::none && only != use.node) return Partners::none;
    only = use.node;
  }
  return only;
}

class PlaceMatch {
 public:
  PlaceMatch(Partners& partners, ValueRule rule) : m_partners(partners), m_rule(rule) {}

  bool run() {
    const ComparedGraph& before = m_partners.before();
    for (int at = before.size() - 1; at >= 0; --at)
      if (m_partners.has(at)) m_work.push_back(at);
    bool found = false;
    while (!m_work.empty()) {
      const int at = m_work.back();
      m_work.pop_back();
      found |= matchTaken(at, m_partners.of(at));
      found |= matchUsers(at, m_partners.of(at));
    }
    return found;
  }

 private:
  static constexpr std::size_t manyUsers = 64;

  bool matchTaken(int mine, int theirs) {
    bool found = false;
    for (const auto& [a, b] : slotPairs(m_partners, mine, theirs)) found |= tryPair(a, b);
    return found;
  }

  bool matchUsers(int mine, int theirs) {
    const ComparedGraph &before = m_partners.before(), &after = m_partners.after();
    if (before.users(mine).size() > manyUsers || after.users(theirs).size() > manyUsers) return false;
    bool found = false;
    for (const Use& use : before.users(mine)) {
      if (!m_partners.isOpen(use.node)) continue;
      const Key op = before.op(use.node);
      const int a = onlyUser(before, mine, op, use.slot, [&](int at) { return !m_partners.isOpen(at); });
      const int b = onlyUser(after, theirs, op, use.slot, [&](int at) { return !m_partners.isOpenAfter(at); });
      if (a != Partners::none && b != Partners::none && fits(a, b)) found |= tryPair(a, b);
    }
    return found;
  }

  bool fits(int a, int b) const { return m_rule == ValueRule::Any || sameValueKnown(m_partners, a, b); }

  bool tryPair(int a, int b) {
    const ComparedGraph &before = m_partners.before(), &after = m_partners.after();
    if (!m_partners.isOpen(a) || !m_partners.isOpenAfter(b) || before.op(a) != after.op(b) || !before.isInner(a))
      return false;
    if (before.origin(a) != 0 && after.origin(b) != 0 && before.origin(a) != after.origin(b)) return false;
    m_partners.pair(a, b, Evidence::Place);
    m_work.push_back(a);
    return true;
  }

  Partners& m_partners;
  const ValueRule m_rule;
  std::vector<int> m_work;
};

}  // namespace

void matchStructure(Partners& partners, const GivenValues& given, const Classes& classes) {
  const ComparedGraph &before = partners.before(), &after = partners.after();
  const bool outputsAgree = outputItems(before) == outputItems(after);
  for (int round = 0; round < maxRounds; ++round) {
    const auto lower = computationKeys(before, leafKeys(partners, given, classes, Side::Before)),
               upper = computationKeys(after, leafKeys(partners, given, classes, Side::After));
    int found = KeyMatch(partners, lower, upper).run(false);
    found += confirmGivenValues(partners, given, classes);
    const auto mine = useKeys(before, leafKeys(partners, {}, classes, Side::Before), outputsAgree, Side::Before),
               theirs = useKeys(after, leafKeys(partners, {}, classes, Side::After), outputsAgree, Side::After);
    found += KeyMatch(partners, mine, theirs).run(true);
    found += confirmGivenValues(partners, given, classes);
    if (found == 0) return;
  }
}

bool matchPlaces(Partners& partners, ValueRule rule) { return PlaceMatch(partners, rule).run(); }

}  // namespace kerf::inline diff
