#include "engine/capture/trace/files.h"

#include <algorithm>
#include <fstream>

#include "engine/capture/common/import_source.h"
#include "engine/capture/common/log_bytes.h"
#include "engine/capture/trace/scanner.h"

namespace kerf::inline capture::trace {
namespace {

constexpr int headLines = 20;                ///< that may stand before the first record
constexpr std::size_t maxEntries = 100'000;  ///< of a folder

bool isTraceFile(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::string head(recognitionBytes, '\0');
  stream.read(head.data(), std::streamsize(head.size()));
  head.resize(std::size_t(std::max<std::streamsize>(0, stream.gcount())));
  return isTraceHead(head);
}

struct Listing {
  std::vector<std::filesystem::path> files, folders;
};

Result<Listing> list(const std::filesystem::path& directory) {
  Listing listing;
  std::error_code problem, ignored;
  std::size_t entries = 0;
  for (auto entry = std::filesystem::directory_iterator(directory, problem);
       !problem && entry != std::filesystem::directory_iterator() && entries < maxEntries; entry.increment(problem)) {
    ++entries;
    if (entry->is_regular_file(ignored))
      listing.files.push_back(entry->path());
    else if (entry->is_directory(ignored))
      listing.folders.push_back(entry->path());
  }
  if (problem)
    return fail(Error{
        ErrorCode::Environment, fmt::format("cannot list: {}", problem.message()), directory.string(), 0, {}, {}});
  std::sort(listing.files.begin(), listing.files.end());
  std::sort(listing.folders.begin(), listing.folders.end());
  return listing;
}

void addLogs(const std::vector<std::filesystem::path>& files, std::size_t limit,
             std::vector<std::filesystem::path>& logs) {
  for (const auto& file : files) {
    if (logs.size() >= limit) return;
    if (isTraceFile(file)) logs.push_back(file);
  }
}

}  // namespace

bool isTraceHead(std::string_view head) {
  if (isGzip(head)) {
    const std::string unpacked = unpackGzipHead(head, recognitionBytes);
    return !isGzip(unpacked) && isTraceHead(unpacked);
  }
  int lines = 0;
  for (std::size_t at = 0; at < head.size() && lines < headLines;) {
    const std::size_t end = std::min(head.find('\n', at), head.size());
    const std::string_view line = head.substr(at, end - at);
    if (traceJsonOffset(line) != std::string_view::npos) return true;
    if (!line.empty()) ++lines;
    at = end + 1;
  }
  return false;
}

Result<std::vector<std::filesystem::path>> traceFiles(const std::filesystem::path& directory, std::size_t limit) {
  KERF_TRY(const Listing listing, list(directory));
  std::vector<std::filesystem::path> logs;
  addLogs(listing.files, limit, logs);
  if (!logs.empty()) return logs;
  for (const auto& folder : listing.folders) {
    const auto inside = list(folder);
    if (inside) addLogs(inside->files, limit, logs);
  }
  return logs;
}

}  // namespace kerf::inline capture::trace
