// importCapture and importAll: what a path holds, decided by its content.
#include <algorithm>

#include "engine/capture/debug/compiled_functions.h"
#include "engine/capture/debug/directory.h"
#include "engine/capture/debug/graph_transforms.h"
#include "engine/capture/file_kinds.h"
#include "engine/capture/import_all.h"
#include "engine/capture/repro/export_text.h"
#include "engine/capture/trace/torch_trace.h"
#include "engine/support/log.h"
#include "engine/tensor/mapped_file.h"

namespace kerf::inline capture {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t maxListed = 5;
constexpr std::size_t maxEntries = 100'000;
constexpr int maxDepth = 12;

std::unexpected<Error> failAtFile(ErrorCode code, const fs::path& path, std::string message) {
  return fail(Error{code, std::move(message), path.string(), 0, {}, {}});
}

void logOutcome(const fs::path& path, const Result<Capture>& capture) {
  if (!capture)
    return logAt(LogCategory::Import, LogLevel::Info, "{} is refused: {}", path.string(), capture.error().text());
  logAt(LogCategory::Import, LogLevel::Info, "{}: {} with {} graphs, torch '{}'", path.string(), capture->kind,
        capture->graphs.size(), capture->torchVersion);
  for (const std::string& note : capture->notes) logAt(LogCategory::Import, LogLevel::Debug, "{}", note);
}

/// What exports of graphs that are read already leave out; of the others it is said when they are shown.
void noteWhatIsLeftOut(Capture& capture) {
  constexpr std::size_t most = 20;
  std::vector<std::string> found;
  for (std::size_t i = 0; i < capture.graphs.size() && found.size() <= most; ++i) {
    if (capture.graphs[i].pending) continue;
    for (std::string& note : leftOutNotes(capture, i))
      if (std::ranges::find(found, note) == found.end()) found.push_back(std::move(note));
  }
  if (found.size() > most) {
    found.resize(most);
    found.emplace_back("exports leave out more than these lines");
  }
  capture.notes.insert(capture.notes.end(), found.begin(), found.end());
}

Result<Capture> importFile(const fs::path& path, const ImportLimits& limits, const ImportProgress& progress) {
  KERF_TRY(const ImportSource source, openSource(path, limits, looksLikeTorchTrace));
  const FileKind* kind = fileKindOf(source);
  logAt(LogCategory::Import, LogLevel::Debug, "{}: {} bytes, recognised as {}", path.string(), source.text.size(),
        kind != nullptr ? kind->name : "nothing");
  if (kind != nullptr) {
    auto capture = kind->open(source, limits, progress);
    KERF_CHECK(checkWhole(*source.mapped, path));
    if (capture) noteWhatIsLeftOut(*capture);
    logOutcome(path, capture);
    return capture;
  }
  if (source.text.empty()) return failAtFile(ErrorCode::BadInput, path, "the file is empty");
  if (source.text.find("BackwardState") != std::string_view::npos) return importRepro(source.text, path, limits);
  return failAtFile(ErrorCode::BadInput, path,
                    fmt::format("this is {}; a repro.py, a graph's text, a .pt2, a TORCH_TRACE log or a debug folder "
                                "is expected",
                                describeContent(source.text, path)));
}

/// Regular files or folders directly in a folder, by name.
std::vector<fs::path> entriesOf(const fs::path& directory, bool folders, std::error_code& problem) {
  std::vector<fs::path> paths;
  for (auto entry = fs::directory_iterator(directory, problem);
       !problem && entry != fs::directory_iterator() && paths.size() < maxEntries; entry.increment(problem)) {
    std::error_code ignored;
    const bool fits =
        folders ? entry->is_directory(ignored) && !entry->is_symlink(ignored) : entry->is_regular_file(ignored);
    if (fits && !entry->path().filename().string().starts_with('.')) paths.push_back(entry->path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

struct Recognised {
  fs::path path;
  std::string_view kind;
};

std::vector<Recognised> recognisedIn(const fs::path& directory, const ImportLimits& limits, std::error_code& problem) {
  std::vector<Recognised> found;
  for (const fs::path& path : entriesOf(directory, false, problem)) {
    const auto source = openSource(path, limits, looksLikeTorchTrace);
    if (!source) continue;
    if (const FileKind* kind = fileKindOf(*source)) found.push_back({path, kind->name});
  }
  return found;
}

std::string listed(const std::vector<Recognised>& files, const fs::path& directory) {
  std::string text;
  for (std::size_t i = 0; i < std::min(files.size(), maxListed); ++i)
    text += fmt::format("{}{} ({})", i == 0 ? "" : ", ", files[i].path.lexically_relative(directory).string(),
                        files[i].kind);
  if (files.size() > maxListed) text += fmt::format(" and {} more", files.size() - maxListed);
  return text;
}

/// The one capture of a folder of single files, or an error and whether there are `several`; `repro.py` and `minifier_launcher.py` win over other repros.
Result<fs::path> singleFileIn(const fs::path& directory, const ImportLimits& limits, bool& several) {
  std::error_code problem;
  const std::vector<Recognised> found = recognisedIn(directory, limits, problem);
  if (problem) return failAtFile(ErrorCode::Environment, directory, fmt::format("cannot list: {}", problem.message()));
  for (const char* preferred : {"repro.py", "minifier_launcher.py"})
    for (const Recognised& file : found)
      if (file.kind == "repro" && file.path.filename() == preferred) return file.path;
  if (found.size() == 1) return found.front().path;
  several = !found.empty();
  if (several)
    return failAtFile(
        ErrorCode::BadInput, directory,
        fmt::format("the folder holds {} captures, name one of them: {}", found.size(), listed(found, directory)));
  const std::vector<fs::path> all = entriesOf(directory, false, problem);
  std::string names;
  for (std::size_t i = 0; i < std::min(all.size(), maxListed); ++i)
    names += (i == 0 ? "" : ", ") + all[i].filename().string();
  return failAtFile(ErrorCode::BadInput, directory,
                    all.empty()
                        ? std::string("the folder has no file that Kerf opens (repro.py, .pt2, a log, graph text)")
                        : fmt::format("none of the files here is a capture: {}", names));
}

using FolderImporter = Result<Capture> (*)(const fs::path&, const ImportLimits&, const ImportProgress&);

Result<Capture> importFolder(FolderImporter open, const fs::path& path, const ImportLimits& limits,
                             const ImportProgress& progress) {
  auto capture = open(path, limits, progress);
  if (capture) noteWhatIsLeftOut(*capture);
  return capture;
}

/// The importer for which the folder is one capture; null if it is just a folder.
FolderImporter folderImporter(const fs::path& directory) {
  struct Row {
    bool (*recognise)(const fs::path&);
    FolderImporter open;
  };
  static constexpr Row rows[] = {{isDebugDirectory, importDebugDirectory},
                                 {isGraphTransformDirectory, importGraphTransforms},
                                 {isCompiledFunctionDump, importCompiledFunctions},
                                 {isTorchTraceDirectory, importTorchTrace}};
  for (const Row& row : rows)
    if (row.recognise(directory)) return row.open;
  return nullptr;
}

class Everything {
 public:
  struct Item {
    fs::path path;
    FolderImporter folder = nullptr;
    std::string_view kind = "folder";
  };

  Everything(const ImportLimits& limits, const ImportProgress& progress) : m_limits(limits), m_progress(progress) {}

  std::vector<Item> items(const fs::path& directory) {
    collect(directory, 0, false);
    return m_items;
  }

  Result<std::vector<Capture>> run(const fs::path& directory) {
    collect(directory, 0, false);
    for (std::size_t i = 0; i < m_items.size(); ++i) {
      const auto share = [&](double done) {
        return !m_progress || m_progress((double(i) + done) / double(m_items.size()));
      };
      if (!share(0)) return failAtFile(ErrorCode::Cancelled, directory, "import cancelled");
      auto capture = m_items[i].folder != nullptr ? importFolder(m_items[i].folder, m_items[i].path, m_limits, share)
                                                  : importFile(m_items[i].path, m_limits, share);
      if (!capture && capture.error().code == ErrorCode::Cancelled) return fail(std::move(capture).error());
      if (capture)
        m_captures.push_back(std::move(*capture));
      else
        m_failures.push_back(std::move(capture).error());
    }
    return finished(directory);
  }

 private:
  /// `logsTaken`: a folder above is a folder of logs, these included.
  void collect(const fs::path& directory, int depth, bool logsTaken) {
    std::error_code ignored;
    if (depth > maxDepth || m_items.size() >= maxEntries) return;
    const FolderImporter whole = folderImporter(directory);
    const bool isLogFolder = whole == static_cast<FolderImporter>(importTorchTrace);
    if (whole != nullptr && !(isLogFolder && logsTaken)) m_items.push_back({directory, whole, "folder"});
    if (whole != nullptr && !isLogFolder) return;
    logsTaken = logsTaken || isLogFolder;
    for (const Recognised& file : recognisedIn(directory, m_limits, ignored))
      if (!logsTaken || file.kind != "torch_trace") m_items.push_back({file.path, nullptr, file.kind});
    for (const fs::path& folder : entriesOf(directory, true, ignored)) {
      const std::string name = folder.filename().string();
      if (name != "storages" && name != "tensors" && name != "__pycache__") collect(folder, depth + 1, logsTaken);
    }
  }

  Result<std::vector<Capture>> finished(const fs::path& directory) {
    if (m_captures.empty() && !m_failures.empty()) return fail(std::move(m_failures.front()));
    if (m_captures.empty())
      return failAtFile(ErrorCode::BadInput, directory, "the folder holds nothing that Kerf opens");
    for (const Error& error : m_failures) m_captures.front().notes.push_back("not opened: " + error.text());
    return std::move(m_captures);
  }

  const ImportLimits& m_limits;
  const ImportProgress& m_progress;
  std::vector<Item> m_items;
  std::vector<Capture> m_captures;
  std::vector<Error> m_failures;
};

/// What lies in folders below, where the folder itself has no file that opens: the only capture, or a list of them.
Result<Capture> importNested(const fs::path& directory, const ImportLimits& limits, const ImportProgress& progress,
                             const Error& otherwise) {
  const auto items = Everything(limits, progress).items(directory);
  if (items.empty()) return fail(Error(otherwise));
  if (items.size() == 1)
    return items[0].folder != nullptr ? importFolder(items[0].folder, items[0].path, limits, progress)
                                      : importFile(items[0].path, limits, progress);
  std::vector<Recognised> found;
  for (const auto& item : items) found.push_back({item.path, item.kind});
  return failAtFile(
      ErrorCode::BadInput, directory,
      fmt::format("the folders in it hold {} captures, name one of them: {}", found.size(), listed(found, directory)));
}

}  // namespace

Result<Capture> importCapture(const fs::path& path, const ImportLimits& limits, const ImportProgress& progress) {
  if (progress && !progress(0.0)) return failAtFile(ErrorCode::Cancelled, path, "import cancelled");
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) return importFile(path, limits, progress);
  if (const FolderImporter open = folderImporter(path)) return importFolder(open, path, limits, progress);
  bool several = false;
  const auto file = singleFileIn(path, limits, several);
  if (file) return importFile(*file, limits, progress);
  if (several) return fail(Error(file.error()));
  return importNested(path, limits, progress, file.error());
}

Result<std::vector<Capture>> importAll(const fs::path& path, const ImportLimits& limits,
                                       const ImportProgress& progress) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return Everything(limits, progress).run(path);
  KERF_TRY(Capture capture, importFile(path, limits, progress));
  std::vector<Capture> captures;
  captures.push_back(std::move(capture));
  return captures;
}

}  // namespace kerf::inline capture
