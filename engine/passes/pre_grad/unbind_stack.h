// Stack and unbind of torch functions: what is taken apart and stacked again is the whole, what is stacked and taken
// apart again its parts, and slices put together are the tensor with two dimensions as one.
//
//     a, b = torch.unbind(x); s = torch.stack([a, b])      →      s = x
//     a, b = torch.unbind(x); c = torch.cat([a, b])        →      c = torch.flatten(x, 0, 1)
#pragma once

#include "engine/passes/pass.h"

namespace kerf::inline passes {

/// Nothing that reads or aliases mutated memory goes, and no output becomes an input or a view of one.
Pass unbindStackPass();

}  // namespace kerf::inline passes
