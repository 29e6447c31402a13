// matchStructure(): nodes that are the same call of the same inputs, or are used alike by the same nodes.
//
//     x → a = sin(x) → b = relu(a)      x → p = sin(x) → q = relu(p)      →      (a, p), (b, q)
#pragma once

#include "engine/diff/match_inputs.h"
#include "engine/diff/value_classes.h"

namespace kerf::inline diff {

/// Alternates between keys from the inputs up and from the users down until neither finds a pair, in time linear in the
/// graphs for each round. Values in `given` count as leaves, and what computes the same value as one that is known. Of
/// several nodes of one key those of equal name belong together, then they do in order.
void matchStructure(Partners& partners, const GivenValues& given, const Classes& classes);

/// Same op (not the same constants) at the same place of partners: what they take, and what takes them where only one
/// node does, under the rule. Returns whether any pair was found.
bool matchPlaces(Partners& partners, ValueRule rule);

}  // namespace kerf::inline diff
