// The rules of same() for tensors (formats A.4).
#pragma once

#include "engine/accuracy/same.h"

namespace kerf::inline accuracy {

/// Fills `verdict` but for its name. `fp64` may be undefined, or of another dtype than float64: then it is no
/// reference. `options.tolerance` counts, `options.tolerances` does not.
void compareTensors(const Tensor& ref, const Tensor& res, const Tensor& fp64, const SameOptions& options,
                    OutputVerdict& verdict);

}  // namespace kerf::inline accuracy
