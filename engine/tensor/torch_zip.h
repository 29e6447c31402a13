// torch.save of one UntypedStorage: the file of a repro's content store (formats A.2). Pickles are never executed.
#pragma once

#include <filesystem>
#include <span>

#include "engine/tensor/storage.h"

namespace kerf::inline tensor {

/// Raw bytes of the single `<root>/data/<key>` member. BadInput when the file is no such zip, is truncated, or its size
/// is not `expectedBytes` (pass -1 to accept any), or the bytes do not have the archive's CRC-32; Unsummed leaves that
/// to a caller who checks them in another way.
enum class ZipSum { Checked, Unsummed };
Result<StoragePtr> readTorchStorage(const std::filesystem::path& path, std::int64_t expectedBytes,
                                    ZipSum sum = ZipSum::Checked);
/// The same over a file already in memory.
Result<StoragePtr> readTorchStorage(std::span<const std::byte> file, std::int64_t expectedBytes);
/// Where the bytes of the storage lie in its file.
struct StoragePlace {
  std::int64_t offset = 0;  ///< bytes
  std::int64_t bytes = 0;
  std::uint32_t crc32 = 0;  ///< that they should have
  bool stored = true;       ///< else they are packed
};
/// As readTorchStorage(), with its checks but that of the bytes, which are not read.
Result<StoragePlace> locateTorchStorage(const std::filesystem::path& path, std::int64_t expectedBytes);
/// Writes a zip that torch.load(weights_only=True) reads as an UntypedStorage of view().size() bytes. Atomic rename.
/// It loads onto the device of that name ("cpu", "cuda:0"): repros read their storages without saying where to.
Result<void> writeTorchStorage(const std::filesystem::path& path, const Storage& storage,
                               std::string_view location = "cpu");
/// Whether a file that writeTorchStorage() may have written loads onto that device.
bool loadsOnto(std::span<const std::byte> file, std::string_view location);

}  // namespace kerf::inline tensor
