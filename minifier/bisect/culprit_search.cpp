#include "minifier/bisect/culprit_search.h"

#include <algorithm>
#include <map>

#include <fmt/ranges.h>

namespace kerf::inline minifier::inline bisect {

namespace {

using Switches = std::vector<bool>;

/// So few parts are tried one after the other, which shows whether one of them hides the difference.
constexpr std::size_t fewParts = 8;

class CulpritSearch {
 public:
  CulpritSearch(const std::vector<std::string>& parts, std::string_view what, const PartTrial& trial,
                const WorkProgress& progress)
      : m_parts(parts), m_what(what), m_trial(trial), m_progress(progress) {}

  Result<CulpritReport> run() {
    Switches on(m_parts.size(), true);
    KERF_TRY(const bool clean, same(on));
    if (clean) {
      m_found.note = fmt::format("no difference with every {} on", m_what);
      return std::move(m_found);
    }
    m_found.different = true;
    KERF_TRY(const bool cleanWithout, same(Switches(m_parts.size(), false)));
    if (!cleanWithout) {
      m_found.note = fmt::format("the difference is there with every {} off: bisect by node", m_what);
      return std::move(m_found);
    }
    for (bool left = true; left;) {
      KERF_TRY(const std::size_t culprit, nextCulprit(on));
      m_found.culprits.push_back(m_parts[culprit]);
      KERF_CHECK(explain(culprit, on));
      on[culprit] = false;
      KERF_TRY(const bool done, same(on));
      left = !done;
    }
    return std::move(m_found);
  }

 private:
  std::vector<std::string> namesOf(const Switches& on) const {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < on.size(); ++i)
      if (on[i]) names.push_back(m_parts[i]);
    return names;
  }

  Result<bool> same(const Switches& on) {
    if (const auto known = m_known.find(on); known != m_known.end()) return known->second;
    (void)m_progress.step(
        fmt::format("trial {}: {} of {} on", m_known.size() + 1, std::ranges::count(on, true), on.size()),
        double(m_known.size()) / double(m_known.size() + 4));
    KERF_TRY(std::string detail, m_trial(on));
    const bool isSame = detail.empty();
    m_found.trials.push_back({namesOf(on), isSame, std::move(detail)});
    m_known.emplace(on, isSame);
    return isSame;
  }

  /// The first `count` of those that are on.
  static Switches prefix(const Switches& on, std::size_t count) {
    Switches result(on.size(), false);
    for (std::size_t i = 0; i < on.size() && count > 0; ++i) {
      if (!on[i]) continue;
      result[i] = true;
      --count;
    }
    return result;
  }

  /// None on is the same, all of `on` differ.
  Result<std::size_t> nextCulprit(const Switches& on) {
    std::size_t good = 0, bad = std::size_t(std::ranges::count(on, true));
    if (m_parts.size() <= fewParts) KERF_CHECK(tryEveryPrefix(on));
    while (bad - good > 1) {
      const std::size_t middle = (good + bad) / 2;
      KERF_TRY(const bool isSame, same(prefix(on, middle)));
      (isSame ? good : bad) = middle;
    }
    const Switches reached = prefix(on, bad);
    std::size_t last = 0;
    for (std::size_t i = 0; i < reached.size(); ++i)
      if (reached[i]) last = i;
    return last;
  }

  Result<void> tryEveryPrefix(const Switches& on) {
    bool differed = false;
    const auto count = std::size_t(std::ranges::count(on, true));
    for (std::size_t k = 0; k <= count; ++k) {
      KERF_TRY(const bool isSame, same(prefix(on, k)));
      if (isSame && differed) m_found.remarks.push_back(fmt::format("{} hides the difference again", nameAt(on, k)));
      differed = !isSame;
    }
    return {};
  }

  /// The k-th of those that are on, from 1.
  const std::string& nameAt(const Switches& on, std::size_t k) const {
    std::size_t at = 0;
    for (std::size_t i = 0; i < on.size(); ++i)
      if (on[i] && --k == 0) at = i;
    return m_parts[at];
  }

  /// Whether the culprit differs alone; else which of the parts before it it needs, each of them.
  Result<void> explain(std::size_t culprit, const Switches& on) {
    Switches needed(on.size(), false);
    needed[culprit] = true;
    KERF_TRY(const bool isClean, same(needed));
    if (!isClean) return {};
    for (std::size_t i = 0; i < culprit; ++i) needed[i] = on[i];
    for (std::size_t width = culprit / 2; width > 1; width /= 2) KERF_CHECK(dropRuns(needed, culprit, width));
    for (Switches before; before != needed;) {
      before = needed;
      KERF_CHECK(dropRuns(needed, culprit, 1));
    }
    needed[culprit] = false;
    m_found.remarks.push_back(
        fmt::format("{} differs only together with {}", m_parts[culprit], fmt::join(namesOf(needed), ", ")));
    return {};
  }

  Result<void> dropRuns(Switches& needed, std::size_t culprit, std::size_t width) {
    for (std::size_t begin = 0; begin < culprit; begin += width) {
      Switches fewer = needed;
      for (std::size_t i = begin; i < std::min(begin + width, culprit); ++i) fewer[i] = false;
      if (fewer == needed) continue;
      KERF_TRY(const bool isSame, same(fewer));
      if (!isSame) needed = fewer;
    }
    return {};
  }

  const std::vector<std::string>& m_parts;
  const std::string_view m_what;
  const PartTrial& m_trial;
  const WorkProgress& m_progress;
  std::map<Switches, bool> m_known;
  CulpritReport m_found;
};

}  // namespace

Result<CulpritReport> findCulprits(const std::vector<std::string>& parts, std::string_view what, const PartTrial& trial,
                                   const WorkProgress& progress) {
  return CulpritSearch(parts, what, trial, progress).run();
}

}  // namespace kerf::inline minifier::inline bisect
