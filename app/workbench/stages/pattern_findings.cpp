// Patterns that matched in one graph and do not in the other.
#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "app/workbench/stages/capture_findings.h"
#include "engine/diff/correspondence.h"
#include "engine/patterns/matcher_input.h"
#include "engine/patterns/shipped_patterns.h"

namespace kerf::workbench {

namespace {

constexpr std::size_t mostExplained = 40;  ///< patterns of a graph, each a walk over it

/// One of the two graphs: as patterns see it, and what they found there.
struct Matched {
  GraphModule module;
  std::map<std::string, std::vector<ReplacedMatch>> byPattern;
};

Result<Matched> matchedIn(const PatternMatcherPass& matcher, const GraphModule& module) {
  Matched matched;
  KERF_TRY(matched.module, matcherInput(module));
  GraphModule copy = matched.module;
  KERF_TRY(auto matches, matcher.apply(copy));
  for (ReplacedMatch& match : matches) {
    std::string name = match.pattern;
    matched.byPattern[std::move(name)].push_back(std::move(match));
  }
  return matched;
}

std::size_t countOf(const Matched& matched, const std::string& pattern) {
  const auto found = matched.byPattern.find(pattern);
  return found == matched.byPattern.end() ? 0 : found->second.size();
}

class PatternComparison {
 public:
  PatternComparison(const PatternMatcherPass& matcher, const ModuleComparison& comparison, Matched before,
                    Matched after)
      : m_matcher(matcher), m_comparison(comparison), m_before(std::move(before)), m_after(std::move(after)) {
    const auto whole =
        std::ranges::find(comparison.diffs, std::string(), [](const auto& entry) { return entry.first; });
    if (whole != comparison.diffs.end()) m_links.emplace(whole->second);
  }

  CaptureFindings run() {
    std::set<std::string> names;
    for (const Matched* side : {&m_before, &m_after})
      for (const auto& [name, matches] : side->byPattern) names.insert(name);
    CaptureFindings findings;
    for (const std::string& name : names)
      if (countOf(m_before, name) != countOf(m_after, name)) findings.push_back(findingOf(name));
    return findings;
  }

 private:
  CaptureFinding findingOf(const std::string& pattern) {
    const std::size_t before = countOf(m_before, pattern), after = countOf(m_after, pattern);
    CaptureFinding finding{.kind = CaptureFinding::Kind::Pattern, .subject = pattern};
    finding.before = double(before);
    finding.after = double(after);
    const bool came = after > before;
    const Matched &more = came ? m_after : m_before, &less = came ? m_before : m_after;
    finding.text = countText(before, after);
    addInstead(finding, more.byPattern.at(pattern), less, came);
    addMiss(finding, pattern, more, less, came);
    const auto fates = nodeFates(m_comparison, lostNodes(more.byPattern.at(pattern), less, pattern, came), came);
    finding.because.insert(finding.because.end(), fates.begin(), fates.end());
    limitCauses(finding);
    return finding;
  }

  static std::string countText(std::size_t before, std::size_t after) {
    const auto times = [](std::size_t count) {
      return count == 0 ? std::string("not at all") : count == 1 ? "once" : fmt::format("{} times", count);
    };
    return fmt::format("matched {} and now {}", times(before), times(after));
  }

  /// Calls of the matches whose result is none of a match of the pattern in the other graph.
  std::vector<std::string> lostNodes(const std::vector<ReplacedMatch>& matches, const Matched& less,
                                     const std::string& pattern, bool mirrored) const {
    std::set<std::string> there;
    if (const auto found = less.byPattern.find(pattern); found != less.byPattern.end())
      for (const ReplacedMatch& match : found->second) there.insert(match.result);
    std::vector<std::string> nodes;
    for (const ReplacedMatch& match : matches)
      if (!there.contains(partnerOf(match.result, mirrored)))
        nodes.insert(nodes.end(), match.nodes.begin(), match.nodes.end());
    return nodes;
  }

  /// Another pattern that took the same results.
  void addInstead(CaptureFinding& finding, const std::vector<ReplacedMatch>& matches, const Matched& less,
                  bool came) const {
    std::set<std::string> results;
    for (const ReplacedMatch& match : matches) results.insert(partnerOf(match.result, came));
    for (const auto& [name, others] : less.byPattern) {
      if (name == finding.subject) continue;
      const auto taken =
          std::ranges::count_if(others, [&](const ReplacedMatch& other) { return results.contains(other.result); });
      if (taken > 0)
        finding.because.push_back(fmt::format("{} {} at {} of these results {}", name, came ? "matched" : "matches",
                                              taken, came ? "before" : "now"));
    }
  }

  /// At the place of a match that is lost, else where the pattern comes nearest in the whole graph.
  void addMiss(CaptureFinding& finding, const std::string& pattern, const Matched& more, const Matched& less,
               bool came) {
    if (m_explained++ >= mostExplained) return;
    for (const ReplacedMatch& match : more.byPattern.at(pattern)) {
      const std::string place = partnerOf(match.result, came);
      if (place.empty() || matchesAt(less, pattern, place)) continue;
      if (addMissAt(finding, pattern, less, came, place)) return;
      break;
    }
    addMissAt(finding, pattern, less, came, {});
  }

  bool addMissAt(CaptureFinding& finding, const std::string& pattern, const Matched& less, bool came,
                 const std::string& place) {
    const auto explained = m_matcher.explain(less.module, pattern, place);
    if (!explained || !*explained) return false;
    const NearMiss& miss = **explained;
    const std::string_view when = came ? "before, " : "";
    if (miss.result.empty())
      finding.because.push_back(fmt::format("{}{}", when, miss.reason));
    else
      finding.because.push_back(fmt::format("{}{} {}: {} of its {} calls fit, then {}", when,
                                            place.empty() ? "it comes nearest at" : "at", miss.result, miss.matched,
                                            miss.calls, miss.reason));
    return true;
  }

  static bool matchesAt(const Matched& matched, const std::string& pattern, const std::string& result) {
    const auto found = matched.byPattern.find(pattern);
    return found != matched.byPattern.end() &&
           std::ranges::find(found->second, result, &ReplacedMatch::result) != found->second.end();
  }

  /// The node of the other graph that a node became, or (`mirrored`) came from; empty: none, or several.
  std::string partnerOf(const std::string& name, bool mirrored) const {
    if (!m_links) return {};
    const Graph& mine = mirrored ? m_comparison.after.graph : m_comparison.before.graph;
    const Graph& other = mirrored ? m_comparison.before.graph : m_comparison.after.graph;
    const auto node = mine.find(name);
    if (!node) return {};
    const auto& links = mirrored ? m_links->before(*node) : m_links->after(*node);
    return links.size() == 1 ? other.node(links.front().node).name() : std::string();
  }

  const PatternMatcherPass& m_matcher;
  const ModuleComparison& m_comparison;
  Matched m_before, m_after;
  std::optional<Correspondence> m_links;
  std::size_t m_explained = 0;
};

}  // namespace

CaptureFindings patternFindings(const ModuleComparison& comparison) {
  const auto matcher = shippedMatcher();
  if (!matcher) return {};
  auto before = matchedIn(*matcher, comparison.before), after = matchedIn(*matcher, comparison.after);
  // Patterns are of ATen graphs whose shapes are known; of others there is nothing to say.
  if (!before || !after) return {};
  return PatternComparison(*matcher, comparison, std::move(*before), std::move(*after)).run();
}

}  // namespace kerf::workbench
