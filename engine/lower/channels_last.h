// channelsLastValues: which intermediate images lie with their channels side by side, so that convolutions and what
// follows them run row by row.
//
//   before: convolution -> [N, C, H, W] strides (C*H*W, H*W, W, 1)      after: strides (H*W*C, 1, W*C, C)
#pragma once

#include <functional>
#include <vector>

#include "engine/lower/value_table.h"

namespace kerf::inline lower {

/// An aten.convolution of two spatial dimensions in float32, not transposed, of sizes that are numbers.
bool isRowConvolution(const ValueInfo& info);

/// By NodeId::index. Starts at convolutions whose result `isFree` to lie anyhow and goes on through what is computed
/// element by element from one, as long as every view of it can be had without a copy.
std::vector<bool> channelsLastValues(const ValueTable& values, const std::function<bool(NodeId)>& isFree);

}  // namespace kerf::inline lower
