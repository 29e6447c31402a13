// Flops of convolutions and attention.
#include "engine/ops/core/op_registration.h"

namespace kerf::inline ops {
namespace {

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

constexpr OpFacts layerFactsTable[] = {
    {.op = "aten::convolution", .flops = convolutionForward},
    {.op = "aten::convolution_backward", .flops = convolutionBackward},
    {.op = "aten::_scaled_dot_product_flash_attention", .flops = attention<0, 2>},
    {.op = "aten::_scaled_dot_product_flash_attention_for_cpu", .flops = attention<0, 2>},
    {.op = "aten::_scaled_dot_product_efficient_attention", .flops = attention<0, 2>},
    {.op = "aten::_scaled_dot_product_flash_attention_backward", .flops = attention<1, 5>},
    {.op = "aten::_scaled_dot_product_flash_attention_for_cpu_backward", .flops = attention<1, 5>},
    {.op = "aten::_scaled_dot_product_efficient_attention_backward", .flops = attention<1, 5>},
};

const OpRegistration layerFacts({.facts = layerFactsTable});

}  // namespace

}  // namespace kerf::inline ops
