// weightsOf(): what calls of a graph cost, and what falls with them; a search over sets halves by it.
#pragma once

#include "minifier/core/call_units.h"
#include "minifier/core/set_search.h"

namespace kerf::inline minifier::inline core {

/// By unit: `costs` its nodes, and the calls of the graphs that it is given; `falls` the costs of all units that reach
/// results only through it, it among them (its subtree of post-dominators). What a call writes into memory, and what
/// nobody uses, is a result.
///
///     a = f(x); b = g(a); c = h(a); d = k(b, c); return d, a      →      costs 1, 1, 1, 1; falls 1, 1, 1, 3 (b, c, d)
SetWeights weightsOf(const GraphModule& module, const std::vector<CallUnit>& units);

}  // namespace kerf::inline minifier::inline core
