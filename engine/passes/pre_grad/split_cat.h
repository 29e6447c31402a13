// Split and cat of torch functions: what is split and put together again is the whole, what is put together and split
// again its parts, and a cat of a cat one cat.
//
//     a, b = torch.split(x, 2, 1); c = torch.cat([a, b], 1); d = torch.cat([c, y], 1)
//       →      d = torch.cat([x, y], 1)
#pragma once

#include "engine/passes/pass.h"

namespace kerf::inline passes {

/// split and chunk alike. Nothing that reads or aliases mutated memory goes, and no output becomes an input.
Pass splitCatPass();

}  // namespace kerf::inline passes
