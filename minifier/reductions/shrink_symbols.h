// shrink_symbols: a symbolic size gets a smaller value in all inputs that have it, down to the least that its range
// allows; or it becomes the number that it stands for. Numbers that are inputs become constants.
//
//     s0 = 64; x: f32[s0, 32]     →     s0 = 2; x: f32[s0, 32]     →     x: f32[2, 32]
#pragma once

#include "minifier/core/reduction.h"

namespace kerf::inline minifier::inline reductions {

Reduction shrinkSymbols();

}  // namespace kerf::inline minifier::inline reductions
