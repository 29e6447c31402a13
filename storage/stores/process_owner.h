// Names a process so that another one can tell whether it still lives, even after its number was used again.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace kerf::inline storage::inline stores {

/// "boot id:pid:start time" of the calling process.
std::string thisProcess();
/// Whether `owner` is another process of this boot that is still alive.
bool isOtherLiveProcess(const std::string& owner);

// What killed processes left beside a file that they were writing.

/// Removes "FILE.1234.0.tmp" and "FILE.1234.new.tmp" (with "-wal", "-shm" or "-journal" behind it) beside `file` where
/// no process 1234 is there any more; how many those were. Any other name is somebody else's file.
std::int64_t removeDeadDrafts(const std::filesystem::path& file);

}  // namespace kerf::inline storage::inline stores
