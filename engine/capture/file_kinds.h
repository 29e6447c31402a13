// What a file holds, decided by its first bytes: the table behind importCapture.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "engine/capture/common/import_source.h"

namespace kerf::inline capture {

/// One kind of file.
struct FileKind {
  std::string_view name;  ///< "repro", "torch_trace", …
  bool (*recognise)(const ImportSource& source);
  Result<Capture> (*open)(const ImportSource& source, const ImportLimits& limits, const ImportProgress& progress);
};

/// The kind whose recogniser comes first; null if none knows the content.
const FileKind* fileKindOf(const ImportSource& source);

/// "a zip archive", "an empty file": what content of no kind is, for messages. The file's name tells Python.
std::string describeContent(std::string_view text, const std::filesystem::path& path);

}  // namespace kerf::inline capture
