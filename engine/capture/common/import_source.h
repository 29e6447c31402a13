// A file as importers get it. Content decides what it is: recognisers look at the first 64 KiB only.
#pragma once

#include <string_view>

#include "engine/capture/common/capture.h"
#include "engine/tensor/mapped_file.h"

namespace kerf::inline capture {

/// Bytes of the head that recognisers get.
inline constexpr std::size_t recognitionBytes = 64 << 10;

/// Mapped, and unpacked if gzip compressed it.
struct ImportSource {
  std::filesystem::path path;
  StoragePtr mapped;
  std::shared_ptr<const std::string> unpacked;  ///< of a gzip file (of a log: its head only)
  std::string_view text;
  bool compressed = false;
};

using Recogniser = bool (*)(std::string_view head);

/// Of compressed files whose unpacked head `isLog` knows, only the head is unpacked: logs have a reader of their own.
/// NotFound, Environment, or TooLarge above limits.fileBytes (pt2 archives and logs are mapped and may be larger).
Result<ImportSource> openSource(const std::filesystem::path& path, const ImportLimits& limits, Recogniser isLog);

}  // namespace kerf::inline capture
