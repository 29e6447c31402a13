// The gradients of a pair's later stages against differences of the graph that Dynamo recorded.
#pragma once

#include "engine/verification/stage_runs.h"

namespace kerf::inline verification {

/// Whether the pair goes from Dynamo's graph to the joint graph, or to a forward and a backward graph.
bool givesGradients(const StagePlan& plan, const StagePair& pair);

/// Fills the verdict's gradients, and makes it Different where they do not fit. What cannot be checked says why.
Result<void> checkPairGradients(const StagePlan& plan, StageRuns& runs, const VerifyOptions& options,
                                const StagePair& pair, PairVerdict& verdict);

}  // namespace kerf::inline verification
