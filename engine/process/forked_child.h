// What a forked child takes upon itself before it does what it was made for.
#pragma once

#include <cstdint>

namespace kerf::inline process {

/// `resource` is RLIMIT_AS and the like. The child cannot raise it again, root apart.
void setLimit(int resource, std::int64_t value);

/// When memory runs out, this process goes before anything else of the user's.
void offerToTheKernel();

/// Signals do what they do in a new program: none has a handler, is ignored or blocked.
void usualSignals();

}  // namespace kerf::inline process
