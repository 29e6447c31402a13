#include <algorithm>
#include <numeric>

#include "engine/lower/lowered_graph.h"
#include "engine/lower/taken_places.h"

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
  std::vector<std::int64_t> used(graph.steps.size() + 2, 0);  // first by how much it changes
  for (const Lifetime& life : graph.lifetimes) {
    used[std::size_t(life.first)] += life.bytes;
    used[std::size_t(life.last) + 1] -= life.bytes;
  }
  std::partial_sum(used.begin(), used.end(), used.begin());
  return int(std::ranges::max_element(used) - used.begin());
}

}  // namespace

ArenaSize placeBuffers(std::vector<Lifetime>& lifetimes) {
  std::vector<Lifetime*> order;
  for (Lifetime& life : lifetimes) order.push_back(&life);
  std::ranges::sort(order, {}, [](const Lifetime* life) { return std::pair(-aligned(life->bytes), life->buffer); });
  if (order.empty()) return {};
  TakenPlaces places(
      {std::ranges::min(lifetimes, {}, &Lifetime::first).first, std::ranges::max(lifetimes, {}, &Lifetime::last).last});
  ArenaSize size;
  for (Lifetime* life : order) {
    const StepSpan time{life->first, life->last};
    life->offset = places.bestFit(time, aligned(life->bytes));
    places.take(time, {life->offset, life->offset + aligned(life->bytes)});
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
