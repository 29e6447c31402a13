// torch.nn.functional where its arguments are not those of the ATen op: each function as PyTorch's Python defines it.
#include <cmath>

#include "engine/ops/core/op_call.h"
#include "engine/ops/python/call_values.h"
#include "engine/ops/python/multi_head_attention.h"
#include "engine/ops/python/python_level.h"
#include "engine/symbolic/sym_int.h"

namespace kerf::inline ops {
namespace {

Value repeated(const Value& value, std::size_t count) {
  return value.isList() || value.isNone() ? value : Value(ValueList(count, withNumbers(value)));
}

/// dropout(input, p, training, inplace)
Result<Value> dropout(const PythonCall& call) {
  KERF_TRY(const Tensor input, call.tensor(0, "input"));
  const bool method = call.name == "dropout" && call.find(2, "train") != nullptr && call.find(2, "training") == nullptr;
  const bool training = call.flag(2, method ? "train" : "training", true);
  const double p = call.number(1, "p", 0.5);
  if (!training || p == 0) return Value(input);
  KERF_TRY(Tensor result, call.atenTensor("native_dropout.default", {Value(input), Value(p), Value(true)}));
  if (call.truth(SIZE_MAX, "inplace", false)) return call.aten("copy_.default", {Value(input), Value(result)});
  return Value(std::move(result));
}

/// A variance without a mean is not written, but must fit.
Result<void> checkAlone(const PythonCall& call, const Value& variance) {
  KERF_TRY(const Tensor input, call.tensor(0, "input"));
  if (!variance.isTensor() || input.dim() < 2 || variance.tensor().symNumel().isIdentical(input.symSize(1)) ||
      guardOrFalse(variance.tensor().symNumel() == input.symSize(1)))
    return {};
  return fail(ErrorCode::ShapeMismatch, "{}: running_var has {} elements, expected {}", call.name,
              variance.tensor().symNumel(), input.symSize(1));
}

/// batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps), in the order of either module
Result<Value> batchNorm(const PythonCall& call) {
  const Value mean = call.get(1, "running_mean"), variance = call.get(2, "running_var");
  const Value weight = call.get(3, "weight"), bias = call.get(4, "bias");
  KERF_CHECK(call.checkTensors({"running_mean", "running_var", "weight", "bias"}));
  const bool training = call.flag(5, "training", false);
  const Value momentum(call.number(6, "momentum", 0.1)), eps(call.number(7, "eps", 1e-5));
  const Value input = call.get(0, "input");
  if (training && mean.isNone()) {
    KERF_CHECK(checkAlone(call, variance));
    KERF_TRY(Tensor result,
             call.atenTensor("_native_batch_norm_legit.no_stats", {input, weight, bias, Value(true), momentum, eps}));
    return Value(std::move(result));
  }
  KERF_TRY(Tensor result, training ? call.atenTensor("_native_batch_norm_legit.default",
                                                     {input, weight, bias, mean, variance, Value(true), momentum, eps})
                                   : call.atenTensor("_native_batch_norm_legit_no_training.default",
                                                     {input, weight, bias, mean, variance, momentum, eps}));
  return Value(std::move(result));
}

Result<Value> layerNorm(const PythonCall& call) {
  if (!call.get(1, "normalized_shape").isList() || call.get(4, "eps", Value(1e-5)).isNone())
    return fail(ErrorCode::BadInput, "{}: normalized_shape must be a list of ints, eps a number", call.name);
  KERF_TRY(Tensor result,
           call.atenTensor("native_layer_norm.default",
                           {call.get(0, "input"), repeated(call.get(1, "normalized_shape"), 1), call.get(2, "weight"),
                            call.get(3, "bias"), Value(call.number(4, "eps", 1e-5))}));
  return Value(std::move(result));
}

Result<Value> groupNorm(const PythonCall& call) {
  KERF_TRY(const Tensor input, call.tensor(0, "input"));
  if (input.dim() < 2) return fail(ErrorCode::ShapeMismatch, "group_norm: the input must have a channel dimension");
  SymInt spatial = 1;
  for (std::int64_t i = 2; i < input.dim(); ++i) spatial *= input.symSize(i);
  KERF_TRY(Tensor result, call.atenTensor("native_group_norm.default",
                                          {Value(input), call.get(2, "weight"), call.get(3, "bias"),
                                           Value(input.symSize(0)), Value(input.symSize(1)), Value(spatial),
                                           call.get(1, "num_groups"), Value(call.number(4, "eps", 1e-5))}));
  return Value(std::move(result));
}

/// padding="same": what the kernel takes is put back, one more at the end where it is odd.
struct SamePadding {
  ValueList both, rest;  ///< of the convolution; and in front of it, last dimension first
  bool isEven = true;
};
Result<SamePadding> samePadding(const PythonCall& call, const Tensor& weight, const Value& dilation) {
  SamePadding padding;
  const std::size_t spatial = dilation.list().size();
  for (std::size_t i = 0; i < spatial; ++i) {
    const auto step = dilation.list()[i].asSymInt();
    if (!step) return fail(ErrorCode::BadInput, "{}: argument 'dilation' must be ints", call.name);
    const SymInt total = *step * (weight.symSize(std::int64_t(i) + 2) - 1);
    const SymInt half = floorDiv(total, 2), odd = total - half * 2;
    padding.both.emplace_back(half);
    padding.rest.insert(padding.rest.begin(), {Value(std::int64_t{0}), Value(odd)});
    padding.isEven = padding.isEven && odd == 0;
  }
  const Value stride = call.get(3, "stride");
  const ValueList steps = stride.isList() ? stride.list() : ValueList{stride};
  for (const Value& step : steps)
    if (step.asSymInt() != SymInt(1))
      return fail(ErrorCode::BadInput, "{}: padding 'same' needs strides of 1", call.name);
  return padding;
}

/// The padding as numbers, and the input that has got what they cannot say.
Result<Value> numericPadding(const PythonCall& call, const Value& dilation, Value& input) {
  const Value given = call.get(4, "padding");
  const std::string* name = given.as<std::string>();
  const std::size_t spatial = dilation.list().size();
  if (name == nullptr) return repeated(given, spatial);
  if (*name == "valid") return Value(ValueList(spatial, Value(std::int64_t{0})));
  if (*name != "same") return fail(ErrorCode::BadInput, "{}: padding must be 'valid' or 'same'", call.name);
  KERF_TRY(const Tensor weight, call.tensor(1, "weight"));
  if (weight.dim() != std::int64_t(spatial) + 2)
    return fail(ErrorCode::ShapeMismatch, "{}: argument 'weight' must have {} dimensions, has {}", call.name,
                spatial + 2, weight.dim());
  KERF_TRY(const SamePadding padding, samePadding(call, weight, dilation));
  if (!padding.isEven) {
    KERF_TRY(input, call.aten("constant_pad_nd.default", {input, Value(padding.rest)}));
  }
  return Value(padding.both);
}

/// conv1d, conv2d, conv3d(input, weight, bias, stride, padding, dilation, groups). An input without a batch gets one.
Result<Value> convolution(const PythonCall& call) {
  const auto spatial = std::size_t(call.name[4] - '0');
  KERF_TRY(const Tensor given, call.tensor(0, "input"));
  const bool alone = given.dim() == std::int64_t(spatial) + 1;
  const Value first(std::int64_t{0});
  Value input{given};
  if (alone) {
    KERF_TRY(input, call.aten("unsqueeze.default", {input, first}));
  }
  const auto wide = [&](const Value& value) {
    return value.isList() && value.list().size() == 1 ? Value(ValueList(spatial, value.list()[0]))
                                                      : repeated(value, spatial);
  };
  const Value stride = wide(call.get(3, "stride")), dilation = wide(call.get(5, "dilation"));
  KERF_TRY(const Value padding, numericPadding(call, dilation, input));
  KERF_TRY(const Value result,
           call.aten("convolution.default",
                     {input, call.get(1, "weight"), call.get(2, "bias"), stride, wide(padding), dilation, Value(false),
                      Value(ValueList(spatial, Value(std::int64_t{0}))), call.get(6, "groups")}));
  return alone ? call.aten("squeeze.dim", {result, first}) : Result<Value>(result);
}

Result<Value> adaptiveAveragePool(const PythonCall& call) {
  KERF_TRY(const Tensor input, call.tensor(0, "input"));
  const std::size_t spatial = call.name.find('3') != std::string_view::npos ? 3 : 2;
  Value size = repeated(call.get(1, "output_size"), spatial);
  if (!size.isList() || size.list().size() != spatial || input.dim() < std::int64_t(spatial))
    return fail(ErrorCode::ShapeMismatch, "{}: output_size must have {} numbers", call.name, spatial);
  ValueList sizes;
  for (std::size_t i = 0; i < spatial; ++i) {
    const auto dim = input.dim() - std::int64_t(spatial - i);
    sizes.push_back(size.list()[i].isNone() ? Value(input.symSize(dim)) : size.list()[i]);
  }
  const std::string_view op = spatial == 2 ? "adaptive_avg_pool2d.default" : "adaptive_avg_pool3d.default";
  return call.aten(op, {Value(input), Value(std::move(sizes))});
}

/// Strides that are left out are the kernel's size.
bool isAbsent(const Value& stride) { return stride.isNone() || (stride.isList() && stride.list().empty()); }

Result<Value> maxPool2d(const PythonCall& call) {
  for (const std::string_view key : {"kernel_size", "stride", "padding", "dilation"})
    if (call.get(SIZE_MAX, key).as<bool>() != nullptr)
      return fail(ErrorCode::BadInput, "{}: argument '{}' must be ints", call.name, key);
  const Value kernel = repeated(call.get(1, "kernel_size"), 2);
  const Value stride = call.get(2, "stride");
  KERF_TRY(const Value both, call.aten("max_pool2d_with_indices.default",
                                       {call.get(0, "input"), kernel, isAbsent(stride) ? kernel : repeated(stride, 2),
                                        repeated(call.get(3, "padding", Value(std::int64_t{0})), 2),
                                        repeated(call.get(4, "dilation", Value(std::int64_t{1})), 2),
                                        Value(call.flag(5, "ceil_mode", false))}));
  if (call.name.ends_with("_with_indices") || call.truth(6, "return_indices", false)) return both;
  return both.list()[0];
}

/// softmax and log_softmax(input, dim, _stacklevel, dtype)
Result<Value> softmax(const PythonCall& call) {
  Value input = call.get(0, "input");
  const Value dtype = call.get(SIZE_MAX, "dtype");
  if (dtype.as<DType>()) {
    KERF_TRY(input, call.aten("_to_copy.default", {input}, {{"dtype", dtype}}));
  }
  const std::int64_t rank = input.isTensor() ? input.tensor().dim() : 0;
  const bool first = rank == 0 || rank == 1 || rank == 3;  // where no dimension is given
  const Value dim(call.integer(1, "dim", first ? 0 : 1));
  return call.aten(call.name == "softmax" ? "_softmax.default" : "_log_softmax.default", {input, dim, Value(false)});
}

/// Whether several query heads share one of the key heads.
bool isGrouped(SymInt queries, SymInt keys) { return keys > 0 && queries != keys && floorMod(queries, keys) == 0; }

/// The mask as what is added to the scores, as wide as they are.
Result<Value> attentionBias(const PythonCall& call, const Value& mask, const Tensor& query, const Tensor& key) {
  if (mask.isNone()) return mask;
  Value bias = mask;
  if (mask.tensor().dtype() == DType::Bool) {
    const KeywordValues like{{"dtype", query.dtype()}, {"device", query.device()}};
    KERF_TRY(const Value seen, call.aten("scalar_tensor.default", {Value(0.0)}, like));
    KERF_TRY(const Value hidden, call.aten("scalar_tensor.default", {Value(-HUGE_VAL)}, like));
    KERF_TRY(bias, call.aten("where.self", {mask, seen, hidden}));
  }
  const SymSizes sizes{query.symSize(0), query.symSize(1), query.symSize(2), key.symSize(2)};
  return call.aten("expand.default", {bias, intList(sizes)});
}

/// scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa)
Result<Value> attention(const PythonCall& call) {
  KERF_TRY(const Tensor query, call.tensor(0, "query"));
  KERF_TRY(Tensor key, call.tensor(1, "key"));
  KERF_TRY(Tensor value, call.tensor(2, "value"));
  if (query.dim() != 4 || key.dim() != 4 || value.dim() != 4)
    return callNamed(*findOp("aten.scaled_dot_product_attention.default"), call.kwargs, call.ops);
  if (call.flag(7, "enable_gqa", false) && isGrouped(query.symSize(1), key.symSize(1))) {
    const Value times(floorDiv(query.symSize(1), key.symSize(1))), dim(std::int64_t{1});
    KERF_TRY(key, call.atenTensor("repeat_interleave.self_int", {Value(key), times, dim}));
    KERF_TRY(value, call.atenTensor("repeat_interleave.self_int", {Value(value), times, dim}));
  }
  const Value mask = call.get(3, "attn_mask");
  const Value dropout(call.number(4, "dropout_p", 0)), causal(call.flag(5, "is_causal", false));
  const KeywordValues scale{{"scale", call.get(6, "scale")}};
  const bool drops = std::get<double>(dropout.variant()) != 0, onCpu = query.device().type != "cuda";
  if (onCpu && !drops) {
    KeywordValues keywords = scale;
    keywords.emplace_back("attn_mask", mask);
    KERF_TRY(Tensor out, call.atenTensor("_scaled_dot_product_flash_attention_for_cpu.default",
                                         {Value(query), Value(key), Value(value), dropout, causal}, keywords));
    return Value(std::move(out));
  }
  // The memory-efficient kernel reads its bias row by row; for others PyTorch has the math form.
  const bool reads = mask.isNone() || guardOrFalse(mask.tensor().symStrides().back() == 1);
  if (onCpu || !reads)
    return call.aten("scaled_dot_product_attention.default",
                     {Value(query), Value(key), Value(value), mask, dropout, causal}, scale);
  KERF_TRY(const Value bias, attentionBias(call, mask, query, key));
  KERF_TRY(Tensor out,
           call.atenTensor("_scaled_dot_product_efficient_attention.default",
                           {Value(query), Value(key), Value(value), bias, Value(true), dropout, causal}, scale));
  return Value(std::move(out));
}

constexpr PythonRow nnFunctionRowsTable[] = {
    {"multi_head_attention_forward", multiHeadAttention},
    {"dropout", dropout},
    {"batch_norm", batchNorm},
    {"layer_norm", layerNorm},
    {"group_norm", groupNorm},
    {"conv1d", convolution},
    {"conv2d", convolution},
    {"conv3d", convolution},
    {"adaptive_avg_pool2d", adaptiveAveragePool},
    {"adaptive_avg_pool3d", adaptiveAveragePool},
    {"max_pool2d", maxPool2d},
    {"torch.nn.functional.max_pool2d_with_indices", maxPool2d},
    {"softmax", softmax},
    {"log_softmax", softmax},
    {"scaled_dot_product_attention", attention},
};

}  // namespace

PythonRows nnFunctionRows() { return nnFunctionRowsTable; }

}  // namespace kerf::inline ops
