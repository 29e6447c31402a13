// The order in which the groups of a schedule run.
#pragma once

#include <span>
#include <vector>

#include "engine/lower/fusion.h"

namespace kerf::inline lower {

/// Indices: depth first over dependencies, in order of segments and creation. Stable, producers first.
std::vector<int> producersFirst(std::span<const FusionGroup> groups);

}  // namespace kerf::inline lower
