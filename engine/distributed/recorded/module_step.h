// One step of a recorded module: forward, loss and gradients, as one rank has them.
#pragma once

#include "engine/distributed/dtensor/dtensor_ops.h"
#include "engine/distributed/recorded/reading.h"

namespace kerf::inline distributed::inline recorded {

/// A tensor of a rank: its part, its placements where it is distributed, and the whole.
struct StepTensor {
  std::optional<std::vector<std::string>> placements;
  Tensor local, whole;
};

struct ModuleStep {
  StepTensor output, loss;
  std::map<std::string, StepTensor> parameters, gradients;
  std::optional<StepTensor> inputGradient;
  std::map<std::string, int> forwardComms, backwardComms;
};

struct ModuleCase {
  const Json& line;
  const SavedTensors& tensors;
  std::string id;

  const Tensor* find(const std::string& key) const { return tensors.find(id + "." + key); }
};

/// The step of one rank, with the line's styles and placements.
Result<ModuleStep> rankStep(const ModuleCase& test, MeshRank& rank);
/// The step of the module on whole tensors, in one process.
Result<ModuleStep> plainStep(const ModuleCase& test);

}  // namespace kerf::inline distributed::inline recorded
