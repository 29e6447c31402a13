// TrainingStep: a joint graph as two graphs that are compiled apart and run one after the other.
//
//     joint(primals, tangents)  →  forward(primals) → outputs, saved;   backward(saved, tangents) → gradients
#pragma once

#include "engine/backend/backend.h"
#include "engine/partition/partition.h"

namespace kerf::inline pipeline {

/// A partition of one's own in the place of partitionJoint.
using PartitionHook =
    std::function<Result<Partition>(GraphModule joint, const PartitionOptions& options, double budget)>;

struct TrainingStep {
  GraphModule forward, backward;
  std::size_t outputs = 0;  ///< of the forward graph, the first so many are the joint graph's; then what is saved

  /// Where a placeholder's value comes from.
  struct Source {
    bool isSaved = false;   ///< an output of the forward graph; else an input of the joint graph
    std::size_t index = 0;  ///< among all outputs, or all inputs
  };
  std::vector<Source> forwardInputs, backwardInputs;
};

/// `joint` is what was partitioned. Internal naming a placeholder that nothing gives a value to.
Result<TrainingStep> trainingStep(const Graph& joint, Partition partition);

/// Runs the forward code on the joint graph's inputs and then the backward code; returns what the joint graph does.
/// `step`'s graphs are those before the passes of the two sides.
std::unique_ptr<Executable> trainingExecutable(TrainingStep step, std::unique_ptr<Executable> forward,
                                               std::unique_ptr<Executable> backward);

}  // namespace kerf::inline pipeline
