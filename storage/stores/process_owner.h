// Names a process so that another one can tell whether it still lives, even after its number was used again.
#pragma once

#include <string>

namespace kerf::inline storage::inline stores {

/// "boot id:pid:start time" of the calling process.
std::string thisProcess();
/// Whether `owner` is another process of this boot that is still alive.
bool isOtherLiveProcess(const std::string& owner);

}  // namespace kerf::inline storage::inline stores
