// The safetensors file format: little-endian header length, JSON header, raw contiguous tensors.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "engine/support/atomic_file.h"
#include "engine/tensor/tensor.h"

namespace kerf::inline tensor {

/// Tensors in the order of the header.
struct SafetensorsFile {
  std::vector<std::pair<std::string, Tensor>> tensors;
  std::vector<std::pair<std::string, std::string>> metadata;
  const Tensor* find(std::string_view name) const;
};

/// Maps the file; tensors borrow from the mapping. BadInput on a lying header (sizes, overlaps, bounds, nesting).
Result<SafetensorsFile> readSafetensors(const std::filesystem::path& path);
/// Writes through a temporary file and renames, so a reader never sees half a file.
Result<void> writeSafetensors(const std::filesystem::path& path, const SafetensorsFile& file);
/// Into a file that the caller commits, with others or alone.
Result<void> writeSafetensors(AtomicFile& to, const SafetensorsFile& file);

}  // namespace kerf::inline tensor
