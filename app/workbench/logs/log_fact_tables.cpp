// Tables of what compilations are made of: guards, sizes, caches, export, kernels, code, collectives, ranks, times.
#include <algorithm>

#include <fmt/ranges.h>

#include "app/workbench/captures/capture_index.h"
#include "app/workbench/logs/log_tables.h"

namespace kerf::workbench {

namespace {

constexpr std::size_t shownNodes = 40;

std::string joined(const std::vector<std::string>& names, std::string_view separator = ", ") {
  const std::size_t shown = std::min(names.size(), shownNodes);
  auto text = fmt::format("{}", fmt::join(names.begin(), names.begin() + std::ptrdiff_t(shown), separator));
  return shown < names.size() ? fmt::format("{}{}{} more", text, separator, names.size() - shown) : text;
}

std::string stacksText(const LogView& view, const LogStack& user, const LogStack& framework) {
  std::string text;
  if (!user.empty()) text += "User stack:\n" + view.log.frames.traceback(user);
  if (!framework.empty()) text += "Framework stack:\n" + view.log.frames.traceback(framework);
  return text;
}

std::string milliseconds(std::int64_t microseconds) { return fmt::format("{:.3f}", double(microseconds) / 1e3); }

template <class Member, class Use>
void forEachOf(const LogView& view, Member member, Use use) {
  for (std::size_t i = 0; i < view.log.compiles.size(); ++i)
    for (const auto& item : view.log.compiles[i].*member) use(i, item);
}

std::string cellOf(const LogView& view, std::size_t compile) {
  const CompileEntry& entry = view.details.compiles[compile];
  const CompileStory& story = view.log.compiles[compile];
  std::string text(compileStatusName(entry.status));
  if (!story.graphPrint.empty()) text += " " + story.graphPrint.substr(0, 6);
  for (const auto& metrics : story.metrics)
    if (metrics.kind == "compilation_metrics" && metrics.seconds("total") >= 0)
      text += fmt::format(" {:.1f} s", metrics.seconds("total"));
  return text;
}

}  // namespace

void fillGuards(const LogView& view, LogTable& table) {
  forEachOf(view, &CompileStory::guards, [&](std::size_t i, const LoggedGuard& guard) {
    table.rows.push_back(
        compileRow(view, i, {guard.kind, guard.code, guard.source, guard.where, joined(guard.failedFor, " ")}));
  });
  std::ranges::stable_sort(table.rows, {}, [](const LogRow& row) { return row.cells.back().empty(); });
}

void fillSymbols(const LogView& view, LogTable& table) {
  forEachOf(view, &CompileStory::symbols, [&](std::size_t i, const SymbolFact& made) {
    table.rows.push_back(compileRow(
        view, i,
        {made.kind, made.subject, made.value, made.range, made.source, made.reason, view.log.innermost(made.user)},
        made.line));
    table.rows.back().detail = stacksText(view, made.user, made.framework);
  });
}

void fillCaches(const LogView& view, LogTable& table) {
  forEachOf(view, &CompileStory::caches, [&](std::size_t i, const CacheLookup& lookup) {
    const std::string reason = lookup.reason.empty() ? lookup.detail : lookup.reason;
    table.rows.push_back(compileRow(view, i,
                                    {std::to_string(lookup.run), lookup.cache, lookup.direction, lookup.result,
                                     lookup.key, reason, secondsText(lookup.savedSeconds)},
                                    lookup.line));
  });
}

void fillExport(const LogView& view, LogTable& table) {
  forEachOf(view, &CompileStory::exports, [&](std::size_t i, const ExportProblem& problem) {
    table.rows.push_back(compileRow(
        view, i, {problem.kind, problem.subject, problem.reason, view.log.innermost(problem.user)}, problem.line));
    std::string& detail = table.rows.back().detail;
    const auto list = [&](std::string_view title, const auto& fields) {
      if (!fields.empty()) detail += fmt::format("{}:\n", title);
      for (const auto& [name, value] : fields) detail += fmt::format("  {} = {}\n", name, value);
    };
    if (!problem.origin.empty()) detail += fmt::format("How it came to be:\n  {}\n", fmt::join(problem.origin, "\n  "));
    list("Symbols", problem.sources);
    list("Locals", problem.locals);
    detail += stacksText(view, problem.user, problem.framework);
  });
  for (std::size_t i = 0; i < view.log.compiles.size(); ++i)
    if (const auto programs = view.log.compiles[i].exported; programs > 0)
      table.rows.push_back(compileRow(view, i, {"exported", fmt::format("{} program(s)", programs), "", ""}));
}

void fillKernels(const LogView& view, LogTable& table) {
  const auto lines = [](const std::vector<int>& numbers) { return fmt::format("{}", fmt::join(numbers, " ")); };
  forEachOf(view, &CompileStory::kernels, [&](std::size_t i, const KernelOrigin& kernel) {
    table.rows.push_back(
        compileRow(view, i,
                   {kernel.direction, kernel.kernel, joined(kernel.postGradNodes), joined(kernel.preGradNodes),
                    joined(kernel.lines, "\n"), lines(kernel.definedAt), lines(kernel.calledAt)}));
    table.rows.back().record = int(kernel.code);
  });
}

void fillCode(const LogView& view, LogTable& table) {
  forEachOf(view, &CompileStory::codes, [&](std::size_t i, const LoggedCode& code) {
    const CaptureRecord& record = view.details.records[code.record];
    const bool named = record.kind == "artifact" || record.kind == code.name;
    table.rows.push_back(compileRow(
        view, i,
        {code.direction, named ? code.name : record.kind + " " + code.name, std::to_string(record.payload.length)}));
    table.rows.back().record = int(code.record);
  });
}

void fillCollectives(const LogView& view, LogTable& table) {
  const auto counted = [](int count) { return count < 0 ? std::string() : std::to_string(count); };
  forEachOf(view, &CompileStory::collectives, [&](std::size_t i, const CollectiveSchedule& schedule) {
    table.rows.push_back(
        compileRow(view, i,
                   {schedule.direction, std::to_string(schedule.scheduled()), std::to_string(schedule.waits()),
                    counted(schedule.called), counted(schedule.waited), joined(schedule.ops)},
                   schedule.line));
  });
}

void fillEstimates(const LogView& view, LogTable& table) {
  forEachOf(view, &CompileStory::estimates, [&](std::size_t i, const RuntimeEstimate& estimate) {
    const auto slowest = std::ranges::max_element(estimate.ops, {}, &std::pair<std::string, double>::second);
    table.rows.push_back(compileRow(
        view, i,
        {std::to_string(estimate.ops.size()), fmt::format("{:.3f}", estimate.totalNs / 1e6),
         slowest == estimate.ops.end() ? std::string()
                                       : fmt::format("{} ({:.3f} ms)", slowest->first, slowest->second / 1e6)},
        estimate.line));
    std::string& detail = table.rows.back().detail;
    for (const auto& [name, time] : estimate.ops) detail += fmt::format("{:12.3f} ms  {}\n", time / 1e6, name);
  });
}

void fillTimeline(const LogView& view, LogTable& table) {
  for (const TimelineTotal& total : timelineTotals(view.details.timeline)) {
    LogRow row;
    row.cells = {total.name,
                 total.category,
                 std::to_string(total.count),
                 milliseconds(total.selfUs),
                 milliseconds(total.totalUs),
                 milliseconds(total.longestUs)};
    table.rows.push_back(std::move(row));
  }
}

void fillLinks(const LogView& view, LogTable& table) {
  forEachOf(view, &CompileStory::links, [&](std::size_t i, const auto& link) {
    table.rows.push_back(compileRow(view, i, {link.first, link.second}));
  });
}

void fillRanks(const LogView& view, LogTable& table) {
  for (const int rank : view.ranks.ranks)
    table.columns.push_back({fmt::format("rank{}", rank), fmt::format("Rank {}", rank), false});
  if (!view.ranks.ranks.empty()) table.columns.push_back({"diverges", "Diverges", false});
  std::map<std::string_view, std::vector<std::string>> kinds;
  for (const RankDivergence& divergence : view.ranks.divergences) kinds[divergence.id].push_back(divergence.kind);
  for (const RankRow& ids : view.ranks.rows) {
    LogRow row;
    row.cells.push_back(ids.id);
    for (const std::int64_t compile : ids.compiles)
      row.cells.push_back(compile < 0 ? "-" : cellOf(view, std::size_t(compile)));
    row.cells.push_back(joined(kinds[ids.id]));
    table.rows.push_back(std::move(row));
  }
}

void fillDivergences(const LogView& view, LogTable& table) {
  for (const RankDivergence& divergence : view.ranks.divergences)
    for (const auto& [ranks, text] : divergence.groups) {
      LogRow row;
      row.cells = {divergence.kind, divergence.id, fmt::format("{}", fmt::join(ranks, " ")), text};
      table.rows.push_back(std::move(row));
    }
}

}  // namespace kerf::workbench
