#include <algorithm>

#include "engine/lower/lowered_graph.h"

namespace kerf::inline lower {
namespace {

constexpr std::int64_t alignment = 64;

struct Lifetime {
  int buffer = -1;
  std::int64_t bytes = 0;
  int first = -1, last = -1;  ///< steps
};

std::vector<Lifetime> lifetimes(const LoweredGraph& graph) {
  std::vector<Lifetime> all(graph.buffers.buffers().size());
  for (std::size_t s = 0; s < graph.steps.size(); ++s) {
    for (const int b : graph.steps[s].writes) {
      if (all[std::size_t(b)].first < 0) all[std::size_t(b)].first = int(s);
      all[std::size_t(b)].last = int(s);
    }
    for (const int b : graph.steps[s].reads) all[std::size_t(b)].last = int(s);
  }
  std::vector<Lifetime> planned;
  for (std::size_t b = 0; b < all.size(); ++b) {
    const BufferInfo& info = graph.buffers.buffers()[b];
    if (info.kind != BufferKind::Planned || all[b].first < 0) continue;
    all[b].buffer = int(b);
    all[b].bytes = std::max<std::int64_t>(alignment, (info.bytes + alignment - 1) / alignment * alignment);
    planned.push_back(all[b]);
  }
  return planned;
}

struct Placed {
  std::int64_t offset;
  const Lifetime* life;
};

/// Smallest gap between the places that are taken while `life` lasts; after the last one where none fits.
std::int64_t bestFit(const std::vector<Placed>& placed, const Lifetime& life) {
  std::int64_t best = -1, bestGap = 0, end = 0;
  for (const Placed& p : placed) {  // sorted by offset
    if (p.life->last < life.first || p.life->first > life.last) continue;
    const std::int64_t gap = p.offset - end;
    if (gap >= life.bytes && (best < 0 || gap < bestGap)) {
      best = end;
      bestGap = gap;
    }
    end = std::max(end, p.offset + p.life->bytes);
  }
  return best < 0 ? end : best;
}

}  // namespace

void planMemory(LoweredGraph& graph) {
  std::vector<Lifetime> planned = lifetimes(graph);
  std::ranges::sort(planned, {}, [](const Lifetime& life) { return std::pair(-life.bytes, life.buffer); });
  std::vector<Placed> placed;
  graph.plannedBytes = graph.unplannedBytes = 0;
  for (const Lifetime& life : planned) {
    const std::int64_t offset = bestFit(placed, life);
    graph.buffers.buffers()[std::size_t(life.buffer)].arenaOffset = offset;
    placed.insert(std::ranges::upper_bound(placed, offset, {}, &Placed::offset), {offset, &life});
    graph.plannedBytes = std::max(graph.plannedBytes, offset + life.bytes);
    graph.unplannedBytes += life.bytes;
  }
}

}  // namespace kerf::inline lower
