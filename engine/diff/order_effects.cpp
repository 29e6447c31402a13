#include "engine/diff/order_effects.h"

#include <algorithm>
#include <map>

#include "engine/diff/sequence_alignment.h"
#include "engine/ops/core/memory_use.h"
#include "engine/ops/core/purity.h"

namespace kerf::inline diff {

namespace {

constexpr int world = -1;  ///< what effects without memory are ordered by

/// A node that reads or writes what others write.
struct MemoryAccess {
  int node = 0;
  bool writes = false;
};

/// By the node at which a memory begins, who touches it, in order. Only what somebody writes into.
class Effects {
 public:
  explicit Effects(const ComparedGraph& graph) : m_graph(graph), m_base(std::size_t(graph.size())) {
    for (int at = 0; at < graph.size(); ++at) take(at);
    std::erase_if(m_accesses, [](const auto& entry) {
      return std::ranges::none_of(entry.second, [](const MemoryAccess& access) { return access.writes; });
    });
  }
  const std::map<int, std::vector<MemoryAccess>>& accesses() const { return m_accesses; }

 private:
  void take(int at) {
    m_base[std::size_t(at)] = at;
    if (!m_graph.isInner(at)) return;
    const Node& node = m_graph.node(at);
    std::vector<int> written;
    forEachMemoryUse(node, [&](const Argument& argument, bool writes, bool shares) {
      forEachNode(argument, [&](NodeId id) {
        const int base = m_base[std::size_t(m_graph.at(id))];
        if (writes) written.push_back(base);
        if (shares || writes) m_base[std::size_t(at)] = base;
      });
    });
    for (const int input : m_graph.inputs(at)) {
      const int base = m_base[std::size_t(input)];
      if (std::ranges::find(written, base) == written.end()) addAccess(base, {at, false});
    }
    for (const int base : written) addAccess(base, {at, true});
    if (written.empty() && purityOf(node) == Purity::Impure) addAccess(world, {at, true});
  }

  void addAccess(int base, MemoryAccess access) {
    auto& list = m_accesses[base];
    if (list.empty() || list.back().node != access.node) list.push_back(access);
  }

  const ComparedGraph& m_graph;
  std::vector<int> m_base;
  std::map<int, std::vector<MemoryAccess>> m_accesses;
};

/// The accesses of one memory that have partners: where they stand before, and where their partners do after.
class Order {
 public:
  Order(const Partners& partners, const std::vector<MemoryAccess>& accesses)
      : m_partners(partners), m_accesses(accesses) {
    std::erase_if(m_accesses, [&](const MemoryAccess& access) { return !partners.has(access.node); });
  }

  void addMoved(std::vector<int>& moved) const {
    std::vector<int> places;
    for (const MemoryAccess& access : m_accesses)
      if (access.writes) places.push_back(m_partners.of(access.node));
    const auto kept = keepsOrder(places);
    std::vector<int> before, after;  // of the writes that keep their order
    std::size_t write = 0;
    for (const MemoryAccess& access : m_accesses) {
      if (!access.writes) continue;
      if (kept[write])
        before.push_back(access.node), after.push_back(m_partners.of(access.node));
      else
        moved.push_back(access.node);
      ++write;
    }
    for (const MemoryAccess& access : m_accesses)
      if (!access.writes && rank(before, access.node) != rank(after, m_partners.of(access.node)))
        moved.push_back(access.node);
  }

 private:
  static std::ptrdiff_t rank(const std::vector<int>& sorted, int place) {
    return std::ranges::lower_bound(sorted, place) - sorted.begin();
  }
  const Partners& m_partners;
  std::vector<MemoryAccess> m_accesses;
};

}  // namespace

std::vector<char> readsOfWrittenMemory(const ComparedGraph& graph) {
  std::vector<char> reads(std::size_t(graph.size()), 0);
  const Effects effects(graph);
  for (const auto& [base, accesses] : effects.accesses())
    for (const MemoryAccess& access : accesses) reads[std::size_t(access.node)] = 1;
  return reads;
}

std::vector<int> movedNodes(const Partners& partners) {
  std::vector<int> moved;
  const Effects effects(partners.before());
  for (const auto& [base, accesses] : effects.accesses()) Order(partners, accesses).addMoved(moved);
  std::ranges::sort(moved);
  moved.erase(std::unique(moved.begin(), moved.end()), moved.end());
  return moved;
}

}  // namespace kerf::inline diff
