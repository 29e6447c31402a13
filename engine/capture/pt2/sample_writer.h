// sampleInputsFile: torch.save of (arguments, {}), the example inputs of an exported program.
#pragma once

#include <string>

#include "engine/support/result.h"
#include "engine/tensor/value.h"

namespace kerf::inline capture::pt2 {

/// A zip that torch.load(weights_only=True) reads as ((args…), {}): tensors that share a storage share it again.
/// Tensors, integers, floats, bools, strings and None; BadInput for other values.
Result<std::string> sampleInputsFile(const ValueList& args);

}  // namespace kerf::inline capture::pt2
