#include "engine/capture/trace/torch_logs.h"

#include <algorithm>

#include "engine/capture/text/capture.h"
#include "engine/capture/text/log_lines.h"
#include "engine/capture/trace/log_records.h"
#include "engine/capture/trace/made_log.h"

namespace kerf::inline capture {
namespace {

using namespace trace;

constexpr std::string_view whatIsMissing =
    "lines of TORCH_LOGS tell neither times nor caches nor whether a compilation ended: a log of TORCH_TRACE does";

/// Lays the graphs that the text holds beside the records of their compile ids.
void placeGraphs(const std::vector<CapturedGraph>& graphs, std::size_t firstRecord, CaptureDetails& details) {
  std::size_t record = firstRecord;
  for (std::size_t i = 0; i < graphs.size(); ++i) {
    if (graphs[i].origin.compileId.empty()) continue;
    details.records[record].graph = int(i);
    for (CompileEntry& entry : details.compiles)
      if (std::ranges::find(entry.records, record) != entry.records.end()) entry.graphs.push_back(i);
    ++record;
  }
}

/// Times and ends of compilations are not told: what did not fail counts as done.
void settle(CaptureDetails& details) {
  for (CompileEntry& entry : details.compiles)
    if (entry.status == CompileEntry::Status::Incomplete || entry.status == CompileEntry::Status::Empty)
      entry.status = CompileEntry::Status::Ok;
}

Result<Capture> nothingFound(Capture capture, const std::filesystem::path& path) {
  if (!capture.graphs.empty()) return capture;
  return fail(Error{ErrorCode::BadInput,
                    "the words are those of TORCH_LOGS, but there is no whole message of graph breaks, recompilations, "
                    "guards, sizes or output code, and no graph",
                    path.string(),
                    0,
                    {},
                    {}});
}

Result<std::shared_ptr<const CaptureDetails>> detailsOf(LogRecords& made, std::size_t graphRecords,
                                                        const std::filesystem::path& path, const ImportLimits& limits,
                                                        const Capture& capture) {
  KERF_TRY(const auto details, detailsOfMadeLog(made, path, limits));
  placeGraphs(capture.graphs, graphRecords, *details);
  settle(*details);
  return std::shared_ptr<const CaptureDetails>(details);
}

}  // namespace

bool looksLikeTorchLogs(std::string_view text) { return hasDynamoLines(text) && !logMessages(text).empty(); }

Result<Capture> importTorchLogs(std::string_view text, const std::filesystem::path& path, const ImportLimits& limits) {
  Capture capture;
  if (std::int64_t(text.size()) > limits.fileBytes) {
    std::string said = fmt::format("the text has {} bytes, above the limit of {}", text.size(), limits.fileBytes);
    return fail(Error{ErrorCode::TooLarge, std::move(said), path.string(), 0, {}, {}});
  }
  if (looksLikeGraphText(text)) {
    auto graphs = importGraphText(text, path, limits);
    if (graphs) capture = std::move(*graphs);
    if (!graphs && graphs.error().code != ErrorCode::BadInput) return graphs;
  }
  LogRecords made = logRecords(logMessages(text));
  if (made.records.empty()) return nothingFound(std::move(capture), path);
  const std::size_t graphRecords = made.records.size();
  for (const CapturedGraph& graph : capture.graphs)
    if (!graph.origin.compileId.empty()) addGraphRecord(graph.origin, made);
  KERF_TRY(const auto details, detailsOf(made, graphRecords, path, limits, capture));
  capture.kind = "torch_logs";
  capture.path = path;
  capture.details = details;
  capture.notes.emplace_back(whatIsMissing);
  return capture;
}

}  // namespace kerf::inline capture
