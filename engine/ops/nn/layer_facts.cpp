// Gradients of softmax, layer norm and convolution; flops of convolutions and attention.
#include <array>

#include "engine/ops/nn/families.h"

namespace kerf::inline ops {
namespace {

/// _softmax(self, dim, half_to_float), _log_softmax: by their backward ops.
Result<Value> softmaxFlow(const CallRecord& call, const Value& flow, OpId backward, const OpRunner& run) {
  return run.value(backward, {flow, call.result(), call.args.values[1], call.args.tensor(0).dtype()});
}
Result<ValueList> softmax(const CallRecord& call, const ValueList& grads, const OpRunner& run) {
  KERF_TRY(Value grad, softmaxFlow(call, grads[0], "aten._softmax_backward_data.default"_op, run));
  return ValueList{std::move(grad), Value(), Value()};
}
/// Softmax's Jacobian is symmetric.
Result<Value> softmaxJvp(const CallRecord& call, const ValueList& tangents, const OpRunner& run) {
  return softmaxFlow(call, tangents[0], "aten._softmax_backward_data.default"_op, run);
}
Result<ValueList> logSoftmax(const CallRecord& call, const ValueList& grads, const OpRunner& run) {
  KERF_TRY(Value grad, softmaxFlow(call, grads[0], "aten._log_softmax_backward_data.default"_op, run));
  return ValueList{std::move(grad), Value(), Value()};
}
/// t - Σ softmax·t
Result<Value> logSoftmaxJvp(const CallRecord& call, const ValueList& tangents, const OpRunner& run) {
  CompositeSteps s(run);
  const Tensor weights = s("aten.exp.default"_op, {call.result()});
  const Tensor weighted = s("aten.mul.Tensor"_op, {weights, tangents[0]});
  const Tensor sum = s("aten.sum.dim_IntList"_op, {weighted, intList({call.args.integer(1)}), true});
  return s.done(s("aten.sub.Tensor"_op, {tangents[0], sum}));
}

/// native_layer_norm(input, normalized_shape, weight, bias, eps) -> (output, mean, rstd); mean and rstd take no
/// gradient.
Result<ValueList> layerNorm(const CallRecord& call, const ValueList& grads, const OpRunner& run) {
  const ValueList& v = call.args.values;
  const ValueList mask{true, !v[2].isNone(), !v[3].isNone()};
  KERF_TRY(const Value all, run.value("aten.native_layer_norm_backward.default"_op,
                                      {grads[0], v[0], v[1], call.results[1], call.results[2], v[2], v[3], mask}));
  const ValueList& out = all.list();
  return ValueList{out[0], Value(), v[2].isNone() ? Value() : out[1], v[3].isNone() ? Value() : out[2], Value()};
}

/// convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups).
Result<ValueList> convolution(const CallRecord& call, const ValueList& grads, const OpRunner& run) {
  const ValueList& v = call.args.values;
  const bool bias = !v[2].isNone();
  ValueList args{grads[0], v[0], v[1], bias ? intList(call.args.tensor(2).symSizes()) : Value()};
  args.insert(args.end(), v.begin() + 3, v.end());
  args.emplace_back(ValueList{true, true, bias});
  KERF_TRY(const Value all, run.value("aten.convolution_backward.default"_op, args));
  ValueList result(v.size());
  for (std::size_t i = 0; i < (bias ? 3u : 2u); ++i) result[i] = all.list()[i];
  return result;
}

/// Two per weight and position of the output (of the input, for a transposed convolution).
double convolutionFlops(const Tensor& positions, const Tensor& weight) {
  const double channels = positions.dim() > 1 ? double(positions.size(1)) : 1;
  return channels == 0 ? 0 : 2.0 * double(positions.numel()) / channels * double(weight.numel());
}
double convolutionForward(const BoundArguments& args, const ValueList& results) {
  return convolutionFlops(args.boolean(6) ? args.tensor(0) : results[0].tensor(), args.tensor(1));
}
/// As much again for every gradient that the mask asks for, bias apart.
double convolutionBackward(const BoundArguments& args, const ValueList&) {
  const double one = convolutionFlops(args.boolean(7) ? args.tensor(1) : args.tensor(0), args.tensor(2));
  const ValueList& mask = args.values[10].list();
  return one * (double(*mask[0].as<bool>()) + double(*mask[1].as<bool>()));
}

/// `products` matrix products of [.., queries, head] with [.., head, keys]; query, key, value start at `first`.
template <std::size_t first, int products>
double attention(const BoundArguments& args, const ValueList&) {
  const Tensor &query = args.tensor(first), &key = args.tensor(first + 1);
  return 2.0 * products * double(query.numel()) * double(key.size(key.dim() - 2));
}

constexpr OpFacts table[] = {
    {.op = "aten::_softmax", .gradient = softmax, .jvp = softmaxJvp},
    {.op = "aten::_log_softmax", .gradient = logSoftmax, .jvp = logSoftmaxJvp},
    {.op = "aten::native_layer_norm", .gradient = layerNorm},
    {.op = "aten::convolution", .gradient = convolution, .flops = convolutionForward},
    {.op = "aten::convolution_backward", .flops = convolutionBackward},
    {.op = "aten::_scaled_dot_product_flash_attention", .flops = attention<0, 2>},
    {.op = "aten::_scaled_dot_product_flash_attention_for_cpu", .flops = attention<0, 2>},
    {.op = "aten::_scaled_dot_product_efficient_attention", .flops = attention<0, 2>},
    {.op = "aten::_scaled_dot_product_flash_attention_backward", .flops = attention<1, 5>},
    {.op = "aten::_scaled_dot_product_flash_attention_for_cpu_backward", .flops = attention<1, 5>},
    {.op = "aten::_scaled_dot_product_efficient_attention_backward", .flops = attention<1, 5>},
};

}  // namespace

OpFactRows layerFacts() { return table; }

}  // namespace kerf::inline ops
