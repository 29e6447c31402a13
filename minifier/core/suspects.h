// Suspects: small sets of calls that are worth asking about before the graph is halved.
#pragma once

#include "minifier/core/subset_builder.h"

namespace kerf::inline minifier::inline core {

/// The first call of each kind (target and result type), on recorded values: where a kind is to blame, or several kinds
/// together wherever they stand, one small candidate shows it. None where that is more than one in 32 calls: a search comes to
/// as little in fewer than five halvings.
std::optional<UnitSet> suspects(const Graph& graph, const std::vector<CallUnit>& units);

}  // namespace kerf::inline minifier::inline core
