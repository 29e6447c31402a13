// parallelCopy: what moving memory takes at best, the measure of kernels that do little more.
#pragma once

#include <cstddef>

namespace kerf::inline support {

/// memcpy by as many threads as parallelFor has, a piece of at least 64 KiB each.
void parallelCopy(std::byte* to, const std::byte* from, std::size_t bytes);

}  // namespace kerf::inline support
