#include "engine/distributed/modules/layers.h"

#include <cmath>

namespace kerf::inline distributed::inline modules {
namespace {

Value ints(const Sizes& sizes) { return intList(sizes); }

/// [batch, sequence, heads · d] as [batch, heads, sequence, d]. Of parts there may be fewer heads.
Result<Value> headsApart(const ModuleRun& run, const Value& input, std::int64_t headDim) {
  const Tensor& tensor = input.tensor();
  const Sizes sizes{tensor.size(0), tensor.size(1), tensor.size(2) / headDim, headDim};
  KERF_TRY(const Value view, callOn(run, "aten.view.default", {input, ints(sizes)}));
  return callOn(run, "aten.transpose.int", {view, std::int64_t{1}, std::int64_t{2}});
}

Result<Value> attended(const ModuleRun& run, const AttentionLayer& how, const ValueList& heads) {
  if (!how.isWrittenOut)
    return callOn(run, "torch.nn.functional.scaled_dot_product_attention", heads, {{"is_causal", how.isCausal}});
  const double scale = std::sqrt(double(how.dim / how.heads));
  KERF_TRY(const Value keys, callOn(run, "aten.transpose.int", {heads[1], std::int64_t{-2}, std::int64_t{-1}}));
  KERF_TRY(const Value product, callOn(run, "aten.matmul.default", {heads[0], keys}));
  KERF_TRY(const Value scores, callOn(run, "aten.div.Tensor", {product, scale}));
  KERF_TRY(const Value weights, callOn(run, "aten.softmax.int", {scores, std::int64_t{-1}}));
  return callOn(run, "aten.matmul.default", {weights, heads[2]});
}

Result<Value> feedForward(const ModuleRun& run, const std::string& path, const Value& input) {
  return run.call(path, input, [&](const Value& x) -> Result<Value> {
    KERF_TRY(const Value wide, linearLayer(run, childPath(path, "w1"), x));
    KERF_TRY(const Value active, callOn(run, "aten.silu.default", {wide}));
    return linearLayer(run, childPath(path, "w2"), active);
  });
}

Result<Value> transformerLayer(const ModuleRun& run, const std::string& path, const Value& input,
                               const LanguageModel& how) {
  KERF_TRY(const Value before, layerNormLayer(run, childPath(path, "norm1"), input));
  KERF_TRY(const Value attention, attentionLayer(run, childPath(path, "attn"), before,
                                                 {.heads = how.heads, .dim = how.dim, .isCausal = true}));
  KERF_TRY(const Value middle, callOn(run, "aten.add.Tensor", {input, attention}));
  KERF_TRY(const Value norm, layerNormLayer(run, childPath(path, "norm2"), middle));
  KERF_TRY(const Value forward, feedForward(run, childPath(path, "ff"), norm));
  return callOn(run, "aten.add.Tensor", {middle, forward});
}

}  // namespace

Result<Value> callOn(const ModuleRun& run, const OpTarget& op, const ValueList& args, const KeywordValues& kwargs) {
  return run.ops().call(op, args, kwargs);
}

Result<Value> linearLayer(const ModuleRun& run, const std::string& path, const Value& input) {
  return run.call(path, input, [&](const Value& x) -> Result<Value> {
    KERF_TRY(const Tensor weight, run.parameter(childPath(path, "weight")));
    return callOn(run, "aten.linear.default", {x, weight, run.parameterIf(childPath(path, "bias"))});
  });
}

Result<Value> embeddingLayer(const ModuleRun& run, const std::string& path, const Value& input) {
  return run.call(path, input, [&](const Value& x) -> Result<Value> {
    KERF_TRY(const Tensor weight, run.parameter(childPath(path, "weight")));
    return callOn(run, "aten.embedding.default", {weight, x});
  });
}

Result<Value> layerNormLayer(const ModuleRun& run, const std::string& path, const Value& input, double epsilon) {
  return run.call(path, input, [&](const Value& x) -> Result<Value> {
    KERF_TRY(const Tensor weight, run.parameter(childPath(path, "weight")));
    return callOn(run, "aten.layer_norm.default",
                  {x, ints({weight.size(0)}), weight, run.parameterIf(childPath(path, "bias")), epsilon});
  });
}

Result<Value> convolutionLayer(const ModuleRun& run, const std::string& path, const Value& input,
                               const ConvolutionLayer& how) {
  return run.call(path, input, [&](const Value& x) -> Result<Value> {
    KERF_TRY(const Tensor weight, run.parameter(childPath(path, "weight")));
    return callOn(run, "aten.convolution.default",
                  {x, weight, run.parameterIf(childPath(path, "bias")), ints({how.stride, how.stride}),
                   ints({how.padding, how.padding}), ints({1, 1}), false, ints({0, 0}), how.groups});
  });
}

Result<Value> perceptron(const ModuleRun& run, const std::string& path, const Value& input) {
  return run.call(path, input, [&](const Value& x) -> Result<Value> {
    KERF_TRY(const Value wide, linearLayer(run, childPath(path, "fc1"), x));
    KERF_TRY(const Value active, callOn(run, "aten.gelu.default", {wide}));
    return linearLayer(run, childPath(path, "fc2"), active);
  });
}

Result<Value> attentionLayer(const ModuleRun& run, const std::string& path, const Value& input,
                             const AttentionLayer& how) {
  return run.call(path, input, [&](const Value& x) -> Result<Value> {
    const std::int64_t headDim = how.dim / how.heads;
    ValueList heads;
    for (const char* name : {"wq", "wk", "wv"}) {
      KERF_TRY(const Value projected, linearLayer(run, childPath(path, name), x));
      KERF_TRY(Value apart, headsApart(run, projected, headDim));
      heads.push_back(std::move(apart));
    }
    KERF_TRY(const Value mixed, attended(run, how, heads));
    KERF_TRY(const Value back, callOn(run, "aten.transpose.int", {mixed, std::int64_t{1}, std::int64_t{2}}));
    const Tensor& tensor = back.tensor();
    KERF_TRY(const Value joined, callOn(run, "aten.reshape.default",
                                        {back, ints({tensor.size(0), tensor.size(1), tensor.size(2) * headDim})}));
    return linearLayer(run, childPath(path, "wo"), joined);
  });
}

Result<Value> languageModel(const ModuleRun& run, const Value& tokens, const LanguageModel& how) {
  return run.call("", tokens, [&](const Value& input) -> Result<Value> {
    KERF_TRY(Value x, embeddingLayer(run, "emb", input));
    for (std::int64_t i = 0; i < how.layers; ++i) {
      KERF_TRY(x, transformerLayer(run, fmt::format("layers.{}", i), x, how));
    }
    KERF_TRY(x, layerNormLayer(run, "norm", x));
    return linearLayer(run, "out", x);
  });
}

}  // namespace kerf::inline distributed::inline modules
