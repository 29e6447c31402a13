#include "engine/diff/sequence_alignment.h"

#include <algorithm>
#include <unordered_map>

namespace kerf::inline diff {

namespace {

constexpr int maxEdits = 400;

using Pairs = std::vector<std::pair<int, int>>;

/// Half-open ranges of both sequences that are still to be aligned.
struct Gap {
  int beforeBegin, beforeEnd, afterBegin, afterEnd;
  bool empty() const { return beforeBegin >= beforeEnd || afterBegin >= afterEnd; }
};

class Alignment {
 public:
  Alignment(std::span<const Key> before, std::span<const Key> after) : m_before(before), m_after(after) {}

  Pairs run() {
    align({0, int(m_before.size()), 0, int(m_after.size())}, 0);
    std::ranges::sort(m_pairs);
    return std::move(m_pairs);
  }

 private:
  bool equal(int i, int j) const { return m_before[std::size_t(i)] == m_after[std::size_t(j)]; }

  void trim(Gap& gap) {
    while (!gap.empty() && equal(gap.beforeBegin, gap.afterBegin))
      m_pairs.emplace_back(gap.beforeBegin++, gap.afterBegin++);
    while (!gap.empty() && equal(gap.beforeEnd - 1, gap.afterEnd - 1))
      m_pairs.emplace_back(--gap.beforeEnd, --gap.afterEnd);
  }

  void align(Gap gap, int depth) {
    trim(gap);
    if (gap.empty()) return;
    const Pairs anchors = depth < 8 ? anchorsOf(gap) : Pairs();
    if (anchors.empty()) return shortestEdit(gap);
    for (const auto& [i, j] : anchors) {
      align({gap.beforeBegin, i, gap.afterBegin, j}, depth + 1);
      m_pairs.emplace_back(i, j);
      gap.beforeBegin = i + 1;
      gap.afterBegin = j + 1;
    }
    align(gap, depth + 1);
  }

  /// Keys that stand once in either range, as far as they keep their order.
  Pairs anchorsOf(const Gap& gap) const {
    struct Count {
      int before = 0, after = 0, at = 0;
    };
    std::unordered_map<Key, Count> counts;
    for (int i = gap.beforeBegin; i < gap.beforeEnd; ++i) ++counts[m_before[std::size_t(i)]].before;
    for (int j = gap.afterBegin; j < gap.afterEnd; ++j) {
      Count& count = counts[m_after[std::size_t(j)]];
      ++count.after;
      count.at = j;
    }
    Pairs unique;
    std::vector<int> positions;
    for (int i = gap.beforeBegin; i < gap.beforeEnd; ++i) {
      const Count& count = counts[m_before[std::size_t(i)]];
      if (count.before != 1 || count.after != 1) continue;
      unique.emplace_back(i, count.at);
      positions.push_back(count.at);
    }
    const auto kept = keepsOrder(positions);
    Pairs anchors;
    for (std::size_t k = 0; k < unique.size(); ++k)
      if (kept[k]) anchors.push_back(unique[k]);
    return anchors;
  }

  /// Myers' greedy algorithm over edit distances up to maxEdits.
  void shortestEdit(const Gap& gap) {
    const int n = gap.beforeEnd - gap.beforeBegin, m = gap.afterEnd - gap.afterBegin;
    const int limit = std::min(maxEdits, n + m);
    std::vector<std::vector<int>> trace;
    std::vector<int> reach(std::size_t(2 * limit + 3), 0);
    const auto at = [&](std::vector<int>& row, int k) -> int& { return row[std::size_t(k + limit + 1)]; };
    for (int d = 0; d <= limit; ++d) {
      trace.push_back(reach);
      for (int k = -d; k <= d; k += 2) {
        const bool down = k == -d || (k != d && at(reach, k - 1) < at(reach, k + 1));
        int x = down ? at(reach, k + 1) : at(reach, k - 1) + 1;
        while (x < n && x - k < m && x - k >= 0 && equal(gap.beforeBegin + x, gap.afterBegin + x - k)) ++x;
        at(reach, k) = x;
        if (x >= n && x - k >= m) return walkBack(gap, trace, limit);
      }
    }
  }

  void walkBack(const Gap& gap, std::vector<std::vector<int>>& trace, int limit) {
    int x = gap.beforeEnd - gap.beforeBegin, y = gap.afterEnd - gap.afterBegin;
    const auto at = [&](int d, int k) { return trace[std::size_t(d)][std::size_t(k + limit + 1)]; };
    for (int d = int(trace.size()) - 1; d >= 0 && (x > 0 || y > 0); --d) {
      const int k = x - y;
      const bool down = k == -d || (k != d && at(d, k - 1) < at(d, k + 1));
      const int previousX = d == 0 ? 0 : at(d, down ? k + 1 : k - 1);
      const int previousY = d == 0 ? 0 : previousX - (down ? k + 1 : k - 1);
      while (x > previousX && y > previousY && x > 0 && y > 0) {
        --x;
        --y;
        if (x < previousX || y < previousY) break;
        m_pairs.emplace_back(gap.beforeBegin + x, gap.afterBegin + y);
      }
      x = previousX;
      y = previousY;
    }
  }

  std::span<const Key> m_before, m_after;
  Pairs m_pairs;
};

}  // namespace

std::vector<std::pair<int, int>> alignSequences(std::span<const Key> before, std::span<const Key> after) {
  return Alignment(before, after).run();
}

std::vector<bool> keepsOrder(std::span<const int> positions) {
  constexpr std::size_t none = SIZE_MAX;
  std::vector<std::size_t> tails, previous(positions.size(), none);  // tails: indices into positions
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const auto place = std::ranges::lower_bound(tails, positions[i], {}, [&](std::size_t at) { return positions[at]; });
    if (place != tails.begin()) previous[i] = *std::prev(place);
    if (place == tails.end())
      tails.push_back(i);
    else
      *place = i;
  }
  std::vector<bool> kept(positions.size(), false);
  for (std::size_t at = tails.empty() ? none : tails.back(); at != none; at = previous[at]) kept[at] = true;
  return kept;
}

}  // namespace kerf::inline diff
