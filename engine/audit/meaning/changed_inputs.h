// Inputs of a graph with some of their numbers changed. Strides stay.
#pragma once

#include "engine/tensor/value.h"

namespace kerf::inline audit {

/// Where all would be NaN, nothing would be compared: all floats positive then.
ValueList positive(const ValueList& inputs);
/// The last digits of floats changed: what changes much with them is decided by rounding.
ValueList perturbed(const ValueList& inputs, int which);
/// The first two floats of each are -0 and 0.
ValueList withZeros(const ValueList& inputs);

}  // namespace kerf::inline audit
