#include "engine/distributed/modules/convnext.h"

#include "engine/distributed/modules/layers.h"

namespace kerf::inline distributed::inline modules {
namespace {

Value ints(const Sizes& sizes) { return intList(sizes); }

/// [C] as it is broadcast over [N, C, H, W].
Result<Value> overImage(const ModuleRun& run, const Value& value) {
  if (value.tensor().dim() != 1) return value;
  return callOn(run, "aten.view.default", {value, ints({value.tensor().size(0), 1, 1})});
}

Result<Value> permutedNorm(const ModuleRun& run, const std::string& path, const Value& x, double epsilon) {
  KERF_TRY(const Value last, callOn(run, "aten.permute.default", {x, ints({0, 2, 3, 1})}));
  KERF_TRY(const Value norm, layerNormLayer(run, path, last, epsilon));
  return callOn(run, "aten.permute.default", {norm, ints({0, 3, 1, 2})});
}

struct ParameterCollector {
  std::vector<ConvNextParameter> all;
  void layer(const std::string& name, Sizes weight) {
    const std::int64_t outputs = weight[0];
    all.push_back({name + ".weight", std::move(weight)});
    all.push_back({name + ".bias", {outputs}});
  }
  void norm(const std::string& name, std::int64_t channels, bool isLayer) {
    all.push_back({name + (isLayer ? ".n.weight" : ".w"), isLayer ? Sizes{channels} : Sizes{channels, 1, 1}});
    all.push_back({name + (isLayer ? ".n.bias" : ".b"), isLayer ? Sizes{channels} : Sizes{channels, 1, 1}});
  }
  void block(const std::string& name, std::int64_t channels, bool isLayer) {
    layer(name + ".dw", {channels, 1, 7, 7});
    norm(name + ".n", channels, isLayer);
    layer(name + ".p1", {4 * channels, channels, 1, 1});
    layer(name + ".p2", {channels, 4 * channels, 1, 1});
    all.push_back({name + ".g", {channels, 1, 1}});
  }
};

}  // namespace

Result<Value> channelNorm(const ModuleRun& run, const std::string& path, const Value& x, double epsilon) {
  if (!run.parameterIf(childPath(path, "n.weight")).isNone())
    return permutedNorm(run, childPath(path, "n"), x, epsilon);
  return run.call(path, x, [&](const Value& input) -> Result<Value> {
    const Value channels = ints({1});
    KERF_TRY(const Tensor w, run.parameter(childPath(path, "w")));
    KERF_TRY(const Tensor b, run.parameter(childPath(path, "b")));
    KERF_TRY(const Value mean, callOn(run, "aten.mean.dim", {input, channels, true}));
    KERF_TRY(const Value centred, callOn(run, "aten.sub.Tensor", {input, mean}));
    KERF_TRY(const Value squares, callOn(run, "aten.pow.Tensor_Scalar", {centred, std::int64_t{2}}));
    KERF_TRY(const Value variance, callOn(run, "aten.mean.dim", {squares, channels, true}));
    KERF_TRY(const Value more, callOn(run, "aten.add.Tensor", {variance, epsilon}));
    KERF_TRY(const Value deviation, callOn(run, "aten.sqrt.default", {more}));
    KERF_TRY(const Value unit, callOn(run, "aten.div.Tensor", {centred, deviation}));
    KERF_TRY(const Value weight, overImage(run, w));
    KERF_TRY(const Value bias, overImage(run, b));
    KERF_TRY(const Value scaled, callOn(run, "aten.mul.Tensor", {unit, weight}));
    return callOn(run, "aten.add.Tensor", {scaled, bias});
  });
}

Result<Value> convNextBlock(const ModuleRun& run, const std::string& path, const Value& x, double epsilon) {
  return run.call(path, x, [&](const Value& input) -> Result<Value> {
    const std::int64_t channels = input.tensor().size(1);
    KERF_TRY(Value y, convolutionLayer(run, childPath(path, "dw"), input, {.padding = 3, .groups = channels}));
    KERF_TRY(y, channelNorm(run, childPath(path, "n"), y, epsilon));
    KERF_TRY(y, convolutionLayer(run, childPath(path, "p1"), y, {}));
    KERF_TRY(y, callOn(run, "aten.gelu.default", {y}));
    KERF_TRY(y, convolutionLayer(run, childPath(path, "p2"), y, {}));
    if (const Value scale = run.parameterIf(childPath(path, "g")); !scale.isNone()) {
      KERF_TRY(const Value wide, overImage(run, scale));
      KERF_TRY(y, callOn(run, "aten.mul.Tensor", {y, wide}));
    }
    return callOn(run, "aten.add.Tensor", {input, y});
  });
}

std::vector<ConvNextParameter> convNextParameters(const ConvNextConfig& config) {
  ParameterCollector parameters;
  const bool isLayer = config.hasNormLayers;
  parameters.layer("stem", {config.widths[0], config.channels, 4, 4});
  parameters.norm("stem_norm", config.widths[0], isLayer);
  for (std::size_t stage = 0; stage < config.widths.size(); ++stage) {
    const std::int64_t width = config.widths[stage];
    if (stage > 0) {
      parameters.norm(fmt::format("down_norm.{}", stage), config.widths[stage - 1], isLayer);
      parameters.layer(fmt::format("down.{}", stage), {width, config.widths[stage - 1], 2, 2});
    }
    for (std::int64_t block = 0; block < config.depths[stage]; ++block)
      parameters.block(fmt::format("stages.{}.{}", stage, block), width, isLayer);
  }
  parameters.layer("head", {config.classes, config.widths.back()});
  return parameters.all;
}

Result<Value> convNext(const ModuleRun& run, const Value& images, const ConvNextConfig& config) {
  return run.call("", images, [&](const Value& input) -> Result<Value> {
    KERF_TRY(Value x, convolutionLayer(run, "stem", input, {.stride = 4}));
    KERF_TRY(x, channelNorm(run, "stem_norm", x, config.epsilon));
    for (std::size_t stage = 0; stage < config.widths.size(); ++stage) {
      if (stage > 0) {
        KERF_TRY(x, channelNorm(run, fmt::format("down_norm.{}", stage), x, config.epsilon));
        KERF_TRY(x, convolutionLayer(run, fmt::format("down.{}", stage), x, {.stride = 2}));
      }
      for (std::int64_t block = 0; block < config.depths[stage]; ++block) {
        KERF_TRY(x, convNextBlock(run, fmt::format("stages.{}.{}", stage, block), x, config.epsilon));
      }
    }
    KERF_TRY(x, callOn(run, "aten.mean.dim", {x, ints({2, 3})}));
    return linearLayer(run, "head", x);
  });
}

}  // namespace kerf::inline distributed::inline modules
