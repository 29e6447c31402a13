// Matmul padding: factors of a product whose sizes are odd for tensor cores get rows and columns of zeros.
//
//     y = mm(a, b)  with a: f16[1024, 1023]      →      y = mm(pad(a, [0, 1]), pad(b, [0, 0, 0, 1]))
#pragma once

#include "engine/passes/pass.h"

namespace kerf::inline passes {

/// mm and bmm of fixed sizes, where one of them is no multiple of what the dtype asks for (8 for 16 bits, 4 for
/// float32) and the product has at least `min_intensity` multiplications for each element that is copied for it
/// (torch._inductor's pad_mm, which measures too). The result keeps sizes and strides.
Pass padMmPass();

}  // namespace kerf::inline passes
