// flatten_graphs: the calls of a nested graph in its caller's place, on the operands of its first run: the branch of a
// cond that was taken, the body of an invoke_subgraph, one turn of a loop. What a loop gave is then an input.
//
//     c = cond(p, true_graph, false_graph, (x,)); y = c[0]; z = g(y)      →      r = relu(x); z = g(r)
#pragma once

#include "minifier/core/reduction.h"

namespace kerf::inline minifier::inline reductions {

Reduction flattenGraphs();

}  // namespace kerf::inline minifier::inline reductions
