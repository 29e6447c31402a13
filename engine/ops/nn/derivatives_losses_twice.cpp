// Gradients of binary cross entropy, and of the backward ops of element-wise losses:
// X_backward(grad_output, self, target, …).
#include "engine/ops/core/op_registration.h"
#include "engine/ops/nn/backward_calls.h"

namespace kerf::inline ops {
namespace {

constexpr std::int64_t byMean = 1;  // reductions: 0 none, 1 mean, 2 sum

std::int64_t reductionOf(const Formulas& p) { return p.args.integer(p.args.position("reduction")); }
Formula reduced(const Formulas& p, const Formula& terms) {
  return terms.isNone() || reductionOf(p) == 0 ? terms : sum(terms);
}
/// Terms of a mean over as many elements as `whole` has.
Formula shared(const Formulas& p, const Formula& terms, const Tensor& whole) {
  return reductionOf(p) == byMean ? over(terms, whole.symNumel()) : terms;
}

// binary_cross_entropy(self, target, weight, reduction)

void binaryEntropy(Backward& b) {
  b.give(0, {"aten.binary_cross_entropy_backward.default"_op, {b.grad(), b[0], b[1], b[2], b[3]}});
  const Formula slope = clamp(log1p(-b[0]), -100.0) - clamp(log(b[0]), -100.0);
  b.give(1, shared(b, multiplied(slope * b.grad(), b[2]), b.args.tensor(0)));
}
std::vector<Formula> binaryEntropyForward(Forward& f) {
  const Formula ones = onesLike(f.result());
  const Formula bySelf("aten.binary_cross_entropy_backward.default"_op, {ones, f[0], f[1], f[2], f[3]});
  const Formula byTarget =
      shared(f, multiplied(clamp(log1p(-f[0]), -100.0) - clamp(log(f[0]), -100.0), f[2]), f.args.tensor(0));
  return {reduced(
      f, sumOf({f.has(0) ? bySelf * f.tangent(0) : Formula(), f.has(1) ? byTarget * f.tangent(1) : Formula()}))};
}

// binary_cross_entropy_with_logits(self, target, weight, pos_weight, reduction): also as programs in PyTorch

Formula logitSlope(const Formulas& p) {
  if (p[3].isNone()) return sigmoid(p[0]) - p[1];
  const Formula t = p[3] * p[1];
  return (plus(t, 1) - p[1]) * sigmoid(p[0]) - t;
}
Formula logitTargetSlope(const Formulas& p) {
  if (p[3].isNone()) return -p[0];
  return log(minusFrom(1, sigmoid(p[0]))) - p[3] * log(sigmoid(p[0]));
}
Formula weighted(const Formulas& p, const Formula& slope, const Formula& flow, const Tensor& whole) {
  return shared(p, multiplied(slope * flow, p[2]), whole);
}
void logitEntropy(Backward& b) {
  b.give(0, weighted(b, logitSlope(b), b.grad(), b.args.tensor(0)));
  b.give(1, weighted(b, logitTargetSlope(b), b.grad(), b.args.tensor(0)));
}
std::vector<Formula> logitEntropyForward(Forward& f) {
  const auto part = [&](std::size_t i, const Formula& slope) {
    return f.has(i) ? weighted(f, slope, f.tangent(i), f.args.tensor(0)) : Formula();
  };
  return {reduced(f, sumOf({part(0, logitSlope(f)), part(1, logitTargetSlope(f))}))};
}

// Curvatures: how a backward op's slope depends on self or target, which are its arguments 1 and 2

using Curvature = Formula (*)(const Formulas&, std::size_t by);

Formula squareCurvature(const Formulas& p, std::size_t by) {
  return times(onesLike(p[1]), by == 1 ? std::int64_t{2} : std::int64_t{-2});
}
/// `height` where self and target are nearer to each other than `width`.
Formula nearCurvature(const Formulas& p, std::size_t by, double width, double height) {
  const Formula near("aten._to_copy.default"_op, {abs(p[1] - p[2]) < Formula(width)},
                     {{"dtype", p.args.tensor(1).dtype()}});
  return times(near, by == 1 ? height : -height);
}
Formula smoothCurvature(const Formulas& p, std::size_t by) {
  const double beta = p.args.number(4);
  return nearCurvature(p, by, beta, beta == 0 ? 0 : 1 / beta);
}
Formula huberCurvature(const Formulas& p, std::size_t by) { return nearCurvature(p, by, p.args.number(4), 1); }
Formula softMarginCurvature(const Formulas& p, std::size_t by) {
  if (by == 2) return {};  // targets take no gradient
  const Formula margin = p[1] * p[2];
  return p[2] * p[2] * sigmoid(margin) * sigmoid(-margin);
}
Formula entropyCurvature(const Formulas& p, std::size_t by) {
  constexpr double least = 1e-12;  // the op divides by no less
  const Formula product = minusFrom(1, p[1]) * p[1], spread = clamp(product, least);
  if (by == 2) return -multiplied(1 / spread, p[3]);
  const Formula bent = (p[1] * p[1] - times(p[1] * p[2], 2) + p[2]) / (spread * spread);
  return multiplied(where(product > Formula(least), bent, 1 / spread), p[3]);
}

template <Curvature curvature>
void lossBackward(Backward& b) {
  b.give(0, Formula(b.args.op->id, withArguments(b, {onesLike(b[0])}, 1)) * b.grad());
  for (const std::size_t by : {std::size_t(1), std::size_t(2)}) {
    const Formula slope = curvature(b, by);
    if (!slope.isNone()) b.give(by, shared(b, b.grad() * b[0] * slope, b.call.result()));
  }
}
template <Curvature curvature>
std::vector<Formula> lossBackwardForward(Forward& f) {
  const auto part = [&](std::size_t by) {
    const Formula slope = f.has(by) ? curvature(f, by) : Formula();
    return slope.isNone() ? slope : shared(f, f[0] * slope * f.tangent(by), f.call.result());
  };
  const Formula byGrad = f.has(0) ? Formula(f.args.op->id, withArguments(f, {f.tangent(0)}, 1)) : Formula();
  return {sumOf({byGrad, part(1), part(2)})};
}

template <Curvature curvature>
constexpr OpFacts twice(const char* op) {
  return differentiable<lossBackward<curvature>, lossBackwardForward<curvature>>(op);
}

constexpr OpFacts entropyDerivativesTable[] = {
    differentiable<binaryEntropy, binaryEntropyForward>("aten::binary_cross_entropy"),
    differentiable<logitEntropy, logitEntropyForward>("aten::binary_cross_entropy_with_logits"),
    twice<squareCurvature>("aten::mse_loss_backward"),
    twice<smoothCurvature>("aten::smooth_l1_loss_backward"),
    twice<huberCurvature>("aten::huber_loss_backward"),
    twice<softMarginCurvature>("aten::soft_margin_loss_backward"),
    twice<entropyCurvature>("aten::binary_cross_entropy_backward"),
};

const OpRegistration entropyDerivatives({.facts = entropyDerivativesTable});

}  // namespace

}  // namespace kerf::inline ops
