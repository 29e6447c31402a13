// matchSequences(): what is left after structure: same op from the same source line in the same order, then same op and
// value under one name.
#pragma once

#include "engine/diff/partners.h"

namespace kerf::inline diff {

/// Aligns the nodes without partner by op and origin, first with equal values, then whatever those are if the rule
/// allows. Nodes without origin take no part. Returns whether any pair was found.
bool matchOrigins(Partners& partners, ValueRule rule);

/// Nodes of one name and op; last, and only where a partner takes one of them or gives it something. A name
/// alone never makes a pair.
bool matchNames(Partners& partners, ValueRule rule);

}  // namespace kerf::inline diff
