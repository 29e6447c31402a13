// Writing a graph or a record to where the user wants it.
#include "app/workbench/captures/recorded_settings.h"
#include "app/workbench/captures/records.h"
#include "app/workbench/captures/store_id.h"
#include "app/workbench/export/exporting.h"
#include "app/workbench/minify/issue.h"
#include "engine/capture/audit/allowed_calls.h"
#include "engine/capture/repro/export_text.h"
#include "engine/capture/repro/writer.h"
#include "engine/support/atomic_file.h"
#include "minifier/core/repro_settings.h"

namespace kerf::workbench {

namespace {

/// Output is written through a temporary file beside it, so its folder must be there.
Result<void> makeParent(const std::filesystem::path& path) {
  const auto parent = path.parent_path();
  std::error_code problem;
  if (!parent.empty()) std::filesystem::create_directories(parent, problem);
  if (!problem) return {};
  return fail(ErrorCode::Environment, "cannot create the folder {}: {}", parent.string(), problem.message());
}

Result<Exported> exportRecord(Workbench& bench, const ExportRequest& request, const Job& job) {
  KERF_TRY(const auto record, resolveRecord(bench, request.graph.text, job));
  if (!record) return fail(ErrorCode::NotFound, Hint{Advice::ListRecords}, "{} is not a record", request.graph.text);
  KERF_TRY(const auto text, record->record().text());
  KERF_CHECK(makeParent(request.place));
  KERF_CHECK(writeTextFile(text, request.place));
  return Exported{request.place, "record", 0, 0, record->record().name, std::ssize(text)};
}

/// Formats that hold the inputs' values.
constexpr std::string_view formatsWithData[] = {"repro", "zip", "pt2", "issue"};

/// What was made up, for it may be much: a trace's graph has its model's weights as inputs.
void tellOfData(const CapturedGraph& before, const CapturedGraph& after, InputFill fill, const Job& job) {
  std::int64_t count = 0, bytes = 0;
  for (std::size_t i = 0; i < after.storages.size(); ++i) {
    const bool isNew = i >= before.storages.size() || !before.storages[i].data;
    if (!after.storages[i].data || !isNew) continue;
    ++count;
    bytes += after.storages[i].bytes;
  }
  if (count > 0)
    job.note(fmt::format("{} storages were made up ({}), {:.1f} MB; random inputs would be left to PyTorch's loader",
                         count, inputFillName(fill), double(bytes) / 1e6));
}

/// A file that others run gets the values that Kerf runs on: those that it made up, and those of the user's file.
Result<GraphSource> withData(GraphSource source, std::string_view format, const Job& job) {
  if (std::ranges::find(formatsWithData, format) == std::end(formatsWithData)) return source;
  if (source.inputFile.empty()) {
    KERF_TRY(auto whole, withGeneratedData(source.graph(), loadOptions(source)));
    tellOfData(source.graph(), whole, source.fill, job);
    source.graph() = std::move(whole);
    return source;
  }
  KERF_TRY(RunnableGraph ready, runnable(std::move(source), job));
  auto& graph = ready.graph();
  KERF_TRY(auto given, makeCapturedGraph(graph.module, ready.inputs, &graph));
  graph.inputs = std::move(given.inputs);
  graph.storages = std::move(given.storages);
  return GraphSource(std::move(ready));
}

/// A step of a reduction is Kerf's own, and does not dump. A capture is exported as it was, with a word of warning.
void settleDumping(GraphSource& source, const std::string& text, const Job& job) {
  const auto id = parseStoreId(text);
  if (id && id->kind == 'm') return stopDumping(source.capture.envelope);
  const auto& envelope = source.graph().envelope ? *source.graph().envelope : source.capture.envelope;
  if (startsDumping(envelope))
    job.note(
        "TORCHDYNAMO_REPRO_AFTER is set in it: running it makes PyTorch dump repros again, over it where it lies "
        "there");
}

}  // namespace

Result<Exported> perform(Workbench& bench, const ExportRequest& request, const Job& job) {
  const auto id = parseStoreId(request.graph.text);
  if ((id && id->record != 0) || request.format == "record") return exportRecord(bench, request, job);
  KERF_TRY(const auto format, chooseFormat(request.format, request.place));
  if (!request.values.empty() && format != "safetensors")
    return fail(ErrorCode::BadUsage, "values of nodes can only be written in the format safetensors");
  KERF_TRY(auto found, resolveGraph(bench, request.graph, job));
  if (!found.symbols.empty()) {
    KERF_TRY(found.graph(), withSymbolValues(found.graph(), found.symbols));
  }
  KERF_TRY(found.capture.allowedCalls, parseExtraCalls(request.allowedCalls));
  found = withRecordedEnvironment(std::move(found));
  settleDumping(found, request.graph.text, job);
  KERF_TRY(const GraphSource source, withData(std::move(found), format, job));
  if (format != "repro") KERF_CHECK(makeParent(request.place));
  ExportTarget target{request.place, request.values};
  target.runCommand = request.runCommand;
  target.accuracy = request.accuracy;
  const bool isFolder = format == "repro" && !std::filesystem::path(request.place).has_extension();
  if (format == "issue" || format == "zip" || isFolder) {
    KERF_TRY(target.issue, storedIssueFacts(bench, source, job));
  }
  KERF_TRY(const auto path, writeAs(format, source, target, job));
  if (isFolder && target.issue) KERF_CHECK(writeIssueBeside(*target.issue, path));
  const auto& graph = source.graph();
  return Exported{path.string(),
                  std::string(format),
                  std::int64_t(graph.module.graph.size()),
                  std::ssize(graph.storages),
                  {},
                  0,
                  leftOutNotes(source.capture, source.index)};
}

}  // namespace kerf::workbench
