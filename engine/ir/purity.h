// What may not be removed although nobody uses its value, judged by names alone (schemas are known to engine/ops).
#pragma once

#include "engine/ir/node.h"

namespace kerf::inline ir {

/// FX's Node.is_impure without schemas: placeholders, output, in-place and asserting calls, random ops, effects.
bool isImpureByName(const Node& node);

}  // namespace kerf::inline ir
