#include "engine/capture/common/storage_directory.h"

#include <algorithm>

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

}  // namespace

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
    notes.push_back(fmt::format("{} of {} storages were saved without data: random floats and zero integers stand in",
                                unsaved, graph.storages.size()));
  if (missing > 0)
    notes.push_back(
        fmt::format("{} of {} storages are missing in {} (line {}: {}): random floats and zero integers stand in",
                    missing, graph.storages.size(), graph.storageDirectory.string(), first->line, first->hash));
}

}  // namespace kerf::inline capture
