// kernelBytes(): how much memory a kernel touches.
#pragma once

#include "engine/loops/loop_ir.h"

namespace kerf::inline loops {

/// Bytes that the kernel reads or writes at the example's sizes, every element counted once; what a load at a computed
/// place may touch is at most the buffer, and at most an element each time. `elements` are those of each buffer.
std::int64_t kernelBytes(const LoopKernel& kernel, const std::vector<std::int64_t>& elements);

}  // namespace kerf::inline loops
