// ConvNeXt: stem, blocks of depthwise 7×7 convolutions with norms over channels and pointwise layers, downsampling
// between stages; the model of PyTorch's example of DTensor, whose images are sharded along their width.
#pragma once

#include "engine/distributed/modules/module_run.h"

namespace kerf::inline distributed::inline modules {

struct ConvNextConfig {
  std::vector<std::int64_t> depths{3, 3, 27, 3}, widths{256, 512, 1024, 2048};
  std::int64_t channels = 3;  ///< of the images
  std::int64_t classes = 1000;
  bool hasNormLayers = false;  ///< norms are layer norms between two permutations in place of sums over channels
  double epsilon = 1e-6;
};

/// A parameter and its sizes.
struct ConvNextParameter {
  std::string name;
  Sizes sizes;
};
/// Parameters by their names: "stem.weight", "stages.0.1.dw.weight", "down.1.weight", "head.bias".
std::vector<ConvNextParameter> convNextParameters(const ConvNextConfig& config);

/// Logits of images.
Result<Value> convNext(const ModuleRun& run, const Value& images, const ConvNextConfig& config);

// Its pieces.
/// "w" and "b" of [C, 1, 1], or a layer "n".
Result<Value> channelNorm(const ModuleRun& run, const std::string& path, const Value& x, double epsilon);
/// x + g · p2(gelu(p1(n(dw(x))))), without g where there is none.
Result<Value> convNextBlock(const ModuleRun& run, const std::string& path, const Value& x, double epsilon);

}  // namespace kerf::inline distributed::inline modules
