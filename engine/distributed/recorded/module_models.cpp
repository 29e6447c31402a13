#include "engine/distributed/recorded/module_models.h"

#include <algorithm>

#include "engine/distributed/modules/convnext.h"
#include "engine/distributed/modules/layers.h"
#include "engine/distributed/modules/loss_parallel.h"

namespace kerf::inline distributed::inline recorded {
namespace {

std::int64_t integerAt(const Json& line, std::size_t i, std::int64_t fallback) {
  const Json& args = line.contains("module_args") ? line["module_args"] : Json::array();
  return i < args.size() && args[i].is_number_integer() ? args[i].get<std::int64_t>() : fallback;
}

bool flagAt(const Json& line, std::size_t i, bool fallback) {
  const Json args = line.value("module_args", Json::array());
  return i < args.size() && args[i].is_boolean() ? args[i].get<bool>() : fallback;
}

Result<Value> runPerceptron(const Json&, const ModuleRun& run, const Value& x) { return perceptron(run, "", x); }
Result<Value> runAttention(const Json& line, const ModuleRun& run, const Value& x) {
  return attentionLayer(
      run, "", x, {.heads = integerAt(line, 1, 4), .dim = integerAt(line, 0, 16), .isCausal = flagAt(line, 3, true)});
}
Result<Value> runWrittenAttention(const Json& line, const ModuleRun& run, const Value& x) {
  return attentionLayer(run, "", x,
                        {.heads = integerAt(line, 1, 4), .dim = integerAt(line, 0, 16), .isWrittenOut = true});
}
Result<Value> runLanguageModel(const Json& line, const ModuleRun& run, const Value& x) {
  return languageModel(run, x, {.dim = integerAt(line, 1, 16), .layers = integerAt(line, 2, 1)});
}
Result<Value> runEmbedding(const Json&, const ModuleRun& run, const Value& x) { return embeddingLayer(run, "", x); }
Result<Value> runLinear(const Json&, const ModuleRun& run, const Value& x) { return linearLayer(run, "", x); }

/// Windows with an odd size keep the size of the image, others lie side by side.
Result<Value> runConvolution(const Json&, const ModuleRun& run, const Value& x) {
  KERF_TRY(const Tensor weight, run.parameter("weight"));
  const std::int64_t kernel = weight.size(2);
  const bool isOdd = kernel % 2 == 1;
  return convolutionLayer(
      run, "", x,
      {.stride = isOdd ? 1 : kernel, .padding = isOdd ? kernel / 2 : 0, .groups = x.tensor().size(1) / weight.size(1)});
}

Result<Value> runConvNext(const Json& line, const ModuleRun& run, const Value& images) {
  constexpr double epsilon = 1e-6;
  KERF_TRY(Value x, convolutionLayer(run, "stem", images, {.stride = 4}));
  KERF_TRY(x, channelNorm(run, "n0", x, epsilon));
  KERF_TRY(x, convNextBlock(run, "b0", x, epsilon));
  KERF_TRY(x, channelNorm(run, "n1", x, epsilon));
  KERF_TRY(x, convolutionLayer(run, "down", x, {.stride = 2}));
  KERF_TRY(x, convNextBlock(run, "b1", x, epsilon));
  if (!line.value("head", true)) return x;
  KERF_TRY(x, callOn(run, "aten.mean.dim", {x, intList({2, 3})}));
  return linearLayer(run, "head", x);
}

struct RecordedModel {
  std::string_view name;
  Result<Value> (*run)(const Json&, const ModuleRun&, const Value&);
  std::vector<std::string_view> embeddings = {};
};

const std::vector<RecordedModel>& models() {
  static const std::vector<RecordedModel> all{
      {"MLP", runPerceptron},
      {"Attn", runAttention},
      {"MathAttn", runWrittenAttention},
      {"LM", runLanguageModel, {"emb"}},
      {"Embedding", runEmbedding, {""}},
      {"Linear", runLinear},
      {"Conv2d", runConvolution},
      {"ConvNeXt", runConvNext},
  };
  return all;
}

/// A vocabulary without a module's name is an embedding of that size.
const RecordedModel* modelOf(const Json& line) {
  const std::string name = line.contains("vocabulary") ? "Embedding" : line.value("module", std::string());
  const auto found = std::ranges::find(models(), name, &RecordedModel::name);
  return found == models().end() ? nullptr : &*found;
}

/// The first two dimensions as one.
Result<Value> flattened(const ModuleRun& run, const Value& value) {
  Sizes sizes = value.tensor().sizes();
  sizes[1] *= sizes[0];
  sizes.erase(sizes.begin());
  return callOn(run, "aten.view.default", {value, intList(sizes)});
}

}  // namespace

Result<Value> runModule(const Json& line, const ModuleRun& run, const Value& input) {
  const RecordedModel* model = modelOf(line);
  if (model == nullptr)
    return fail(ErrorCode::NotFound, "the module {} is not known", line.value("module", std::string("without a name")));
  return model->run(line, run, input);
}

std::set<std::string> embeddingsOf(const Json& line) {
  std::set<std::string> paths;
  if (const RecordedModel* model = modelOf(line)) paths.insert(model->embeddings.begin(), model->embeddings.end());
  return paths;
}

Result<Value> moduleLoss(const Json& line, const ModuleRun& run, const Value& output, const Tensor* target) {
  if (target == nullptr) {
    KERF_TRY(const Value squares, callOn(run, "aten.mul.Tensor", {output, output}));
    return callOn(run, "aten.mean.default", {squares});
  }
  KERF_TRY(const Value logits, flattened(run, output));
  KERF_TRY(const Tensor targets, callTensorOp("aten.reshape.default", {*target, intList({-1})}));
  const bool isDistributed = run.ops().specOf(logits.tensor()) != nullptr;
  if (line.value("loss_parallel", false) && isDistributed) {
    KERF_TRY(Tensor loss, lossParallelCrossEntropy(run.ops(), logits.tensor(), targets, {}));
    return Value(std::move(loss));
  }
  Value classes = targets;
  if (isDistributed) {
    KERF_TRY(classes, run.ops().distribute(targets, Placements(run.ops().mesh().dims())));
  }
  return callOn(run, "torch.nn.functional.cross_entropy", {logits, classes});
}

}  // namespace kerf::inline distributed::inline recorded
