// A program from its file to its end.
#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>
#include <vector>

#include <nlohmann/json.hpp>

#include "app/workbench/captures/import_findings.h"
#include "app/workbench/captures/store_id.h"
#include "app/workbench/programs/program_ranks.h"
#include "app/workbench/programs/stored_program.h"
#include "app/workbench/workbench.h"
#include "engine/support/read_json.h"

namespace kerf::workbench {

namespace {

constexpr std::uintmax_t largestProgram = 16 << 20;

Result<std::string> readProgram(const std::string& path) {
  std::error_code problem;
  const auto size = std::filesystem::file_size(path, problem);
  if (problem) return fail(ErrorCode::NotFound, "{}: {}", path, problem.message());
  if (size > largestProgram)
    return fail(ErrorCode::TooLarge, "{} has {} bytes; a program has at most 16 MiB", path, size);
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) return fail(ErrorCode::Environment, "{} cannot be read", path);
  return std::move(text).str();
}

/// Whether torch.compile looked at anything: a frame that could not be compiled is worth keeping, too.
bool hasCompiled(const CapturedProgram& captured) {
  const nlohmann::json log = readJson<nlohmann::json>(captured.doc.captured);
  const auto any = [&](const char* name) {
    return log.is_object() && log.contains(name) && log[name].is_array() && !log[name].empty();
  };
  return !captured.capture.graphs.empty() || any("frames") || any("breaks") || any("skips");
}

/// What the program printed must not be lost where the store cannot be written.
Result<ImportedCapture> keep(Workbench& bench, const CapturedProgram& captured, const std::string& source) {
  KERF_TRY(const auto id, storeProgram(bench, captured, source));
  return importedCapture(captured.capture, id);
}

/// The log with where its graphs are kept: `stored` (`capture`, `graphs`), `notes`.
std::string withStored(const std::string& log, const ImportedCapture* stored, const std::vector<std::string>& notes) {
  nlohmann::json json = readJson<nlohmann::json>(log);
  if (!json.is_object()) return log;
  if (stored != nullptr) json["stored"] = {{"capture", stored->id}, {"graphs", stored->graphs.size()}};
  json["notes"] = notes;
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// How a program ended, with where its graphs are stored now.
ProgramDoc keptDoc(Workbench& bench, CapturedProgram& captured, const std::string& source) {
  ProgramDoc& doc = captured.doc;
  std::optional<ImportedCapture> kept;
  if (hasCompiled(captured)) {
    if (auto stored = keep(bench, captured, source))
      kept = std::move(*stored);
    else
      captured.notes.push_back("the program is not stored: " + stored.error().text());
  }
  if (kept) doc.capture = kept->id;
  doc.captured = withStored(doc.captured, kept ? &*kept : nullptr, captured.notes);
  return std::move(doc);
}

/// The first rank's capture leads to all, where each rank has one.
void keepTogether(Workbench& bench, std::vector<ProgramDoc>& docs) {
  std::vector<std::int64_t> captures;
  for (const ProgramDoc& doc : docs)
    if (const auto id = parseStoreId(doc.capture)) captures.push_back(id->number);
  if (captures.size() != docs.size()) return;
  if (const auto kept = keepRanks(bench, captures); !kept)
    docs.front().errors += "the captures of the ranks are not kept together: " + kept.error().text() + "\n";
}

}  // namespace

ProgramPlace programPlace(const std::string& path) {
  const std::size_t colon = path.rfind(".py:");
  if (colon == std::string::npos) return {path, {}};
  return {path.substr(0, colon + 3), path.substr(colon + 4)};
}

Result<ProgramDoc> perform(Workbench& bench, const CaptureProgramRequest& request, const Job& job) {
  const std::string file = programPlace(request.path).file;
  KERF_TRY(const std::string text, readProgram(file));
  const auto start = std::chrono::steady_clock::now();
  KERF_TRY(std::vector<CapturedProgram> ranks, runProgramText(text, request, job.stop));
  const auto time = std::chrono::steady_clock::now() - start;
  std::vector<ProgramDoc> docs;
  for (CapturedProgram& captured : ranks) {
    captured.doc.path = file;
    captured.doc.time = time;
    docs.push_back(keptDoc(bench, captured, text));
  }
  if (docs.size() == 1) return std::move(docs.front());
  keepTogether(bench, docs);
  ProgramDoc doc = docs.front();
  const auto failed = std::ranges::find_if(docs, [](const ProgramDoc& rank) { return rank.exitStatus != 0; });
  if (failed != docs.end()) doc.exitStatus = failed->exitStatus;
  doc.ranks = std::move(docs);
  return doc;
}

}  // namespace kerf::workbench
