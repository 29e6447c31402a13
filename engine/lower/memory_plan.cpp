#include <algorithm>

#include "engine/lower/lowered_graph.h"

namespace kerf::inline lower {
namespace {

constexpr std::int64_t alignment = 64;

std::vector<Lifetime> lifetimes(const LoweredGraph& graph) {
  std::vector<Lifetime> all(graph.buffers.buffers().size());
  for (std::size_t s = 0; s < graph.steps.size(); ++s) {
    // A step and its follower run at the same time.
    const bool follows = s > 0 && graph.steps[s - 1].followerElements > 0;
    const int first = int(s) - (follows ? 1 : 0), last = int(s) + (graph.steps[s].followerElements > 0 ? 1 : 0);
    for (const int b : graph.steps[s].writes) {
      if (all[std::size_t(b)].first < 0) all[std::size_t(b)].first = first;
      all[std::size_t(b)].last = std::max(all[std::size_t(b)].last, last);
    }
    for (const int b : graph.steps[s].reads) all[std::size_t(b)].last = std::max(all[std::size_t(b)].last, last);
  }
  std::vector<Lifetime> planned;
  for (std::size_t b = 0; b < all.size(); ++b) {
    const BufferInfo& info = graph.buffers.buffers()[b];
    if (info.kind != BufferKind::Planned || all[b].first < 0) continue;
    all[b].buffer = int(b);
    all[b].bytes = exampleOf(info.bytes);
    planned.push_back(all[b]);
  }
  return planned;
}

std::int64_t aligned(std::int64_t bytes) {
  return std::max<std::int64_t>(alignment, (bytes + alignment - 1) / alignment * alignment);
}

/// Smallest gap between the places that are taken while `life` lasts; after the last one where none fits.
std::int64_t bestFit(const std::vector<const Lifetime*>& placed, const Lifetime& life) {
  std::int64_t best = -1, bestGap = 0, end = 0;
  for (const Lifetime* p : placed) {  // sorted by offset
    if (p->last < life.first || p->first > life.last) continue;
    const std::int64_t gap = p->offset - end;
    if (gap >= aligned(life.bytes) && (best < 0 || gap < bestGap)) {
      best = end;
      bestGap = gap;
    }
    end = std::max(end, p->offset + aligned(p->bytes));
  }
  return best < 0 ? end : best;
}

/// Bytes of all buffers that `counts` as an expression.
template <class Counts>
std::string sumText(const LoweredGraph& graph, Counts&& counts) {
  std::vector<Symbolic> bytes;
  for (const Lifetime& life : graph.lifetimes)
    if (counts(life))
      bytes.push_back(ShapeEnv::current()->expression(graph.buffers.buffers()[std::size_t(life.buffer)].bytes));
  return Symbolic::add(std::move(bytes)).text();
}

/// The step at which most bytes are in use at the example's sizes.
int fullestStep(const LoweredGraph& graph) {
  std::vector<std::int64_t> used(graph.steps.size() + 1, 0);
  for (const Lifetime& life : graph.lifetimes)
    for (int s = life.first; s <= life.last; ++s) used[std::size_t(s)] += life.bytes;
  return int(std::ranges::max_element(used) - used.begin());
}

}  // namespace

ArenaSize placeBuffers(std::vector<Lifetime>& lifetimes) {
  std::vector<Lifetime*> order;
  for (Lifetime& life : lifetimes) order.push_back(&life);
  std::ranges::sort(order, {}, [](const Lifetime* life) { return std::pair(-aligned(life->bytes), life->buffer); });
  std::vector<const Lifetime*> placed;
  ArenaSize size;
  for (Lifetime* life : order) {
    life->offset = bestFit(placed, *life);
    placed.insert(std::ranges::upper_bound(placed, life->offset, {}, &Lifetime::offset), life);
    size.planned = std::max(size.planned, life->offset + aligned(life->bytes));
    size.unplanned += aligned(life->bytes);
  }
  return size;
}

namespace {

void placeAll(LoweredGraph& graph) {
  const ArenaSize size = placeBuffers(graph.lifetimes);
  graph.plannedBytes = size.planned;
  graph.unplannedBytes = size.unplanned;
  for (const Lifetime& life : graph.lifetimes)
    graph.buffers.buffers()[std::size_t(life.buffer)].arenaOffset = life.offset;
  if (ShapeEnv::current() == nullptr) return;
  graph.unplannedText = sumText(graph, [](const Lifetime&) { return true; });
  const int fullest = fullestStep(graph);
  graph.plannedText =
      sumText(graph, [&](const Lifetime& life) { return life.first <= fullest && fullest <= life.last; });
}

}  // namespace

void planMemory(LoweredGraph& graph) {
  graph.lifetimes = lifetimes(graph);
  placeAll(graph);
}

void keepApart(LoweredGraph& graph) {
  for (Lifetime& life : graph.lifetimes) {
    life.first = 0;
    life.last = int(graph.steps.size()) - 1;
  }
  placeAll(graph);
}

}  // namespace kerf::inline lower
