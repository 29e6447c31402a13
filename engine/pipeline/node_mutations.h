// What a run compared node by node has written into, at its end: rows beside those of the nodes.
#pragma once

#include "engine/accuracy/run_results.h"
#include "engine/pipeline/node_divergence.h"

namespace kerf::inline pipeline {

/// "mutates exp_avg_3": inputs and attributes that the graph writes into, or that one of the runs changed. As
/// compareValues(), whose rows of outputs these have not; `fp64` may be null.
std::vector<NodeDivergence> mutationRows(const ResultNames& names, const RunResults& before, const RunResults& ref,
                                         const RunResults& res, const RunResults* fp64, const SameOptions& options);

/// Bad rows of mutations are where the fault starts if no node is: it hides in a write that the nodes do not show.
void markFirstBadMutation(std::vector<NodeDivergence>& nodes);

}  // namespace kerf::inline pipeline
