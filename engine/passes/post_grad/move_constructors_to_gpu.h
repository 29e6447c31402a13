// Constructor moves: tensors that are made on the CPU and only index others on a device are made there.
//
//     i = iota(8, device=cpu); y = index(x, [i])      →      i = iota(8, device=cuda:0); y = index(x, [i])
#pragma once

#include "engine/passes/pass.h"

namespace kerf::inline passes {

/// Where the graph has tensors of one other device, x above, and everything that is computed on the CPU from them ends
/// in ops that take tensors of two devices (torch._inductor's move_constructors_to_gpu). Graphs on one device stay as
/// they are; so do random numbers.
Pass moveConstructorsToGpuPass();

}  // namespace kerf::inline passes
