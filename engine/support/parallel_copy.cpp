#include "engine/support/parallel_copy.h"

#include <cstring>

#include "engine/support/thread_pool.h"

namespace kerf::inline support {

void parallelCopy(std::byte* to, const std::byte* from, std::size_t bytes) {
  constexpr std::int64_t smallestPiece = 64 << 10;
  parallelFor(std::int64_t(bytes), smallestPiece, [&](std::int64_t begin, std::int64_t end) {
    std::memcpy(to + begin, from + begin, std::size_t(end - begin));
  });
}

}  // namespace kerf::inline support
