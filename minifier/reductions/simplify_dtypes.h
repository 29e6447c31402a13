// simplify_dtypes: inputs, and what calls convert to, become float32 or int64.
//
//     x: f16; y = _to_copy(x, dtype=bfloat16)      →      x: f32; y = _to_copy(x, dtype=float32)
#pragma once

#include "minifier/core/reduction.h"

namespace kerf::inline minifier::inline reductions {

Reduction simplifyDtypes();
/// All of them at once.
std::optional<Candidate> allUsualDtypes(const Candidate& candidate);

}  // namespace kerf::inline minifier::inline reductions
