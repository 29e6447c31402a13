// Split merging: a piece that is split again, along the same dimension, is split at once; a split into one piece is
// none.
//
//     a, b = torch.split(x, [4, 2]); c, d = torch.split(a, 2)      →      c, d, b = torch.split(x, [2, 2, 2])
#pragma once

#include "engine/passes/pass.h"

namespace kerf::inline passes {

/// split and chunk of fixed sizes whose pieces are taken by getitem (torch._inductor's merge_splits and
/// remove_split_with_size_one), where nothing writes.
Pass mergeSplitsPass();

}  // namespace kerf::inline passes
