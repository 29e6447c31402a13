#include "app/cli/diff_reports.h"

#include <algorithm>
#include <cmath>

#include "app/cli/diff_report.h"
#include "app/cli/json_forms.h"
#include "app/cli/text_table.h"

namespace kerf::cli {

namespace {

constexpr std::size_t shownCounts = 12;
/// Where a compilation's time went, in the order in which people ask; others only with --all.
constexpr std::string_view usualFigures[] = {"entire_frame_compile_time_s",
                                             "backend_compile_time_s",
                                             "inductor_compile_time_s",
                                             "code_gen_time_s",
                                             "graph_op_count",
                                             "guard_count"};

Json countsJson(const std::vector<TextCount>& counts, const char* what) {
  Json list = Json::array();
  for (const auto& count : counts)
    list.push_back({{what, count.text}, {"before", count.before}, {"after", count.after}});
  return list;
}

Json stageJson(const StageDifference& stage) {
  Json json = {{"graph", stage.graph},
               {"only", stage.onlyBefore  ? Json("before")
                        : stage.onlyAfter ? Json("after")
                                          : Json()},
               {"before", orNull(stage.before)},
               {"after", orNull(stage.after)},
               {"failure", orNull(stage.failure)}};
  if (stage.before.empty()) return json;
  Json difference = differenceJson(stage.difference);
  difference.erase("text");
  json["difference"] = std::move(difference);
  return json;
}

Json compileJson(const CompileDifference& compile) {
  Json graphs = Json::array();
  for (const auto& stage : compile.stages) graphs.push_back(stageJson(stage));
  return {{"before", orNull(compile.before)},
          {"after", orNull(compile.after)},
          {"frame", orNull(compile.frame)},
          {"status_before", orNull(compile.statusBefore)},
          {"status_after", orNull(compile.statusAfter)},
          {"same", compile.same()},
          {"graphs", std::move(graphs)},
          {"guards", countsJson(compile.guards, "guard")},
          {"kernels", countsJson(compile.kernels, "kernel")},
          {"figures", jsonOf(compile.figures)}};
}

std::string headText(const CompileDifference& compile) {
  const std::string& id = compile.after.empty() ? compile.before : compile.after;
  std::string text = compile.before.empty() || compile.before == id ? id : compile.before + " → " + id;
  if (!compile.frame.empty()) text += "  " + compile.frame;
  if (compile.before.empty()) return text + "  only in the second capture";
  if (compile.after.empty()) return text + "  only in the first capture";
  if (compile.statusBefore != compile.statusAfter)
    text += fmt::format("  {} → {}", compile.statusBefore, compile.statusAfter);
  return compile.same() ? text + "  the same graphs, guards and kernels" : text;
}

std::string stageText(const StageDifference& stage) {
  if (stage.onlyBefore) return "only in the first capture";
  if (stage.onlyAfter) return "only in the second capture";
  if (!stage.failure.empty()) return "not compared: " + stage.failure;
  return stage.difference.same ? "the same" : differenceCounts(stage.difference);
}

std::string countsText(std::string_view title, const std::vector<TextCount>& counts, bool all) {
  if (counts.empty()) return {};
  std::string text = fmt::format("  {}: {} differ\n", title, counts.size());
  const auto shown = all ? counts.size() : std::min(counts.size(), shownCounts);
  for (std::size_t i = 0; i < shown; ++i) {
    const TextCount& count = counts[i];
    if (count.before > 0 && count.after > 0)
      text += fmt::format("    {} → {}  {}\n", count.before, count.after, count.text);
    else
      text +=
          fmt::format("    {}{}  {}\n", count.before > 0 ? '-' : '+', std::max(count.before, count.after), count.text);
  }
  if (shown < counts.size()) text += fmt::format("    and {} more (--all lists them)\n", counts.size() - shown);
  return text;
}

std::string figuresText(const std::vector<FigureChange>& figures, bool all) {
  std::string text;
  const auto add = [&](const FigureChange& change) {
    const double percent = change.before == 0 ? 0 : 100 * (change.after - change.before) / std::abs(change.before);
    text += fmt::format("  {} {:g} → {:g}{}\n", change.name, change.before, change.after,
                        change.before == 0 ? "" : fmt::format(" ({:+.0f} %)", percent));
  };
  if (all) {
    for (const auto& change : figures) add(change);
    return text;
  }
  for (const std::string_view name : usualFigures)
    if (const auto found = std::ranges::find(figures, name, &FigureChange::name); found != figures.end()) add(*found);
  return text;
}

constexpr std::size_t shownFindings = 20, shownCauses = 4;

Json findingJson(const CaptureFinding& finding) {
  return {{"kind", findingKindName(finding.kind)},
          {"compile", orNull(finding.compile)},
          {"graph", orNull(finding.graph)},
          {"subject", orNull(finding.subject)},
          {"text", finding.text},
          {"before", finding.before},
          {"after", finding.after},
          {"because", finding.because},
          {"more", finding.more}};
}

/// "pattern softmax: matched once and now not at all  [0/0] aot_joint_graph", and below it why.
std::string findingText(const CaptureFinding& finding, bool all) {
  std::string text = fmt::format("  {}{}{}: {}", findingKindName(finding.kind), finding.subject.empty() ? "" : " ",
                                 finding.subject, finding.text);
  if (!finding.compile.empty()) text += "  " + finding.compile;
  if (!finding.graph.empty()) text += " " + finding.graph;
  text += "\n";
  const std::size_t shown = all ? finding.because.size() : std::min(finding.because.size(), shownCauses);
  for (std::size_t i = 0; i < shown; ++i) text += fmt::format("    {}\n", finding.because[i]);
  const std::size_t left = finding.because.size() - shown + std::size_t(finding.more);
  if (left > 0) text += fmt::format("    and {} more\n", left);
  return text;
}

std::string findingsText(const std::vector<CaptureFinding>& findings, bool all) {
  if (findings.empty()) return {};
  std::string text = "\nwhat matters, most first\n";
  const std::size_t shown = all ? findings.size() : std::min(findings.size(), shownFindings);
  for (std::size_t i = 0; i < shown; ++i) text += findingText(findings[i], all);
  if (shown < findings.size()) text += fmt::format("  and {} more (--all lists them)\n", findings.size() - shown);
  return text;
}

std::string compileText(const CompileDifference& compile, bool all) {
  std::string text = "\n" + headText(compile) + "\n";
  const bool both = !compile.before.empty() && !compile.after.empty();
  if (!both) return text;
  if (!compile.same()) {
    std::size_t width = 0;
    for (const auto& stage : compile.stages) width = std::max(width, stage.graph.size());
    for (const auto& stage : compile.stages)
      text += fmt::format("  {:<{}}  {}\n", stage.graph, width, stageText(stage));
  }
  return text + countsText("guards", compile.guards, all) + countsText("kernels", compile.kernels, all) +
         figuresText(compile.figures, all);
}

}  // namespace

Json captureDifferenceJson(const CaptureDifference& difference) {
  Json compiles = Json::array();
  for (const auto& compile : difference.compiles) compiles.push_back(compileJson(compile));
  Json findings = Json::array();
  for (const auto& finding : difference.findings) findings.push_back(findingJson(finding));
  return {{"same", difference.same},
          {"findings", std::move(findings)},
          {"compiles", std::move(compiles)},
          {"notes", difference.notes}};
}

std::string captureDifferenceText(const CaptureDifference& difference, const std::string& a, const std::string& b,
                                  bool all) {
  const auto count = [&](auto&& holds) { return std::ranges::count_if(difference.compiles, holds); };
  const auto same = count([](const auto& compile) { return compile.same(); });
  const auto first = count([](const auto& compile) { return compile.after.empty(); });
  const auto second = count([](const auto& compile) { return compile.before.empty(); });
  std::string text =
      fmt::format("--- {}\n+++ {}\n{}: {} the same, {} differ, {} only in the first, {} only in the second\n", a, b,
                  counted(std::ssize(difference.compiles), "compilation"), same,
                  std::ssize(difference.compiles) - same - first - second, first, second);
  text += findingsText(difference.findings, all);
  for (const auto& compile : difference.compiles) text += compileText(compile, all);
  for (const auto& note : difference.notes) text += fmt::format("note: {}\n", note);
  return text;
}

}  // namespace kerf::cli
