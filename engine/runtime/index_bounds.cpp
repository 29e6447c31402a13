#include "engine/runtime/index_bounds.h"

#include <algorithm>

#include "engine/tensor/dispatch.h"

namespace kerf::inline runtime {

Result<std::optional<std::int64_t>> firstOutside(const Tensor& indices, std::int64_t least, std::int64_t greatest) {
  KERF_TRY(const Tensor flat, indices.contiguous());
  std::optional<std::int64_t> found;
  KERF_CHECK(dispatchInteger(flat.dtype(), [&]<class T>() {
    const T* data = flat.data<T>();
    const std::int64_t count = flat.numel();
    bool outside = false;  // without an early end, so that it goes a vector at a time
    for (std::int64_t i = 0; i < count; ++i)
      outside |= std::int64_t(data[i]) < least || std::int64_t(data[i]) > greatest;
    if (!outside) return;
    const auto isOutside = [&](T value) { return std::int64_t(value) < least || std::int64_t(value) > greatest; };
    found = std::int64_t(*std::find_if(data, data + count, isOutside));
  }));
  return found;
}

}  // namespace kerf::inline runtime
