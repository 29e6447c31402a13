// A product of int8 matrices, its conversion and its scale: one call, which never holds the int32 sums as a tensor of
// the graph (Inductor's force_fuse_int_mm_with_mul, and its smooth-quant pattern on CPUs).
//
//     y = mul(convert(_int_mm(x, w), f32), scales)   →   y = qlinear_pointwise(x, 1, 0, qlinear_prepack(w.t()), scales)
#pragma once

#include "engine/passes/pass.h"

namespace kerf::inline passes {

Pass fusedIntMmMulPass();

}  // namespace kerf::inline passes
