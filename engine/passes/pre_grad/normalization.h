// Call normalisation: one spelling and one form of the arguments for every function that Dynamo writes in several ways.
//
//     y = x.permute(0, 2, 1); z = torch._C._nn.linear(y, weight = w)
//       →      y = torch.permute(x, [0, 2, 1]); z = torch.nn.functional.linear(y, w)
#pragma once

#include "engine/passes/pass.h"

namespace kerf::inline passes {

/// By PyTorch's Python signatures: arguments by position, defaults left out at the end, `inplace` by name. Names of
/// nodes stay.
Pass normalizationPass();

}  // namespace kerf::inline passes
