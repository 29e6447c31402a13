// One training step of PyTorch's ConvNeXt example: images sharded along their width over all ranks, parameters and
// targets replicated, cross entropy.
#pragma once

#include "engine/distributed/modules/convnext.h"

namespace kerf::inline distributed::inline modules {

struct ConvNextExample {
  ConvNextConfig model;
  Sizes images{7, 3, 512, 1024};
  DType dtype = DType::Float32;

  /// The example as PyTorch has it.
  static ConvNextExample full() { return {}; }
  /// The same form in a few thousand parameters.
  static ConvNextExample small();
};

struct ExampleStep {
  double loss = 0;
  std::map<std::string, Tensor> gradients;  ///< whole, by parameter
  std::map<std::string, int> collectives;   ///< that this rank issued, by PyTorch's names; halos are none
};

/// Forward and backward on this rank of a world of one dimension. Parameters, images and targets are the same made-up
/// values in every world.
Result<ExampleStep> trainConvNext(MeshRank& rank, const ConvNextExample& example);
/// The same on one rank, with nothing sharded.
Result<ExampleStep> trainConvNextWhole(const ConvNextExample& example);

/// The largest difference of two steps' gradients relative to the largest value of each gradient. HUGE_VAL where they
/// are not the same parameters.
double gradientDifference(const ExampleStep& own, const ExampleStep& whole);

}  // namespace kerf::inline distributed::inline modules
