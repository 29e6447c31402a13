// Runs of elements from one dtype to another with vector instructions, for the pairs that graphs convert most.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/tensor/dtype.h"

namespace kerf::inline tensor {

/// Converts `count` elements; steps are in elements.
using RowFunction = void (*)(std::byte* to, std::int64_t toStep, const std::byte* from, std::int64_t fromStep,
                             std::int64_t count);

/// Null for pairs without a vector form. Same results as convertElement.
RowFunction vectorRowFunction(DType to, DType from);

}  // namespace kerf::inline tensor
