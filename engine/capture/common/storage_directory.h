// Where the content store of a repro lies: its save_dir, or what was moved together with the file.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "engine/capture/common/capture.h"

namespace kerf::inline capture {

/// Folder whose files are named by storage hashes: `<save_dir>/storages` (relative to the repro's folder), else
/// `storages` or `checkpoints/storages` beside the repro. The first that holds one of the hashes wins, then the first
/// that exists, then `storages` beside the repro.
std::filesystem::path findStorageDirectory(const std::filesystem::path& repro, const std::string& saveDirectory,
                                           const std::vector<StorageRef>& storages);

/// A storage of the graph from its file, checked: the SHA-1 that is its name where names are that, else the archive's
/// CRC-32. PyTorch names storages by SHA-1 (after_dynamo, stable_hash) or by a fast hash that cannot be computed again
/// (formats A.2), all storages of a graph alike: what the graph does not say, its other storages do. BadInput naming
/// the file when its bytes are not those that it was named after; else as readTorchStorage(). A name is checked once
/// in a process, and again when the file was written since.
Result<StoragePtr> readNamedStorage(const CapturedGraph& graph, const StorageRef& storage, std::int64_t expectedBytes);

/// The same for several, on the process's threads. Null for one that cannot be read: reading it again says why.
std::vector<StoragePtr> readNamedStorages(const CapturedGraph& graph, const std::vector<std::size_t>& indices);
/// Where its bytes lie in its file, nothing checked; nothing where they are packed. As readTorchStorage().
Result<std::optional<FileRange>> locateNamedStorage(const CapturedGraph& graph, const StorageRef& storage);
/// The checks of readNamedStorage() with little memory.
Result<void> checkNamedStorage(const CapturedGraph& graph, const StorageRef& storage, std::int64_t expectedBytes);

/// Storages of this folder are known to be what they are called: the store has just written them there, checked.
void trustStorages(const std::filesystem::path& directory);

/// Whether the repro says that Kerf wrote it, all storages under their SHA-1.
bool isWrittenByKerf(const ReproEnvelope& envelope);

/// A range of another file (a .pt2's weights), checked against the archive's CRC-32 once in this process.
Result<StoragePtr> mapCheckedRange(const StorageRef& storage);

/// Notes about data that cannot be loaded: missing files, storages saved without data.
void noteMissingStorages(const CapturedGraph& graph, std::vector<std::string>& notes);

}  // namespace kerf::inline capture
