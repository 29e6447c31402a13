#include "engine/capture/common/storage_directory.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>

#include <sys/stat.h>

#include "engine/support/hash_stream.h"
#include "engine/support/thread_pool.h"
#include "engine/tensor/file_pieces.h"
#include "engine/tensor/mapped_file.h"
#include "engine/tensor/torch_zip.h"
#include "engine/tensor/zip_inflate.h"

namespace kerf::inline capture {
namespace {

bool isThere(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

bool holdsAny(const std::filesystem::path& directory, const std::vector<StorageRef>& storages) {
  return std::any_of(storages.begin(), storages.end(), [&](const StorageRef& storage) {
    return !storage.hash.empty() && isThere(directory / storage.hash);
  });
}

constexpr std::size_t witnesses = 4;               // other storages that are asked how they are named
constexpr std::uintmax_t witnessBytes = 16 << 20;  // of the largest one

/// The graph's smallest storage files beside `except`, and a few more of the folder where it has none.
std::vector<std::filesystem::path> witnessesOf(const CapturedGraph& graph, const std::string& except) {
  std::set<std::pair<std::uintmax_t, std::string>> found;
  std::error_code ignored;
  const auto consider = [&](const std::string& name) {
    if (name.size() != 40 || name == except) return;
    const auto bytes = std::filesystem::file_size(graph.storageDirectory / name, ignored);
    if (!ignored && bytes <= witnessBytes) found.emplace(bytes, name);
  };
  for (const auto& storage : graph.storages) consider(storage.hash);
  if (found.empty())
    for (const auto& entry : std::filesystem::directory_iterator(graph.storageDirectory, ignored))
      consider(entry.path().filename().string());
  std::vector<std::filesystem::path> paths;
  for (const auto& [bytes, name] : found)
    if (paths.size() < witnesses) paths.push_back(graph.storageDirectory / name);
  return paths;
}

bool isNamedBySha1(const std::filesystem::path& path) {
  const auto bytes = readTorchStorage(path, -1);
  return bytes && sha1Hex((*bytes)->view()) == path.filename().string();
}

/// What is known of the storages of this process: how those of a graph are named, and which ranges were checked.
class StorageKnowledge {
 public:
  bool namedBySha1(const CapturedGraph& graph, const std::string& except) {
    if (graph.namedBySha1) return true;
    const auto key = keyOf(graph);
    const std::scoped_lock lock(m_mutex);
    const auto known = m_named.find(key);
    if (known != m_named.end()) return known->second;
    const auto paths = witnessesOf(graph, except);
    const auto named = std::count_if(paths.begin(), paths.end(), isNamedBySha1);
    return m_named[key] = 2 * named > std::ssize(paths);
  }
  void trust(const std::filesystem::path& directory) {
    const std::scoped_lock lock(m_mutex);
    m_trusted.insert(directory.string());
  }
  /// Whether there is nothing to check: the graph's storages are checked already, or named by something else.
  bool isOpaque(const CapturedGraph& graph) {
    const std::scoped_lock lock(m_mutex);
    if (m_trusted.contains(graph.storageDirectory.string())) return true;
    if (graph.namedBySha1) return false;
    const auto key = keyOf(graph);
    const auto known = m_named.find(key);
    return known != m_named.end() && !known->second;
  }
  /// Whether noteWhole() was called for this file, and it was not written since.
  bool isWhole(const std::filesystem::path& path) {
    const auto state = stateOf(path);
    const std::scoped_lock lock(m_mutex);
    return !state.empty() && m_whole.contains(state);
  }
  void noteWhole(const std::string& state) {
    const std::scoped_lock lock(m_mutex);
    m_whole.insert(state);
  }
  static std::string stateOf(const std::filesystem::path& path) {
    struct stat status{};
    if (::stat(path.c_str(), &status) != 0) return {};
    return fmt::format("{}|{}|{}|{}|{}|{}", path.string(), status.st_ino, status.st_size, status.st_mtim.tv_sec,
                       status.st_mtim.tv_nsec, status.st_ctim.tv_nsec);
  }
  /// False at the first time, and again once the file was written.
  bool noteRange(const FileRange& range) {
    std::error_code ignored;
    const auto time = std::filesystem::last_write_time(range.path, ignored).time_since_epoch().count();
    const std::scoped_lock lock(m_mutex);
    return !m_ranges.insert(fmt::format("{}|{}|{}|{}", range.path.string(), range.offset, range.length, time)).second;
  }
  void forgetRange(const FileRange& range) {
    std::error_code ignored;
    const auto time = std::filesystem::last_write_time(range.path, ignored).time_since_epoch().count();
    const std::scoped_lock lock(m_mutex);
    m_ranges.erase(fmt::format("{}|{}|{}|{}", range.path.string(), range.offset, range.length, time));
  }

 private:
  static std::string keyOf(const CapturedGraph& graph) {
    std::string key = graph.storageDirectory.string();
    for (const auto& storage : graph.storages) key += '|' + storage.hash;
    return key;
  }

  std::mutex m_mutex;
  std::map<std::string, bool> m_named;
  std::set<std::string> m_ranges, m_trusted, m_whole;
};

StorageKnowledge& knowledge() {
  static auto& known = *new StorageKnowledge();
  return known;
}

std::unexpected<Error> damagedStorage(const std::filesystem::path& path, std::string_view how) {
  Error error{ErrorCode::BadInput, fmt::format("the storage is damaged: {}", how), {}, 0, {}, {}};
  error.atFile(path.string());
  return fail(std::move(error));
}

/// Whether a storage with this SHA-1 may be called so.
Result<void> checkName(const CapturedGraph& graph, const StorageRef& storage, const std::string& sha1) {
  if (sha1 == storage.hash || !knowledge().namedBySha1(graph, storage.hash)) return {};
  return damagedStorage(graph.storageDirectory / storage.hash,
                        "its bytes do not have the SHA-1 that is its name; restore a copy of the file, or move it "
                        "away to run with made-up data");
}

Result<std::string> sha1Of(const FilePart& part) {
  Sha1Stream sha1;
  KERF_CHECK(readPieces(part, [&](std::span<const std::byte> piece) -> Result<void> {
    sha1.add(piece);
    return {};
  }));
  return sha1.hex();
}

Result<void> checkCrc32(const FilePart& part, std::uint32_t expected) {
  std::uint32_t crc32 = 0;
  KERF_CHECK(readPieces(part, [&](std::span<const std::byte> piece) -> Result<void> {
    crc32 = zipCrc32(piece, crc32);
    return {};
  }));
  if (crc32 == expected) return {};
  return damagedStorage(part.path, "its bytes do not have the archive's checksum; restore a copy of the file");
}

}  // namespace

Result<StoragePtr> readNamedStorage(const CapturedGraph& graph, const StorageRef& storage, std::int64_t expectedBytes) {
  const auto path = graph.storageDirectory / storage.hash;
  if (storage.hash.size() != 40 || knowledge().isOpaque(graph) || knowledge().isWhole(path))
    return readTorchStorage(path, expectedBytes);
  const auto state = StorageKnowledge::stateOf(path);
  KERF_TRY(auto bytes, readTorchStorage(path, expectedBytes, ZipSum::Unsummed));
  const auto sha1 = sha1Hex(bytes->view());
  KERF_CHECK(checkName(graph, storage, sha1));
  if (sha1 != storage.hash) return readTorchStorage(path, expectedBytes);  // the name is another hash
  knowledge().noteWhole(state);
  return bytes;
}

std::vector<StoragePtr> readNamedStorages(const CapturedGraph& graph, const std::vector<std::size_t>& indices) {
  std::vector<StoragePtr> read(indices.size());
  parallelFor(std::ssize(indices), 1, [&](std::int64_t begin, std::int64_t end) {
    for (auto i = std::size_t(begin); i < std::size_t(end); ++i) {
      const auto& storage = graph.storages[indices[i]];
      if (auto bytes = readNamedStorage(graph, storage, storage.bytes)) read[i] = std::move(*bytes);
    }
  });
  return read;
}

Result<std::optional<FileRange>> locateNamedStorage(const CapturedGraph& graph, const StorageRef& storage) {
  const auto path = graph.storageDirectory / storage.hash;
  KERF_TRY(const auto place, locateTorchStorage(path, -1));
  if (!place.stored) return std::nullopt;
  return FileRange{path, place.offset, place.bytes};
}

Result<void> checkNamedStorage(const CapturedGraph& graph, const StorageRef& storage, std::int64_t expectedBytes) {
  const auto path = graph.storageDirectory / storage.hash;
  KERF_TRY(const auto place, locateTorchStorage(path, expectedBytes));
  if (!place.stored) {
    KERF_TRY([[maybe_unused]] const auto unpacked, readNamedStorage(graph, storage, expectedBytes));
    return {};
  }
  if (knowledge().isWhole(path)) return {};
  const auto state = StorageKnowledge::stateOf(path);
  const FilePart part{path, place.offset, place.bytes};
  bool whole = false;
  if (storage.hash.size() == 40 && !knowledge().isOpaque(graph)) {
    KERF_TRY(const auto sha1, sha1Of(part));
    KERF_CHECK(checkName(graph, storage, sha1));
    whole = sha1 == storage.hash;  // else the name is another hash
  }
  if (!whole) KERF_CHECK(checkCrc32(part, place.crc32));
  knowledge().noteWhole(state);
  return {};
}

Result<StoragePtr> mapCheckedRange(const StorageRef& storage) {
  const auto& range = *storage.file;
  KERF_TRY(auto bytes, mapFileRange(range.path, range.offset, range.length));
  if (!storage.crc32 || knowledge().noteRange(range) || zipCrc32(bytes->view()) == *storage.crc32) return bytes;
  knowledge().forgetRange(range);
  Error error{
      ErrorCode::BadInput,
      fmt::format("the {} bytes from byte {} on are damaged: they do not have the archive's checksum; bring back "
                  "a copy of the file",
                  range.length, range.offset),
      {},
      0,
      {},
      {}};
  error.atFile(range.path.string());
  return fail(std::move(error));
}

void trustStorages(const std::filesystem::path& directory) { knowledge().trust(directory); }

bool isWrittenByKerf(const ReproEnvelope& envelope) {
  return std::any_of(envelope.headerLines.begin(), envelope.headerLines.end(),
                     [](const std::string& line) { return line.starts_with("# Minified by Kerf"); });
}

std::filesystem::path findStorageDirectory(const std::filesystem::path& repro, const std::string& saveDirectory,
                                           const std::vector<StorageRef>& storages) {
  const std::filesystem::path beside = repro.parent_path();
  std::vector<std::filesystem::path> candidates;
  if (!saveDirectory.empty()) candidates.push_back((beside / saveDirectory / "storages").lexically_normal());
  candidates.push_back(beside / "storages");
  candidates.push_back(beside / "checkpoints" / "storages");
  for (const auto& candidate : candidates)
    if (isThere(candidate) && holdsAny(candidate, storages)) return candidate;
  for (const auto& candidate : candidates)
    if (isThere(candidate)) return candidate;
  return beside / "storages";
}

void noteMissingStorages(const CapturedGraph& graph, std::vector<std::string>& notes) {
  std::size_t unsaved = 0;
  std::size_t missing = 0;
  const StorageRef* first = nullptr;
  for (const StorageRef& storage : graph.storages) {
    if (storage.hash.empty())
      ++unsaved;
    else if (!isThere(graph.storageDirectory / storage.hash)) {
      ++missing;
      if (first == nullptr) first = &storage;
    }
  }
  if (unsaved > 0)
    notes.push_back(
        fmt::format("{} of {} storages were saved without data: made-up values are used unless inputs are given",
                    unsaved, graph.storages.size()));
  if (missing > 0)
    notes.push_back(fmt::format(
        "{} of {} storages are missing in {} (line {}: {}): made-up values are used unless inputs are given", missing,
        graph.storages.size(), graph.storageDirectory.string(), first->line, first->hash));
}

}  // namespace kerf::inline capture
