// streamCopy: a copy past the caches, which memcpy makes on some machines and not on others.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kerf::bench {

/// By as many threads as parallelFor has.
void streamCopy(std::byte* to, const std::byte* from, std::int64_t bytes);

}  // namespace kerf::bench
