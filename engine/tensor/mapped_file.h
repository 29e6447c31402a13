// mapFile: a file's bytes as a Storage, loaded page by page when touched.
#pragma once

#include <filesystem>

#include "engine/tensor/storage.h"

namespace kerf::inline tensor {

/// Private, copy-on-write mapping: writing through it never reaches the file. NotFound / BadInput / Environment name
/// the file. An empty file gives an empty storage. A file that becomes shorter meanwhile reads as zeros behind its end.
Result<StoragePtr> mapFile(const std::filesystem::path& path);
/// The same for `bytes` bytes from `offset` on; only the pages that are touched are read. BadInput when the file does
/// not reach that far. Bytes that start at no multiple of 16 are copied, so that every dtype is aligned.
Result<StoragePtr> mapFileRange(const std::filesystem::path& path, std::int64_t offset, std::int64_t bytes);
/// NotFound, naming `path`, if bytes were read from the mapping that the file did not have any more.
Result<void> checkWhole(const Storage& mapped, const std::filesystem::path& path);

}  // namespace kerf::inline tensor
