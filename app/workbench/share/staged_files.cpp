#include "app/workbench/share/staged_files.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "app/workbench/captures/capture_source.h"
#include "app/workbench/captures/graph_source.h"
#include "app/workbench/captures/store_id.h"
#include "app/workbench/share/redact.h"
#include "engine/support/atomic_file.h"

namespace kerf::workbench {

namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t mostBytes = 256 << 20;
constexpr std::string_view exportedKinds[] = {"repro", "program", "text"};

Result<std::string> textOf(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) return fail(ErrorCode::Environment, "{} cannot be read", path.string());
  return std::move(text).str();
}

/// Copies with a limit on all of them together.
class Stage {
 public:
  explicit Stage(const fs::path& folder) : m_folder(folder) {}

  Result<void> copy(const fs::path& from, const fs::path& name) {
    std::error_code problem;
    const auto size = fs::file_size(from, problem);
    if (problem) return fail(ErrorCode::Environment, "{}: {}", from.string(), problem.message());
    if ((m_bytes += size) > mostBytes)
      return fail(ErrorCode::TooLarge, "the files have more than 256 MiB: share fewer, or one graph");
    const fs::path place = m_folder / name;
    fs::create_directories(place.parent_path(), problem);
    fs::copy_file(from, place, fs::copy_options::overwrite_existing, problem);
    if (problem) return fail(ErrorCode::Environment, "cannot copy {}: {}", from.string(), problem.message());
    return {};
  }

  Result<void> copyFolder(const fs::path& folder) {
    std::error_code ignored;
    for (const auto& entry : fs::recursive_directory_iterator(folder, ignored)) {
      if (entry.is_symlink(ignored) || !entry.is_regular_file(ignored)) continue;
      KERF_CHECK(copy(entry.path(), folder.filename() / entry.path().lexically_relative(folder)));
    }
    return {};
  }

  /// Files of a capture, by their names below the folder that holds all of them.
  Result<void> copyTogether(const std::vector<fs::path>& files) {
    fs::path common = files.front().parent_path();
    for (const auto& file : files)
      while (!common.empty() && common != common.root_path() &&
             file.lexically_relative(common).native().starts_with(".."))
        common = common.parent_path();
    for (const auto& file : files) KERF_CHECK(copy(file, file.lexically_relative(common)));
    return {};
  }

 private:
  fs::path m_folder;
  std::uintmax_t m_bytes = 0;
};

Result<void> exportOne(const Capture& capture, std::size_t index, const fs::path& folder) {
  KERF_CHECK(exportRepro(capture, index, folder, ExportOptions{}));
  return {};
}

/// "graph" or "graph-2": folders of repros.
fs::path folderFor(const fs::path& stage, const std::string& name) {
  std::string plain;
  for (const char letter : name.substr(0, 100))
    plain += std::isalnum(static_cast<unsigned char>(letter)) != 0 || std::string_view("_-.").contains(letter) ? letter
                                                                                                               : '_';
  if (plain.empty() || plain.front() == '.') plain = "graph" + plain;
  fs::path place = stage / plain;
  std::error_code ignored;
  for (int number = 2; fs::exists(place, ignored); ++number) place = stage / fmt::format("{}-{}", plain, number);
  return place;
}

Result<void> exportAll(Capture capture, const fs::path& stage, const Job& job) {
  for (std::size_t i = 0; i < capture.graphs.size(); ++i) {
    if (!job.progress("writing graphs", double(i) / double(capture.graphs.size())))
      return fail(ErrorCode::Cancelled, "stopped");
    KERF_CHECK(capture.graphs[i].ensureLoaded());
    KERF_CHECK(exportOne(capture, i, folderFor(stage, capture.graphs[i].name)));
  }
  return {};
}

Result<void> stageCapture(const Capture& capture, Stage& stage, const fs::path& folder, const ShareRequest& request,
                          const Job& job) {
  const bool isArchive = capture.kind == "pt2" && request.redaction.any();  // what is in it cannot be redacted in place
  if (std::ranges::find(exportedKinds, capture.kind) != std::end(exportedKinds) || isArchive)
    return exportAll(capture, folder, job);
  std::vector<fs::path> files(capture.files.begin(), capture.files.end());
  std::error_code ignored;
  if (files.empty() && fs::is_regular_file(capture.path, ignored)) files.push_back(capture.path);
  if (files.empty()) return exportAll(capture, folder, job);
  for (auto& file : files) file = fs::absolute(file, ignored).lexically_normal();
  return stage.copyTogether(files);
}

Result<void> fill(Workbench& bench, const ShareRequest& request, const fs::path& folder, const Job& job) {
  Stage stage(folder);
  std::error_code ignored;
  if (fs::is_directory(request.what, ignored)) return stage.copyFolder(fs::canonical(request.what, ignored));
  const auto [capture, graph] = splitAtHash(request.what);
  const auto id = parseStoreId(request.what);
  if (graph.empty() && (!id || id->isWholeCapture())) {
    KERF_TRY(const auto source, openCapture(bench, request.what, job));
    return stageCapture(source->capture, stage, folder, request, job);
  }
  KERF_TRY(const auto source, resolveGraph(bench, {request.what}, job));
  return exportOne(source.capture, source.index, folderFor(folder, source.graph().name));
}

std::vector<std::string> namesBelow(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::recursive_directory_iterator(folder, ignored))
    if (entry.is_regular_file(ignored)) names.push_back(entry.path().lexically_relative(folder).generic_string());
  std::ranges::sort(names);
  return names;
}

/// Bytes that are numbers alone, in which nothing can be read: storages.
bool isNumbers(const std::string& name) { return !fs::path(name).has_extension() || name.ends_with(".safetensors"); }

Result<void> redactFile(StagedFiles& staged, Redactor& redactor, const std::string& name) {
  const fs::path path = staged.folder.path() / name;
  KERF_TRY(const auto text, textOf(path));
  const bool isBinary = isBinaryText(text);
  std::error_code ignored;
  if (redactor.leavesOut(name, text)) return fs::remove(path, ignored), Result<void>();
  if (!isBinary) return writeTextFile(redactor.redacted(name, text), path);
  if (isNumbers(name)) return {};
  staged.notes.push_back(fmt::format("{} is left out: it is packed, and cannot be redacted", name));
  fs::remove(path, ignored);
  return {};
}

Result<void> redactAll(StagedFiles& staged, const Redaction& redaction) {
  Redactor redactor(redaction);
  for (const auto& name : staged.names) {
    KERF_TRY(const auto text, textOf(staged.folder.path() / name));
    redactor.learn(text);
  }
  for (const auto& name : staged.names) KERF_CHECK(redactFile(staged, redactor, name));
  staged.removed = redactor.told();
  staged.names = namesBelow(staged.folder.path());
  return {};
}

}  // namespace

Result<StagedFiles> stageFiles(Workbench& bench, const ShareRequest& request, const Job& job) {
  KERF_TRY(auto folder, TemporaryFolder::create());
  StagedFiles staged{std::move(folder), {}, {}, {}};
  KERF_CHECK(fill(bench, request, staged.folder.path(), job));
  staged.names = namesBelow(staged.folder.path());
  if (request.redaction.any()) KERF_CHECK(redactAll(staged, request.redaction));
  if (staged.names.empty()) return fail(ErrorCode::BadInput, "{}: nothing is left to share", request.what);
  return staged;
}

}  // namespace kerf::workbench
