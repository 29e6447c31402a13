// Copies of values, so that a run may write into them and nothing keeps more memory alive than it shows.
#pragma once

#include "engine/tensor/value.h"

namespace kerf::inline minifier::inline core {

/// Deep copy in which tensors that shared a storage still do.
Result<ValueList> copyInputs(const ValueList& inputs);
/// The value in a storage of its own that is no larger than it needs to be (its own where it is so already); strides
/// stay.
Result<Value> compacted(const Value& value);

}  // namespace kerf::inline minifier::inline core
