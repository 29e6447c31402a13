// Slice scatters: what was just written into a slice is not read out of it again, nor written over something unread.
//
//     t = slice_scatter(x, a, 0, 2, 4); y = slice(t, 0, 2, 4)               →      y = a
//     t = slice_scatter(x, a, 0, 2, 4); y = slice_scatter(t, b, 0, 2, 4)    →      y = slice_scatter(x, b, 0, 2, 4)
//     y = slice_scatter(x, slice(x, 0, 2, 4), 0, 2, 4)                      →      y = x
#pragma once

#include "engine/passes/pass.h"

namespace kerf::inline passes {

/// Of one region: dimension, start, end and step, all numbers. Functionalized writes into slices leave such chains.
Pass sliceScattersPass();

}  // namespace kerf::inline passes
