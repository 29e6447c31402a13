// Whether all values of a tensor of indices lie within bounds.
#pragma once

#include <optional>

#include "engine/support/result.h"
#include "engine/tensor/tensor.h"

namespace kerf::inline runtime {

/// The first value (row-major) that is less than `least` or greater than `greatest`; none when there is no such one.
/// `indices` is of an integer dtype.
Result<std::optional<std::int64_t>> firstOutside(const Tensor& indices, std::int64_t least, std::int64_t greatest);

}  // namespace kerf::inline runtime
