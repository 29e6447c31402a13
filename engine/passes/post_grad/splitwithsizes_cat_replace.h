// Split and cat: pieces that are put together as they were cut are the whole; pieces of a whole that was put together
// are its parts.
//
//     s = split_with_sizes(x, [2, 3], 1); c = cat([s[0], s[1]], 1)      →      c = x
//     c = cat([a, b], 0); s = split_with_sizes(c, [2, 3]); y = relu(s[1])      →      y = relu(b)
#pragma once

#include "engine/passes/pass.h"

namespace kerf::inline passes {

/// All pieces of one split, or slices that cover a tensor, in order and along one dimension; and a cat of a cat and its
/// own beginning (torch._inductor's splitwithsizes_cat_replace, cat_splitwithsizes_replace, cat_slice_cat). A part
/// stands in only if it lies in memory as the piece did.
Pass splitwithsizesCatReplacePass();

}  // namespace kerf::inline passes
