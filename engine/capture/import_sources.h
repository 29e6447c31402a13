// What a file holds, decided by its first bytes: the table behind importCapture.
#pragma once

#include <string_view>

#include "engine/capture/importers.h"
#include "engine/tensor/mapped_file.h"

namespace kerf::inline capture {

/// A file as importers get it: mapped, and unpacked if gzip compressed it.
struct ImportSource {
  std::filesystem::path path;
  StoragePtr mapped;
  std::shared_ptr<const std::string> unpacked;  ///< of a gzip file (of a log: its head only)
  std::string_view text;
  bool compressed = false;
};

/// NotFound, Environment, or TooLarge above limits.fileBytes (pt2 archives and logs are mapped and may be larger).
Result<ImportSource> openSource(const std::filesystem::path& path, const ImportLimits& limits);

/// One kind of file.
struct FileKind {
  std::string_view name;  ///< "repro", "torch_trace", …
  bool (*recognise)(const ImportSource& source);
  Result<Capture> (*open)(const ImportSource& source, const ImportLimits& limits, const ImportProgress& progress);
};

/// A repro.py with its storages in one zip. Storages are read at once: together at most limits.fileBytes.
bool isZippedRepro(const ImportSource& source);
Result<Capture> openZippedRepro(const ImportSource& source, const ImportLimits& limits, const ImportProgress& progress);

/// The kind whose recogniser comes first; null if none knows the content.
const FileKind* fileKindOf(const ImportSource& source);

/// "a zip archive", "an empty file": what content of no kind is, for messages.
std::string describeContent(std::string_view text);

}  // namespace kerf::inline capture
