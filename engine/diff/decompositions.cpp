#include "engine/diff/decompositions.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <unordered_map>

#include "engine/diff/op_landmarks.h"
#include "engine/diff/sequence_alignment.h"

namespace kerf::inline diff {

namespace {

constexpr int longestStretch = 96;
constexpr std::size_t mostEnds = 8;
constexpr int mostSkipped = 6;  ///< calls that belong to nothing, before a unit's own begin
constexpr std::size_t mostVanishing = 3;
constexpr std::size_t mostShared = 3;
constexpr int deepestShared = 4;
constexpr double impossible = 1e9;

/// A call of the first graph with the getitems of its results.
struct Unit {
  std::vector<int> nodes;
  bool takenApart = false;  ///< its results are the getitems, else it is its own
  std::span<const int> results() const { return std::span(nodes).subspan(takenApart ? 1 : 0); }
};

/// Positions that follow each other and stem from one source line.
struct Run {
  Key origin = 0;
  int begin = 0, end = 0;
};

/// A way to read the next calls as what a unit became: up to `end`, with the nodes that give its results.
struct Reading {
  int end = 0;
  double cost = impossible;
  std::vector<int> results;
};

template <class OriginOf>
std::vector<Run> runsOf(int size, const OriginOf& originOf) {
  std::vector<Run> runs;
  for (int i = 0; i < size; ++i) {
    const Key origin = originOf(i);
    if (!runs.empty() && (origin == 0 || runs.back().origin == 0 || runs.back().origin == origin)) {
      runs.back().end = i + 1;
      if (runs.back().origin == 0) runs.back().origin = origin;
    } else {
      runs.push_back({origin, i, i + 1});
    }
  }
  return runs;
}

class Lowering {
 public:
  explicit Lowering(Partners& partners) : m_partners(partners), m_before(partners.before()), m_after(partners.after()) {
    collectUnits();
    collectCalls();
    m_valuesKnown =
        std::ranges::any_of(m_units, [&](const Unit& unit) { return m_before.value(unit.nodes[0]) != 0; }) &&
        std::ranges::any_of(m_calls, [&](int call) { return m_after.value(call) != 0; });
    m_stamp.assign(std::size_t(m_after.size()), 0);
    m_open.assign(std::size_t(m_after.size()), 0);
    m_beforeNames.resize(std::size_t(m_before.size()));
    m_afterNames.resize(std::size_t(m_after.size()));
  }

  std::vector<Decomposition> run() {
    const bool origins = std::ranges::any_of(m_units, [&](const Unit& unit) { return originOf(unit) != 0; }) &&
                         std::ranges::any_of(m_calls, [&](int call) { return m_after.origin(call) != 0; });
    const auto mine =
        runsOf(int(m_units.size()), [&](int i) { return origins ? originOf(m_units[std::size_t(i)]) : Key(0); });
    const auto theirs =
        runsOf(int(m_calls.size()), [&](int i) { return origins ? m_after.origin(m_calls[std::size_t(i)]) : Key(0); });
    const auto originsOf = [](const std::vector<Run>& runs) {
      std::vector<Key> keys;
      for (const Run& run : runs) keys.push_back(run.origin);
      return keys;
    };
    std::vector<int> runOf(mine.size(), -1);
    for (const auto& [i, j] : alignSequences(originsOf(mine), originsOf(theirs))) runOf[std::size_t(i)] = j;
    for (std::size_t i = 0; i < mine.size(); ++i)
      readRun(mine[i], runOf[i] < 0 ? Run() : theirs[std::size_t(runOf[i])]);
    return std::move(m_found);
  }

 private:
  Key originOf(const Unit& unit) const { return m_before.origin(unit.nodes.front()); }

  const std::string& nameOf(const ComparedGraph& graph, std::vector<std::string>& names, int at) const {
    std::string& name = names[std::size_t(at)];
    if (name.empty()) name = baseName(graph.node(at));
    return name;
  }
  const std::string& mineNamed(int at) { return nameOf(m_before, m_beforeNames, at); }
  const std::string& theirsNamed(int at) { return nameOf(m_after, m_afterNames, at); }

  void collectUnits() {
    std::vector<int> unitOf(std::size_t(m_before.size()), -1);
    for (int at = 0; at < m_before.size(); ++at) {
      if (!m_partners.isOpen(at) || !m_before.isInner(at) || m_before.isAttribute(at)) continue;
      const auto inputs = m_before.inputs(at);
      const bool part = m_before.node(at).target().find("getitem") != std::string::npos && inputs.size() == 1;
      const int owner = part ? unitOf[std::size_t(inputs[0])] : -1;
      if (owner >= 0 && m_units[std::size_t(owner)].nodes.front() == inputs[0] && isTuple(inputs[0])) {
        m_units[std::size_t(owner)].nodes.push_back(at);
        m_units[std::size_t(owner)].takenApart = true;
        continue;
      }
      unitOf[std::size_t(at)] = int(m_units.size());
      m_units.push_back({{at}, false});
    }
  }

  /// All its uses take an item.
  bool isTuple(int at) const {
    if (m_before.node(at).meta().value.tensor() != nullptr) return false;
    return std::ranges::all_of(m_before.users(at), [&](const Use& use) {
      return m_before.node(use.node).target().find("getitem") != std::string::npos;
    });
  }

  /// The backward half of a joint graph begins with the first call that takes a tangent.
  void collectCalls() {
    m_forward.assign(std::size_t(m_after.size()), true);
    bool backward = false;
    for (int at = 0; at < m_after.size(); ++at) {
      backward |= m_after.isInner(at) && std::ranges::any_of(m_after.inputs(at), [&](int input) {
                    return m_after.isPlaceholder(input) && !m_partners.taken(input) && isTangent(input);
                  });
      m_forward[std::size_t(at)] = !backward;
      if (!backward && m_after.isInner(at) && !m_after.isAttribute(at) && m_partners.isOpenAfter(at) && !isSeeds(at))
        m_calls.push_back(at);
    }
    m_live = m_forward;
    const std::vector<char> wanted = wantedOutputs(backward);
    m_shares = std::ranges::find(wanted, 0) != wanted.end();
    for (int at = m_after.size() - 1; at >= 0; --at)
      if (m_forward[std::size_t(at)])
        m_live[std::size_t(at)] = m_after.isOutput(at) || std::ranges::any_of(m_after.users(at), [&](const Use& use) {
                                    return m_after.isOutput(use.node) ? wanted[std::size_t(use.slot)] != 0
                                                                      : m_live[std::size_t(use.node)] != 0;
                                  });
  }

  static std::span<const int> returnedBy(const ComparedGraph& graph) {
    for (int at = graph.size() - 1; at >= 0; --at)
      if (graph.isOutput(at)) return graph.inputs(at);
    return {};
  }

  /// By slot, what the second graph returns as the first one does. A forward graph returns more: what its backward graph
  /// needs, of which some is computed for that alone, far behind (`rsqrt / 768`). All where types do not tell.
  std::vector<char> wantedOutputs(bool hasBackward) const {
    const auto mine = returnedBy(m_before), theirs = returnedBy(m_after);
    const std::vector<char> all(theirs.size(), true);
    if (hasBackward || mine.size() >= theirs.size()) return all;
    std::vector<char> wanted(theirs.size(), false);
    for (const int value : mine) {
      std::size_t slot = 0;
      const auto fits = [&] { return !wanted[slot] && m_before.value(value) == m_after.value(theirs[slot]); };
      while (slot < theirs.size() && !fits()) ++slot;
      if (m_before.value(value) == 0 || slot == theirs.size()) return all;
      wanted[slot] = true;
    }
    return wanted;
  }

  /// The seeds of all random calls of a graph, made where the first of them stands: they belong to none.
  bool isSeeds(int at) const { return m_after.node(at).target() == "torch.ops.prims.inductor_seeds.default"; }

  bool isTangent(int at) const { return m_after.node(at).name().starts_with("tangents"); }

  /// Uses that count when it is asked whether a value is needed outside of a stretch.
  int forwardUses(int at) const {
    return int(std::ranges::count_if(m_after.users(at), [&](const Use& use) {
      return m_live[std::size_t(use.node)] && !m_after.isOutput(use.node);
    }));
  }

  void readRun(const Run& mine, const Run& theirs) {
    int position = theirs.begin;
    for (int i = mine.begin; i < mine.end; ++i) {
      const Unit& unit = m_units[std::size_t(i)];
      const auto rest = std::span(m_units).subspan(std::size_t(i) + 1, std::size_t(mine.end - i - 1));
      Reading best;
      const int furthest = std::min(theirs.end, position + mostSkipped);
      for (int from = position; best.cost >= impossible && from <= furthest; ++from) {
        best = bestReading(unit, rest, from, theirs.end);
        if (best.cost < impossible) position = from;
      }
      if (best.cost >= impossible) continue;
      accept(unit, position, best);
      position = best.end;
    }
  }

  Reading bestReading(const Unit& unit, std::span<const Unit> rest, int position, int end) {
    Reading best;
    for (Reading& reading : readings(unit, position, end)) {
      const double cost =
          reading.cost + costOfRest(unit, reading, rest.first(std::min(rest.size(), mostVanishing)), end);
      if (cost < best.cost) best = {reading.end, cost, std::move(reading.results)};
    }
    return best;
  }

  /// What the next units cost after this one was read so: one of them, more where they vanish.
  double costOfRest(const Unit& unit, const Reading& reading, std::span<const Unit> rest, int end) {
    if (rest.empty()) return end - reading.end;
    setResults(unit, reading);
    double least = 12;
    for (const Reading& other : readings(rest.front(), reading.end, end)) {
      const bool vanishes = other.end == reading.end && rest.size() <= mostVanishing;
      const double more = vanishes ? costOfRest(rest.front(), other, rest.subspan(1), end) : 0;
      least = std::min(least, other.cost + more);
    }
    for (const int result : unit.nodes) m_partners.setValue(result, Partners::none);
    return least;
  }

  void setResults(const Unit& unit, const Reading& reading) {
    const auto results = unit.results();
    for (std::size_t i = 0; i < results.size() && i < reading.results.size(); ++i)
      m_partners.setValue(results[i], reading.results[i]);
  }

  /// Computed further above of the same values alone: partitioning makes equal calls one, which several units then use.
  bool isShared(const std::vector<int>& values, int input, int depth) const {
    if (!m_shares || depth == 0 || !m_after.isInner(input)) return false;
    return std::ranges::all_of(m_after.inputs(input), [&](int one) { return isOperand(values, one, depth - 1); });
  }

  bool isAllowed(const std::vector<int>& values, int input) const {
    return m_stamp[std::size_t(input)] == m_now || isOperand(values, input, deepestShared);
  }

  bool isOperand(const std::vector<int>& values, int input, int depth) const {
    if (std::ranges::find(values, input) != values.end() || isShared(values, input, depth)) return true;
    if (m_after.node(input).meta().value.sym() != nullptr || m_after.isAttribute(input) || isSeeds(input)) return true;
    return m_after.isPlaceholder(input) && !m_partners.taken(input) && m_forward[std::size_t(input)];
  }

  /// Every end of a stretch that begins at `position` and can be read as the unit, cheapest or not; an empty one too.
  std::vector<Reading> readings(const Unit& unit, int position, int end) {
    std::vector<int> values;
    for (const int input : m_before.inputs(unit.nodes.front()))
      if (const int value = m_partners.valueOf(input); value != Partners::none) values.push_back(value);
    std::vector<Reading> found;
    if (auto gone = vanished(unit, position)) found.push_back(std::move(*gone));
    const bool needsNone = m_before.inputs(unit.nodes.front()).empty() || isMade(mineNamed(unit.nodes.front()));
    if (values.empty() && !needsNone) return found;
    bool takes = needsNone;
    ++m_now;
    std::vector<int> open;
    const int last = std::min(end, position + longestStretch);
    const std::size_t most = m_shares ? 3 * mostEnds : mostEnds;
    for (int at = position; at < last && found.size() < most; ++at) {
      const int call = m_calls[std::size_t(at)];
      const auto inputs = m_after.inputs(call);
      if (!std::ranges::all_of(inputs, [&](int input) { return isAllowed(values, input); })) break;
      takes |= std::ranges::any_of(inputs, [&](int input) { return m_stamp[std::size_t(input)] != m_now; });
      m_stamp[std::size_t(call)] = m_now;
      m_open[std::size_t(call)] = forwardUses(call);
      for (const int input : inputs)
        if (m_live[std::size_t(call)] && m_stamp[std::size_t(input)] == m_now) --m_open[std::size_t(input)];
      std::erase_if(open, [&](int node) { return m_open[std::size_t(node)] == 0; });
      if (m_open[std::size_t(call)] > 0) open.push_back(call);
      if (!takes) continue;
      if (auto results = resultsOf(unit, open, call))
        found.push_back({at + 1, costOf(unit, position, at + 1) + sharedCost(unit, open), std::move(*results)});
    }
    return found;
  }

  bool sameValue(int mine, int theirs) const { return !m_valuesKnown || m_before.value(mine) == m_after.value(theirs); }

  /// The nodes of a stretch that ends with `last` that give the unit's results, if what is used of it fits them.
  std::optional<std::vector<int>> resultsOf(const Unit& unit, const std::vector<int>& open, int last) const {
    const auto results = unit.results();
    const bool shares = open.size() > results.size();  // beside the last call, what units have in common
    if (shares && (!m_shares || results.size() > 1 || open.size() > 1 + mostShared || open.back() != last))
      return std::nullopt;
    if (results.size() == 1) {
      const int result = open.empty() || shares ? last : open.front();
      if (!sameValue(results[0], result)) return std::nullopt;
      return std::vector<int>{result};
    }
    std::vector<int> assigned(results.size(), Partners::none);
    for (const int node : open) {
      std::size_t i = 0;
      while (i < results.size() && (assigned[i] != Partners::none || !sameValue(results[i], node))) ++i;
      if (i == results.size()) return std::nullopt;
      assigned[i] = node;
    }
    return assigned;
  }

  /// Values beside the results that are used further below.
  static double sharedCost(const Unit& unit, const std::vector<int>& open) {
    const std::size_t results = unit.results().size();
    return open.size() > results ? 0.75 * double(open.size() - results) : 0;
  }

  /// Nothing is left of the unit: its value is an operand's, or nobody needs it.
  std::optional<Reading> vanished(const Unit& unit, int position) {
    const int node = unit.nodes.front();
    const bool unused = m_before.users(node).empty();
    const double cost = mayVanish(mineNamed(node)) || unused ? 0.25 : 4;
    if (unused) return Reading{position, cost, {}};
    if (unit.takenApart || m_before.inputs(node).empty()) return std::nullopt;
    const int value = m_partners.valueOf(m_before.inputs(node)[0]);
    if (value == Partners::none || m_before.value(node) == 0 || m_before.value(node) != m_after.value(value))
      return std::nullopt;
    return Reading{position, cost, {value}};
  }

  /// 0: nothing but the op's own calls. More for calls that are rather another op's, or without its landmark.
  double costOf(const Unit& unit, int begin, int end) {
    const std::string& name = mineNamed(unit.nodes.front());
    const auto landmarks = landmarksOf(name);
    const auto isOwn = [&](std::string_view call) {
      return call == name || std::ranges::find(landmarks, call) != landmarks.end();
    };
    double strange = 0;
    int own = 0, others = 0;
    for (int at = begin; at < end; ++at) {
      const std::string& call = theirsNamed(m_calls[std::size_t(at)]);
      if (isOwn(call))
        ++own;
      else if (isLandmark(call))
        strange += 8;
      else if (!isGlue(call))
        ++others;
    }
    // The same op again stands for itself; what else came along belongs to its neighbours.
    const bool itself = std::ranges::any_of(m_calls.begin() + begin, m_calls.begin() + end,
                                            [&](int call) { return theirsNamed(call) == name; });
    if (itself || (isPlain(name) && own > 0)) return strange + others + 0.5 * (own - 1);
    if (!landmarks.empty() && own == 0) return strange + 8;
    return strange + (landmarks.empty() ? 0.5 : 0);
  }

  void accept(const Unit& unit, int position, const Reading& reading) {
    const auto calls = std::span(m_calls).subspan(std::size_t(position), std::size_t(reading.end - position));
    const bool same = std::ranges::equal(
        unit.nodes, calls, {}, [&](int node) { return m_before.op(node); }, [&](int call) { return m_after.op(call); });
    if (same && !calls.empty()) {
      for (std::size_t i = 0; i < calls.size(); ++i) m_partners.pair(unit.nodes[i], calls[i], Evidence::Origin);
      return;
    }
    setResults(unit, reading);
    m_found.push_back({unit.nodes, {calls.begin(), calls.end()}});
  }

  Partners& m_partners;
  const ComparedGraph &m_before, &m_after;
  std::vector<Unit> m_units;
  std::vector<int> m_calls;          ///< of the second graph, without partner, in order
  std::vector<char> m_forward;       ///< by position in the second graph
  std::vector<char> m_live;          ///< forward, and not only for gradients
  std::vector<int> m_stamp, m_open;  ///< of the stretch that is being read: belongs to it; uses outside of it
  int m_now = 0;
  bool m_shares = false;       ///< a forward graph, in which equal calls are one
  bool m_valuesKnown = false;  ///< dtypes and shapes are there on both sides
  std::vector<std::string> m_beforeNames, m_afterNames;
  std::vector<Decomposition> m_found;
};

}  // namespace

std::vector<Decomposition> findDecompositions(Partners& partners) { return Lowering(partners).run(); }

}  // namespace kerf::inline diff
