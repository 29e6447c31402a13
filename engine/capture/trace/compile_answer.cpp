#include "engine/capture/trace/compile_answer.h"

#include <algorithm>
#include <set>

#include <fmt/ranges.h>

#include "engine/capture/common/json.h"
#include "engine/capture/trace/log_text.h"
#include "engine/capture/trace/recompile_advice.h"

namespace kerf::inline capture {
namespace {

using trace::clippedText;
using trace::firstLineOf;
using Weight = AnswerLine::Weight;

constexpr std::size_t shownItems = 4, shownText = 160;

std::string counted(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

/// The first ones, and how many more there are.
std::string listed(const std::vector<std::string>& items, std::string_view separator, std::size_t most = shownItems) {
  const std::size_t shown = std::min(items.size(), most);
  std::string text = fmt::format("{}", fmt::join(items.begin(), items.begin() + std::ptrdiff_t(shown), separator));
  return shown < items.size() ? fmt::format("{}{}{} more", text, separator, items.size() - shown) : text;
}

/// Texts in order of appearance, each once; empty ones are none.
class Texts {
 public:
  bool add(const std::string& text) {
    if (text.empty() || !m_known.insert(text).second) return false;
    m_items.push_back(text);
    return true;
  }
  const std::vector<std::string>& items() const { return m_items; }
  bool contains(const std::string& text) const { return m_known.contains(text); }

 private:
  std::vector<std::string> m_items;
  std::set<std::string> m_known;
};

/// The first ones, and how many more there are.
std::string listed(const Texts& texts, std::string_view separator, std::size_t most = shownItems) {
  return listed(texts.items(), separator, most);
}

std::string oneLine(std::string_view text) { return clippedText(firstLineOf(trace::trimmedText(text)), shownText); }

/// All lines in one: the first alone may say "backend='b' raised:".
std::string flattened(std::string_view text) {
  std::string flat(trace::trimmedText(text).substr(0, 2 * shownText));
  std::ranges::replace(flat, '\n', ' ');
  return clippedText(flat, shownText);
}

class Answer {
 public:
  Answer(const CompileLog& log, const CaptureDetails& details, const RankTable& ranks)
      : m_log(log), m_details(details), m_ranks(ranks) {}

  std::vector<AnswerLine> lines() {
    failures();
    recompiles();
    breaks();
    restarts();
    exports();
    divergences();
    otherGraphs();
    collectives();
    unfinished();
    if (m_lines.empty() && !m_details.compiles.empty())
      add(Weight::Fact, "compiles", "no recompiles, graph breaks, restarts or failures");
    specialisations();
    caches();
    times();
    return std::move(m_lines);
  }

 private:
  void add(Weight weight, std::string_view section, std::string text) {
    m_lines.push_back({weight, std::move(text), std::string(section)});
  }

  template <class Use>
  void forEach(Use use) const {
    for (std::size_t i = 0; i < m_log.compiles.size(); ++i) use(m_log.compiles[i], m_details.compiles[i]);
  }

  void failures() {
    Texts texts;
    std::set<std::string> ids;
    forEach([&](const CompileStory& story, const CompileEntry& entry) {
      for (const CompileFailure& failure : story.failures) {
        ids.insert(entry.id);
        const std::string where = failure.where.empty() ? "" : " at " + shortPlace(failure.where);
        const std::string type = failure.type.empty() ? "" : failure.type + ": ";
        texts.add(fmt::format("{} {}{}{}", entry.id, type, flattened(failure.reason), where));
      }
    });
    if (!texts.items().empty())
      add(Weight::Problem, "failures", counted(ids.size(), "failure") + ": " + listed(texts, "; "));
  }

  /// What Inductor's own check of ranks found; every rank logs the same.
  void otherGraphs() {
    Texts texts;
    forEach([&](const CompileStory& story, const CompileEntry& entry) {
      for (const CompileMetrics& metrics : story.metrics) {
        if (metrics.kind != "inductor_spmd_graph_mismatch") continue;
        for (const auto& [what, has] : metrics.fields)
          if (what.starts_with("ranks ")) texts.add(fmt::format("{} {}: {}", entry.id, what, oneLine(has)));
      }
    });
    if (!texts.items().empty())
      add(Weight::Problem, "metrics", "ranks compiled other graphs: " + listed(texts, "; ", 2));
  }

  struct Change {
    Texts ids, before, after, frames;
  };

  void recompiles() {
    std::map<std::string, Change> bySubject;
    Texts order, silent, toldFrames;
    forEach([&](const CompileStory& story, const CompileEntry& entry) {
      if (story.causes.empty()) {
        if (isRecompile(entry.id)) silent.add(entry.id);
        return;
      }
      toldFrames.add(withoutAttempt(entry.id));
      const RecompileCause& cause = story.causes.front();  // against the newest compilation of the frame
      Change& change = bySubject[cause.subject];
      order.add(cause.subject);
      change.ids.add(entry.id);
      change.frames.add(shortPlace(entry.frame));
      for (const RecompileCause& one : story.causes) {
        if (one.subject != cause.subject) continue;
        change.before.add(one.before);
        change.after.add(one.after);
      }
    });
    for (const std::string& subject : order.items()) recompile(subject, bySubject[subject]);
    std::vector<std::string> left = silent.items();
    std::erase_if(left, [&](const std::string& id) { return toldFrames.contains(withoutAttempt(id)); });
    if (!left.empty())
      add(Weight::Note, "recompiles",
          fmt::format("{} without a logged reason: {}", counted(left.size(), "recompile"), listed(left, " ")));
  }

  void recompile(const std::string& subject, const Change& change) {
    const std::string_view quote = subject.starts_with("the ") || subject.starts_with("whether ") ? "" : "`";
    std::string text = fmt::format("{} because {}{}{} changed", counted(change.ids.items().size(), "recompile"), quote,
                                   oneLine(subject), quote);
    if (!change.after.items().empty())
      text += fmt::format(" ({} → {})", listed(change.before, ", "), listed(change.after, ", "));
    else if (!change.before.items().empty())
      text += fmt::format(" (was {})", listed(change.before, ", "));
    text += ": " + listed(change.ids, " ", 8);
    if (!change.frames.items().empty()) text += ", " + listed(change.frames, ", ", 2);
    if (const std::string advice = trace::recompileAdvice(subject, change.before.items(), change.after.items());
        !advice.empty())
      text += "; " + advice;
    add(Weight::Problem, "recompiles", std::move(text));
  }

  /// "[0/1]" of "[0/1_2]": what one attempt was begun for, the next one is, too.
  static std::string withoutAttempt(const std::string& id) {
    const std::size_t mark = id.find('_');
    return mark == id.npos ? id : id.substr(0, mark) + "]";
  }

  /// "[0/1]", "[!0/3/2_1]": a frame's compilation after the first.
  static bool isRecompile(std::string_view id) {
    const std::size_t slash = id.rfind('/');
    if (slash == std::string_view::npos) return false;
    const std::string_view number = id.substr(slash + 1);
    return !number.starts_with("0]") && !number.starts_with("0_");
  }

  void breaks() {
    std::size_t count = 0;
    Texts places;
    forEach([&](const CompileStory& story, const CompileEntry&) {
      for (const GraphBreak& broken : story.breaks) {
        ++count;
        places.add(broken.implied ? shortPlace(broken.where)
                                  : fmt::format("{} ({})", shortPlace(broken.where), oneLine(broken.reason)));
      }
    });
    if (count > 0) add(Weight::Problem, "breaks", counted(count, "graph break") + " at " + listed(places, ", "));
  }

  void restarts() {
    std::size_t count = 0;
    Texts reasons;
    forEach([&](const CompileStory& story, const CompileEntry& entry) {
      for (const CompileRestart& restart : story.restarts) {
        if (restart.isBreak) continue;
        ++count;
        reasons.add(fmt::format("{} {}", entry.id, oneLine(restart.reason)));
      }
    });
    if (count > 0) add(Weight::Note, "restarts", counted(count, "restart") + ": " + listed(reasons, "; "));
  }

  void exports() {
    std::map<std::string, std::vector<std::string>> byKind;
    std::int64_t programs = 0;
    forEach([&](const CompileStory& story, const CompileEntry&) {
      programs += story.exported;
      for (const ExportProblem& problem : story.exports) {
        const std::string where = m_log.innermost(problem.user);
        byKind[problem.kind].push_back(
            fmt::format("`{}`{}", oneLine(problem.subject), where.empty() ? "" : " at " + shortPlace(where)));
      }
    });
    for (const auto& [kind, items] : byKind)
      add(Weight::Problem, "export", counted(items.size(), kind) + ": " + listed(items, "; "));
    if (programs > 0 && byKind.empty())
      add(Weight::Fact, "export", counted(std::size_t(programs), "exported program") + ", nothing guessed");
  }

  void divergences() {
    std::map<std::string, std::pair<std::set<int>, Texts>> byKind;
    for (const RankDivergence& divergence : m_ranks.divergences) {
      auto& [odd, ids] = byKind[divergence.kind];
      for (const int rank : divergence.odd()) odd.insert(rank);
      ids.add(divergence.id);
    }
    for (const auto& [kind, found] : byKind)
      add(Weight::Problem, "ranks",
          fmt::format("{} on {}{}{}", kind, ranksText({found.first.begin(), found.first.end()}),
                      found.second.items().empty() ? "" : ": ", listed(found.second, " ")));
    if (byKind.empty() && !m_ranks.ranks.empty())
      add(Weight::Fact, "ranks", fmt::format("{} ranks did the same", m_ranks.ranks.size()));
  }

  void collectives() {
    Texts unwaited, differing;
    forEach([&](const CompileStory& story, const CompileEntry& entry) {
      for (const CollectiveSchedule& schedule : story.collectives) {
        if (schedule.unwaited() > 0) unwaited.add(fmt::format("{} in {}", schedule.unwaited(), entry.id));
        if (schedule.called >= 0 && schedule.called != schedule.scheduled())
          differing.add(fmt::format("{} scheduled, {} called in {}", schedule.scheduled(), schedule.called, entry.id));
      }
    });
    if (!unwaited.items().empty())
      add(Weight::Problem, "collectives", "collectives that nothing waits for: " + listed(unwaited, ", "));
    if (!differing.items().empty())
      add(Weight::Problem, "collectives",
          "the code calls other collectives than Inductor scheduled: " + listed(differing, ", "));
  }

  void unfinished() {
    Texts ids;
    forEach([&](const CompileStory&, const CompileEntry& entry) {
      if (entry.status == CompileEntry::Status::Incomplete) ids.add(entry.id);
    });
    if (!ids.items().empty())
      add(Weight::Note, "compiles",
          fmt::format("{} without metrics, as of a compilation that did not end: {}", counted(ids.items().size(), "id"),
                      listed(ids, " ", 8)));
  }

  void specialisations() {
    Texts texts;
    forEach([&](const CompileStory& story, const CompileEntry&) {
      for (const SymbolFact& made : story.symbols) {
        if (made.kind != "specialised") continue;
        const std::string where = m_log.innermost(made.user);
        const std::string name = made.source.empty() ? made.subject : trace::plainSource(made.source);
        texts.add(
            fmt::format("`{}` = {}{}", oneLine(name), made.value, where.empty() ? "" : " at " + shortPlace(where)));
      }
    });
    if (!texts.items().empty())
      add(Weight::Note, "symbols", counted(texts.items().size(), "dynamic size") + " fixed: " + listed(texts, ", "));
  }

  void caches() {
    std::map<std::string, std::map<std::string, std::size_t>> counts;
    Texts bypasses;
    forEach([&](const CompileStory& story, const CompileEntry&) {
      for (const CacheLookup& lookup : story.caches) {
        ++counts[lookup.cache][lookup.result];
        if (lookup.result == "bypass") bypasses.add(oneLine(lookup.reason));
      }
    });
    std::vector<std::string> texts;
    for (const auto& [cache, results] : counts) {
      std::vector<std::string> parts;
      for (const auto& [result, plural] :
           {std::pair("hit", "hits"), std::pair("miss", "misses"), std::pair("bypass", "bypasses")})
        if (const auto found = results.find(result); found != results.end())
          parts.push_back(fmt::format("{} {}", found->second, found->second == 1 ? result : plural));
      if (!parts.empty()) texts.push_back(fmt::format("{} cache: {}", cache, fmt::join(parts, ", ")));
    }
    if (texts.empty()) return;
    const std::string why = bypasses.items().empty() ? "" : " (bypassed: " + listed(bypasses, "; ", 2) + ")";
    add(bypasses.items().empty() ? Weight::Fact : Weight::Note, "caches",
        fmt::format("{}{}", fmt::join(texts, "; "), why));
  }

  void times() {
    std::vector<std::pair<double, std::string>> spent;
    double total = 0;
    forEach([&](const CompileStory& story, const CompileEntry& entry) {
      for (const CompileMetrics& metrics : story.metrics) {
        const double seconds = metrics.seconds("total");
        if (metrics.kind != "compilation_metrics" || seconds < 0) continue;
        total += seconds;
        spent.emplace_back(seconds, entry.id);
      }
    });
    if (spent.empty()) return;
    std::ranges::stable_sort(spent, std::ranges::greater(), &std::pair<double, std::string>::first);
    std::string text = fmt::format("{:.1f} s in {}", total, counted(spent.size(), "compilation"));
    if (spent.size() > 1)
      text += fmt::format(", the slowest {} with {:.1f} s", spent.front().second, spent.front().first);
    add(Weight::Fact, "metrics", std::move(text));
  }

  const CompileLog& m_log;
  const CaptureDetails& m_details;
  const RankTable& m_ranks;
  std::vector<AnswerLine> m_lines;
};

}  // namespace

std::string shortPlace(std::string_view where) {
  const std::string_view place = where.substr(0, where.find(" in "));
  return std::string(place.substr(place.find_last_of("/\\") + 1));  // npos + 1 is 0
}

std::vector<AnswerLine> compileAnswer(const CompileLog& log, const CaptureDetails& details, const RankTable& ranks) {
  return Answer(log, details, ranks).lines();
}

}  // namespace kerf::inline capture
