// Losses and distances of exported programs that PyTorch composes of other ops.
#include <cmath>
#include <limits>

#include "engine/ops/core/composite.h"
#include "engine/ops/core/op_registration.h"

namespace kerf::inline ops {
namespace {

constexpr std::int64_t mean = 1, sum = 2;  // and 0, or any other number: none

Result<Value> reduced(const BoundArguments& args, CompositeSteps& s, const Tensor& loss) {
  const std::int64_t reduction = args.integer(args.position("reduction"));
  if (reduction != mean && reduction != sum) return s.done(loss);
  return s.done(s(reduction == mean ? "aten.mean.default"_op : "aten.sum.default"_op, {loss}));
}

/// |x1 - x2 + eps| in the p-norm over the last dimension.
Tensor distance(CompositeSteps& s, const Value& a, const Value& b, double p, double eps, bool keep) {
  const Tensor difference = s("aten.sub.Tensor"_op, {a, b});
  const Tensor shifted = s("aten.add.Scalar"_op, {difference, eps});
  return s("aten.norm.ScalarOpt_dim"_op, {shifted, p, intList({-1}), keep});
}

Result<Value> pairwiseDistance(const BoundArguments& args, const OpRunner& run) {
  CompositeSteps s(run);
  return s.done(distance(s, args.values[0], args.values[1], args.number(2), args.number(3), args.boolean(4)));
}

Result<Value> cdist(const BoundArguments& args, const OpRunner& run) {
  return run.value("aten._cdist_forward.default"_op, args.values);
}
Result<Value> pdist(const BoundArguments& args, const OpRunner& run) {
  return run.value("aten._pdist_forward.default"_op, args.values);
}

/// max(0, margin - target * (x1 - x2))
Result<Value> marginRanking(const BoundArguments& args, const OpRunner& run) {
  CompositeSteps s(run);
  const Tensor turned = s("aten.neg.default"_op, {args.values[2]});
  const Tensor difference = s("aten.sub.Tensor"_op, {args.values[0], args.values[1]});
  const Tensor signs = s("aten.mul.Tensor"_op, {turned, difference});
  const Tensor shifted = s("aten.add.Scalar"_op, {signs, args.number(3)});
  return reduced(args, s, s("aten.clamp_min.default"_op, {shifted, std::int64_t{0}}));
}

/// `value` where target differs from (or equals) `label`, else 0.
Tensor whereTarget(CompositeSteps& s, OpId comparison, const Value& target, std::int64_t label, const Value& value) {
  const Tensor chosen = s(comparison, {target, label});
  const Tensor zero = s("aten.zeros_like.default"_op, {value});
  return s("aten.where.self"_op, {chosen, value, zero});
}

Result<Value> hingeEmbedding(const BoundArguments& args, const OpRunner& run) {
  CompositeSteps s(run);
  const Tensor turned = s("aten.neg.default"_op, {args.values[0]});
  const Tensor rest = s("aten.add.Scalar"_op, {turned, args.number(2)});
  const Tensor clamped = s("aten.clamp_min.default"_op, {rest, std::int64_t{0}});
  const Tensor apart = whereTarget(s, "aten.ne.Scalar"_op, args.values[1], 1, clamped);
  const Tensor alike = whereTarget(s, "aten.ne.Scalar"_op, args.values[1], -1, args.values[0]);
  return reduced(args, s, s("aten.add.Tensor"_op, {apart, alike}));
}

Result<Value> cosineEmbedding(const BoundArguments& args, const OpRunner& run) {
  CompositeSteps s(run);
  const Value dim = intList({args.tensor(2).dim()});
  const auto dot = [&](const Value& a, const Value& b) {
    const Tensor product = s("aten.mul.Tensor"_op, {a, b});
    return s("aten.sum.dim_IntList"_op, {product, dim});
  };
  constexpr double eps = 1e-12;
  const Tensor first = s("aten.add.Scalar"_op, {dot(args.values[0], args.values[0]), eps});
  const Tensor second = s("aten.add.Scalar"_op, {dot(args.values[1], args.values[1]), eps});
  const Tensor square = s("aten.mul.Tensor"_op, {first, second});
  const Tensor length = s("aten.sqrt.default"_op, {square});
  const Tensor cosine = s("aten.div.Tensor"_op, {dot(args.values[0], args.values[1]), length});
  const Tensor turned = s("aten.neg.default"_op, {cosine});
  const Tensor away = s("aten.add.Scalar"_op, {turned, 1.0});
  const Tensor over = s("aten.sub.Scalar"_op, {cosine, args.number(3)});
  const Tensor clamped = s("aten.clamp_min.default"_op, {over, std::int64_t{0}});
  const Tensor alike = whereTarget(s, "aten.eq.Scalar"_op, args.values[2], 1, away);
  const Tensor apart = whereTarget(s, "aten.eq.Scalar"_op, args.values[2], -1, clamped);
  return reduced(args, s, s("aten.add.Tensor"_op, {alike, apart}));
}

/// (anchor, positive, negative, margin, p, eps, swap, reduction)
Result<Value> tripletMargin(const BoundArguments& args, const OpRunner& run) {
  CompositeSteps s(run);
  const double p = args.number(4), eps = args.number(5);
  const Tensor positive = distance(s, args.values[0], args.values[1], p, eps, false);
  Tensor negative = distance(s, args.values[0], args.values[2], p, eps, false);
  if (args.boolean(6)) {
    const Tensor swapped = distance(s, args.values[1], args.values[2], p, eps, false);
    negative = s("aten.minimum.default"_op, {negative, swapped});
  }
  const Tensor shifted = s("aten.add.Scalar"_op, {positive, args.number(3)});
  const Tensor difference = s("aten.sub.Tensor"_op, {shifted, negative});
  return reduced(args, s, s("aten.clamp_min.default"_op, {difference, std::int64_t{0}}));
}

/// (input, target, log_input, full, eps, reduction)
Result<Value> poissonNll(const BoundArguments& args, const OpRunner& run) {
  CompositeSteps s(run);
  const Value &input = args.values[0], &target = args.values[1];
  Tensor rate, logarithm;
  if (args.boolean(2)) {
    rate = s("aten.exp.default"_op, {input});
    logarithm = input.tensor();
  } else {
    rate = input.tensor();
    const Tensor shifted = s("aten.add.Scalar"_op, {input, args.number(4)});
    logarithm = s("aten.log.default"_op, {shifted});
  }
  const Tensor gain = s("aten.mul.Tensor"_op, {target, logarithm});
  Tensor loss = s("aten.sub.Tensor"_op, {rate, gain});
  if (args.boolean(3)) {  // Stirling's log(target!) where target > 1
    const Tensor logTarget = s("aten.log.default"_op, {target});
    const Tensor product = s("aten.mul.Tensor"_op, {target, logTarget});
    const Tensor lowered = s("aten.sub.Tensor"_op, {product, target});
    const Tensor circle = s("aten.mul.Scalar"_op, {target, 2 * M_PI});
    const Tensor logCircle = s("aten.log.default"_op, {circle});
    const Tensor half = s("aten.mul.Scalar"_op, {logCircle, 0.5});
    const Tensor stirling = s("aten.add.Tensor"_op, {lowered, half});
    const Tensor small = s("aten.le.Scalar"_op, {target, std::int64_t{1}});
    const Tensor kept = s("aten.masked_fill.Scalar"_op, {stirling, small, std::int64_t{0}});
    loss = s("aten.add.Tensor"_op, {loss, kept});
  }
  return reduced(args, s, loss);
}

/// Target lengths as a tensor of at least 1 each.
Result<Tensor> lengthsOf(const BoundArguments& args, const OpRunner& run) {
  Value lengths = args.values[3];
  if (!lengths.isTensor()) {
    ValueList items;
    for (std::int64_t length : args.sizes(3)) {
      KERF_TRY(Tensor item, run("aten.full.default"_op, {intList({}), length}, {{"dtype", DType::Int64}}));
      items.emplace_back(std::move(item));
    }
    KERF_TRY(lengths, run("aten.stack.default"_op, {Value(std::move(items))}));
  }
  return run("aten.clamp_min.default"_op, {lengths, std::int64_t{1}});
}

/// (log_probs, targets, input_lengths, target_lengths, blank, reduction, zero_infinity)
Result<Value> ctcLoss(const BoundArguments& args, const OpRunner& run) {
  const bool tensors = args.values[2].isTensor();
  KERF_TRY(const Value parts,
           run.value(tensors ? "aten._ctc_loss.Tensor"_op : "aten._ctc_loss.default"_op,
                     {args.values[0], args.values[1], args.values[2], args.values[3], args.values[4], args.values[6]}));
  CompositeSteps s(run);
  Tensor loss = parts.list()[0].tensor();
  if (args.boolean(6)) {
    const Tensor infinite = s("aten.eq.Scalar"_op, {loss, std::numeric_limits<double>::infinity()});
    loss = s("aten.masked_fill.Scalar"_op, {loss, infinite, std::int64_t{0}});
  }
  if (args.integer(5) == mean) {
    KERF_TRY(const Tensor lengths, lengthsOf(args, run));
    loss = s("aten.div.Tensor"_op, {loss, lengths});
  }
  return reduced(args, s, loss);
}

#define KERF_CTC "int blank=0, int reduction=1, bool zero_infinity=False) -> Tensor"
constexpr OpRow compositeLossRows[] = {
    compositeRow(cdist, "aten::cdist(Tensor x1, Tensor x2, float p=2, int? compute_mode=None) -> Tensor"),
    compositeRow(pdist, "aten::pdist(Tensor self, float p=2) -> Tensor"),
    compositeRow(
        pairwiseDistance,
        "aten::pairwise_distance(Tensor x1, Tensor x2, float p=2, float eps=1e-06, bool keepdim=False) -> Tensor"),
    compositeRow(marginRanking,
                 "aten::margin_ranking_loss(Tensor input1, Tensor input2, Tensor target, float "
                 "margin=0.0, int reduction=1) -> Tensor"),
    compositeRow(hingeEmbedding,
                 "aten::hinge_embedding_loss(Tensor self, Tensor target, float margin=1.0, int reduction=1) -> Tensor"),
    compositeRow(cosineEmbedding,
                 "aten::cosine_embedding_loss(Tensor input1, Tensor input2, Tensor target, float "
                 "margin=0.0, int reduction=1) -> Tensor"),
    compositeRow(
        tripletMargin,
        "aten::triplet_margin_loss(Tensor anchor, Tensor positive, Tensor negative, float margin=1.0, float p=2, float "
        "eps=1e-06, bool swap=False, int reduction=1) -> Tensor"),
    compositeRow(poissonNll,
                 "aten::poisson_nll_loss(Tensor input, Tensor target, bool log_input, bool full, float eps, "
                 "int reduction) -> Tensor"),
    compositeRow(ctcLoss,
                 "aten::ctc_loss.IntList(Tensor log_probs, Tensor targets, int[] input_lengths, int[] "
                 "target_lengths, " KERF_CTC),
    compositeRow(ctcLoss,
                 "aten::ctc_loss.Tensor(Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor "
                 "target_lengths, " KERF_CTC),
};

const OpRegistration compositeLossOps({.rows = compositeLossRows});

}  // namespace

}  // namespace kerf::inline ops
