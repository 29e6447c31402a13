// commonLoops: one nest for a kernel's loops and for those of a value over as many elements, where each walks its own
// in order: what views between ops have cut otherwise.
//
//   kernel: 32, 32, 8 × 4096 (reduced)      value: 32, 256, 64, 64
//   → 32, 32, 8 × 64 × 64 (reduced): the value's second index is 8·i1 + i2, the kernel's last one 64·i3 + i4
#pragma once

#include <optional>

#include "engine/loops/loop_ir.h"

namespace kerf::inline lower {

struct CommonLoops {
  std::vector<LoopVariable> variables;
  IndexMap ofKernel, ofValue;  ///< each loop of either, over `variables`
  std::int64_t row = 0;        ///< elements inside of the innermost of the value's loops that are cut
};

/// None where sizes are expressions, or where no sizes divide each other so.
std::optional<CommonLoops> commonLoops(const std::vector<LoopVariable>& kernel, const SymSizes& value);

}  // namespace kerf::inline lower
