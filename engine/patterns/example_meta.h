// Example inputs of patterns: what is known of a tensor that a pattern is traced with.
#pragma once

#include "engine/ir/value_meta.h"

namespace kerf::inline patterns {

/// On the CPU; row-major where no strides are given.
TensorMeta exampleMeta(DType dtype, const Sizes& sizes, Sizes strides = {});

}  // namespace kerf::inline patterns
