// torch.nn.functional's layers that are small programs: normalisations, dropouts, embeddings, activations.
#include <algorithm>
#include <array>
#include <cmath>

#include "engine/ops/core/op_call.h"
#include "engine/ops/python/python_level.h"

namespace kerf::inline ops {
namespace {

/// What `inplace=True` means where ATen has no such form: the result is written into the input.
Result<Value> maybeInto(const PythonCall& call, Result<Value> result) {
  if (!result || !call.truth(SIZE_MAX, "inplace", false)) return result;
  return call.aten("copy_.default", {call.get(0, "input"), *result});
}

/// dropout1d, dropout2d, dropout3d: whole channels. One dimension without a batch gets one.
Result<Value> featureDropout(const PythonCall& call) {
  KERF_TRY(const Tensor input, call.tensor(0, "input"));
  const Value p(call.number(1, "p", 0.5)), train(call.flag(2, "training", true)), first(std::int64_t{0});
  const bool alone = call.name == "dropout1d" && input.dim() == 2;
  Value batch{input};
  if (alone) {
    KERF_TRY(batch, call.aten("unsqueeze.default", {batch, first}));
  }
  KERF_TRY(Value result, call.aten("feature_dropout.default", {batch, p, train}));
  if (alone) {
    KERF_TRY(result, call.aten("squeeze.dim", {result, first}));
  }
  return maybeInto(call, std::move(result));
}

/// alpha_dropout and feature_alpha_dropout
Result<Value> alphaDropout(const PythonCall& call) {
  return maybeInto(
      call, call.aten(fmt::format("{}.default", call.name),
                      {call.get(0, "input"), Value(call.number(1, "p", 0.5)), Value(call.flag(2, "training", false))}));
}

/// One entry of each channel for every example.
Result<Value> forEach(const PythonCall& call, std::string_view key, SymInt batch) {
  const Value given = call.get(SIZE_MAX, key);
  if (given.isNone()) return given;
  return call.aten("repeat.default", {given, intList({batch})});
}

/// Statistics over examples and channels as one; the running ones are the mean over the examples.
Result<Value> instanceNormRunning(const PythonCall& call, const Tensor& input) {
  const SymInt batch = input.symSize(0), channels = input.symSize(1);
  SymSizes joined = input.symSizes();
  joined[0] = 1;
  joined[1] = batch * channels;
  KERF_TRY(const Value viewed, call.aten("reshape.default", {Value(input), intList(joined)}));
  KERF_TRY(const Value mean, forEach(call, "running_mean", batch));
  KERF_TRY(const Value variance, forEach(call, "running_var", batch));
  KERF_TRY(const Value weight, forEach(call, "weight", batch));
  KERF_TRY(const Value bias, forEach(call, "bias", batch));
  KERF_TRY(const Value out, callPythonLevel("torch.nn.functional.batch_norm",
                                            {viewed, mean, variance, weight, bias, call.get(5, "use_input_stats"),
                                             call.get(6, "momentum"), call.get(7, "eps")},
                                            {}, call.ops));
  for (const auto& [key, own] :
       {std::pair<std::string_view, const Value&>{"running_mean", mean}, {"running_var", variance}}) {
    KERF_TRY(const Value rows, call.aten("view.default", {own, intList({batch, channels})}));
    KERF_TRY(const Value average, call.aten("mean.dim", {rows, intList({0})}));
    KERF_CHECK(call.aten("copy_.default", {call.get(SIZE_MAX, key), average}));
  }
  return call.aten("view.default", {out, intList(input.symSizes())});
}

Result<Value> instanceNorm(const PythonCall& call) {
  KERF_TRY(const Tensor input, call.tensor(0, "input"));
  KERF_CHECK(call.checkTensors({"running_mean", "running_var", "weight", "bias"}));
  if (input.dim() < 2) return fail(ErrorCode::ShapeMismatch, "instance_norm: expects two or more dimensions");
  if (call.get(1, "running_mean").isTensor() && call.get(2, "running_var").isTensor())
    return instanceNormRunning(call, input);
  return call.aten("instance_norm.default",
                   {Value(input), call.get(3, "weight"), call.get(4, "bias"), call.get(1, "running_mean"),
                    call.get(2, "running_var"), call.get(5, "use_input_stats"), Value(call.number(6, "momentum", 0.1)),
                    Value(call.number(7, "eps", 1e-5)), Value(true)});
}

/// input / max(norm, eps)
Result<Value> normalize(const PythonCall& call) {
  if (!call.get(SIZE_MAX, "out").isNone()) return fail(ErrorCode::UnsupportedOp, "normalize: out is not supported");
  KERF_TRY(const Tensor input, call.tensor(0, "input"));
  KERF_TRY(const Value norm, callPythonLevel("method.norm", {Value(input), call.get(1, "p"), call.get(2, "dim")},
                                             {{"keepdim", Value(true)}}, call.ops));
  KERF_TRY(const Value bounded, call.aten("clamp_min.default", {norm, call.get(3, "eps")}));
  KERF_TRY(const Value wide, call.aten("expand.default", {bounded, intList(input.symSizes())}));
  return call.aten("div.Tensor", {Value(input), wide});
}

/// The mean of squares over neighbouring channels.
Result<Value> channelMeans(const PythonCall& call, const Tensor& input, const Value& squares) {
  const std::int64_t size = call.integer(1, "size", 1);
  const std::int64_t before = size / 2, after = (size - 1) / 2;
  const Value one(std::int64_t{1});
  if (input.dim() == 3) {
    KERF_TRY(const Value wide, call.aten("unsqueeze.default", {squares, one}));
    KERF_TRY(const Value padded, call.aten("constant_pad_nd.default", {wide, intList({0, 0, before, after})}));
    KERF_TRY(const Value mean, call.aten("avg_pool2d.default", {padded, intList({size, 1}), intList({1})}));
    return call.aten("squeeze.dim", {mean, one});
  }
  SymInt rest = 1;
  for (std::int64_t i = 3; i < input.dim(); ++i) rest *= input.symSize(i);
  const SymSizes apart{input.symSize(0), 1, input.symSize(1), input.symSize(2), rest};
  KERF_TRY(const Value viewed, call.aten("view.default", {squares, intList(apart)}));
  KERF_TRY(const Value padded, call.aten("constant_pad_nd.default", {viewed, intList({0, 0, 0, 0, before, after})}));
  KERF_TRY(const Value mean, call.aten("avg_pool3d.default", {padded, intList({size, 1, 1}), intList({1})}));
  KERF_TRY(const Value narrow, call.aten("squeeze.dim", {mean, one}));
  return call.aten("view.default", {narrow, intList(input.symSizes())});
}

Result<Value> localResponseNorm(const PythonCall& call) {
  KERF_TRY(const Tensor input, call.tensor(0, "input"));
  if (input.dim() < 3) return fail(ErrorCode::ShapeMismatch, "local_response_norm: expects 3 or more dimensions");
  KERF_TRY(const Value squares, call.aten("mul.Tensor", {Value(input), Value(input)}));
  KERF_TRY(const Value means, channelMeans(call, input, squares));
  KERF_TRY(const Value scaled, call.aten("mul.Tensor", {means, call.get(2, "alpha")}));
  KERF_TRY(const Value moved, call.aten("add.Tensor", {scaled, call.get(4, "k")}));
  KERF_TRY(const Value powers, call.aten("pow.Tensor_Scalar", {moved, call.get(3, "beta")}));
  return call.aten("div.Tensor", {Value(input), powers});
}

/// max_norm rewrites the rows that are looked up.
Result<void> renorm(const PythonCall& call, const Value& weight, const Value& indices) {
  const Value norm = call.get(3, "max_norm");
  if (norm.isNone()) return {};
  KERF_TRY(const Value plain, call.aten("detach.default", {weight}));
  KERF_CHECK(call.aten("embedding_renorm_.default",
                       {plain, indices, Value(call.number(3, "max_norm", 0)), Value(call.number(4, "norm_type", 2))}));
  return {};
}

/// The table of an embedding.
Result<Tensor> rowsOf(const PythonCall& call) {
  KERF_TRY(Tensor weight, call.tensor(1, "weight"));
  if (weight.dim() == 2) return weight;
  return fail(ErrorCode::ShapeMismatch, "{}: argument 'weight' must have 2 dimensions, has {}", call.name,
              weight.dim());
}

/// embedding(input, weight, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse)
Result<Value> embedding(const PythonCall& call) {
  KERF_TRY(const Tensor weight, rowsOf(call));
  const Value input = call.get(0, "input");
  Value padding = call.get(2, "padding_idx");
  if (const auto index = padding.asSymInt(); index && *index < 0) padding = Value(*index + weight.symSize(0));
  if (padding.isNone()) padding = Value(std::int64_t{-1});
  KERF_CHECK(renorm(call, Value(weight), input));
  return callNamed(*findOp("aten.embedding.default"),
                   {{"weight", Value(weight)},
                    {"indices", input},
                    {"padding_idx", padding},
                    {"scale_grad_by_freq", call.get(5, "scale_grad_by_freq")},
                    {"sparse", call.get(6, "sparse")}},
                   call.ops);
}

/// The rows of a matrix are bags of one length: as one list, and where each begins.
struct Bags {
  Value indices, offsets, weights;
};
Result<Bags> bagsOf(const PythonCall& call) {
  KERF_TRY(const Tensor input, call.tensor(0, "input"));
  Bags bags{Value(input), call.get(2, "offsets"), call.get(8, "per_sample_weights")};
  if (input.dim() == 1) {
    if (!bags.offsets.isTensor()) return fail(ErrorCode::BadInput, "embedding_bag: offsets must be a tensor");
    return bags;
  }
  if (input.dim() != 2 || !bags.offsets.isNone())
    return fail(ErrorCode::BadInput, "embedding_bag: the input must have 2 dimensions, or 1 and offsets");
  const KeywordValues like{{"dtype", Value(input.dtype())}, {"device", Value(input.device())}};
  const Value flat = intList({-1});
  KERF_TRY(bags.offsets, call.aten("arange.start_step",
                                   {Value(std::int64_t{0}), Value(input.symNumel()), Value(input.symSize(1))}, like));
  KERF_TRY(bags.indices, call.aten("reshape.default", {Value(input), flat}));
  if (bags.weights.isTensor()) {
    KERF_TRY(bags.weights, call.aten("reshape.default", {bags.weights, flat}));
  }
  return bags;
}

Result<Value> embeddingBag(const PythonCall& call) {
  static constexpr std::array<std::string_view, 3> modes = {"sum", "mean", "max"};
  const Value named = call.get(6, "mode");
  const auto* mode = std::ranges::find(modes, named.as<std::string>() ? *named.as<std::string>() : std::string());
  if (mode == modes.end()) return fail(ErrorCode::BadInput, "embedding_bag: mode must be sum, mean or max");
  KERF_TRY(const Bags bags, bagsOf(call));
  if (*mode == "max" && (call.truth(7, "sparse", false) || call.truth(5, "scale_grad_by_freq", false)))
    return fail(ErrorCode::BadInput, "embedding_bag: mode max takes neither sparse nor scale_grad_by_freq");
  if (!bags.weights.isNone() && *mode != "sum")
    return fail(ErrorCode::BadInput, "embedding_bag: per_sample_weights are for mode sum, not {}", *mode);
  KERF_TRY(const Tensor weight, rowsOf(call));
  KERF_CHECK(renorm(call, Value(weight), bags.indices));
  Value padding = call.get(10, "padding_idx");
  if (const auto index = padding.asSymInt(); index && *index < 0) padding = Value(*index + weight.symSize(0));
  if (padding.isNone()) padding = Value(std::int64_t{-1});
  KERF_TRY(const Value all, callNamed(*findOp("aten._embedding_bag.default"),
                                      {{"weight", Value(weight)},
                                       {"indices", bags.indices},
                                       {"offsets", bags.offsets},
                                       {"scale_grad_by_freq", call.get(5, "scale_grad_by_freq")},
                                       {"mode", Value(std::int64_t(mode - modes.begin()))},
                                       {"sparse", call.get(7, "sparse")},
                                       {"per_sample_weights", bags.weights},
                                       {"include_last_offset", call.get(9, "include_last_offset")},
                                       {"padding_idx", padding}},
                                      call.ops));
  return all.list()[0];
}

Result<Value> softsign(const PythonCall& call) {
  const Value input = call.get(0, "input");
  KERF_TRY(const Value size, call.aten("abs.default", {input}));
  KERF_TRY(const Value more, call.aten("add.Tensor", {size, Value(std::int64_t{1})}));
  return call.aten("div.Tensor", {input, more});
}

Result<Value> tanhshrink(const PythonCall& call) {
  KERF_TRY(const Value tanh, call.aten("tanh.default", {call.get(0, "input")}));
  return call.aten("sub.Tensor", {call.get(0, "input"), tanh});
}

Result<Value> softmin(const PythonCall& call) {
  KERF_TRY(const Value negative, call.aten("neg.default", {call.get(0, "input")}));
  return callPythonLevel("torch.nn.functional.softmax", {negative},
                         {{"dim", call.get(1, "dim")}, {"dtype", call.get(3, "dtype")}}, call.ops);
}

Result<Value> rrelu(const PythonCall& call) {
  return maybeInto(call, call.aten("rrelu.default",
                                   {call.get(0, "input"), Value(call.number(1, "lower", 0.125)),
                                    Value(call.number(2, "upper", 1.0 / 3)), Value(call.flag(3, "training", false))}));
}

/// Gumbel noise on the logits, then softmax; `hard` gives one-hot values with the softmax's gradient.
Result<Value> gumbelSoftmax(const PythonCall& call) {
  KERF_TRY(const Tensor logits, call.tensor(0, "logits"));
  const Value dim = call.get(4, "dim");
  KERF_TRY(const Value blank,
           call.aten("empty_like.default", {Value(logits)}, {{"memory_format", Value(MemoryFormat::Contiguous)}}));
  KERF_TRY(const Value drawn, call.aten("exponential_.default", {blank}));
  KERF_TRY(const Value log, call.aten("log.default", {drawn}));
  KERF_TRY(const Value noise, call.aten("neg.default", {log}));
  KERF_TRY(const Value noisy, call.aten("add.Tensor", {Value(logits), noise}));
  KERF_TRY(const Value warm, call.aten("div.Tensor", {noisy, call.get(1, "tau")}));
  KERF_TRY(const Value soft, call.aten("_softmax.default", {warm, dim, Value(false)}));
  if (!call.truth(2, "hard", false)) return soft;
  KERF_TRY(const Value best, call.aten("max.dim", {soft, dim, Value(true)}));
  KERF_TRY(const Value zeros,
           call.aten("zeros_like.default", {Value(logits)}, {{"memory_format", Value(MemoryFormat::Contiguous)}}));
  KERF_TRY(const Value hot, call.aten("scatter.value", {zeros, dim, best.list()[1], Value(1.0)}));
  KERF_TRY(const Value plain, call.aten("detach.default", {soft}));
  KERF_TRY(const Value less, call.aten("sub.Tensor", {hot, plain}));
  return call.aten("add.Tensor", {less, soft});
}

/// hardtanh(input, min_val, max_val, inplace)
Result<Value> hardtanh(const PythonCall& call) {
  if (call.number(1, "min_val", -1) > call.number(2, "max_val", 1))
    return fail(ErrorCode::BadInput, "{}: min_val is greater than max_val", call.name);
  return callSameNamed(call, "hardtanh");
}

constexpr PythonRow rows[] = {
    {"torch.nn.functional.dropout1d", featureDropout},
    {"torch.nn.functional.dropout2d", featureDropout},
    {"torch.nn.functional.dropout3d", featureDropout},
    {"torch.nn.functional.alpha_dropout", alphaDropout},
    {"torch.nn.functional.feature_alpha_dropout", alphaDropout},
    {"torch.nn.functional.instance_norm", instanceNorm},
    {"torch.nn.functional.normalize", normalize},
    {"torch.nn.functional.local_response_norm", localResponseNorm},
    {"torch.nn.functional.embedding", embedding},
    {"torch.nn.functional.embedding_bag", embeddingBag},
    {"torch.nn.functional.softsign", softsign},
    {"torch.nn.functional.tanhshrink", tanhshrink},
    {"torch.nn.functional.softmin", softmin},
    {"torch.nn.functional.rrelu", rrelu},
    {"torch.nn.functional.gumbel_softmax", gumbelSoftmax},
    {"torch.nn.functional.hardtanh", hardtanh},
};

}  // namespace

PythonRows functionalLayerRows() { return rows; }

}  // namespace kerf::inline ops
