// Losses and layer gradients that are rarer: multi-margin forwards, CTC, glu and group norm backwards, weight norm.
#include <algorithm>
#include <cmath>

#include "engine/ops/core/op_registration.h"
#include "engine/ops/kernels/indexing.h"
#include "engine/ops/kernels/planes.h"

namespace kerf::inline ops {
namespace {

constexpr OpTrait none = OpTrait::None;

// multi_margin_loss(self, target, p, margin, weight, reduction), multilabel_margin_loss_forward(self, target,
// reduction)

struct MarginRows {
  std::int64_t count = 1, width = 1;
};

Result<void> checkMargin(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  if (self.dim() > 2 || !isFloating(self.dtype()))
    return mismatch(args, "argument 'self' must be floating point with at most 2 dimensions");
  if (self.dim() > 0 && !guardOrTrue(self.symSizes().back() != 0))
    return mismatch(args, "argument 'self' has no classes");
  return {};
}

Result<MarginRows> marginRows(const BoundArguments& args) {
  KERF_CHECK(checkMargin(args));
  const Tensor& self = args.tensor(0);
  return MarginRows{self.dim() == 2 ? self.size(0) : 1, self.dim() == 0 ? 1 : self.sizes().back()};
}

Result<Value> marginShape(const BoundArguments& args) {
  KERF_CHECK(checkMargin(args));
  const Tensor& self = args.tensor(0);
  const bool isMulti = args.op->id == "aten.multi_margin_loss.default"_op;
  const bool perRow = isMulti ? args.tensor(1).dim() > 0 : self.dim() == 2;
  const bool each = args.integer(args.position("reduction")) == 0 && perRow;
  const SymInt count = self.dim() == 2 ? self.symSize(0) : SymInt(1);
  return Value(metaTensor(self.dtype(), each ? SymSizes{count} : SymSizes{}));
}

/// none keeps one loss per row, mean and sum reduce them.
Result<void> writeReduced(const BoundArguments& args, Doubles losses, const Tensor& out) {
  const std::int64_t reduction = args.integer(args.position("reduction"));
  if (reduction != 0) {
    double sum = 0;
    for (double loss : losses) sum += loss;
    losses.assign(1, reduction == 1 ? sum / double(losses.size()) : sum);
  }
  return writeValues(losses, out);
}

Result<Value> multiMarginKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  KERF_TRY(const MarginRows rows, marginRows(args));
  KERF_TRY(const Doubles x, doublesOf(args.tensor(0)));
  KERF_TRY(const auto target, integerValues(args.tensor(1)));
  const double p = args.number(2), margin = args.number(3);
  if (p != 1 && p != 2) return mismatch(args, "argument 'p' must be 1 or 2, got {}", p);
  Doubles weight(std::size_t(rows.width), 1.0);
  if (const Tensor* given = args.tensorIf(4)) {
    KERF_TRY(weight, doublesOf(*given));
    if (weight.size() != std::size_t(rows.width)) return mismatch(args, "argument 'weight' has the wrong size");
  }
  if (std::int64_t(target.size()) != rows.count)
    return mismatch(args, "target has {} elements, expected {}", target.size(), rows.count);
  Doubles losses;
  for (std::int64_t r = 0; r < rows.count; ++r) {
    const std::int64_t right = target[std::size_t(r)];
    KERF_CHECK(checkIndex(args, right, rows.width, 1));
    const double* row = x.data() + r * rows.width;
    double sum = 0;
    for (std::int64_t c = 0; c < rows.width; ++c) {
      const double z = margin - row[right] + row[c];
      if (c != right && z > 0) sum += (p == 1 ? z : z * z) * weight[std::size_t(right)];
    }
    losses.push_back(sum / double(rows.width));
  }
  KERF_CHECK(writeReduced(args, std::move(losses), out));
  return Value(std::move(out));
}

Result<Value> multilabelShape(const BoundArguments& args) {
  KERF_TRY(const Value loss, marginShape(args));
  const SymSizes& sizes = args.tensor(1).symSizes();
  if (!checkEqual(sizes, args.tensor(0).symSizes())) return mismatch(args, "target must have the shape of self");
  return Value(ValueList{loss, metaTensor(args.tensor(0).dtype(), sizes)});
}

/// Labels of a row end at the first -1.
Result<Value> multilabelKernel(const BoundArguments& args) {
  KERF_TRY(const std::vector<Tensor> outs, makeOutputs(args));
  KERF_TRY(const MarginRows rows, marginRows(args));
  KERF_TRY(const Doubles x, doublesOf(args.tensor(0)));
  KERF_TRY(const auto target, integerValues(args.tensor(1)));
  Doubles isTarget(x.size(), 0.0), losses;
  for (std::int64_t r = 0; r < rows.count; ++r) {
    const std::int64_t start = r * rows.width;
    std::vector<std::int64_t> labels;
    for (std::int64_t k = 0; k < rows.width && target[std::size_t(start + k)] >= 0; ++k) {
      labels.push_back(target[std::size_t(start + k)]);
      KERF_CHECK(checkIndex(args, labels.back(), rows.width, 1));
      isTarget[std::size_t(start + labels.back())] = 1;
    }
    double sum = 0;
    for (std::int64_t label : labels)
      for (std::int64_t c = 0; c < rows.width; ++c) {
        const double z = 1 - x[std::size_t(start + label)] + x[std::size_t(start + c)];
        if (isTarget[std::size_t(start + c)] == 0 && z > 0) sum += z;
      }
    losses.push_back(sum / double(rows.width));
  }
  KERF_CHECK(writeReduced(args, std::move(losses), outs[0]));
  KERF_CHECK(writeValues(isTarget, outs[1]));
  return tensorList(outs);
}

// native_group_norm_backward(grad_out, input, mean, rstd, weight, N, C, HxW, group, output_mask)

bool wanted(const BoundArguments& args, std::size_t k) {
  const Value& mask = args.values.back();
  return mask.isList() && k < mask.list().size() && mask.list()[k].as<bool>() && *mask.list()[k].as<bool>();
}

Result<Value> groupNormBackwardShape(const BoundArguments& args) {
  const Tensor& input = args.tensor(1);
  const SymInt channels = args.symInteger(6), groups = args.symInteger(8);
  const SymSizes counts{args.symInteger(5), channels, args.symInteger(7)};
  for (const SymSizes& sizes : {counts, input.symSizes()})
    if (!sizes.isSymbolic()) KERF_CHECK(checkedNumel(sizes.numbers()));
  if (!guardOrTrue(groups > 0) || !guardOrTrue(floorMod(channels, groups) == 0))
    return mismatch(args, "{} channels in {} groups", channels, groups);
  if (!guardOrTrue(symProduct(counts) == input.symNumel()) || !checkEqual(args.tensor(0).symSizes(), input.symSizes()))
    return mismatch(args, "grad_out, input and N, C, HxW differ in size");
  ValueList outs(3);
  if (wanted(args, 0)) outs[0] = planesMeta(input, input.symSizes(), input.dtype());
  const DType type = args.none(4) ? input.dtype() : args.tensor(4).dtype();
  for (std::size_t k = 1; k < 3; ++k)
    if (wanted(args, k)) outs[k] = metaTensor(type, SymSizes{channels});
  return Value(std::move(outs));
}

struct GroupNorm {
  Doubles grad, x, mean, rstd, weight;
  std::int64_t samples, channels, area, groups;
  Doubles inputGrad, weightGrad, biasGrad;

  /// One sample's group: sums over its elements, then the gradient of each of them.
  void run(std::int64_t n, std::int64_t g) {
    const std::int64_t perGroup = channels / groups, count = perGroup * area;
    const auto at = std::size_t(n * groups + g);
    double sum = 0, product = 0;
    const auto forEach = [&](auto&& visit) {
      for (std::int64_t k = 0; k < count; ++k) {
        const std::int64_t c = g * perGroup + k / area;
        visit(std::size_t((n * channels + c) * area + k % area), std::size_t(c));
      }
    };
    forEach([&](std::size_t i, std::size_t c) {
      const double normal = (x[i] - mean[at]) * rstd[at];
      sum += grad[i] * weight[c];
      product += grad[i] * weight[c] * normal;
      weightGrad[c] += grad[i] * normal;
      biasGrad[c] += grad[i];
    });
    forEach([&](std::size_t i, std::size_t c) {
      const double normal = (x[i] - mean[at]) * rstd[at];
      inputGrad[i] = rstd[at] * (grad[i] * weight[c] - (sum + normal * product) / double(count));
    });
  }
};

Result<Value> groupNormBackwardKernel(const BoundArguments& args) {
  KERF_TRY(const Value metas, runShapeRule(args));
  GroupNorm norm{{}, {}, {}, {}, {}, args.integer(5), args.integer(6), args.integer(7), args.integer(8), {}, {}, {}};
  KERF_TRY(norm.grad, doublesOf(args.tensor(0)));
  KERF_TRY(norm.x, doublesOf(args.tensor(1)));
  KERF_TRY(norm.mean, doublesOf(args.tensor(2)));
  KERF_TRY(norm.rstd, doublesOf(args.tensor(3)));
  const auto channels = std::size_t(norm.channels);
  norm.weight.assign(channels, 1.0);
  if (const Tensor* weight = args.tensorIf(4)) {
    KERF_TRY(norm.weight, doublesOf(*weight));
  }
  const auto statistics = std::size_t(norm.samples * norm.groups);
  if (norm.mean.size() != statistics || norm.rstd.size() != statistics || norm.weight.size() != channels)
    return mismatch(args, "mean, rstd or weight have the wrong size");
  norm.inputGrad.assign(norm.x.size(), 0.0);
  norm.weightGrad.assign(channels, 0.0);
  norm.biasGrad.assign(channels, 0.0);
  for (std::int64_t n = 0; n < norm.samples; ++n)
    for (std::int64_t g = 0; g < norm.groups; ++g) norm.run(n, g);
  const Doubles* results[] = {&norm.inputGrad, &norm.weightGrad, &norm.biasGrad};
  ValueList outs(3);
  for (std::size_t k = 0; k < 3; ++k) {
    if (metas.list()[k].isNone()) continue;
    KERF_TRY(Tensor out, allocate(metas.list()[k].tensor()));
    KERF_CHECK(writeValues(*results[k], out));
    outs[k] = std::move(out);
  }
  return Value(std::move(outs));
}

constexpr OpRow marginLossRows[] = {
    {"aten::multi_margin_loss(Tensor self, Tensor target, Scalar p=1, Scalar margin=1, Tensor? weight=None, int "
     "reduction=1) -> Tensor",
     OpTrait::Reduction, marginShape, multiMarginKernel},
    {"aten::multilabel_margin_loss_forward(Tensor self, Tensor target, int reduction) -> (Tensor output, Tensor "
     "is_target)",
     OpTrait::Reduction, multilabelShape, multilabelKernel},
    {"aten::native_group_norm_backward(Tensor grad_out, Tensor input, Tensor mean, Tensor rstd, Tensor? weight, SymInt "
     "N, SymInt C, SymInt HxW, int group, bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
     none, groupNormBackwardShape, groupNormBackwardKernel},
};

const OpRegistration marginLossOps({.rows = marginLossRows});

}  // namespace

}  // namespace kerf::inline ops
