#include "minifier/triage/triage.h"

#include <algorithm>
#include <fstream>
#include <set>

#include "engine/capture/common/import_source.h"
#include "engine/capture/debug/directory.h"
#include "engine/capture/debug/graph_transforms.h"
#include "engine/capture/trace/torch_trace.h"

namespace kerf::inline minifier::inline triage {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t mostCaptures = 10'000;
constexpr int deepest = 32;

/// The start of a log is enough; in a folder of logs a gzip file is one as well.
bool isTraceLog(const fs::path& path) {
  if (path.extension() == ".gz") return true;
  std::string head(recognitionBytes, '\0');
  std::ifstream stream(path, std::ios::binary);
  stream.read(head.data(), std::streamsize(head.size()));
  head.resize(std::size_t(stream.gcount()));
  return looksLikeTorchTrace(head);
}

class Walk {
 public:
  explicit Walk(const fs::path& without) : m_without(real(without)) {}

  void add(const std::string& text) {
    if (m_seen.insert(text).second) m_found.push_back(text);
  }
  void enter(const fs::path& directory, int depth, bool logsTaken) {
    if (depth > deepest || m_found.size() > mostCaptures || real(directory) == m_without) return;
    if (isDebugDirectory(directory) || isGraphTransformDirectory(directory)) return add(directory.string());
    const bool holdsLogs = isTorchTraceDirectory(directory);
    if (holdsLogs && !logsTaken) add(directory.string());
    logsTaken = logsTaken || holdsLogs;
    std::vector<fs::path> folders;
    for (const auto& path : entries(directory, folders))
      if (!logsTaken || !isTraceLog(path)) add(path.string());
    for (const auto& folder : folders) enter(folder, depth + 1, logsTaken);
  }
  std::vector<std::string> found() && { return std::move(m_found); }

 private:
  static fs::path real(const fs::path& path) {
    std::error_code ignored;
    return fs::weakly_canonical(path, ignored);
  }
  /// Regular files by name; folders that may hold more go to `folders`.
  static std::vector<fs::path> entries(const fs::path& directory, std::vector<fs::path>& folders) {
    static const std::set<std::string> data{"storages", "tensors", "__pycache__"};
    std::vector<fs::path> files;
    std::error_code problem;
    for (fs::directory_iterator entry(directory, problem), end; !problem && entry != end; entry.increment(problem)) {
      std::error_code ignored;
      const auto name = entry->path().filename().string();
      if (name.starts_with('.')) continue;
      if (entry->is_regular_file(ignored)) files.push_back(entry->path());
      const bool isFolder = entry->is_directory(ignored) && !entry->is_symlink(ignored);
      if (isFolder && !data.contains(name)) folders.push_back(entry->path());
    }
    std::ranges::sort(files);
    std::ranges::sort(folders);
    return files;
  }

  fs::path m_without;
  std::vector<std::string> m_found;
  std::set<std::string> m_seen;
};

}  // namespace

Result<std::vector<std::string>> capturesUnder(const std::vector<std::string>& paths, const fs::path& without,
                                               const std::function<bool(const std::string&)>& isStored) {
  Walk walk(without);
  for (const auto& path : paths) {
    std::error_code ignored;
    const bool exists = fs::exists(path, ignored);
    if (!exists && !isStored(path)) return fail(ErrorCode::NotFound, "{} does not exist", path);
    if (exists && fs::is_directory(path, ignored))
      walk.enter(path, 0, false);
    else
      walk.add(path);
  }
  auto found = std::move(walk).found();
  if (found.size() > mostCaptures)
    return fail(ErrorCode::TooLarge, "there are more than {} files to open; name the folders that matter",
                mostCaptures);
  return found;
}

}  // namespace kerf::inline minifier::inline triage
