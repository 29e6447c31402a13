#include "engine/codegen_llvm/object_cache.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <fstream>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/support/log.h"

namespace kerf::inline codegen_llvm {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view magic = "kerf object 1\n";
constexpr std::string_view extension = ".kobj";
constexpr std::int64_t largestEntry = 256LL << 20;
constexpr unsigned storesPerLook = 128;      ///< at the folder's size
constexpr std::int64_t smallestFile = 4096;  ///< what a file takes of a disk at least

/// What follows the checksum: counted strings, the object first.
std::string bodyOf(const CachedObject& entry) {
  std::string body;
  const auto add = [&](const std::string& text) {
    const std::uint64_t size = text.size();
    body.append(reinterpret_cast<const char*>(&size), sizeof(size));
    body += text;
  };
  add(entry.object);
  for (const std::string& text : entry.texts) add(text);
  return body;
}

std::optional<CachedObject> entryOf(std::string_view body) {
  std::vector<std::string> parts;
  while (!body.empty()) {
    std::uint64_t size = 0;
    if (body.size() < sizeof(size)) return {};
    std::memcpy(&size, body.data(), sizeof(size));
    body.remove_prefix(sizeof(size));
    if (size > body.size()) return {};
    parts.emplace_back(body.substr(0, std::size_t(size)));
    body.remove_prefix(std::size_t(size));
  }
  if (parts.empty()) return {};
  CachedObject entry{std::move(parts.front()), {}};
  entry.texts.assign(std::make_move_iterator(parts.begin() + 1), std::make_move_iterator(parts.end()));
  return entry;
}

std::string checksum(const Hash128& key, std::string_view body) {
  return hashText(fmt::format("{} {}", key.hex(), hashText(body).hex())).hex();
}

/// Regular, ours, and nobody else's to write.
bool belongsToUs(const fs::path& path, unsigned type) {
  struct stat info{};
  return lstat(path.c_str(), &info) == 0 && (info.st_mode & S_IFMT) == type && info.st_uid == geteuid() &&
         (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

std::optional<std::string> contentOf(const fs::path& path) {
  std::error_code error;
  const auto size = fs::file_size(path, error);
  if (error || std::int64_t(size) > largestEntry) return {};
  std::ifstream file(path, std::ios::binary);
  std::string text(std::size_t(size), '\0');
  if (!file.read(text.data(), std::streamsize(size))) return {};
  return text;
}

/// Whole or not at all, and not flushed to the disk: what a machine that loses its power leaves of it has no checksum.
bool writeEntry(const fs::path& path, std::string_view head, std::string_view body) {
  static std::atomic<unsigned> counter = 0;
  fs::path temporary = path;
  temporary += fmt::format(".{}.{}.tmp", ::getpid(), counter++);
  std::ofstream file(temporary, std::ios::binary);
  file << head << body;
  file.close();
  chmod(temporary.c_str(), S_IRUSR | S_IWUSR);
  std::error_code error;
  if (!file.fail()) fs::rename(temporary, path, error);
  if (!file.fail() && !error) return true;
  fs::remove(temporary, error);
  return false;
}

}  // namespace

fs::path ObjectCache::pathOf(const Hash128& key) const { return m_folder / (key.hex() + std::string(extension)); }

bool ObjectCache::isOurs() const { return !m_folder.empty() && belongsToUs(m_folder, S_IFDIR); }

std::optional<CachedObject> ObjectCache::find(const Hash128& key) const {
  if (!isOurs()) return {};
  const fs::path path = pathOf(key);
  if (!belongsToUs(path, S_IFREG)) return {};
  const auto content = contentOf(path);
  std::string_view text = content ? std::string_view(*content) : std::string_view();
  const std::size_t head = magic.size() + 32;
  if (text.starts_with(magic) && text.size() > head &&
      text.substr(magic.size(), 32) == checksum(key, text.substr(head))) {
    if (auto entry = entryOf(text.substr(head))) {
      utimensat(AT_FDCWD, path.c_str(), nullptr, 0);  // used now
      return entry;
    }
  }
  logAt(LogCategory::Compile, LogLevel::Info, "the cached object {} is damaged and is made again", path.string());
  std::error_code ignored;
  fs::remove(path, ignored);
  return {};
}

void ObjectCache::store(const Hash128& key, const CachedObject& entry) const {
  if (m_folder.empty()) return;
  std::error_code error;
  if (fs::create_directories(m_folder, error)) fs::permissions(m_folder, fs::perms::owner_all, error);
  if (!isOurs()) return;
  const std::string body = bodyOf(entry);
  if (std::int64_t(body.size()) > largestEntry) return;
  const std::string head = std::string(magic) + checksum(key, body);
  if (!writeEntry(pathOf(key), head, body)) {
    logAt(LogCategory::Compile, LogLevel::Info, "object code is not cached: {} cannot be written", m_folder.string());
    return;
  }
  static std::atomic<unsigned> stores = 0;
  if (stores++ % storesPerLook == 0) shrink();
}

void ObjectCache::shrink() const {
  struct File {
    fs::path path;
    fs::file_time_type used;
    std::int64_t bytes;
  };
  std::vector<File> files;
  std::int64_t total = 0;
  std::error_code error;
  for (const auto& item : fs::directory_iterator(m_folder, error)) {
    if (item.path().extension() != extension) continue;
    const auto bytes = std::max(std::int64_t(item.file_size(error)), smallestFile);
    files.push_back({item.path(), item.last_write_time(error), bytes});
    total += bytes;
  }
  std::ranges::sort(files, {}, &File::used);
  for (const File& file : files) {
    if (total <= maximumBytes) return;
    fs::remove(file.path, error);
    total -= file.bytes;
  }
}

}  // namespace kerf::inline codegen_llvm
