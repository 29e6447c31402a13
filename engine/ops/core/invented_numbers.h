// A tensor without data where an op takes a number: binding has to invent the number.
#pragma once

#include "engine/ops/core/op_call.h"

namespace kerf::inline ops {

/// Whether `bound`, made of `args` and `kwargs`, has a number that only running the graph tells: elu(x, alpha) with a
/// tensor without dimensions for alpha. Shapes and dtypes that follow are right; what reads the number is not.
bool inventsNumbers(const BoundArguments& bound, const ValueList& args, const KeywordValues& kwargs);

}  // namespace kerf::inline ops
