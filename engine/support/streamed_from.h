// From which size on results are written past the caches, whoever writes them.
#pragma once

#include <cstdint>

namespace kerf::inline support {

/// Bytes: the last cache's up to 32 MB, or $KERF_STREAM_FROM.
std::int64_t streamedFrom();

}  // namespace kerf::inline support
