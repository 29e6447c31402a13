// torch.save of one UntypedStorage: the file of a repro's content store (formats A.2). Pickles are never executed.
#pragma once

#include <filesystem>
#include <span>

#include "engine/tensor/storage.h"

namespace kerf::inline tensor {

/// Raw bytes of the single `<root>/data/<key>` member. BadInput when the file is no such zip, is truncated, or its size
/// is not `expectedBytes` (pass -1 to accept any).
Result<StoragePtr> readTorchStorage(const std::filesystem::path& path, std::int64_t expectedBytes);
/// The same over a file already in memory.
Result<StoragePtr> readTorchStorage(std::span<const std::byte> file, std::int64_t expectedBytes);
/// Writes a zip that torch.load(weights_only=True) reads as an UntypedStorage of view().size() bytes. Atomic rename.
Result<void> writeTorchStorage(const std::filesystem::path& path, const Storage& storage);

}  // namespace kerf::inline tensor
