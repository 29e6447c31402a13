// Gradients of layer and group norm.
#include "engine/ops/core/op_registration.h"
#include "engine/ops/nn/backward_calls.h"
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
    if (f.call.results[k].isNone()) tangents[k] = {};
    if (tangents[k].isNone()) continue;
    const Tensor& result = f.call.results[k].tensor();
    tangents[k] = typed(f, reshape(tangents[k], result.symSizes()), result.dtype());
  }
  return tangents;
}

/// Where a backward op has its arguments; grad_out and input come first.
struct BackwardPlaces {
  std::size_t weight, mean, inverse;
};

void giveSecond(Backward& b, const NormTerms& terms, const BackwardPlaces& at) {
  const NormSecondFlows flows = terms.secondOrder(b[0], {.input = b.grad(0), .weight = b.grad(1), .bias = b.grad(2)});
  const auto fit = [&](std::size_t i, const Formula& flow) {
    if (!flow.isNone() && b.wants(i)) b.give(i, reshape(flow, b.sizes(i)));
  };
  fit(0, flows.grad);
  fit(1, flows.input);
  fit(at.weight, flows.weight);
  fit(at.mean, flows.mean);
  fit(at.inverse, flows.inverse);
}
std::vector<Formula> secondTangents(Forward& f, const NormTerms& terms, const BackwardPlaces& at) {
  const NormFlows flows = terms.secondTangents(f[0], {.grad = f.tangent(0),
                                                      .input = f.tangent(1),
                                                      .weight = f.tangent(at.weight),
                                                      .mean = f.tangent(at.mean),
                                                      .inverse = f.tangent(at.inverse)});
  return fitted(f, {flows.input, flows.weight, flows.bias});
}

// native_layer_norm(input, normalized_shape, weight, bias, eps) -> (output, mean, rstd)

NormTerms layerTerms(const Formulas& p, const CallRecord& call) {
  return {layerLayout(p.args.tensor(0), p.args.symSizes(1).size()),
          {.input = p[0], .weight = p[2], .mean = call.results[1], .inverse = call.results[2]}};
}
void layerNorm(Backward& b) {
  Formula gradient;
  if (b.has(0)) {
    const std::vector<Formula> all =
        b.several({"aten.native_layer_norm_backward.default"_op,
                   {b.grad(), b[0], b[1], b.result(1), b.result(2), b[2], b[3], outputMask(b, {0, 2, 3})}});
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

/// native_layer_norm_backward(grad_out, input, normalized_shape, mean, rstd, weight, bias, output_mask).
constexpr BackwardPlaces layerPlaces{.weight = 5, .mean = 3, .inverse = 4};
NormTerms layerBackwardTerms(const Formulas& p) {
  return {layerLayout(p.args.tensor(1), p.args.symSizes(2).size()),
          {.input = p[1], .weight = p[5], .mean = p[3], .inverse = p[4]}};
}
void layerNormBackward(Backward& b) { giveSecond(b, layerBackwardTerms(b), layerPlaces); }
std::vector<Formula> layerNormBackwardForward(Forward& f) {
  return secondTangents(f, layerBackwardTerms(f), layerPlaces);
}

// native_group_norm(input, weight, bias, N, C, HxW, group, eps) -> (output, mean, rstd)

NormTerms groupTerms(const Formulas& p, const CallRecord& call) {
  const BoundArguments& args = p.args;
  return {groupLayout(args.symInteger(3), args.symInteger(4), args.symInteger(5), args.symInteger(6)),
          {.input = p[0], .weight = p[1], .mean = call.results[1], .inverse = call.results[2]}};
}
void groupNorm(Backward& b) {
  Formula gradient;
  if (b.has(0)) {
    const std::vector<Formula> all =
        b.several({"aten.native_group_norm_backward.default"_op,
                   {b.grad(), b[0], b.result(1), b.result(2), b[1], b[3], b[4], b[5], b[6], outputMask(b, {0, 1, 2})}});
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
constexpr BackwardPlaces groupPlaces{.weight = 4, .mean = 2, .inverse = 3};
NormTerms groupBackwardTerms(const Formulas& p) {
  const BoundArguments& args = p.args;
  return {groupLayout(args.symInteger(5), args.symInteger(6), args.symInteger(7), args.symInteger(8)),
          {.input = p[1], .weight = p[4], .mean = p[2], .inverse = p[3]}};
}
void groupNormBackward(Backward& b) { giveSecond(b, groupBackwardTerms(b), groupPlaces); }
std::vector<Formula> groupNormBackwardForward(Forward& f) {
  return secondTangents(f, groupBackwardTerms(f), groupPlaces);
}

constexpr OpFacts normalizationDerivativesTable[] = {
    differentiable<layerNorm, layerNormForward>("aten::native_layer_norm"),
    differentiable<groupNorm, groupNormForward>("aten::native_group_norm"),
    differentiable<layerNormBackward, layerNormBackwardForward>("aten::native_layer_norm_backward"),
    differentiable<groupNormBackward, groupNormBackwardForward>("aten::native_group_norm_backward"),
};

const OpRegistration normalizationDerivatives({.facts = normalizationDerivativesTable});

}  // namespace

}  // namespace kerf::inline ops
