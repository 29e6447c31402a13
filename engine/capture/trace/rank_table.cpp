#include "engine/capture/trace/rank_table.h"

#include <algorithm>
#include <set>

#include <fmt/ranges.h>

#include "engine/capture/trace/graph_print.h"
#include "engine/capture/trace/log_text.h"

namespace kerf::inline capture {
namespace {

constexpr double runTimeSkew = 1.1, compileTimeSkew = 2.0;  ///< slowest over fastest rank from which on it is named
constexpr double leastCompileSeconds = 1.0;
constexpr std::size_t longestShown = 300;
constexpr std::string_view missing = "not compiled";

struct RankContext {
  const CompileLog& log;
  const CaptureDetails& details;
};

/// What one compilation has of a kind; empty: nothing to compare.
using Aspect = std::string (*)(const RankContext&, std::size_t);

const CompileStory& storyOf(const RankContext& context, std::size_t index) { return context.log.compiles[index]; }

std::string graphOf(const RankContext& context, std::size_t index) {
  const std::string& print = storyOf(context, index).graphPrint;
  return print.empty() ? "" : "graph " + print;
}

std::string guardsOf(const RankContext& context, std::size_t index) { return storyOf(context, index).guardPrint; }

std::set<std::string> guardCodes(const CompileStory& story) {
  std::set<std::string> codes;
  for (const LoggedGuard& guard : story.guards) codes.insert(trace::withoutRankNumbers(guard.code));
  return codes;
}

/// "without …; with …": some of the guards that one compilation has and another has not.
std::string guardDifference(const CompileStory& here, const CompileStory& there) {
  const std::set<std::string> mine = guardCodes(here), theirs = guardCodes(there);
  std::vector<std::string> texts;
  const auto note = [&](std::string_view word, const std::set<std::string>& has, const std::set<std::string>& lacks) {
    for (const std::string& code : has)
      if (!lacks.contains(code) && texts.size() < 6)
        texts.push_back(fmt::format("{} {}", word, trace::clippedText(code, 120)));
  };
  note("with", mine, theirs);
  note("without", theirs, mine);
  return fmt::format("{}", fmt::join(texts, "; "));
}

std::string causesOf(const RankContext& context, std::size_t index) {
  std::vector<std::string> texts;
  for (const RecompileCause& cause : storyOf(context, index).causes)
    texts.push_back(trace::withoutRankNumbers(cause.guard));
  return fmt::format("{}", fmt::join(texts, "; "));
}

std::string collectivesOf(const RankContext& context, std::size_t index) {
  std::vector<std::string> schedules;
  for (const CollectiveSchedule& schedule : storyOf(context, index).collectives)
    schedules.push_back(fmt::format("{}", fmt::join(schedule.ops, " ")));
  return fmt::format("{}", fmt::join(schedules, " | "));
}

std::string cachesOf(const RankContext& context, std::size_t index) {
  std::vector<std::string> texts;
  for (const CacheLookup& lookup : storyOf(context, index).caches)
    if (lookup.result != "hash") texts.push_back(fmt::format("{} {}", lookup.cache, lookup.result));
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string tensorsOf(const RankContext& context, std::size_t index) {
  std::vector<std::string> prints;
  for (const RuntimeEstimate& estimate : storyOf(context, index).estimates) prints.push_back(estimate.tensors);
  return fmt::format("{}", fmt::join(prints, ", "));
}

struct NamedAspect {
  std::string_view kind;
  Aspect of;
};
constexpr NamedAspect aspects[] = {{"different graph", graphOf},
                                   {"different guards", guardsOf},
                                   {"different recompile reason", causesOf},
                                   {"different collective schedule", collectivesOf},
                                   {"missing cache hit", cachesOf},
                                   {"different tensors", tensorsOf}};

double runTimeOf(const CompileStory& story) {
  double total = 0;
  for (const RuntimeEstimate& estimate : story.estimates) total += estimate.totalNs / 1e9;
  return total;
}

double compileTimeOf(const CompileStory& story) {
  for (const CompileMetrics& metrics : story.metrics)
    if (metrics.kind == "compilation_metrics") return metrics.seconds("total");
  return -1;
}

class Comparison {
 public:
  Comparison(const RankContext& context, RankTable& table) : m_context(context), m_table(table) {}

  void compareRow(const RankRow& row) {
    group("missing compilation", row,
          [&](std::size_t r) { return row.compiles[r] < 0 ? std::string(missing) : std::string("compiled"); });
    for (const NamedAspect& aspect : aspects)
      group(
          aspect.kind, row,
          [&](std::size_t r) {
            return row.compiles[r] < 0 ? std::string() : aspect.of(m_context, std::size_t(row.compiles[r]));
          },
          true);
    skew("skewed run time", row, runTimeOf, runTimeSkew, 0);
    skew("skewed compile time", row, compileTimeOf, compileTimeSkew, leastCompileSeconds);
    waits(row);
  }

  void compareOrders() {
    if (m_context.log.executions.empty()) return;
    const RankRow all{"", std::vector<std::int64_t>(m_table.ranks.size(), 0)};
    group(
        "different order of execution", all,
        [&](std::size_t r) {
          const auto found = m_context.log.executions.find(m_table.ranks[r]);
          return found == m_context.log.executions.end() ? std::string()
                                                         : fmt::format("{}", fmt::join(found->second, " "));
        },
        true);
  }

 private:
  /// Groups the ranks by what `of` gives. With `tellsOnly`, ranks with nothing to tell do not count unless others tell
  /// and the rank compiled too.
  template <class Of>
  void group(std::string_view kind, const RankRow& row, Of of, bool tellsOnly = false) {
    std::map<std::string, std::vector<int>> byText;
    bool told = false;
    for (std::size_t r = 0; r < m_table.ranks.size(); ++r) {
      if (tellsOnly && row.compiles[r] < 0) continue;
      std::string text = of(r);
      told = told || !text.empty();
      byText[std::move(text)].push_back(m_table.ranks[r]);
    }
    if (byText.size() < 2 || !told) return;
    RankDivergence divergence{std::string(kind), row.id, {}};
    for (auto& [text, ranks] : byText)
      divergence.groups.emplace_back(std::move(ranks), text.empty() ? "none" : trace::clippedText(text, longestShown));
    std::ranges::stable_sort(divergence.groups, [](const auto& a, const auto& b) {
      return a.first.size() != b.first.size() ? a.first.size() > b.first.size() : a.first.front() < b.first.front();
    });
    if (divergence.kind == "different guards") nameGuards(row, divergence);
    m_table.divergences.push_back(std::move(divergence));
  }

  /// Puts the guards themselves in the place of their fingerprints, against the most common ones.
  void nameGuards(const RankRow& row, RankDivergence& divergence) const {
    const auto storyOfRank = [&](int rank) -> const CompileStory& {
      const auto column = std::ranges::lower_bound(m_table.ranks, rank) - m_table.ranks.begin();
      return storyOf(m_context, std::size_t(row.compiles[std::size_t(column)]));
    };
    const CompileStory& common = storyOfRank(divergence.groups.front().first.front());
    divergence.groups.front().second = fmt::format("{} guards", common.guards.size());
    for (std::size_t i = 1; i < divergence.groups.size(); ++i) {
      const CompileStory& story = storyOfRank(divergence.groups[i].first.front());
      divergence.groups[i].second = fmt::format("{} guards: {}", story.guards.size(), guardDifference(story, common));
    }
  }

  void skew(std::string_view kind, const RankRow& row, double (*secondsOf)(const CompileStory&), double least,
            double leastSeconds) {
    double fastest = -1, slowest = -1;
    std::size_t fast = 0, slow = 0;
    for (std::size_t r = 0; r < m_table.ranks.size(); ++r) {
      const double seconds = row.compiles[r] < 0 ? -1 : secondsOf(storyOf(m_context, std::size_t(row.compiles[r])));
      if (seconds <= 0) continue;
      if (fastest < 0 || seconds < fastest) fastest = seconds, fast = r;
      if (seconds > slowest) slowest = seconds, slow = r;
    }
    if (fastest <= 0 || slowest < leastSeconds || slowest < fastest * least) return;
    m_table.divergences.push_back({std::string(kind),
                                   row.id,
                                   {{{m_table.ranks[fast]}, fmt::format("{:.3f} ms", fastest * 1e3)},
                                    {{m_table.ranks[slow]}, fmt::format("{:.3f} ms", slowest * 1e3)}}});
  }

  /// A collective is waited for once; a schedule with fewer waits hangs or reads too early.
  void waits(const RankRow& row) {
    RankDivergence divergence{"missing waits", row.id, {}};
    for (std::size_t r = 0; r < m_table.ranks.size(); ++r) {
      if (row.compiles[r] < 0) continue;
      std::int64_t missingWaits = 0;
      for (const CollectiveSchedule& schedule : storyOf(m_context, std::size_t(row.compiles[r])).collectives)
        missingWaits += schedule.unwaited();
      if (missingWaits > 0)
        divergence.groups.push_back(
            {{m_table.ranks[r]}, fmt::format("collectives that are not waited for: {}", missingWaits)});
    }
    if (!divergence.groups.empty()) m_table.divergences.push_back(std::move(divergence));
  }

  const RankContext& m_context;
  RankTable& m_table;
};

}  // namespace

std::vector<int> RankDivergence::odd() const {
  std::vector<int> ranks;
  const bool all = kind == "missing waits";
  for (std::size_t i = all ? 0 : 1; i < groups.size(); ++i)
    ranks.insert(ranks.end(), groups[i].first.begin(), groups[i].first.end());
  std::ranges::sort(ranks);
  return ranks;
}

RankTable rankTable(const CompileLog& log, const CaptureDetails& details) {
  RankTable table;
  std::set<int> ranks;
  for (const CompileEntry& entry : details.compiles)
    if (entry.rank >= 0) ranks.insert(entry.rank);
  if (ranks.size() < 2) return table;
  table.ranks.assign(ranks.begin(), ranks.end());
  std::map<std::string, std::size_t> rowOf;
  for (std::size_t i = 0; i < details.compiles.size() && i < log.compiles.size(); ++i) {
    const CompileEntry& entry = details.compiles[i];
    if (entry.rank < 0) continue;
    const auto [slot, fresh] = rowOf.try_emplace(entry.id, table.rows.size());
    if (fresh) table.rows.push_back({entry.id, std::vector<std::int64_t>(table.ranks.size(), -1)});
    const auto column = std::ranges::lower_bound(table.ranks, entry.rank) - table.ranks.begin();
    table.rows[slot->second].compiles[std::size_t(column)] = std::int64_t(i);
  }
  const RankContext context{log, details};
  Comparison comparison(context, table);
  for (const RankRow& row : table.rows)
    if (row.id != "(unknown)") comparison.compareRow(row);
  comparison.compareOrders();
  return table;
}

std::string ranksText(const std::vector<int>& ranks) {
  if (ranks.size() == 1) return fmt::format("rank {}", ranks.front());
  if (ranks.empty()) return "no rank";
  return fmt::format("ranks {} and {}", fmt::join(ranks.begin(), ranks.end() - 1, ", "), ranks.back());
}

}  // namespace kerf::inline capture
