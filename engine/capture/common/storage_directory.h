// Where the content store of a repro lies: its save_dir, or what was moved together with the file.
#pragma once

#include <filesystem>
#include <vector>

#include "engine/capture/common/capture.h"

namespace kerf::inline capture {

/// Folder whose files are named by storage hashes: `<save_dir>/storages` (relative to the repro's folder), else
/// `storages` or `checkpoints/storages` beside the repro. The first that holds one of the hashes wins, then the first
/// that exists, then `storages` beside the repro.
std::filesystem::path findStorageDirectory(const std::filesystem::path& repro, const std::string& saveDirectory,
                                           const std::vector<StorageRef>& storages);

/// Notes about data that cannot be loaded: missing files, storages saved without data.
void noteMissingStorages(const CapturedGraph& graph, std::vector<std::string>& notes);

}  // namespace kerf::inline capture
