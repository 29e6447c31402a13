// Gradients of losses that have backward ops: X(self, target, …) with X_backward(grad, self, target, …).
#include "engine/ops/core/op_registration.h"
#include "engine/ops/nn/backward_calls.h"

namespace kerf::inline ops {
namespace {

/// The tangent of a loss from its gradient for ones: summed over what the loss sums over.
Formula tangentBy(const Formula& gradient, const Formula& tangent, const Tensor& result) {
  const Formula terms = gradient * tangent;
  if (result.dim() == tangent.dim()) return terms;
  return result.dim() == 0 ? sum(terms) : sum(terms, {1});  // one loss per sample: classes are dimension 1
}
Formula onesFor(Forward& f) { return onesLike(f.result()); }

// Of self alone

void loss(Backward& b) { b.give(0, {backwardOf(*b.args.op), withArguments(b, {b.grad()}, 0)}); }
std::vector<Formula> lossForward(Forward& f) {
  if (!f.has(0)) return {Formula()};
  const Formula gradient(backwardOf(*f.args.op), withArguments(f, {onesFor(f)}, 0));
  return {tangentBy(gradient, f.tangent(0), f.call.result())};
}

// Of self and target, which may change places

Formula swapped(const Formulas& p, const Formula& flow) {
  return {backwardOf(*p.args.op), withArguments(p, {flow, p[1], p[0]}, 2)};
}
void symmetricLoss(Backward& b) {
  loss(b);
  b.give(1, swapped(b, b.grad()));
}
std::vector<Formula> symmetricLossForward(Forward& f) {
  const Tensor& result = f.call.result();
  const auto part = [&](std::size_t i, const Formula& gradient) {
    if (!f.has(i)) return Formula();
    return result.dim() == 0 ? sum(gradient * f.tangent(i)) : gradient * f.tangent(i);
  };
  const Formula ones = onesFor(f);
  return {sumOf({part(0, {backwardOf(*f.args.op), withArguments(f, {ones}, 0)}), part(1, swapped(f, ones))})};
}

// Likelihoods: nll_loss_forward(self, target, weight, reduction, ignore_index) → (output, total_weight)

OpId likelihoodBackward(const Formulas& p) {
  const bool planes = p.args.op->schema.name == "aten::nll_loss2d_forward";
  return planes ? "aten.nll_loss2d_backward.default"_op : "aten.nll_loss_backward.default"_op;
}
void likelihood(Backward& b) {
  if (!b.has(0)) return;  // the total weight does not depend on self
  b.give(0, {likelihoodBackward(b), {b.grad(), b[0], b[1], b[2], b[3], b[4], b.result(1)}});
}
std::vector<Formula> likelihoodForward(Forward& f) {
  if (!f.has(0)) return {};
  const Formula gradient(likelihoodBackward(f), {onesFor(f), f[0], f[1], f[2], f[3], f[4], f.result(1)});
  const bool rows = f.call.result().dim() > 0 && f.dims() > 1;
  return {rows ? sum(gradient * f.tangent(0), {1}) : sum(gradient * f.tangent(0)), Formula()};
}
/// nll_loss_backward(grad_output, self, target, weight, reduction, ignore_index, total_weight): linear in the gradient,
/// a mean by the total weight that it is given.
void likelihoodBackwardTwice(Backward& b) {
  constexpr std::int64_t byMean = 1, bySum = 2;
  const bool planes = b.args.op->schema.name == "aten::nll_loss2d_backward", isMean = b.args.integer(4) == byMean;
  const Formula loss(planes ? "aten.nll_loss2d_forward.default"_op : "aten.nll_loss_forward.default"_op,
                     {b.grad(), b[2], b[3], isMean ? Formula(bySum) : b[4], b[5]});
  if (b.wants(0)) b.give(0, isMean ? b.several<2>(loss)[0] / b[6] : b.several<2>(loss)[0]);
  b.give(1, zerosLike(b[1]));
}
/// Only the gradient matters.
std::vector<Formula> byGradientOnly(Forward& f) {
  if (!f.has(0)) return {Formula()};
  return {Formula(f.args.op->id, withArguments(f, {f.tangent(0)}, 1))};
}

/// multilabel_margin_loss_forward(self, target, reduction) → (output, is_target).
void multilabelMargin(Backward& b) {
  if (!b.has(0)) return;
  b.give(0, {"aten.multilabel_margin_loss_backward.default"_op, {b.grad(), b[0], b[1], b[2], b.result(1)}});
}
std::vector<Formula> multilabelMarginForward(Forward& f) {
  const Formula gradient("aten.multilabel_margin_loss_backward.default"_op,
                         {onesFor(f), f[0], f[1], f[2], f.result(1)});
  const bool rows = f.call.result().dim() > 0;
  return {rows ? sum(gradient * f.tangent(0), {1}) : sum(gradient * f.tangent(0)), Formula()};
}

// _ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, zero_infinity) → (loss per sample, log_alpha).
// The backward op takes the probabilities of one step as normalized: it is the gradient by what log_softmax was given.

Formula ctcGradient(const Formulas& p, const CallRecord& call, const Formula& flow) {
  return {p.args.op->schema.overload == "Tensor" ? "aten._ctc_loss_backward.Tensor"_op
                                                 : "aten._ctc_loss_backward.default"_op,
          {flow, p[0], p[1], p[2], p[3], call.results[0], call.results[1], p[4], p[5]}};
}
void ctc(Backward& b) {
  if (b.has(0)) b.give(0, ctcGradient(b, b.call, b.grad()));
}
std::vector<Formula> ctcForward(Forward& f) {
  const Formula terms = ctcGradient(f, f.call, onesFor(f)) * f.tangent(0);
  const bool batch = f.dims() == 3;
  return {batch ? sum(terms, {0, 2}) : sum(terms), Formula()};
}

constexpr OpFacts backwardOfLikelihood(const char* op) {
  return {.op = op, .gradient = ruleGradient<likelihoodBackwardTwice>, .jvp = ruleJvp<byGradientOnly>};
}

constexpr OpFacts lossDerivativesTable[] = {
    differentiable<symmetricLoss, symmetricLossForward>("aten::mse_loss"),
    differentiable<symmetricLoss, symmetricLossForward>("aten::huber_loss"),
    differentiable<symmetricLoss, symmetricLossForward>("aten::smooth_l1_loss"),
    differentiable<loss, lossForward>("aten::soft_margin_loss"),
    differentiable<loss, lossForward>("aten::multi_margin_loss"),
    differentiable<multilabelMargin, multilabelMarginForward>("aten::multilabel_margin_loss_forward"),
    differentiable<likelihood, likelihoodForward>("aten::nll_loss_forward"),
    differentiable<likelihood, likelihoodForward>("aten::nll_loss2d_forward"),
    backwardOfLikelihood("aten::nll_loss_backward"),
    backwardOfLikelihood("aten::nll_loss2d_backward"),
    differentiable<ctc, ctcForward>("aten::_ctc_loss"),
    withoutDerivative("aten::_ctc_loss_backward"),
    withoutDerivative("aten::multi_margin_loss_backward"),
    withoutDerivative("aten::multilabel_margin_loss_backward"),
};

const OpRegistration lossDerivatives({.facts = lossDerivativesTable});

}  // namespace

}  // namespace kerf::inline ops
