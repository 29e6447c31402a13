#include "app/workbench/stages/capture_findings.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include <fmt/ranges.h>

#include "engine/ir/printer.h"

namespace kerf::workbench {

namespace {

constexpr std::size_t mostCauses = 12;
/// A time counts from a tenth of itself and 50 ms on: less is what two runs of one version differ by.
constexpr double leastShare = 0.1, leastSeconds = 0.05;
constexpr std::string_view timesThatCount[] = {"entire_frame_compile_time_s", "backend_compile_time_s",
                                               "inductor_compile_time_s", "code_gen_time_s"};

std::string idOf(const CompileDifference& compile) { return compile.after.empty() ? compile.before : compile.after; }

CaptureFinding statusFinding(const CompileDifference& compile) {
  CaptureFinding finding{.kind = CaptureFinding::Kind::Status, .compile = idOf(compile), .subject = compile.frame};
  finding.text = fmt::format("{} → {}", compile.statusBefore, compile.statusAfter);
  finding.before = compile.statusBefore == "failed";
  finding.after = compile.statusAfter == "failed";
  return finding;
}

CaptureFinding onlyOneHas(const CompileDifference& compile) {
  const bool gone = compile.after.empty();
  return {.kind = CaptureFinding::Kind::Compilation,
          .compile = idOf(compile),
          .subject = compile.frame,
          .text = gone ? "is not compiled any more" : "is compiled only now",
          .before = gone ? 1.0 : 0.0,
          .after = gone ? 0.0 : 1.0};
}

/// Guards that come and go; conditions on sizes are what recompiles are made of, and stand first.
CaptureFinding guardFinding(const CompileDifference& compile) {
  CaptureFinding finding{.kind = CaptureFinding::Kind::Guard, .compile = idOf(compile)};
  for (const bool sizes : {true, false})
    for (const TextCount& guard : compile.guards) {
      if (guard.text.starts_with("SYMBOLS: ") != sizes) continue;
      finding.because.push_back(fmt::format("{} {}", guard.after > guard.before ? "new:" : "gone:", guard.text));
      finding.before += std::max(0, guard.before - guard.after);
      finding.after += std::max(0, guard.after - guard.before);
    }
  finding.text = fmt::format("{} gone, {} new", finding.before, finding.after);
  limitCauses(finding);
  return finding;
}

CaptureFindings timeFindings(const CompileDifference& compile) {
  CaptureFindings findings;
  for (const FigureChange& figure : compile.figures) {
    if (std::ranges::find(timesThatCount, figure.name) == std::end(timesThatCount)) continue;
    const double change = figure.after - figure.before;
    if (std::abs(change) < leastSeconds || std::abs(change) < leastShare * std::abs(figure.before)) continue;
    findings.push_back({.kind = CaptureFinding::Kind::Time,
                        .compile = idOf(compile),
                        .subject = figure.name,
                        .text = fmt::format("{:.3g} s → {:.3g} s", figure.before, figure.after),
                        .before = figure.before,
                        .after = figure.after});
  }
  return findings;
}

/// How much a finding weighs within its kind.
double weightOf(const CaptureFinding& finding) {
  const double change = finding.after - finding.before;
  // What got lost, failed or needs more than before stands in front of what came or needs less.
  const bool loses = finding.kind == CaptureFinding::Kind::Pattern || finding.kind == CaptureFinding::Kind::Compilation;
  const bool worse = loses ? change < 0 : change > 0;
  return (worse ? 2 : 1) * std::abs(change);
}

/// What happened to the nodes of one graph, by name.
class Fates {
 public:
  Fates(const Graph& mine, const Graph& other, const GraphDiff& diff, bool mirrored)
      : m_mine(mine), m_other(other), m_mirrored(mirrored) {
    for (const NodeDelta& delta : diff.nodes) {
      const NodeId id = mirrored ? delta.after : delta.before;
      if (id.valid() && !delta.rewritten()) m_fates[mine.node(id).name()] = fateOf(delta);
    }
    for (const Rewrite& rewrite : diff.rewrites)
      for (const NodeId id : mirrored ? rewrite.after : rewrite.before)
        m_fates[mine.node(id).name()] = rewriteFate(rewrite);
  }

  /// Empty: it is the same.
  std::string of(const std::string& name) const {
    const auto found = m_fates.find(name);
    return found == m_fates.end() ? std::string() : found->second;
  }

 private:
  std::string_view verb() const { return m_mirrored ? "was" : "is now"; }

  std::string fateOf(const NodeDelta& delta) const {
    const NodeId id = m_mirrored ? delta.before : delta.after;
    if (!id.valid()) return m_mirrored ? "is new" : "is gone";
    if (delta.callChanged || delta.metaChanged) return fmt::format("{} {}", verb(), printNode(m_other, id));
    if (delta.given) return m_mirrored ? "was an input or is one" : "is computed in one graph and given to the other";
    return {};
  }

  std::string rewriteFate(const Rewrite& rewrite) const {
    std::vector<std::string> became;
    for (const NodeId id : m_mirrored ? rewrite.before : rewrite.after) {
      if (became.size() == 3) {
        became.emplace_back("…");
        break;
      }
      became.push_back(printNode(m_other, id));
    }
    return became.empty() ? std::string(m_mirrored ? "is new" : "is gone")
                          : fmt::format("{} {}", verb(), fmt::join(became, "; "));
  }

  const Graph &m_mine, &m_other;
  bool m_mirrored;
  std::unordered_map<std::string, std::string> m_fates;
};

}  // namespace

std::vector<std::string> nodeFates(const ModuleComparison& comparison, const std::vector<std::string>& names,
                                   bool mirrored) {
  const auto whole = std::ranges::find(comparison.diffs, std::string(), [](const auto& entry) { return entry.first; });
  if (whole == comparison.diffs.end()) return {};
  const Graph &before = comparison.before.graph, &after = comparison.after.graph;
  const Fates fates(mirrored ? after : before, mirrored ? before : after, whole->second, mirrored);
  std::vector<std::string> told;
  for (const std::string& name : names) {
    std::string fate = fates.of(name);
    if (!fate.empty()) told.push_back(name + " " + fate);
  }
  return told;
}

void limitCauses(CaptureFinding& finding) {
  if (finding.because.size() <= mostCauses) return;
  finding.more += int(finding.because.size() - mostCauses);
  finding.because.resize(mostCauses);
}

CaptureFindings compileFindings(const CompileDifference& compile) {
  if (compile.before.empty() || compile.after.empty()) return {onlyOneHas(compile)};
  CaptureFindings findings = timeFindings(compile);
  if (compile.statusBefore != compile.statusAfter) findings.push_back(statusFinding(compile));
  if (!compile.guards.empty()) findings.push_back(guardFinding(compile));
  return findings;
}

void sortFindings(CaptureFindings& findings) {
  std::ranges::stable_sort(findings, [](const CaptureFinding& a, const CaptureFinding& b) {
    return a.kind != b.kind ? a.kind < b.kind : weightOf(a) > weightOf(b);
  });
}

}  // namespace kerf::workbench
