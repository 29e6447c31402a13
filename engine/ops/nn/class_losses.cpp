// Losses of samples that each have a class: negative log likelihood, and the gradients of margin losses.
#include <array>
#include <bit>

#include "engine/ops/core/op_registration.h"
#include "engine/ops/core/type_promotion.h"
#include "engine/ops/kernels/doubles.h"
#include "engine/ops/kernels/indexing.h"
#include "engine/ops/kernels/planes.h"
#include "engine/ops/nn/loss_reduction.h"

namespace kerf::inline ops {
namespace {

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
  if (reductionOf(args) != LossReduction::None) sizes.clear();
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
  const LossReduction reduction = reductionOf(args);
  const double total = weighted ? weights.value() : targets;
  const bool eachSample = reduction == LossReduction::None && args.tensor(0).dim() > 1;  // one sample is its own sum
  if (!eachSample) losses.assign(1, reduction == LossReduction::Mean ? sum.value() / total : sum.value());
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
  const double divisor = reductionOf(args) == LossReduction::Mean ? total : 1;
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
  const double factor = 1 / double(rows.width) / (reductionOf(args) == LossReduction::Mean ? double(rows.count) : 1);
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
  const double factor = 1 / double(rows.width) / (reductionOf(args) == LossReduction::Mean ? double(rows.count) : 1);
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
constexpr OpRow classLossRows[] = {
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

const OpRegistration classLossOps({.rows = classLossRows});

}  // namespace

}  // namespace kerf::inline ops
