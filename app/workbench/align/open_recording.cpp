#include "app/workbench/align/open_recording.h"

#include <filesystem>

#include "app/workbench/captures/capture_source.h"
#include "app/workbench/captures/graph_source.h"
#include "engine/capture/common/import_source.h"

namespace kerf::workbench {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view rowsName = "values.jsonl";

/// "0_0-forward" is compilation 0/0; a second graph of one name is "0_0-forward-2".
struct RecordedName {
  std::string compileId, part;
};
RecordedName recordedName(std::string_view name) {
  const std::size_t dash = name.find('-');
  std::string id(name.substr(0, dash));
  std::ranges::replace(id, '_', '/');
  std::string_view part = dash == std::string_view::npos ? std::string_view() : name.substr(dash + 1);
  part = part.substr(0, part.find('-'));
  return {std::move(id), std::string(part)};
}

/// The graph that Inductor was given: values are recorded under the names of its nodes.
bool isGraphOf(const CapturedGraph& graph, const RecordedName& name) {
  const std::string& stage = graph.origin.stage;
  const bool part = name.part == "inference" ? stage == "aot_inference_graph" : stage == "aot_" + name.part + "_graph";
  return part && graph.name.find("[" + name.compileId + "]") != std::string::npos;
}

std::vector<std::string> graphNames(const RunRecording& recording) {
  std::vector<std::string> names;
  for (const RunStep& step : recording.steps) {
    const std::string prefix = step.name.substr(0, step.name.find('/') + 1);
    if (!prefix.empty() && std::ranges::find(names, prefix) == names.end()) names.push_back(prefix);
  }
  return names;
}

/// Structure from the compiler's log that lies in the folder. A folder without one is aligned by names alone.
void addRecordedGraphs(Workbench& bench, const std::string& path, OpenedRecording& opened, const Job& job) {
  RunRecording& recording = opened.recording;
  const auto source = openCapture(bench, path, job);
  if (!source) {
    recording.notes.push_back("no graphs: " + source.error().text());
    return;
  }
  const Capture& capture = (*source)->capture;
  for (const std::string& prefix : graphNames(recording)) {
    const std::string_view name = std::string_view(prefix).substr(0, prefix.find_first_of("@/"));
    const RecordedName wanted = recordedName(name);
    std::optional<CapturedGraph> found;
    for (const CapturedGraph& graph : capture.graphs)
      if (isGraphOf(graph, wanted)) found = graph;
    // A log of one compilation names its graphs without it.
    for (const CapturedGraph& graph : capture.graphs)
      if (!found && (graph.origin.stage == "aot_" + wanted.part + "_graph")) found = graph;
    if (found && found->ensureLoaded()) {
      addStructure(recording, found->module, prefix);
      opened.graphs.push_back({prefix, path + "#" + found->name, found->module});
    } else {
      recording.notes.push_back(
          fmt::format("the graph of {} is not in the log: steps have no ops and no inputs", name));
    }
  }
}

Result<OpenedRecording> openFolder(Workbench& bench, const std::string& path, const std::string& side, const Job& job) {
  KERF_TRY(const ImportSource rows, openSource(fs::path(path) / rowsName, {}, [](std::string_view) { return false; }));
  const RecordSide which = side == "eager" ? RecordSide::Eager : RecordSide::Compiled;
  std::error_code error;
  const fs::path values = fs::is_directory(fs::path(path) / "values", error) ? fs::path(path) / "values" : fs::path();
  OpenedRecording opened;
  KERF_TRY(opened.recording, readValueRows(rows.text, values, which));
  addRecordedGraphs(bench, path, opened, job);
  return opened;
}

Result<RunRecording> readFile(const std::string& path) {
  if (fs::path(path).extension() == ".safetensors") return readNamedValues(path);
  KERF_TRY(const ImportSource source,
           openSource(path, {.fileBytes = std::int64_t(mostLogBytes)}, [](std::string_view) { return false; }));
  const std::string_view head = source.text.substr(0, recognitionBytes);
  if (isDebugModeJson(head)) return readDebugModeJson(source.text);
  if (isTorchtitanLog(head)) return readTorchtitanLog(source.text);
  if (isDebugModeText(head)) return readDebugModeText(source.text);
  return fail(ErrorCode::BadInput,
              "{} is no recording of a run: logs of DebugMode (JSON or text), torchtitan's numerics logs, folders of "
              "kerf record with values, and "
              "safetensors of named values are",
              path);
}

Result<OpenedRecording> openFile(const std::string& path) {
  OpenedRecording opened;
  KERF_TRY(opened.recording, readFile(path));
  return opened;
}

Result<void> addGraph(Workbench& bench, const std::string& graph, OpenedRecording& opened, const Job& job) {
  if (graph.empty()) return {};
  const auto [path, name] = splitAtHash(graph);
  KERF_TRY(const auto source, openCapture(bench, path, job));
  KERF_TRY(const std::size_t index, chooseGraph(source->capture, path, name));
  CapturedGraph chosen = source->capture.graphs[index];
  KERF_CHECK(chosen.ensureLoaded());
  addStructure(opened.recording, chosen.module, "");
  opened.graphs.push_back({"", graph, chosen.module});
  return {};
}

}  // namespace

bool isRecordFolder(const std::string& path) {
  std::error_code error;
  return fs::is_regular_file(fs::path(path) / rowsName, error);
}

Result<OpenedRecording> openRecording(Workbench& bench, const std::string& path, const std::string& side,
                                      const std::string& graph, const Job& job) {
  std::error_code error;
  if (!fs::exists(path, error)) return fail(ErrorCode::NotFound, "there is no file {}", path);
  const bool folder = isRecordFolder(path);
  if (!folder && fs::is_directory(path, error))
    return fail(ErrorCode::BadInput,
                "{} holds no values of nodes: record with kerf record and values of hash, stats or full", path);
  KERF_TRY(OpenedRecording opened, folder ? openFolder(bench, path, side, job) : openFile(path));
  KERF_CHECK(addGraph(bench, graph, opened, job));
  return opened;
}

}  // namespace kerf::workbench
