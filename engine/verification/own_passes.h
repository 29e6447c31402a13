// Kerf's passes beside PyTorch's: of what a recorded stage of passes was given, Kerf's own passes of that stage make
// another graph, which is run and compared with what PyTorch's made.
//
//     before_post_grad_graph → inductor_post_grad_graph   →   inductor_post_grad_graph → Kerf's post-grad graph
#pragma once

#include <string>
#include <vector>

#include "engine/passes/pass.h"
#include "engine/verification/stage_plan.h"

namespace kerf::inline verification {

/// How often an op is called in the graph that PyTorch's passes made, and in Kerf's.
struct OwnOpCount {
  std::string op;  ///< "aten.mul.Tensor"
  int recorded = 0, own = 0;
};

/// One recorded stage of passes.
struct OwnPasses {
  std::string before, recorded, own;                             ///< names of stages
  std::size_t nodesBefore = 0, nodesRecorded = 0, nodesOwn = 0;  ///< with inputs and output
  std::vector<OwnOpCount> ops;                                   ///< that differ, by name
};

/// Adds to the capture what `passes` make of every graph before recorded pre-grad, joint or post-grad passes, and to the
/// plan a stage for each. The plan's pairs are those that compare them, and no others: none where no passes are
/// recorded. Errors are those of the passes.
Result<std::vector<OwnPasses>> addOwnPasses(Capture& capture, StagePlan& plan, std::vector<Pass> passes);

}  // namespace kerf::inline verification
