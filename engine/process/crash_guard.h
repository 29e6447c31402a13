// crashOf(): work in this process that may crash without ending it.
#pragma once

#include <functional>
#include <optional>

namespace kerf::inline process {

/// Runs `work`. A signal by which its thread would have ended this process (SIGSEGV, also of a full stack, SIGFPE,
/// SIGILL, SIGABRT) ends only the work: which one; none where it came to its end. What the work had allocated is then
/// lost, what it had locked stays locked and what it was writing is half written: a way to leave well, not to go on as
/// if nothing had happened. Exceptions pass. Other threads crash as ever. Under a sanitizer this is a plain call, since
/// it must see the crash.
std::optional<int> crashOf(const std::function<void()>& work);

}  // namespace kerf::inline process
