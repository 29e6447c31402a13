// What killed processes left beside a file that they were writing.
#pragma once

#include <cstdint>
#include <filesystem>

namespace kerf::inline storage::inline stores {

/// Removes "FILE.1234.0.tmp" and "FILE.1234.new.tmp" (with "-wal", "-shm" or "-journal" behind it) beside `file` where
/// no process 1234 is there any more; how many those were. Any other name is somebody else's file.
std::int64_t removeDeadDrafts(const std::filesystem::path& file);

}  // namespace kerf::inline storage::inline stores
