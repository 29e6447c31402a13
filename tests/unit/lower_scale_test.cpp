// What makes lowering linear, against the plain way of doing the same.
#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "engine/lower/group_levels.h"
#include "engine/lower/taken_places.h"

namespace kerf {
namespace {

struct Placed {
  StepSpan time;
  ArenaRange place;
};

/// The best fit by a look at everything.
std::int64_t plainBestFit(std::vector<Placed> placed, StepSpan time, std::int64_t bytes) {
  std::ranges::sort(placed, {}, [](const Placed& p) { return p.place.begin; });
  std::int64_t best = -1, bestGap = 0, end = 0;
  for (const Placed& p : placed) {
    if (p.time.last < time.first || p.time.first > time.last) continue;
    const std::int64_t gap = p.place.begin - end;
    if (gap >= bytes && (best < 0 || gap < bestGap)) best = end, bestGap = gap;
    end = std::max(end, p.place.end);
  }
  return best < 0 ? end : best;
}

TEST(TakenPlaces, FitsAsALookAtEverythingWould) {
  std::mt19937 random(11);
  for (int round = 0; round < 200; ++round) {
    const StepSpan all{int(random() % 3), 3 + int(random() % 40)};
    TakenPlaces places(all);
    std::vector<Placed> placed;
    for (int i = 0; i < 60; ++i) {
      const int length = all.last - all.first + 1, first = all.first + int(random()) % length;
      const StepSpan time{std::max(first, all.first),
                          std::min(all.last, std::max(first, all.first) + int(random() % 8))};
      const std::int64_t bytes = 64 * (1 + std::int64_t(random() % 6));
      const std::int64_t begin = places.bestFit(time, bytes);
      ASSERT_EQ(begin, plainBestFit(placed, time, bytes)) << "round " << round << ", buffer " << i;
      places.take(time, {begin, begin + bytes});
      placed.push_back({time, {begin, begin + bytes}});
    }
  }
}

bool plainDepends(const std::vector<FusionGroup>& groups, const std::vector<int>& from, int g) {
  std::vector<int> stack;
  std::vector<bool> seen(groups.size(), false);
  std::ranges::copy_if(from, std::back_inserter(stack), [&](int d) { return d != g; });
  while (!stack.empty()) {
    const int at = stack.back();
    stack.pop_back();
    if (at == g) return true;
    if (seen[std::size_t(at)]) continue;
    seen[std::size_t(at)] = true;
    std::ranges::copy(groups[std::size_t(at)].dependencies, std::back_inserter(stack));
  }
  return false;
}

std::vector<int> someOf(std::mt19937& random, std::size_t count) {
  std::vector<int> some;
  for (std::size_t i = 0; i < 3 && count > 0; ++i) some.push_back(int(random() % count));
  std::ranges::sort(some);
  some.erase(std::ranges::unique(some).begin(), some.end());
  return some;
}

/// Groups that come one by one, and join earlier ones where that closes no cycle.
TEST(GroupLevels, FindsEveryPathBetweenGroups) {
  std::mt19937 random(5);
  for (int round = 0; round < 100; ++round) {
    GroupLevels levels;
    std::vector<FusionGroup> groups;
    for (int i = 0; i < 60; ++i) {
      const std::vector<int> needed = someOf(random, groups.size());
      if (!groups.empty() && random() % 2 == 0) {
        const int g = int(random() % groups.size());
        const bool closes = levels.dependThroughOthers(groups, needed, g);
        ASSERT_EQ(closes, plainDepends(groups, needed, g)) << "round " << round << ", value " << i;
        if (closes) continue;
        auto& own = groups[std::size_t(g)].dependencies;
        for (const int d : needed)
          if (d != g && std::ranges::find(own, d) == own.end()) own.push_back(d);
        levels.update(groups, g);
        continue;
      }
      groups.push_back({});
      groups.back().dependencies = needed;
      levels.update(groups, int(groups.size()) - 1);
    }
  }
}

/// Two towers of `height` groups side by side: a group of one asks whether it may join the other's at its side.
std::size_t looksAtTowers(int height) {
  GroupLevels levels;
  std::vector<FusionGroup> groups;
  for (int i = 0; i < 2 * height; ++i) {
    const std::vector<int> needed = i < 2 ? std::vector<int>{} : std::vector{i - 2};
    EXPECT_FALSE(i > 0 && levels.dependThroughOthers(groups, needed, i - 1));
    groups.push_back({});
    groups.back().dependencies = needed;
    levels.update(groups, i);
  }
  return levels.looked();
}

TEST(GroupLevels, LooksOnlyBetweenTheTwo) {
  EXPECT_LE(looksAtTowers(4000), 4 * looksAtTowers(1000) + 100);
  EXPECT_LE(looksAtTowers(1000), 4000u);
}

}  // namespace
}  // namespace kerf
