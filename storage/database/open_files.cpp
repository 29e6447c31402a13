#include "storage/database/open_files.h"

#include <fstream>
#include <map>
#include <mutex>

namespace kerf::inline storage::inline database {

namespace {

struct OpenFiles {
  std::mutex mutex;
  std::map<std::string, int> counts;  ///< by canonical path
};

OpenFiles& openFiles() {
  static auto& files = *new OpenFiles();  // for threads that outlive main()
  return files;
}

std::string keyOf(const std::filesystem::path& path) {
  std::error_code ignored;
  const auto whole = std::filesystem::weakly_canonical(path, ignored);
  return (whole.empty() ? path : whole).string();
}

}  // namespace

void openNoted(const std::filesystem::path& path, const std::function<void()>& open) {
  auto& files = openFiles();
  const std::scoped_lock lock(files.mutex);
  open();
  ++files.counts[keyOf(path)];
}

void noteClosed(const std::filesystem::path& path) {
  auto& files = openFiles();
  const std::scoped_lock lock(files.mutex);
  const auto found = files.counts.find(keyOf(path));
  if (found != files.counts.end() && --found->second == 0) files.counts.erase(found);
}

bool unlessOpen(const std::filesystem::path& path, const std::function<void()>& look) {
  auto& files = openFiles();
  const std::scoped_lock lock(files.mutex);
  if (files.counts.contains(keyOf(path))) return false;
  look();
  return true;
}

std::optional<FileHeader> headerUnlessOpen(const std::filesystem::path& path) {
  std::optional<FileHeader> header;
  unlessOpen(path, [&] {
    std::ifstream stream(path, std::ios::binary);
    if (!stream) return;
    header.emplace();
    stream.read(reinterpret_cast<char*>(header->bytes.data()), std::streamsize(header->bytes.size()));
    header->count = std::size_t(stream.gcount());
  });
  return header;
}

}  // namespace kerf::inline storage::inline database
