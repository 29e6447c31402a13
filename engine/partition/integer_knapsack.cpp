// The exact knapsack: partial choices item by item, where one that another beats in both sums goes (Nemhauser and
// Ullmann, 1969), and one whose fractional bound (Dantzig, 1957) does not reach above the best choice so far.
#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "engine/partition/knapsack.h"
#include "engine/support/log.h"

namespace kerf::inline partition {

namespace {

/// Sums are exact, whatever their order: they count multiples of a power of two, of which the budget has at least 2^43
/// and all runtimes together have at least 2^59. Numbers of operations below 2^60 in all lose nothing.
constexpr int budgetBits = 44, runtimeBits = 60;
constexpr double slack = 1e-11;                ///< of the budget, which a sum may exceed by it: 0.1 + 0.2 fits into 0.3
constexpr double enough = 1e-4;                ///< of the best sum of runtimes: what SciPy's milp is content with
constexpr std::size_t mostItems = 1u << 18;    ///< so that no sum overflows
constexpr std::size_t mostPartial = 1u << 22;  ///< partial choices in all
constexpr std::size_t mostAfterItem = 1u << 16;  ///< partial choices that one item leaves

using Exact = std::int64_t;

struct Entry {
  Exact memory = 0, runtime = 0;
  std::size_t place = 0;  ///< in the caller's list
};

/// Greatest runtime per memory first; what does not depend on the order of the items but where they are equal.
bool worthMore(const Entry& one, const Entry& other) {
  const auto left = __int128(one.runtime) * other.memory, right = __int128(other.runtime) * one.memory;
  if (left != right) return left > right;
  return std::tuple(-one.memory, one.place) < std::tuple(-other.memory, other.place);
}

/// A choice among the first items: its sums, and the last item in it.
struct Partial {
  Exact memory = 0, runtime = 0;
  int last = -1;  ///< in `Search::m_taken`
};

struct Taken {
  int entry, before;
};

class Search {
 public:
  Search(std::vector<Entry> entries, Exact budget);
  void run();
  /// Places of the best choice's items; of equal items the first ones.
  std::vector<std::size_t> chosen() const;
  /// How far below the best the choice may be, as a part of it; 0 where it is the best.
  double gap() const { return m_dropped <= m_best ? 0 : double(m_dropped - m_best) / double(m_best); }

 private:
  struct Bound {
    Exact reached, above;  ///< runtime with the next items that fit as they come; what no choice exceeds
    std::size_t next;      ///< the first item that did not fit
  };
  Bound boundOf(const Partial& partial, std::size_t first) const;
  std::vector<Partial> withEntry(const std::vector<Partial>& before, std::size_t index);
  std::vector<Partial> worthKeeping(const std::vector<Partial>& all, std::size_t first);
  void keepBest(std::vector<std::pair<Exact, Partial>>& bounded);

  std::vector<Entry> m_entries;
  std::vector<Exact> m_memory{0}, m_runtime{0};  ///< sums of the entries before
  std::vector<Taken> m_taken;
  Exact m_budget, m_best = -1, m_dropped = -1;
  int m_bestLast = -1;
  std::size_t m_bestFirst = 0, m_bestNext = 0;  ///< entries that the best choice takes after its last one
  std::size_t m_width;
};

Search::Search(std::vector<Entry> entries, Exact budget)
    : m_entries(std::move(entries)),
      m_budget(budget),
      m_width(std::min(mostPartial / std::max<std::size_t>(1, m_entries.size()), mostAfterItem)) {
  std::ranges::sort(m_entries, worthMore);
  for (const Entry& each : m_entries) {
    m_memory.push_back(m_memory.back() + each.memory);
    m_runtime.push_back(m_runtime.back() + each.runtime);
  }
}

Search::Bound Search::boundOf(const Partial& partial, std::size_t first) const {
  const Exact room = m_budget - partial.memory + m_memory[first];
  const auto past = std::upper_bound(m_memory.begin() + std::ptrdiff_t(first), m_memory.end(), room);
  const auto next = std::size_t(past - m_memory.begin()) - 1;
  const Exact reached = partial.runtime + m_runtime[next] - m_runtime[first];
  if (next == m_entries.size()) return {reached, reached, next};
  const Entry& broken = m_entries[next];
  return {reached, reached + Exact(__int128(room - m_memory[next]) * broken.runtime / broken.memory), next};
}

/// Both ways for each choice, by memory; one with no more runtime than another of no more memory is left out.
std::vector<Partial> Search::withEntry(const std::vector<Partial>& before, std::size_t index) {
  const Entry& entry = m_entries[index];
  std::vector<Partial> merged;
  merged.reserve(before.size() * 2);
  const auto add = [&](const Partial& partial) {
    if (merged.empty() || partial.runtime > merged.back().runtime) merged.push_back(partial);
  };
  std::size_t without = 0;
  for (const Partial& each : before) {
    const Partial with{each.memory + entry.memory, each.runtime + entry.runtime, int(m_taken.size())};
    if (with.memory > m_budget) break;
    for (; without < before.size(); ++without) {
      const Partial& other = before[without];
      if (std::tuple(other.memory, -other.runtime) > std::tuple(with.memory, -with.runtime)) break;
      add(other);
    }
    if (with.runtime <= merged.back().runtime) continue;
    m_taken.push_back({int(index), each.last});
    add(with);
  }
  for (; without < before.size(); ++without) add(before[without]);
  return merged;
}

std::vector<Partial> Search::worthKeeping(const std::vector<Partial>& all, std::size_t first) {
  std::vector<std::pair<Exact, Partial>> bounded;
  bounded.reserve(all.size());
  for (const Partial& partial : all) {
    const Bound bound = boundOf(partial, first);
    bounded.emplace_back(bound.above, partial);
    if (bound.reached <= m_best) continue;
    m_best = bound.reached;
    m_bestLast = partial.last;
    m_bestFirst = first;
    m_bestNext = bound.next;
  }
  std::erase_if(bounded, [&](const auto& each) { return each.first <= m_best; });
  if (bounded.size() > m_width) keepBest(bounded);
  std::vector<Partial> kept;
  kept.reserve(bounded.size());
  for (const auto& [above, partial] : bounded) kept.push_back(partial);
  return kept;
}

/// The most promising, again by memory; how much the others could have reached is remembered.
void Search::keepBest(std::vector<std::pair<Exact, Partial>>& bounded) {
  std::ranges::stable_sort(bounded, std::greater<>(), [](const auto& each) { return each.first; });
  m_dropped = std::max(m_dropped, bounded[m_width].first);
  bounded.resize(m_width);
  std::ranges::sort(bounded, {}, [](const auto& each) { return each.second.memory; });
}

void Search::run() {
  std::vector<Partial> partial = worthKeeping({Partial{}}, 0);
  for (std::size_t i = 0; i < m_entries.size() && !partial.empty(); ++i)
    partial = worthKeeping(withEntry(partial, i), i + 1);
}

std::vector<std::size_t> Search::chosen() const {
  std::map<std::pair<Exact, Exact>, int> counts;
  const auto count = [&](std::size_t index) { ++counts[{m_entries[index].memory, m_entries[index].runtime}]; };
  for (int at = m_bestLast; at >= 0; at = m_taken[std::size_t(at)].before)
    count(std::size_t(m_taken[std::size_t(at)].entry));
  for (std::size_t i = m_bestFirst; i < m_bestNext; ++i) count(i);
  std::vector<std::size_t> places;
  for (const Entry& each : m_entries)
    if (counts[{each.memory, each.runtime}]-- > 0) places.push_back(each.place);
  return places;
}

/// The power of two that brings `most` to `bits` bits.
int scaleOf(double most, int bits) { return bits - std::ilogb(most) - 1; }

Exact exact(double value, int scale) { return std::llround(std::ldexp(value, scale)); }

/// What a choice may take or leave; `saved` gets what weighs nothing.
std::vector<Entry> entriesOf(const std::vector<KnapsackItem>& items, int memoryScale, double budget,
                             std::vector<bool>& saved) {
  double all = 0;
  for (const KnapsackItem& item : items) all += item.runtime;
  const int runtimeScale = all > 0 ? scaleOf(all, runtimeBits) : 0;
  std::vector<Entry> entries;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (items[i].memory > budget) continue;
    const Entry entry{exact(items[i].memory, memoryScale), exact(items[i].runtime, runtimeScale), i};
    if (entry.memory == 0) saved[i] = true;
    if (entry.memory > 0 && entry.runtime > 0) entries.push_back(entry);
  }
  return entries;
}

/// Room that is left is for what fits: items without runtime.
void fillUp(const std::vector<KnapsackItem>& items, double budget, std::vector<bool>& saved) {
  double used = 0;
  for (std::size_t i = 0; i < items.size(); ++i)
    if (saved[i]) used += items[i].memory;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (saved[i] || used + items[i].memory > budget) continue;
    used += items[i].memory;
    saved[i] = true;
  }
}

Result<void> checkKnapsack(const std::vector<KnapsackItem>& items, double budget) {
  if (items.size() > mostItems)
    return fail(ErrorCode::TooLarge, "an exact knapsack has at most {} items, not {}: choose greedy", mostItems,
                items.size());
  const auto valid = [](double value) { return value >= 0 && std::isfinite(value); };
  if (!valid(budget)) return fail(ErrorCode::BadUsage, "a knapsack cannot have the budget {}", budget);
  double runtime = 0;
  for (const KnapsackItem& item : items) {
    runtime += item.runtime;
    if (!valid(item.memory) || !valid(item.runtime) || !valid(runtime))
      return fail(ErrorCode::BadUsage, "a knapsack cannot hold an item of memory {} and runtime {}", item.memory,
                  item.runtime);
  }
  return {};
}

}  // namespace

Result<std::vector<bool>> integerKnapsack(const std::vector<KnapsackItem>& items, double budget) {
  KERF_CHECK(checkKnapsack(items, budget));
  std::vector<bool> saved(items.size());
  const int scale = budget > 0 ? scaleOf(budget, budgetBits) : 0;
  Search search(entriesOf(items, scale, budget, saved), exact(budget * (1 + slack), scale));
  search.run();
  for (const std::size_t place : search.chosen()) saved[place] = true;
  if (search.gap() > enough)
    logAt(LogCategory::Compile, LogLevel::Warning,
          "the knapsack of {} items has too many choices to look at each: the one taken may be {:.2g}% below the best",
          items.size(), search.gap() * 100);
  fillUp(items, budget, saved);
  return saved;
}

}  // namespace kerf::inline partition
