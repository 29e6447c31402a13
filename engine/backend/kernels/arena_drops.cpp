// addArenaDrops(): the last step that needs each page, and runs of pages with the same one.
#include "engine/backend/kernels/arena_drops.h"

#include <algorithm>

namespace kerf::inline backend {

namespace {

constexpr std::int64_t largeArena = std::int64_t{256} << 20;
constexpr std::int64_t pageBytes = std::int64_t{2} << 20;  // of a transparent huge page: smaller ones would split it

/// By page; -1 where nothing is ever placed.
std::vector<int> lastSteps(std::int64_t arenaBytes, std::span<const Lifetime> lifetimes) {
  std::vector<int> last(std::size_t((arenaBytes + pageBytes - 1) / pageBytes), -1);
  for (const Lifetime& life : lifetimes) {
    const std::int64_t end = std::min(life.offset + life.bytes, arenaBytes);
    for (std::int64_t page = life.offset / pageBytes; page * pageBytes < end; ++page)
      last[std::size_t(page)] = std::max(last[std::size_t(page)], life.last);
  }
  return last;
}

}  // namespace

void addArenaDrops(Program& program, std::span<const Lifetime> lifetimes) {
  for (Step& step : program.steps) step.arenaDrops.clear();
  if (program.arenaBytes < largeArena) return;
  const std::vector<int> last = lastSteps(program.arenaBytes, lifetimes);
  for (std::size_t begin = 0, end = 0; begin < last.size(); begin = end) {
    while (end < last.size() && last[end] == last[begin]) ++end;
    if (last[begin] < 0 || std::size_t(last[begin]) + 1 >= program.steps.size()) continue;  // after the last step
    program.steps[std::size_t(last[begin])].arenaDrops.push_back(
        {std::int64_t(begin) * pageBytes, std::min(std::int64_t(end) * pageBytes, program.arenaBytes)});
  }
}

}  // namespace kerf::inline backend
