// Connectionist temporal classification: forward variables and loss, and the gradient by the log probabilities.
#include <algorithm>
#include <cmath>

#include "engine/ops/core/op_registration.h"
#include "engine/ops/kernels/indexing.h"
#include "engine/ops/kernels/planes.h"

namespace kerf::inline ops {
namespace {

constexpr double impossible = -std::numeric_limits<double>::infinity();

/// log(exp(a) + exp(b) + exp(c)), -inf where all are.
double logSum(double a, double b, double c = impossible) {
  const double most = std::max({a, b, c});
  if (most == impossible) return impossible;
  return std::log(std::exp(a - most) + std::exp(b - most) + std::exp(c - most)) + most;
}

/// Arguments in common: log_probs [T, N, C], targets [N, S] or [sum of lengths], lengths, blank.
struct Ctc {
  std::int64_t steps = 0, batch = 0, classes = 0, blank = 0, longest = 0;
  std::vector<std::int64_t> inputLengths, targetLengths, targets;
  std::vector<std::int64_t> targetStarts;
  Doubles logProbs;

  double logProb(std::int64_t t, std::int64_t n, std::int64_t c) const {
    return logProbs[std::size_t((t * batch + n) * classes + c)];
  }
  std::int64_t states(std::int64_t n) const { return 2 * targetLengths[std::size_t(n)] + 1; }
  /// Label of state s: blanks between the target's labels.
  std::int64_t label(std::int64_t n, std::int64_t s) const {
    return s % 2 == 0 ? blank : targets[std::size_t(targetStarts[std::size_t(n)] + s / 2)];
  }
  std::int64_t width() const { return 2 * longest + 1; }
};

Result<std::vector<std::int64_t>> lengthsOf(const BoundArguments& args, std::size_t i) {
  if (args.values[i].isTensor()) return integerValues(args.tensor(i));
  return args.sizes(i);
}

Result<void> checkProbs(const BoundArguments& args, const Tensor& logProbs, const Tensor& targets) {
  if (logProbs.dim() != 3 || (logProbs.dtype() != DType::Float32 && logProbs.dtype() != DType::Float64))
    return mismatch(args, "argument 'log_probs' must be float32 or float64 with 3 dimensions");
  if (!isIntegral(targets.dtype()) || targets.dim() < 1 || targets.dim() > 2)
    return mismatch(args, "argument 'targets' must be integers in 1 or 2 dimensions");
  return {};
}

Result<void> placeTargets(const BoundArguments& args, const Tensor& targets, Ctc& ctc) {
  KERF_TRY(ctc.targets, integerValues(targets));
  std::int64_t next = 0;
  for (std::int64_t n = 0; n < ctc.batch; ++n) {
    const std::int64_t length = ctc.targetLengths[std::size_t(n)];
    const std::int64_t start = targets.dim() == 2 ? n * targets.size(1) : next;
    const std::int64_t room = targets.dim() == 2 ? targets.size(1) : targets.numel() - next;
    if (length < 0 || length > room) return mismatch(args, "target length {} does not fit targets", length);
    for (std::int64_t k = 0; k < length; ++k)
      KERF_CHECK(checkIndex(args, ctc.targets[std::size_t(start + k)], ctc.classes, 2));
    ctc.targetStarts.push_back(start);
    ctc.longest = std::max(ctc.longest, length);
    next += length;
  }
  return {};
}

/// Arguments from `first`: log_probs, targets, input_lengths, target_lengths.
Result<Ctc> readCtc(const BoundArguments& args, std::size_t first) {
  const Tensor &logProbs = args.tensor(first), &targets = args.tensor(first + 1);
  KERF_CHECK(checkProbs(args, logProbs, targets));
  Ctc ctc;
  ctc.steps = logProbs.size(0);
  ctc.batch = logProbs.size(1);
  ctc.classes = logProbs.size(2);
  ctc.blank = args.integer(args.position("blank"));
  if (ctc.blank < 0 || ctc.blank >= ctc.classes)
    return mismatch(args, "argument 'blank' is out of range: {}", ctc.blank);
  KERF_TRY(ctc.inputLengths, lengthsOf(args, first + 2));
  KERF_TRY(ctc.targetLengths, lengthsOf(args, first + 3));
  const auto batch = std::size_t(ctc.batch);
  if (ctc.inputLengths.size() != batch || ctc.targetLengths.size() != batch)
    return mismatch(args, "input_lengths and target_lengths need {} entries", ctc.batch);
  for (std::int64_t length : ctc.inputLengths)
    if (length < 0 || length > ctc.steps) return mismatch(args, "input length {} is out of range", length);
  KERF_CHECK(placeTargets(args, targets, ctc));
  KERF_TRY(ctc.logProbs, doublesOf(logProbs));
  return ctc;
}

Result<Value> lossShape(const BoundArguments& args) {
  KERF_CHECK(checkProbs(args, args.tensor(0), args.tensor(1)));
  if (args.values[3].isTensor() && !args.tensor(3).defined())
    return fail(ErrorCode::UnsupportedOp, "{}: the shape depends on values", args.opName());
  SymSizes lengths = args.symSizes(3);
  if (args.values[3].isTensor()) {
    KERF_TRY(lengths, integerValues(args.tensor(3)));
  }
  SymInt longest = 0;
  for (const SymInt length : lengths) longest = symMax(longest, length);
  if (staticallyKnown(longest > (1LL << 40))) return mismatch(args, "target length {} is out of range", longest);
  const Tensor& logProbs = args.tensor(0);
  const SymInt batch = logProbs.symSize(1), steps = logProbs.symSize(0);
  return Value(ValueList{metaTensor(logProbs.dtype(), SymSizes{batch}),
                         metaTensor(logProbs.dtype(), SymSizes{batch, steps, 2 * longest + 1})});
}

/// Fills one batch entry's rows of alpha; returns its loss.
double forwardVariables(const Ctc& ctc, std::int64_t n, double* alpha) {
  const std::int64_t steps = ctc.inputLengths[std::size_t(n)], states = ctc.states(n);
  if (ctc.steps > 0) std::fill(alpha, alpha + ctc.width(), impossible);
  if (steps == 0) return states == 1 ? 0 : -impossible;
  alpha[0] = ctc.logProb(0, n, ctc.blank);
  if (states > 1) alpha[1] = ctc.logProb(0, n, ctc.label(n, 1));
  for (std::int64_t t = 1; t < steps; ++t) {
    const double* before = alpha + (t - 1) * ctc.width();
    for (std::int64_t s = 0; s < states; ++s) {
      const bool skips = s > 1 && ctc.label(n, s - 2) != ctc.label(n, s);
      alpha[t * ctc.width() + s] =
          logSum(before[s], s > 0 ? before[s - 1] : impossible, skips ? before[s - 2] : impossible) +
          ctc.logProb(t, n, ctc.label(n, s));
    }
  }
  const double* last = alpha + (steps - 1) * ctc.width();
  return -logSum(last[states - 1], states > 1 ? last[states - 2] : impossible);
}

Result<Value> lossKernel(const BoundArguments& args) {
  KERF_TRY(const std::vector<Tensor> outs, makeOutputs(args));
  KERF_TRY(const Ctc ctc, readCtc(args, 0));
  Doubles alpha(std::size_t(outs[1].numel()), 0.0), losses;
  for (std::int64_t n = 0; n < ctc.batch; ++n)
    losses.push_back(forwardVariables(ctc, n, alpha.data() + n * ctc.steps * ctc.width()));
  KERF_CHECK(writeValues(losses, outs[0]));
  KERF_CHECK(writeValues(alpha, outs[1]));
  return tensorList(outs);
}

// _ctc_loss_backward(grad, log_probs, targets, input_lengths, target_lengths, neg_log_likelihood, log_alpha, blank,
//                    zero_infinity)

Result<Value> gradShape(const BoundArguments& args) {
  KERF_CHECK(checkProbs(args, args.tensor(1), args.tensor(2)));
  return Value(metaTensor(args.tensor(1).dtype(), args.tensor(1).symSizes()));
}

/// log of the sum over states with label c of alpha·beta, per step and class.
void backwardVariables(const Ctc& ctc, std::int64_t n, const double* alpha, Doubles& sums) {
  const std::int64_t steps = ctc.inputLengths[std::size_t(n)], states = ctc.states(n);
  Doubles beta(std::size_t(states), impossible), next = beta;
  for (std::int64_t t = steps; t-- > 0; std::swap(beta, next)) {
    for (std::int64_t s = 0; s < states; ++s) {
      const auto at = std::size_t(s);
      const bool skips = s + 2 < states && ctc.label(n, s + 2) != ctc.label(n, s);
      double& own = next[at];
      if (t == steps - 1)
        own = s >= states - 2 ? 0 : impossible;
      else
        own = logSum(beta[at], s + 1 < states ? beta[at + 1] : impossible, skips ? beta[at + 2] : impossible);
      own += ctc.logProb(t, n, ctc.label(n, s));
      double& sum = sums[std::size_t((t * ctc.batch + n) * ctc.classes + ctc.label(n, s))];
      sum = logSum(sum, alpha[t * ctc.width() + s] + own);
    }
  }
}

Result<Value> gradKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  KERF_TRY(const Ctc ctc, readCtc(args, 1));
  KERF_TRY(const Doubles grad, doublesOf(args.tensor(0), Sizes{ctc.batch}));
  KERF_TRY(const Doubles losses, doublesOf(args.tensor(5)));
  KERF_TRY(const Doubles alpha, doublesOf(args.tensor(6)));
  const auto wantedAlpha = std::size_t(ctc.batch * ctc.steps * ctc.width());
  if (alpha.size() != wantedAlpha || losses.size() != std::size_t(ctc.batch))
    return mismatch(args, "neg_log_likelihood or log_alpha have the wrong size");
  Doubles sums(std::size_t(out.numel()), impossible);
  for (std::int64_t n = 0; n < ctc.batch; ++n)
    backwardVariables(ctc, n, alpha.data() + n * ctc.steps * ctc.width(), sums);
  for (std::int64_t i = 0; i < std::int64_t(sums.size()); ++i) {
    const auto n = std::size_t(i / ctc.classes % ctc.batch);
    double& value = sums[std::size_t(i)];
    const bool padding = i / (ctc.classes * ctc.batch) >= ctc.inputLengths[n];
    const double logProb = ctc.logProbs[std::size_t(i)];
    if (padding || (args.boolean(8) && std::isinf(losses[n])))
      value = 0;
    else
      value = (std::exp(logProb) - std::exp(value + losses[n] - logProb)) * grad[n];
  }
  KERF_CHECK(writeValues(sums, out));
  return Value(std::move(out));
}

#define KERF_CTC_TAIL ", int blank=0, bool zero_infinity=False) -> (Tensor, Tensor)"
#define KERF_CTC_BACK_TAIL "Tensor neg_log_likelihood, Tensor log_alpha, int blank, bool zero_infinity=False) -> Tensor"

constexpr OpRow ctcLossRows[] = {
    {"aten::_ctc_loss(Tensor log_probs, Tensor targets, int[] input_lengths, int[] target_lengths" KERF_CTC_TAIL,
     OpTrait::None, lossShape, lossKernel},
    {"aten::_ctc_loss.Tensor(Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor "
     "target_lengths" KERF_CTC_TAIL,
     OpTrait::None, lossShape, lossKernel},
    {"aten::_ctc_loss_backward(Tensor grad, Tensor log_probs, Tensor targets, int[] input_lengths, int[] "
     "target_lengths, " KERF_CTC_BACK_TAIL,
     OpTrait::None, gradShape, gradKernel},
    {"aten::_ctc_loss_backward.Tensor(Tensor grad, Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor "
     "target_lengths, " KERF_CTC_BACK_TAIL,
     OpTrait::None, gradShape, gradKernel},
};

const OpRegistration ctcLossOps({.rows = ctcLossRows});

}  // namespace

}  // namespace kerf::inline ops
