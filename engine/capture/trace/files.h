// Finds TORCH_TRACE logs by their content.
#pragma once

#include "engine/capture/common/capture.h"

namespace kerf::inline capture::trace {

inline constexpr std::size_t maxTraceFiles = 4096;

/// True if one of the first lines is a trace record's; gzip-compressed heads are looked into.
bool isTraceHead(std::string_view head);

/// The logs in a folder, sorted by path, at most `limit` of them; if it has none itself, those in the folders right
/// inside it ("rank_0/…"). Environment if the folder cannot be listed.
Result<std::vector<std::filesystem::path>> traceFiles(const std::filesystem::path& directory, std::size_t limit);

}  // namespace kerf::inline capture::trace
