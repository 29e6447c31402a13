// Softmax rescaling: the maximum of a softmax is taken before the scores are scaled, not after.
//
//     s = mul(x, 0.125); y = sub(s, amax(s, [-1], True))      →      y = mul(sub(x, amax(x, [-1], True)), 0.125)
#pragma once

#include "engine/passes/pass.h"

namespace kerf::inline passes {

/// Scaled once, the maximum is subtracted from itself exactly (torch._inductor's mul_softmax_pattern and
/// div_softmax_pattern). The factor is a finite Python number other than 0, or a tensor that is one number along what
/// is reduced; a negative one turns the maximum's sign. A conversion after the scaling is looked through. Off by
/// default: values change in the last digits.
Pass mulSoftmaxPatternPass();

}  // namespace kerf::inline passes
