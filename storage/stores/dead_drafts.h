// What killed processes left beside a file that they were writing.
#pragma once

#include <cstdint>
#include <filesystem>

namespace kerf::inline storage::inline stores {

/// Removes "FILE.1234.0.tmp", "FILE.1234.new.tmp-wal" and the like beside `file` where no process 1234 is there any
/// more; how many those were.
std::int64_t removeDeadDrafts(const std::filesystem::path& file);

}  // namespace kerf::inline storage::inline stores
