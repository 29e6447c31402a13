#include "engine/runtime/index_bounds.h"

#include <algorithm>
#include <atomic>

#include "engine/support/thread_pool.h"
#include "engine/tensor/dispatch.h"

namespace kerf::inline runtime {
namespace {

/// Elements that one thread looks at, at least.
constexpr std::int64_t grain = 1 << 15;

}  // namespace

Result<std::optional<std::int64_t>> firstOutside(const Tensor& indices, std::int64_t least, std::int64_t greatest) {
  KERF_TRY(const Tensor flat, indices.contiguous());
  std::optional<std::int64_t> found;
  KERF_CHECK(dispatchInteger(flat.dtype(), [&]<class T>() {
    const T* data = flat.data<T>();
    const auto isOutside = [&](T value) { return std::int64_t(value) < least || std::int64_t(value) > greatest; };
    std::atomic<bool> someOutside = false;
    parallelFor(flat.numel(), grain, [&](std::int64_t begin, std::int64_t end) {
      bool outside = false;  // without an early end, so that it goes a vector at a time
      for (std::int64_t i = begin; i < end; ++i) outside |= isOutside(data[i]);
      if (outside) someOutside = true;
    });
    if (someOutside) found = std::int64_t(*std::find_if(data, data + flat.numel(), isOutside));
  }));
  return found;
}

}  // namespace kerf::inline runtime
