#include "app/workbench/programs/stored_program.h"

#include <fstream>

#include <nlohmann/json.hpp>

#include "app/workbench/captures/exported_programs.h"
#include "app/workbench/captures/graph_source.h"
#include "app/workbench/captures/store_id.h"
#include "engine/process/temporary_folder.h"
#include "engine/support/hash.h"
#include "engine/support/read_json.h"

namespace kerf::workbench {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::string dumped(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

json capturedLog(const ProgramDoc& doc) {
  json log = readJson<json>(doc.captured);
  return log.is_object() ? log : json::object();
}

/// As `kerf capture --json` has it, with the program's text.
std::string logText(const CapturedProgram& program, const std::string& source) {
  const ProgramDoc& doc = program.doc;
  json log = {{"path", doc.path},
              {"source", source},
              {"output", doc.output},
              {"errors", doc.errors},
              {"exit_status", doc.exitStatus},
              {"exception", doc.exception},
              {"line", doc.line},
              {"output_cut", doc.isOutputCut},
              {"captured", capturedLog(doc)}};
  json kept = json::array();
  for (const CapturedGraph& graph : program.capture.graphs) kept.push_back(graph.name);
  log["kept_graphs"] = kept;
  log["notes"] = program.notes;
  return dumped(log);
}

/// What is the same whenever the program does the same: how it ended and what was compiled, and no times.
std::string identityOf(const CapturedProgram& program, const std::string& source, const NewCapture& row) {
  const json log = capturedLog(program.doc);
  const auto list = [&log](const char* name) { return log.contains(name) ? log[name] : json(); };
  std::string text = source + "\n" + dumped(list("breaks")) + dumped(list("skips")) + dumped(list("recompiles"));
  const ProgramDoc& doc = program.doc;
  text += "\n" + dumped(json{doc.exitStatus, doc.exception, doc.line});
  const json graphs = list("graphs");
  for (std::size_t i = 0; graphs.is_array() && i < graphs.size(); ++i)
    if (graphs[i].is_object())
      text += "\n" + dumped(json{graphs[i].value("name", json()), graphs[i].value("ran_by", json())});
  for (const NewGraph& graph : row.graphs) {
    text += fmt::format("\n{} {} {}", graph.name, graph.hash, graph.reproText);
    for (const auto& blob : graph.blobs) text += fmt::format("\n{} {}", blob.name, blob.size());
  }
  return hashText(text).hex();
}

Result<fs::path> writeLog(const fs::path& folder, const std::string& text) {
  const fs::path path = folder / programLogName;
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) return fail(ErrorCode::Environment, "{} cannot be written", path.string());
  return path;
}

}  // namespace

Result<std::int64_t> storeProgram(Workbench& bench, const CapturedProgram& program, const std::string& source) {
  KERF_TRY(auto* store, bench.store());
  const Capture& capture = program.capture;
  std::error_code ignored;
  const fs::path full = fs::weakly_canonical(capture.path, ignored);
  NewCapture row{capture.kind, (full.empty() ? capture.path : full).string(), capture.torchVersion, {}, {}};
  std::vector<StoragePtr> keep;
  for (std::size_t i = 0; i < capture.graphs.size(); ++i) {
    KERF_TRY(auto stored, storableGraph(capture, i));
    row.graphs.push_back(std::move(stored.row));
    keep.insert(keep.end(), stored.keep.begin(), stored.keep.end());
  }
  row.contentHash = identityOf(program, source, row);
  KERF_TRY(const auto folder, TemporaryFolder::create());
  KERF_TRY(const fs::path file, writeLog(folder.path(), logText(program, source)));
  row.files.push_back({programLogName, file});
  return store->addCapture(row);
}

Result<std::string> storedProgramLog(Workbench& bench, const std::string& capture) {
  const auto id = parseStoreId(capture);
  if (!id || !id->isWholeCapture())
    return fail(ErrorCode::BadUsage, Hint{Advice::ListCaptures}, "{} is not a capture of the store", capture);
  KERF_TRY(auto* store, bench.store());
  KERF_TRY(const auto row, store->capture(id->number));
  if (row.kind != "program")
    return fail(ErrorCode::BadUsage, "{} is not a captured program, but a capture of kind {}", capture, row.kind);
  if (row.fileCount == 0)
    return fail(ErrorCode::NotFound, "{} was captured by an older Kerf, which kept only its graphs: capture {} again",
                capture, row.path);
  return programLogText(*store, id->number);
}

}  // namespace kerf::workbench
