// Losses of pairs of elements and their backwards. `reduction`: 0 none, 1 mean, 2 sum.
#include <cmath>

#include "engine/ops/core/op_registration.h"
#include "engine/ops/core/type_promotion.h"
#include "engine/ops/kernels/doubles.h"
#include "engine/ops/kernels/planes.h"
#include "engine/ops/nn/loss_reduction.h"
#include "engine/tensor/copy.h"

namespace kerf::inline ops {
namespace {

// Losses of two tensors and one parameter: value and derivative by the first

struct PairLoss {
  std::string_view name;       ///< of the forward op
  std::string_view parameter;  ///< schema name, empty if none
  double (*value)(double x, double target, double p);
  double (*slope)(double x, double target, double p);
};

constexpr PairLoss pairLosses[] = {
    {"aten::mse_loss", "", [](double x, double t, double) { return (x - t) * (x - t); },
     [](double x, double t, double) { return 2 * (x - t); }},
    {"aten::smooth_l1_loss", "beta",
     [](double x, double t, double beta) {
       const double d = std::abs(x - t);
       return d < beta ? 0.5 * d * d / beta : d - 0.5 * beta;
     },
     [](double x, double t, double beta) {
       const double d = x - t;
       return d <= -beta ? -1.0 : d >= beta ? 1.0 : d / beta;
     }},
    {"aten::huber_loss", "delta",
     [](double x, double t, double delta) {
       const double d = std::abs(x - t);
       return d <= delta ? 0.5 * d * d : delta * (d - 0.5 * delta);
     },
     [](double x, double t, double delta) { return std::clamp(x - t, -delta, delta); }},
    {"aten::soft_margin_loss", "", [](double x, double t, double) { return std::log1p(std::exp(-t * x)); },
     [](double x, double t, double) { return -t / (1 + std::exp(t * x)); }},
};

const PairLoss& pairLoss(const BoundArguments& args) {
  for (const PairLoss& loss : pairLosses)
    if (args.op->schema.name.starts_with(loss.name)) return loss;
  return pairLosses[0];
}

double parameterOf(const BoundArguments& args, const PairLoss& loss) {
  return loss.parameter.empty() ? 0 : args.number(args.position(loss.parameter));
}

Result<SymSizes> commonSizes(const BoundArguments& args, std::initializer_list<std::size_t> positions) {
  SymSizes sizes;
  for (std::size_t i : positions) {
    auto next = broadcastSizes(sizes, args.tensor(i).symSizes());
    if (!next) return mismatch(args, "{}", next.error().message);
    sizes = std::move(*next);
  }
  return sizes;
}

Result<Value> lossShape(const BoundArguments& args) {
  KERF_TRY(const SymSizes sizes, commonSizes(args, {0, 1}));
  const DType dtype = resultType(std::vector<Value>{args.values[0], args.values[1]});
  if (reductionOf(args) != LossReduction::None) return Value(metaTensor(dtype, Sizes{}));
  const Tensor operands[] = {args.tensor(0), args.tensor(1)};
  return Value(metaTensor(dtype, sizes, elementwiseStrides(operands, sizes)));
}

Result<Value> reduced(const BoundArguments& args, Doubles values) {
  KERF_TRY(Tensor out, makeOutput(args));
  if (reductionOf(args) != LossReduction::None) {
    ExactSum sum;
    for (double value : values) sum.add(value);
    const auto count = double(values.size());
    values.assign(1, reductionOf(args) == LossReduction::Mean ? sum.value() / count : sum.value());
  }
  KERF_CHECK(writeValues(values, out));
  return Value(std::move(out));
}

/// log1p(exp(-x·t)), rounded after every step.
double softMarginIn(DType dtype, double x, double target) {
  return roundedTo(dtype, std::log1p(roundedTo(dtype, std::exp(roundedTo(dtype, -x * target)))));
}

Result<Value> pairKernel(const BoundArguments& args) {
  KERF_TRY(const Sizes sizes, commonSizes(args, {0, 1}));
  KERF_TRY(Doubles x, doublesOf(args.tensor(0), sizes));
  KERF_TRY(const Doubles target, doublesOf(args.tensor(1), sizes));
  const PairLoss& loss = pairLoss(args);
  const double p = parameterOf(args, loss);
  const DType dtype = resultType(std::vector<Value>{args.values[0], args.values[1]});
  const bool composed = loss.name == "aten::soft_margin_loss" && itemSize(dtype) < 4 && isFloating(dtype);
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = composed ? softMarginIn(dtype, x[i], target[i]) : loss.value(x[i], target[i], p);
  return reduced(args, std::move(x));
}

/// Backwards take grad_output first; mean divides by the element count.
Result<Value> lossBackwardShape(const BoundArguments& args) {
  KERF_TRY(const SymSizes sizes, commonSizes(args, {0, 1, 2}));
  const Tensor operands[] = {args.tensor(1), args.tensor(2)};
  const DType dtype = resultType(std::vector<Value>{args.values[1], args.values[2]});
  return Value(metaTensor(dtype, sizes, elementwiseStrides(operands, sizes)));
}

double meanFactor(const BoundArguments& args, std::size_t count) {
  return reductionOf(args) == LossReduction::Mean ? 1.0 / double(count) : 1.0;
}

/// mse: scale·(x-t)·grad, and soft margin: -norm·t·z/(1+z)·grad of z = exp(-t·x), in steps that round to `dtype` as
/// their kernels do; there an overflowing z gives NaN.
double steppedSlope(const BoundArguments& args, DType dtype, double x, double target, double grad, double factor) {
  const auto r = [dtype](double value) { return roundedTo(dtype, value); };
  if (args.op->id == "aten.mse_loss_backward.default"_op) return r(r(r(2 * factor) * r(x - target)) * grad);
  const double z = r(std::exp(r(-target * x)));
  return r(r(r(r(target * z) * -r(factor)) / r(z + 1)) * grad);
}

Result<Value> pairBackwardKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  KERF_TRY(Doubles grad, doublesOf(args.tensor(0), out.sizes()));
  KERF_TRY(const Doubles x, doublesOf(args.tensor(1), out.sizes()));
  KERF_TRY(const Doubles target, doublesOf(args.tensor(2), out.sizes()));
  const PairLoss& loss = pairLoss(args);
  const double p = parameterOf(args, loss), factor = meanFactor(args, x.size());
  const bool steps = loss.name == "aten::mse_loss" || loss.name == "aten::soft_margin_loss";
  for (std::size_t i = 0; i < x.size(); ++i)
    grad[i] = steps ? steppedSlope(args, out.dtype(), x[i], target[i], grad[i], factor)
                    : grad[i] * (loss.slope(x[i], target[i], p) * factor);
  KERF_CHECK(writeValues(grad, out));
  return Value(std::move(out));
}

// Binary cross entropy

Result<Doubles> weightsFor(const BoundArguments& args, std::string_view name, const Sizes& sizes) {
  const Tensor* weight = args.tensorIf(args.position(name));
  if (weight) return doublesOf(*weight, sizes);
  KERF_TRY(const std::int64_t count, checkedNumel(sizes));
  return Doubles(std::size_t(count), 1.0);
}

Result<Value> entropyKernel(const BoundArguments& args) {
  const Sizes sizes = args.tensor(0).sizes();
  KERF_TRY(Doubles x, doublesOf(args.tensor(0)));
  KERF_TRY(const Doubles target, doublesOf(args.tensor(1), sizes));
  KERF_TRY(const Doubles weight, weightsFor(args, "weight", sizes));
  const DType dtype = args.tensor(0).dtype();
  const DType step = isFloating(dtype) && itemSize(dtype) < 4 ? dtype : DType::Float64;
  const auto r = [step](double value) { return roundedTo(step, value); };  // 16-bit floats round after every step
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!(x[i] >= 0 && x[i] <= 1))
      return fail(ErrorCode::RuntimeFailed, "{}: all elements of input should be between 0 and 1", args.opName());
    const double other = r(r(target[i] - 1) * std::max(r(std::log1p(-x[i])), -100.0));
    x[i] = r(weight[i] * r(other - r(target[i] * std::max(r(std::log(x[i])), -100.0))));
  }
  return reduced(args, std::move(x));
}

Result<Value> entropyBackwardKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  KERF_TRY(Doubles grad, doublesOf(args.tensor(0), out.sizes()));
  KERF_TRY(const Doubles x, doublesOf(args.tensor(1), out.sizes()));
  KERF_TRY(const Doubles target, doublesOf(args.tensor(2), out.sizes()));
  KERF_TRY(const Doubles weight, weightsFor(args, "weight", out.sizes()));
  const double factor = meanFactor(args, x.size());
  for (std::size_t i = 0; i < x.size(); ++i)
    grad[i] *= (x[i] - target[i]) / std::max((1 - x[i]) * x[i], 1e-12) * weight[i] * factor;
  KERF_CHECK(writeValues(grad, out));
  return Value(std::move(out));
}

Result<Value> logitEntropyKernel(const BoundArguments& args) {
  KERF_TRY(const Sizes sizes, commonSizes(args, {0, 1}));
  KERF_TRY(Doubles x, doublesOf(args.tensor(0), sizes));
  KERF_TRY(const Doubles target, doublesOf(args.tensor(1), sizes));
  KERF_TRY(const Doubles weight, weightsFor(args, "weight", sizes));
  KERF_TRY(const Doubles positive, weightsFor(args, "pos_weight", sizes));
  const DType dtype = resultType(std::vector<Value>{args.values[0], args.values[1]});
  const DType step = isFloating(dtype) && itemSize(dtype) < 4 ? dtype : DType::Float64;
  const auto r = [step](double value) { return roundedTo(step, value); };  // 16-bit floats round after every step
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double logWeight = r(r(r(positive[i] - 1) * target[i]) + 1);
    const double logSigmoid = -r(std::log1p(std::exp(-std::abs(x[i]))) + std::max(-x[i], 0.0));
    x[i] = r(weight[i] * r(r(r(1 - target[i]) * x[i]) - r(logWeight * logSigmoid)));
  }
  return reduced(args, std::move(x));
}

constexpr OpTrait reduction = OpTrait::Reduction;
constexpr OpTrait pointwise = OpTrait::Pointwise;
constexpr OpRow lossRows[] = {
    {"aten::mse_loss(Tensor self, Tensor target, int reduction=1) -> Tensor", reduction, lossShape, pairKernel},
    {"aten::smooth_l1_loss(Tensor self, Tensor target, int reduction=1, float beta=1.) -> Tensor", reduction, lossShape,
     pairKernel},
    {"aten::huber_loss(Tensor self, Tensor target, int reduction=1, float delta=1.) -> Tensor", reduction, lossShape,
     pairKernel},
    {"aten::soft_margin_loss(Tensor self, Tensor target, int reduction=1) -> Tensor", reduction, lossShape, pairKernel},
    {"aten::mse_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction) -> Tensor", pointwise,
     lossBackwardShape, pairBackwardKernel},
    {"aten::smooth_l1_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction, float beta) -> "
     "Tensor",
     pointwise, lossBackwardShape, pairBackwardKernel},
    {"aten::huber_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction, float delta) -> Tensor",
     pointwise, lossBackwardShape, pairBackwardKernel},
    {"aten::soft_margin_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction) -> Tensor",
     pointwise, lossBackwardShape, pairBackwardKernel},
    {"aten::binary_cross_entropy(Tensor self, Tensor target, Tensor? weight=None, int reduction=1) -> Tensor",
     reduction, lossShape, entropyKernel},
    {"aten::binary_cross_entropy_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight=None, int "
     "reduction=1) -> Tensor",
     pointwise, lossBackwardShape, entropyBackwardKernel},
    {"aten::binary_cross_entropy_with_logits(Tensor self, Tensor target, Tensor? weight=None, Tensor? pos_weight=None, "
     "int reduction=1) -> Tensor",
     reduction, lossShape, logitEntropyKernel},
};

const OpRegistration lossOps({.rows = lossRows});

}  // namespace

}  // namespace kerf::inline ops
