// Gradients of layer and group norm.
#include "engine/ops/nn/backward_calls.h"
#include "engine/ops/nn/families.h"
#include "engine/ops/nn/norm_terms.h"

namespace kerf::inline ops {
namespace {

/// Adds what flows through mean and deviation, as far as anything does, to what flows to the input.
void giveInput(Backward& b, std::size_t i, const NormTerms& terms, const Formula& gradient) {
  if (!b.wants(i)) return;
  const Formula more = terms.throughStatistics(b.grad(1), b.grad(2));
  b.give(i, more.isNone() ? gradient : sumOf({gradient, reshape(more, b.sizes(i))}));
}

/// Tangents of a norm's three results, with their sizes and dtypes.
std::vector<Formula> fitted(Forward& f, std::vector<Formula> tangents) {
  for (std::size_t k = 0; k < tangents.size(); ++k) {
    if (tangents[k].isNone()) continue;
    const Tensor& result = f.call.results[k].tensor();
    tangents[k] = typed(f, reshape(tangents[k], result.symSizes()), result.dtype());
  }
  return tangents;
}

void giveSecond(Backward& b, std::size_t weight, const NormSecondFlows& flows) {
  const auto fit = [&](std::size_t i, const Formula& flow) {
    if (!flow.isNone() && b.wants(i)) b.give(i, reshape(flow, b.sizes(i)));
  };
  fit(0, flows.grad);
  fit(1, flows.input);
  fit(weight, flows.weight);
}

// native_layer_norm(input, normalized_shape, weight, bias, eps) -> (output, mean, rstd)

NormTerms layerTerms(const Program& p, const CallRecord& call) {
  return {layerLayout(p.args.tensor(0), p.args.symSizes(1).size()),
          {.input = p[0], .weight = p[2], .mean = call.results[1], .inverse = call.results[2]}};
}
void layerNorm(Backward& b) {
  Formula gradient;
  if (b.has(0)) {
    const std::vector<Formula> all = b.several({"aten.native_layer_norm_backward.default"_op,
                                                {b.grad(), b[0], b[1], b.result(1), b.result(2), b[2], b[3],
                                                 outputMask(b, {0, 2, 3})}});
    if (all.size() == 3) {
      gradient = all[0];
      b.give(2, all[1]);
      b.give(3, all[2]);
    }
  }
  giveInput(b, 0, layerTerms(b, b.call), gradient);
}
std::vector<Formula> layerNormForward(Forward& f) {
  const NormTerms terms = layerTerms(f, f.call);
  return fitted(f, terms.tangents({.input = f.tangent(0), .weight = f.tangent(2), .bias = f.tangent(3)}));
}

/// native_layer_norm_backward(grad_out, input, normalized_shape, mean, rstd, weight, bias, output_mask): mean and rstd
/// count as functions of the input.
void layerNormBackward(Backward& b) {
  const NormTerms terms(layerLayout(b.args.tensor(1), b.args.symSizes(2).size()),
                        {.input = b[1], .weight = b[5], .mean = b[3], .inverse = b[4]});
  giveSecond(b, 5, terms.secondOrder(b[0], {.input = b.grad(0), .weight = b.grad(1), .bias = b.grad(2)}));
}

// native_group_norm(input, weight, bias, N, C, HxW, group, eps) -> (output, mean, rstd)

NormTerms groupTerms(const Program& p, const CallRecord& call) {
  const BoundArguments& args = p.args;
  return {groupLayout(args.symInteger(3), args.symInteger(4), args.symInteger(5), args.symInteger(6)),
          {.input = p[0], .weight = p[1], .mean = call.results[1], .inverse = call.results[2]}};
}
void groupNorm(Backward& b) {
  Formula gradient;
  if (b.has(0)) {
    const std::vector<Formula> all = b.several({"aten.native_group_norm_backward.default"_op,
                                                {b.grad(), b[0], b.result(1), b.result(2), b[1], b[3], b[4], b[5],
                                                 b[6], outputMask(b, {0, 1, 2})}});
    if (all.size() == 3) {
      gradient = all[0];
      b.give(1, all[1]);
      b.give(2, all[2]);
    }
  }
  giveInput(b, 0, groupTerms(b, b.call), gradient);
}
std::vector<Formula> groupNormForward(Forward& f) {
  const NormTerms terms = groupTerms(f, f.call);
  return fitted(f, terms.tangents({.input = f.tangent(0), .weight = f.tangent(1), .bias = f.tangent(2)}));
}

/// native_group_norm_backward(grad_out, input, mean, rstd, weight, N, C, HxW, group, output_mask).
void groupNormBackward(Backward& b) {
  const BoundArguments& args = b.args;
  const NormTerms terms(groupLayout(args.symInteger(5), args.symInteger(6), args.symInteger(7), args.symInteger(8)),
                        {.input = b[1], .weight = b[4], .mean = b[2], .inverse = b[3]});
  giveSecond(b, 4, terms.secondOrder(b[0], {.input = b.grad(0), .weight = b.grad(1), .bias = b.grad(2)}));
}

constexpr OpFacts table[] = {
    differentiable<layerNorm, layerNormForward>("aten::native_layer_norm"),
    differentiable<groupNorm, groupNormForward>("aten::native_group_norm"),
    {.op = "aten::native_layer_norm_backward", .gradient = ruleGradient<layerNormBackward>},
    {.op = "aten::native_group_norm_backward", .gradient = ruleGradient<groupNormBackward>},
};

}  // namespace

OpFactRows normalizationDerivatives() { return table; }

}  // namespace kerf::inline ops
