// Decompositions of losses and their backward ops.
#include <cmath>

#include "engine/ops/core/formula.h"
#include "engine/ops/core/op_math.h"
#include "engine/ops/core/op_registration.h"

namespace kerf::inline ops {
namespace {

constexpr std::int64_t byMean = 1, bySum = 2;

Formula reduced(const Formula& loss, std::int64_t reduction) {
  return reduction == byMean ? mean(loss) : reduction == bySum ? sum(loss) : loss;
}
/// What the gradient of one element counts: `whole`, or its share of the mean. Symbolic where sizes are.
Formula shareOf(Formulas& p, const Tensor& tensor, std::int64_t reduction, double whole = 1) {
  if (reduction != byMean) return whole;
  if (!tensor.isSymbolic()) return whole / double(std::int64_t(tensor.symNumel()));
  return p({"operator.truediv"_op, {whole, tensor.symNumel()}});
}

/// mse_loss(self, target, reduction)
Result<Value> mseLoss(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  return p.done(reduced(pow(p[0] - p[1], 2), args.integer(2)));
}
Result<Value> mseLossBackward(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  return p.done((p[1] - p[2]) * shareOf(p, args.tensor(1), args.integer(3), 2) * p[0]);
}

/// smooth_l1_loss(self, target, reduction, beta)
Result<Value> smoothL1Loss(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const Formula size = p(abs(p[0] - p[1]));
  const Formula loss = p(where(size < p[3], pow(size, 2) * 0.5 / p[3], size - 0.5 * args.number(3)));
  return p.done(reduced(loss, args.integer(2)));
}
/// smooth_l1_loss_backward(grad_output, self, target, reduction, beta)
Result<Value> smoothL1LossBackward(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const Formula x = p(p[1] - p[2]);
  const Formula size = p(abs(x));
  const Formula flow = p(p[0] * shareOf(p, args.tensor(1), args.integer(3)));
  return p.done(where(size < p[4], flow * x / p[4], flow * sign(x)));
}
/// huber_loss(self, target, reduction, delta)
Result<Value> huberLoss(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const Formula size = p(abs(p[0] - p[1]));
  const double delta = args.number(3);
  return p.done(reduced(where(size <= delta, size * 0.5 * size, (size - 0.5 * delta) * delta), args.integer(2)));
}
/// huber_loss_backward(grad_output, self, target, reduction, delta)
Result<Value> huberLossBackward(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const double delta = args.number(4);
  const Formula share = shareOf(p, args.tensor(1), args.integer(3));
  const Formula x = p(p[1] - p[2]);
  const Formula below = p(x < -delta), low = p(p[0] * shareOf(p, args.tensor(1), args.integer(3), -1) * delta);
  const Formula inner = p(where(x > delta, p[0] * share * delta, x * share * p[0]));
  return p.done(where(below, low, inner));
}

/// binary_cross_entropy(self, target, weight, reduction): logarithms are at least -100.
Result<Value> binaryCrossEntropy(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const auto bounded = [&](const Formula& x) {
    return Formula("aten.maximum.default"_op, {x, newFull(p[0], {}, -100)});
  };
  Formula loss = p((p[1] - 1) * bounded(log1p(-p[0])) - p[1] * bounded(log(p[0])));
  if (!args.none(2)) loss = p(loss * p[2]);
  return p.done(reduced(loss, args.integer(3)));
}
/// binary_cross_entropy_backward(grad_output, self, target, weight, reduction)
Result<Value> binaryCrossEntropyBackward(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  Formula flow = p(p[0] * (p[1] - p[2]) / clamp(p[1] * (1 - p[1]), 1e-12));
  if (!args.none(3)) flow = p(flow * p[3]);
  return p.done(args.integer(4) == byMean ? flow / args.tensor(1).symNumel() : flow);
}
/// binary_cross_entropy_with_logits(self, target, weight, pos_weight, reduction)
Result<Value> binaryCrossEntropyWithLogits(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const Formula logs({"aten.log_sigmoid.default"_op, {p[0]}});
  Formula loss;
  if (args.none(3)) {
    loss = p((1 - p[1]) * p[0] - logs);
  } else {
    const Formula weight = p((p[3] - 1) * p[1] + 1);
    loss = p((1 - p[1]) * p[0] - weight * logs);
  }
  if (!args.none(2)) loss = p(loss * p[2]);
  return p.done(reduced(loss, args.integer(4)));
}
/// soft_margin_loss(self, target, reduction)
Result<Value> softMarginLoss(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  return p.done(reduced(log1p(exp(-p[0] * p[1])), args.integer(2)));
}
/// soft_margin_loss_backward(grad_output, self, target, reduction)
Result<Value> softMarginLossBackward(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const Formula flow = p(p[2] * p[0] * (sigmoid(p[2] * p[1]) - 1));
  return p.done(args.integer(3) == byMean ? flow / args.tensor(1).symNumel() : flow);
}

/// The loss of each target's class and the sum of their weights: nll_loss_forward(self, target, weight, reduction,
/// ignore_index); classes are dimension 1, or the only one.
Result<Value> nllLossForward(const BoundArguments& args, const OpRunner& run) {
  const Tensor& self = args.tensor(0);
  if (self.dim() == 0) return mismatch(args, "needs at least 1 dimension");
  const std::int64_t channel = self.dim() < 2 ? 0 : 1;
  const std::int64_t reduction = args.integer(3);
  Formulas p(args, run);
  Formula x = p[0], weight;
  if (!args.none(2)) {
    SymSizes shape(self.symSizes().size(), 1);
    shape[std::size_t(channel)] = args.tensor(2).symSize(0);
    weight = p(self.dim() > 1 ? view(p[2], shape) : p[2]);
    x = p(x * weight);
  }
  const Formula known = p(differs(p[1], p[4]));
  const Formula safe = p(unsqueeze(where(known, p[1], 0), channel));
  const Formula picked = p(-squeeze(Formula("aten.gather.default"_op, {x, channel, safe}), channel));
  const Formula losses = p(where(differs(p[1], p[4]), picked, 0));
  if (reduction != byMean && reduction != bySum && self.dim() > 1)
    return p.done(std::vector<Formula>{losses, full({}, 0.0, self.dtype(), self.device())});
  if (!weight.isNone()) {
    const Formula wide = p(expand(weight, self.symSizes()));
    const Formula mine = p(squeeze(Formula("aten.gather.default"_op, {wide, channel, safe}), channel));
    const Formula total = p(sum(where(differs(p[1], p[4]), mine, 0)));
    return p.done(std::vector<Formula>{reduction == byMean ? sum(losses) / total : reduced(losses, reduction), total});
  }
  const Formula total = p(to(sum(differs(p[1], p[4])), self.dtype()));
  return p.done(std::vector<Formula>{reduction == byMean ? sum(losses) / total : reduced(losses, reduction), total});
}
/// nll_loss_backward(grad_output, self, target, weight, reduction, ignore_index, total_weight)
Result<Value> nllLossBackward(const BoundArguments& args, const OpRunner& run) {
  const Tensor& self = args.tensor(1);
  const std::int64_t channel = self.dim() < 2 ? 0 : 1;
  Formulas p(args, run);
  Formula flow = p[0];
  if (args.integer(4) == byMean) flow = p(flow / p[6]);
  const Formula target = p(unsqueeze(p[2], channel));
  const Formula safe = p(where(differs(target, p[5]), target, 0));
  const Formula zeros = p(zerosLike(p[1]));
  const Formula slope = p({"aten.scatter.value"_op, {zeros, channel, safe, -1.0}});
  if (p.ok() && flow.dim() > 0 && flow.dim() < self.dim()) flow = p(unsqueeze(flow, channel));
  if (!args.none(3)) {
    SymSizes shape(self.symSizes().size(), 1);
    shape[std::size_t(channel)] = args.tensor(3).symSize(0);
    flow = p(flow * reshape(p[3], shape));
  }
  flow = p(where(differs(target, p[5]), flow, 0));
  return p.done(slope * flow);
}

/// multi_margin_loss(self, target, p, margin, weight, reduction)
Result<Value> multiMarginLoss(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const Tensor& self = args.tensor(0);
  if (self.dim() == 0 || self.dim() > 2) return mismatch(args, "needs 1 or 2 dimensions, got {}", self.dim());
  const Formula x = p({"aten.atleast_2d.default"_op, {p[0]}});
  const Formula target = p({"aten.atleast_1d.default"_op, {p[1]}});
  if (!p.ok()) return p.done(x);
  const SymInt classes = x.sizes()[1];
  const Formula column = p(unsqueeze(target, 1));
  const Formula own = p({"aten.gather.default"_op, {x, 1, column}});
  Formula excess = p(clamp(x - own + args.number(3), std::int64_t{0}));
  if (args.number(2) != 1) excess = p(pow(excess, p[2]));
  if (!args.none(4)) excess = p(excess * index(p[4], {column}));
  const Formula classOf = p(arange(classes, DType::Int64, self.device()));
  excess = p(where(differs(classOf, column), excess, 0));
  if (args.integer(5) == byMean) return p.done(mean(excess));
  if (args.integer(5) == bySum) return p.done(sum(excess) / classes);
  const Formula each = p(mean(excess, {1}));
  return p.done(self.dim() == 1 ? squeeze(each, 0) : each);
}
/// multilabel_margin_loss_forward(self, target, reduction): targets count up to the first -1.
Result<Value> multilabelMarginLossForward(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const Tensor& self = args.tensor(0);
  const SymSizes shape = args.tensor(1).symSizes();
  const Formula x = p({"aten.atleast_2d.default"_op, {p[0]}}), target = p({"aten.atleast_2d.default"_op, {p[1]}});
  if (!p.ok()) return p.done(x);
  const SymInt classes = target.sizes()[1];
  const Formula place = p(arange(classes, DType::Int64, self.device()));
  const Formula stops = p(equals(target, -1));
  const Formula end = p({"aten.amin.default"_op, {where(stops, place, classes), intList({-1}), true}});
  const Formula counts = p(place < end);
  const Formula label = p(where(counts, target, 0));
  // torch.where keeps -1 where no target counts, which no class is
  const Formula marks = p(unsqueeze(where(counts, label, -1), -1));
  const Formula isTarget = p({"aten.any.dim"_op, {equals(place, marks), 1}});
  const Formula own = p(unsqueeze(Formula("aten.gather.default"_op, {x, -1, label}), -1));
  Formula excess = p(clamp(1.0 - (own - unsqueeze(x, 1)), std::int64_t{0}));
  excess = p(excess / classes);
  const Formula asked = p({"aten.logical_and.default"_op, {unsqueeze(counts, -1), unsqueeze(~isTarget, 1)}});
  excess = p(where(asked, excess, 0));
  const Formula hits = p(reshape(to(isTarget, self.dtype()), shape));
  if (args.integer(2) == byMean) return p.done(std::vector<Formula>{mean(sum(excess, {1, 2})), hits});
  if (args.integer(2) == bySum) return p.done(std::vector<Formula>{sum(excess), hits});
  const Formula each = p(sum(excess, {1, 2}));
  return p.done(std::vector<Formula>{self.dim() < 2 ? squeeze(each, 0) : each, hits});
}

constexpr OpFacts lossDecompositionsTable[] = {
    decomposes("aten::mse_loss", inOpMath<mseLoss>),
    decomposes("aten::mse_loss_backward", inOpMath<mseLossBackward>),
    decomposes("aten::smooth_l1_loss", inOpMath<smoothL1Loss>),
    decomposes("aten::smooth_l1_loss_backward", inOpMath<smoothL1LossBackward>),
    decomposes("aten::huber_loss", inOpMath<huberLoss>),
    decomposes("aten::huber_loss_backward", inOpMath<huberLossBackward>),
    decomposes("aten::binary_cross_entropy", inOpMath<binaryCrossEntropy>),
    decomposes("aten::binary_cross_entropy_backward", inOpMath<binaryCrossEntropyBackward>),
    decomposes("aten::binary_cross_entropy_with_logits", inOpMath<binaryCrossEntropyWithLogits>),
    decomposes("aten::soft_margin_loss", inOpMath<softMarginLoss>),
    decomposes("aten::soft_margin_loss_backward", inOpMath<softMarginLossBackward>),
    decomposes("aten::nll_loss_forward", nllLossForward),
    decomposes("aten::nll_loss2d_forward", nllLossForward),
    decomposes("aten::nll_loss_backward", nllLossBackward),
    decomposes("aten::nll_loss2d_backward", nllLossBackward),
    decomposes("aten::multi_margin_loss", multiMarginLoss),
    decomposes("aten::multilabel_margin_loss_forward", multilabelMarginLossForward),
};

const OpRegistration lossDecompositions({.facts = lossDecompositionsTable});

}  // namespace

}  // namespace kerf::inline ops
