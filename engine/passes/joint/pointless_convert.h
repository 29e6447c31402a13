// Conversion chains: of two dtype conversions in a row, the first goes where it loses nothing.
//
//     w = convert_element_type(x, float32); y = convert_element_type(w, bfloat16)      →      y = x      (x is bf16)
#pragma once

#include "engine/passes/pass.h"

namespace kerf::inline passes {

/// Among float16, bfloat16, float32 and float64 (torch._inductor's pointless_convert). A first conversion that rounds
/// stays: Inductor drops it unless emulate_precision_casts is set; so does the option `drop_rounding`.
Pass pointlessConvertPass();

}  // namespace kerf::inline passes
