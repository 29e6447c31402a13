// Loss functions and their backwards. `reduction`: 0 none, 1 mean, 2 sum.
#include <array>
#include <bit>
#include <cmath>

#include "engine/ops/core/doubles.h"
#include "engine/ops/core/op_row.h"
#include "engine/ops/core/type_promotion.h"
#include "engine/ops/index/indexing.h"
#include "engine/ops/nn/planes.h"
#include "engine/tensor/copy.h"

namespace kerf::inline ops {
namespace {

enum class Reduction : std::int64_t { None, Mean, Sum };

Reduction reductionOf(const BoundArguments& args) {
  return static_cast<Reduction>(args.integer(args.position("reduction")));
}

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
  if (reductionOf(args) != Reduction::None) return Value(metaTensor(dtype, Sizes{}));
  const Tensor operands[] = {args.tensor(0), args.tensor(1)};
  return Value(metaTensor(dtype, sizes, elementwiseStrides(operands, sizes)));
}

Result<Value> reduced(const BoundArguments& args, Doubles values) {
  KERF_TRY(Tensor out, makeOutput(args));
  if (reductionOf(args) != Reduction::None) {
    ExactSum sum;
    for (double value : values) sum.add(value);
    const auto count = double(values.size());
    values.assign(1, reductionOf(args) == Reduction::Mean ? sum.value() / count : sum.value());
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
  return reductionOf(args) == Reduction::Mean ? 1.0 / double(count) : 1.0;
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

// Negative log likelihood: self [C], [N, C] or [N, C, *]; target without the class dimension

struct Classes {
  std::int64_t samples = 1, classes = 1, area = 1;
  Sizes targetSizes;
};

/// The shape of self without its class dimension, which the target must have.
Result<SymSizes> targetSizes(const BoundArguments& args, const Tensor& self, const Tensor& target) {
  if (self.dim() < 1) return mismatch(args, "self needs at least one dimension");
  SymSizes sizes = self.symSizes();
  sizes.erase(sizes.begin() + (self.dim() == 1 ? 0 : 1));
  if (!checkEqual(target.symSizes(), sizes))
    return mismatch(args, "target has shape [{}], expected [{}]", fmt::join(target.symSizes(), ", "),
                    fmt::join(sizes, ", "));
  return sizes;
}

Result<Classes> classesOf(const BoundArguments& args, const Tensor& self, const Tensor& target) {
  Classes result;
  KERF_TRY(result.targetSizes, targetSizes(args, self, target));
  const std::int64_t classDim = self.dim() == 1 ? 0 : 1;
  result.classes = self.size(classDim);
  for (std::int64_t d = 0; d < self.dim(); ++d)
    if (d != classDim) (d == 0 ? result.samples : result.area) *= self.size(d);
  return result;
}

Result<Doubles> classWeights(const BoundArguments& args, std::int64_t classes) {
  const Tensor* weight = args.tensorIf(args.position("weight"));
  if (!weight) return Doubles(std::size_t(classes), 1.0);
  if (weight->dim() != 1 || weight->size(0) != classes)
    return mismatch(args, "argument 'weight' must have {} elements", classes);
  return doublesOf(*weight);
}

Result<Value> likelihoodShape(const BoundArguments& args) {
  KERF_TRY(SymSizes sizes, targetSizes(args, args.tensor(0), args.tensor(1)));
  const DType dtype = args.tensor(0).dtype();
  if (reductionOf(args) != Reduction::None) sizes.clear();
  return Value(ValueList{metaTensor(dtype, sizes), metaTensor(dtype, SymSizes{})});
}

/// visit(sample position, flat index into self, class) for every target that is not ignored.
template <class Visit>
Result<void> forTargets(const BoundArguments& args, const Classes& classes, const Tensor& target, Visit&& visit) {
  KERF_TRY(const auto values, integerValues(target));
  const std::int64_t ignored = args.integer(args.position("ignore_index"));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] == ignored) continue;
    KERF_CHECK(checkIndex(args, values[i], classes.classes, 1));
    const auto at = std::int64_t(i);
    visit(i, std::size_t((at / classes.area * classes.classes + values[i]) * classes.area + at % classes.area),
          std::size_t(values[i]));
  }
  return {};
}

/// Sums in the tensor's own type over blocks of at least 16 samples and blocks of blocks, as PyTorch's kernel does.
class CascadeSum {
 public:
  CascadeSum(DType dtype, std::int64_t samples) : m_dtype(dtype) {
    const int bits = samples > 1 ? int(std::bit_width(std::uint64_t(samples - 1))) : 0;
    m_power = std::max(4, bits / int(m_levels.size()));
  }
  void add(double value) { m_levels[0] = roundedTo(m_dtype, m_levels[0] + value); }
  /// Carries full blocks up after the sample at this position.
  void carryAfter(std::int64_t position) {
    for (std::size_t j = 0; j + 1 < m_levels.size(); ++j) {
      const int shift = int(j) * m_power;
      if (shift >= 63 || (position >> shift) % (std::int64_t{1} << m_power) != 0) break;
      m_levels[j + 1] = roundedTo(m_dtype, m_levels[j + 1] + m_levels[j]);
      m_levels[j] = 0;
    }
  }
  double value() const {
    double sum = 0;
    for (double level : m_levels) sum = roundedTo(m_dtype, sum + level);
    return sum;
  }

 private:
  DType m_dtype;
  int m_power = 4;
  std::array<double, 8> m_levels{};
};

Result<Value> likelihoodKernel(const BoundArguments& args) {
  KERF_TRY(const std::vector<Tensor> outs, makeOutputs(args));
  KERF_TRY(const Classes classes, classesOf(args, args.tensor(0), args.tensor(1)));
  KERF_TRY(const Doubles x, doublesOf(args.tensor(0)));
  KERF_TRY(const Doubles weight, classWeights(args, classes.classes));
  KERF_TRY(const std::int64_t count, checkedNumel(classes.targetSizes));
  Doubles losses(std::size_t(count), 0.0);
  const DType dtype = outs[0].dtype();
  const bool weighted = args.tensorIf(args.position("weight")) != nullptr;
  CascadeSum sum(dtype, count), weights(dtype, count);
  double targets = 0;
  KERF_CHECK(forTargets(args, classes, args.tensor(1), [&](std::size_t i, std::size_t flat, std::size_t c) {
    losses[i] = -roundedTo(dtype, x[flat] * weight[c]);
    sum.add(losses[i]);
    weights.add(weight[c]);
    ++targets;
    sum.carryAfter(std::int64_t(i));
    weights.carryAfter(std::int64_t(i));
  }));
  const Reduction reduction = reductionOf(args);
  const double total = weighted ? weights.value() : targets;
  const bool eachSample = reduction == Reduction::None && args.tensor(0).dim() > 1;  // one sample is its own sum
  if (!eachSample) losses.assign(1, reduction == Reduction::Mean ? sum.value() / total : sum.value());
  KERF_CHECK(writeValues(losses, outs[0]));
  KERF_CHECK(writeValues(Doubles{eachSample ? 0 : total}, outs[1]));
  return tensorList(outs);
}

Result<Value> likelihoodBackwardShape(const BoundArguments& args) {
  KERF_CHECK(targetSizes(args, args.tensor(1), args.tensor(2)));
  return Value(metaTensor(args.tensor(1).dtype(), args.tensor(1).symSizes()));
}

Result<Value> likelihoodBackwardKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  KERF_TRY(const Classes classes, classesOf(args, args.tensor(1), args.tensor(2)));
  KERF_TRY(const Doubles grad, doublesOf(args.tensor(0), classes.targetSizes));
  KERF_TRY(const Doubles weight, classWeights(args, classes.classes));
  const double total = args.tensor(6).numel() == 1 ? args.tensor(6).itemAsDouble() : 1;
  const double divisor = reductionOf(args) == Reduction::Mean ? total : 1;
  Doubles values(std::size_t(out.numel()), 0.0);
  KERF_CHECK(forTargets(args, classes, args.tensor(2), [&](std::size_t i, std::size_t flat, std::size_t c) {
    values[flat] = -grad[i] * weight[c] / divisor;
  }));
  KERF_CHECK(writeValues(values, out));
  return Value(std::move(out));
}

// Margin losses over [N, C] or [C]

Result<Value> marginBackwardShape(const BoundArguments& args) {
  if (args.tensor(1).dim() > 2) return mismatch(args, "self must have at most 2 dimensions");
  return Value(metaTensor(args.tensor(1).dtype(), args.tensor(1).symSizes()));
}

struct Rows {
  std::int64_t count, width;
};
Rows rowsOf(const Tensor& self) {
  return {self.dim() == 2 ? self.size(0) : 1, self.dim() == 0 ? 1 : self.sizes().back()};
}

Result<Value> multiMarginBackwardKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  const Rows rows = rowsOf(args.tensor(1));
  KERF_TRY(const Doubles grad, doublesOf(args.tensor(0), Sizes{rows.count}));
  KERF_TRY(const Doubles x, doublesOf(args.tensor(1)));
  KERF_TRY(const auto target, integerValues(args.tensor(2)));
  KERF_TRY(const Doubles weight, classWeights(args, rows.width));
  if (std::int64_t(target.size()) != rows.count)
    return mismatch(args, "target has {} elements, expected {}", target.size(), rows.count);
  const double p = args.number(3), margin = args.number(4);
  const double factor = 1 / double(rows.width) / (reductionOf(args) == Reduction::Mean ? double(rows.count) : 1);
  Doubles values(x.size(), 0.0);
  for (std::int64_t r = 0; r < rows.count; ++r) {
    const std::int64_t right = target[std::size_t(r)];
    KERF_CHECK(checkIndex(args, right, rows.width, 1));
    for (std::int64_t c = 0; c < rows.width; ++c) {
      const auto own = std::size_t(r * rows.width + right), other = std::size_t(r * rows.width + c);
      const double z = margin - x[own] + x[other];
      if (c == right || z <= 0) continue;
      const double slope = (p == 1 ? 1 : 2 * z) * factor * weight[std::size_t(right)] * grad[std::size_t(r)];
      values[other] += slope;
      values[own] -= slope;
    }
  }
  KERF_CHECK(writeValues(values, out));
  return Value(std::move(out));
}

Result<Value> multilabelBackwardKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  const Rows rows = rowsOf(args.tensor(1));
  KERF_TRY(const Doubles grad, doublesOf(args.tensor(0), Sizes{rows.count}));
  KERF_TRY(const Doubles x, doublesOf(args.tensor(1)));
  KERF_TRY(const auto target, integerValues(args.tensor(2)));
  KERF_TRY(const Doubles isTarget, doublesOf(args.tensor(4)));
  if (target.size() != x.size() || isTarget.size() != x.size()) return mismatch(args, "target and self differ in size");
  const double factor = 1 / double(rows.width) / (reductionOf(args) == Reduction::Mean ? double(rows.count) : 1);
  Doubles values(x.size(), 0.0);
  for (std::int64_t r = 0; r < rows.count; ++r)
    for (std::int64_t k = 0; k < rows.width; ++k) {
      const std::int64_t label = target[std::size_t(r * rows.width + k)];
      if (label < 0) break;
      KERF_CHECK(checkIndex(args, label, rows.width, 1));
      const auto own = std::size_t(r * rows.width + label);
      for (std::int64_t c = 0; c < rows.width; ++c) {
        const auto other = std::size_t(r * rows.width + c);
        if (isTarget[other] != 0 || 1 - x[own] + x[other] <= 0) continue;
        values[own] -= factor * grad[std::size_t(r)];
        values[other] += factor * grad[std::size_t(r)];
      }
    }
  KERF_CHECK(writeValues(values, out));
  return Value(std::move(out));
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
    {"aten::nll_loss_forward(Tensor self, Tensor target, Tensor? weight, int reduction, SymInt ignore_index) -> "
     "(Tensor output, Tensor total_weight)",
     reduction, likelihoodShape, likelihoodKernel},
    {"aten::nll_loss2d_forward(Tensor self, Tensor target, Tensor? weight, int reduction, SymInt ignore_index) -> "
     "(Tensor output, Tensor total_weight)",
     reduction, likelihoodShape, likelihoodKernel},
    {"aten::nll_loss_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight, int reduction, SymInt "
     "ignore_index, "
     "Tensor total_weight) -> Tensor",
     OpTrait::None, likelihoodBackwardShape, likelihoodBackwardKernel},
    {"aten::nll_loss2d_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight, int reduction, SymInt "
     "ignore_index, "
     "Tensor total_weight) -> Tensor",
     OpTrait::None, likelihoodBackwardShape, likelihoodBackwardKernel},
    {"aten::multi_margin_loss_backward(Tensor grad_output, Tensor self, Tensor target, Scalar p, Scalar margin, "
     "Tensor? weight=None, "
     "int reduction=1) -> Tensor",
     OpTrait::None, marginBackwardShape, multiMarginBackwardKernel},
    {"aten::multilabel_margin_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction, Tensor "
     "is_target) -> Tensor",
     OpTrait::None, marginBackwardShape, multilabelBackwardKernel},
};

}  // namespace

OpRows lossOps() { return lossRows; }

}  // namespace kerf::inline ops
