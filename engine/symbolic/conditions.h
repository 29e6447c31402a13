// Conditions on sizes as they are compared: two ways of writing one relation.
#pragma once

#include "engine/symbolic/symbolic.h"

namespace kerf::inline symbolic {

/// Whether both say the same of the same difference: Ne(s0, 1) and Ne(1, s0), s0 < 2*s1 and 2*s1 > s0.
bool sameCondition(const Symbolic& a, const Symbolic& b);

}  // namespace kerf::inline symbolic
