// Layers and models of recorded programs, on ordinary tensors or distributed ones.
#pragma once

#include "engine/distributed/modules/module_run.h"

namespace kerf::inline distributed::inline modules {

Result<Value> callOn(const ModuleRun& run, const OpTarget& op, const ValueList& args, const KeywordValues& kwargs = {});

Result<Value> linearLayer(const ModuleRun& run, const std::string& path, const Value& input);
Result<Value> embeddingLayer(const ModuleRun& run, const std::string& path, const Value& input);
Result<Value> layerNormLayer(const ModuleRun& run, const std::string& path, const Value& input, double epsilon = 1e-5);

struct ConvolutionLayer {
  std::int64_t stride = 1, padding = 0, groups = 1;
};
Result<Value> convolutionLayer(const ModuleRun& run, const std::string& path, const Value& input,
                               const ConvolutionLayer& how);

/// fc2(gelu(fc1(x))).
Result<Value> perceptron(const ModuleRun& run, const std::string& path, const Value& input);

struct AttentionLayer {
  std::int64_t heads = 4, dim = 16;
  bool isCausal = true;
  bool isWrittenOut = false;  ///< softmax(q kᵀ / √d) v in place of scaled_dot_product_attention
};
/// wq, wk, wv, heads apart, attention, wo.
Result<Value> attentionLayer(const ModuleRun& run, const std::string& path, const Value& input,
                             const AttentionLayer& how);

struct LanguageModel {
  std::int64_t dim = 16, layers = 1, heads = 4;
};
/// emb, layers of attention and silu feed-forward with norms before them, norm, out.
Result<Value> languageModel(const ModuleRun& run, const Value& tokens, const LanguageModel& how);

}  // namespace kerf::inline distributed::inline modules
