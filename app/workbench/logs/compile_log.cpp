// perform(CompileLogRequest): the answer, the tables, and the remarks beside compile ids.
#include "app/workbench/logs/log_tables.h"

#include <algorithm>
#include <ranges>

#include <fmt/ranges.h>

namespace kerf::workbench {

namespace {

constexpr std::string_view weightNames[] = {"problem", "note", "fact"};
constexpr std::size_t shownCauses = 3;

std::string causeText(const RecompileCause& cause) {
  auto text = fmt::format("recompiled because {} changed", cause.subject);
  if (!cause.after.empty())
    text += fmt::format(" ({} → {})", cause.before, cause.after);
  else if (!cause.before.empty())
    text += fmt::format(" (was {})", cause.before);
  return cause.from.empty() ? text : fmt::format("{}; guard of {}: {}", text, cause.from, cause.guard);
}

}  // namespace

std::vector<std::string> compileRemarks(const CompileStory& story) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < std::min(story.causes.size(), shownCauses); ++i)
    texts.push_back(causeText(story.causes[i]));
  if (story.causes.size() > shownCauses)
    texts.push_back(fmt::format("and {} more guards failed", story.causes.size() - shownCauses));
  for (const GraphBreak& broken : story.breaks)
    texts.push_back(fmt::format("graph break at {}: {}", shortPlace(broken.where), broken.reason));
  for (const CompileRestart& restart : story.restarts)
    if (!restart.isBreak)
      texts.push_back(fmt::format("restarted: {}", restart.reason.substr(0, restart.reason.find('\n'))));
  for (const CacheLookup& lookup : story.caches)
    if (auto text = fmt::format("{} cache bypassed: {}", lookup.cache, lookup.reason);
        lookup.result == "bypass" && (texts.empty() || texts.back() != text))
      texts.push_back(std::move(text));
  return texts;
}

CompileLogDoc compileLogDoc(const LogView& view) {
  const Capture& capture = view.source.capture;
  CompileLogDoc doc;
  doc.name = view.source.text;
  doc.path = capture.path.string();
  doc.torchVersion = capture.torchVersion;
  for (const AnswerLine& line : compileAnswer(view.log, view.details, view.ranks))
    doc.answer.push_back({std::string(weightNames[std::size_t(line.weight)]), line.text, line.section});
  for (std::size_t i = 0; i < view.log.compiles.size(); ++i)
    for (auto& text : compileRemarks(view.log.compiles[i]))
      doc.remarks.push_back({view.details.compiles[i].id, view.details.compiles[i].rank, std::move(text)});
  for (std::size_t i = 0; i < view.details.records.size() && i < view.log.directions.size(); ++i) {
    const int graph = view.details.records[i].graph;
    if (graph >= 0 && !view.log.directions[i].empty())
      doc.directions.push_back({capture.graphs[std::size_t(graph)].name, view.log.directions[i]});
  }
  doc.notes = capture.notes;
  doc.notes.insert(doc.notes.end(), view.log.notes.begin(), view.log.notes.end());
  return doc;
}

bool isTrace(const Capture& capture) {
  constexpr std::string_view kinds[] = {"torch_trace", "torch_logs", "tritonparse"};
  return std::ranges::find(kinds, capture.kind) != std::end(kinds) && capture.details != nullptr;
}

Result<CompileLog> compileLogOf(const CaptureSource& source, const Job& job) {
  return readCompileLog(source.capture, [&](double) { return !job.stop.stop_requested(); });
}

namespace {

/// Those of the list "breaks,restarts"; all where it is empty, none of "answer". BadUsage for a name that there is not.
Result<std::vector<const LogSection*>> chosenSections(std::string_view list) {
  std::vector<const LogSection*> chosen;
  const auto sections = logSections();
  if (list.empty())
    for (const LogSection& section : sections) chosen.push_back(&section);
  for (const auto part : std::views::split(list, ',')) {
    const std::string_view name(part);
    const auto found = std::ranges::find(sections, name, &LogSection::name);
    if (found == sections.end() && !name.empty() && name != "answer")
      return fail(ErrorCode::BadUsage, "there is no table {} of a trace", name);
    if (found != sections.end()) chosen.push_back(&*found);
  }
  return chosen;
}

}  // namespace

Result<CompileLogDoc> perform(Workbench& bench, const CompileLogRequest& request, const Job& job) {
  KERF_TRY(const auto sections, chosenSections(request.section));
  KERF_TRY(const auto source, openCapture(bench, request.capture, job));
  if (!isTrace(source->capture)) return CompileLogDoc{.name = request.capture, .path = source->capture.path.string()};
  KERF_TRY(const CompileLog log, compileLogOf(*source, job));
  const CaptureDetails& details = *source->capture.details;
  const LogView view{*source, details, log, rankTable(log, details)};
  CompileLogDoc doc = compileLogDoc(view);
  for (const LogSection* section : sections) doc.tables.push_back(logTable(view, *section));
  return doc;
}

}  // namespace kerf::workbench
