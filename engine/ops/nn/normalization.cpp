// Layer, group and batch normalisation, forward and backward, computed in double.
#include <cmath>

#include "engine/ops/core/op_registration.h"
#include "engine/ops/core/strides.h"
#include "engine/ops/core/symbolic_checks.h"
#include "engine/ops/kernels/doubles.h"
#include "engine/ops/kernels/planes.h"
#include "engine/ops/kernels/reduction_engine.h"
#include "engine/tensor/copy.h"

namespace kerf::inline ops {
namespace {

/// An optional parameter; `count` times `otherwise` where it is none.
Result<Doubles> parameter(const BoundArguments& args, std::size_t i, std::int64_t count, double otherwise) {
  const Tensor* tensor = args.tensorIf(i);
  if (!tensor) return Doubles(std::size_t(count), otherwise);
  if (tensor->numel() != count)
    return mismatch(args, "argument '{}' has {} elements, expected {}", args.op->schema.arguments[i].name,
                    tensor->numel(), count);
  return doublesOf(*tensor);
}

/// parameter() of shape rules: what every backend relies on.
Result<void> checkParameter(const BoundArguments& args, std::size_t i, SymInt count) {
  const Tensor* tensor = args.tensorIf(i);
  if (tensor == nullptr || checkEqual(tensor->symNumel(), count)) return {};
  return mismatch(args, "argument '{}' has {} elements, expected {}", args.op->schema.arguments[i].name,
                  tensor->symNumel(), count);
}

/// Statistics keep the parameters' type when those are wider than the input (mixed precision), else the input's.
DType statisticsType(const Tensor& input, const Tensor* weight) {
  return weight && itemSize(weight->dtype()) > itemSize(input.dtype()) ? weight->dtype() : input.dtype();
}

struct Statistics {
  double mean = 0, inverseDeviation = 0;
};

template <class Next>
Statistics statisticsOver(std::int64_t count, double eps, Next&& next) {
  ExactSum sum, squares;
  double run[detail::reduceChunk];
  const auto forRuns = [&](ExactSum& total, auto&& value) {
    for (std::int64_t begin = 0; begin < count; begin += detail::reduceChunk) {
      const std::int64_t length = std::min(detail::reduceChunk, count - begin);
      for (std::int64_t i = 0; i < length; ++i) run[i] = value(next(begin + i));
      addRun(total, run, length);
    }
  };
  forRuns(sum, [](double x) { return x; });
  const double mean = sum.value() / double(count);
  forRuns(squares, [mean](double x) { return (x - mean) * (x - mean); });
  return {mean, 1 / std::sqrt(squares.value() / double(count) + eps)};
}

// native_layer_norm(input, normalized_shape, weight, bias, eps)

/// Sizes of mean and deviation: the input's, ones where it is normalised.
Result<SymSizes> statisticsSizes(const BoundArguments& args, const Tensor& input, const SymSizes& shape) {
  const SymSizes& own = input.symSizes();
  if (shape.empty() || shape.size() > own.size() ||
      !checkEqual(shape, SymSizes(own.end() - std::int64_t(shape.size()), own.end())))
    return mismatch(args, "normalized_shape [{}] does not end the input's shape [{}]", fmt::join(shape, ", "),
                    fmt::join(own, ", "));
  SymSizes sizes = own;
  std::fill(sizes.end() - std::int64_t(shape.size()), sizes.end(), SymInt(1));
  return sizes;
}

struct LayerPlan {
  std::int64_t rows = 1, width = 1;
};

Result<LayerPlan> layerPlan(const BoundArguments& args, const Tensor& input, const Sizes& shape) {
  KERF_CHECK(statisticsSizes(args, input, shape));
  LayerPlan plan;
  const std::size_t leading = input.sizes().size() - shape.size();
  for (std::size_t d = 0; d < input.sizes().size(); ++d) (d < leading ? plan.rows : plan.width) *= input.sizes()[d];
  return plan;
}

Result<Value> layerShape(const BoundArguments& args) {
  const Tensor& input = args.tensor(0);
  KERF_TRY(const SymSizes sizes, statisticsSizes(args, input, args.symSizes(1)));
  const SymInt width = symProduct(args.symSizes(1));
  for (const std::size_t i : {2, 3}) KERF_CHECK(checkParameter(args, i, width));
  const Value statistics = metaTensor(statisticsType(input, args.tensorIf(2)), sizes);
  return Value(ValueList{metaTensor(input.dtype(), input.symSizes()), statistics, statistics});
}

Result<Value> layerKernel(const BoundArguments& args) {
  KERF_TRY(const std::vector<Tensor> outs, makeOutputs(args));
  KERF_TRY(const LayerPlan plan, layerPlan(args, args.tensor(0), args.sizes(1)));
  KERF_TRY(Doubles x, doublesOf(args.tensor(0)));
  KERF_TRY(const Doubles weight, parameter(args, 2, plan.width, 1));
  KERF_TRY(const Doubles bias, parameter(args, 3, plan.width, 0));
  Doubles means(std::size_t(plan.rows)), inverses(means.size());
  parallelFor(plan.rows, std::max<std::int64_t>(1, 4096 / std::max<std::int64_t>(plan.width, 1)),
              [&](std::int64_t begin, std::int64_t end) {
                for (std::int64_t r = begin; r < end; ++r) {
                  double* row = x.data() + r * plan.width;
                  const Statistics s =
                      statisticsOver(plan.width, args.number(4), [&](std::int64_t i) { return row[i]; });
                  means[std::size_t(r)] = s.mean;
                  inverses[std::size_t(r)] = s.inverseDeviation;
                  for (std::int64_t i = 0; i < plan.width; ++i)
                    row[i] = (row[i] - s.mean) * s.inverseDeviation * weight[std::size_t(i)] + bias[std::size_t(i)];
                }
              });
  KERF_CHECK(writeValues(x, outs[0]));
  KERF_CHECK(writeValues(means, outs[1]));
  KERF_CHECK(writeValues(inverses, outs[2]));
  return tensorList(outs);
}

bool masked(const BoundArguments& args, std::size_t i, std::size_t k) {
  const Value& mask = args.values[i];
  return mask.isList() && k < mask.list().size() && mask.list()[k].as<bool>() && *mask.list()[k].as<bool>();
}

// native_layer_norm_backward(grad_out, input, normalized_shape, mean, rstd, weight, bias, output_mask)

Result<Value> layerBackwardShape(const BoundArguments& args) {
  const Tensor& input = args.tensor(1);
  if (!checkEqual(args.tensor(0).symSizes(), input.symSizes()))
    return mismatch(args, "grad_out and input differ in shape");
  KERF_TRY(const SymSizes sizes, statisticsSizes(args, input, args.symSizes(2)));
  for (const std::size_t i : {3, 4}) KERF_CHECK(checkParameter(args, i, symProduct(sizes)));
  KERF_CHECK(checkParameter(args, 5, symProduct(args.symSizes(2))));
  const Tensor* weight = args.tensorIf(5);
  ValueList outs(3);
  if (masked(args, 7, 0)) outs[0] = metaTensor(input.dtype(), input.symSizes());
  if (masked(args, 7, 1) && weight) outs[1] = metaTensor(weight->dtype(), weight->symSizes());
  const Tensor* bias = args.tensorIf(6);
  if (masked(args, 7, 2) && bias) outs[2] = metaTensor(bias->dtype(), bias->symSizes());
  return Value(std::move(outs));
}

/// Writes each value list into an output of the shape rule that was asked for.
Result<Value> writeWanted(const BoundArguments& args, const std::vector<const Doubles*>& values) {
  KERF_TRY(const Value metas, runShapeRule(args));
  ValueList outs;
  for (std::size_t i = 0; i < metas.list().size(); ++i) {
    outs.emplace_back();
    if (metas.list()[i].isNone()) continue;
    KERF_TRY(Tensor out, allocate(metas.list()[i].tensor()));
    KERF_CHECK(writeValues(*values[i], out));
    outs.back() = std::move(out);
  }
  return Value(std::move(outs));
}

Result<Value> layerBackwardKernel(const BoundArguments& args) {
  KERF_CHECK(runShapeRule(args));
  KERF_TRY(const LayerPlan plan, layerPlan(args, args.tensor(1), args.sizes(2)));
  KERF_TRY(Doubles grad, doublesOf(args.tensor(0)));
  KERF_TRY(const Doubles x, doublesOf(args.tensor(1)));
  KERF_TRY(const Doubles means, parameter(args, 3, plan.rows, 0));
  KERF_TRY(const Doubles inverses, parameter(args, 4, plan.rows, 1));
  KERF_TRY(const Doubles weight, parameter(args, 5, plan.width, 1));
  Doubles gradWeight(std::size_t(plan.width)), gradBias(gradWeight.size());
  const DType stored = (args.tensorIf(5) ? *args.tensorIf(5) : args.tensor(1)).dtype();
  for (std::int64_t r = 0; r < plan.rows; ++r) {
    double* g = grad.data() + r * plan.width;
    const double* row = x.data() + r * plan.width;
    const double mean = means[std::size_t(r)], inverse = inverses[std::size_t(r)];
    double sum = 0, weighted = 0;
    for (std::int64_t i = 0; i < plan.width; ++i) {
      const auto k = std::size_t(i);
      const double normal = (row[i] - mean) * inverse;
      gradWeight[k] += g[i] * normal;
      gradBias[k] += g[i];
      sum += g[i] * weight[k];
      weighted += g[i] * weight[k] * normal;
    }
    for (std::size_t k = 0; itemSize(stored) < 4 && k < gradWeight.size(); ++k) {
      gradWeight[k] = roundedTo(stored, gradWeight[k]);  // kept in the parameters' type
      gradBias[k] = roundedTo(stored, gradBias[k]);
    }
    for (std::int64_t i = 0; i < plan.width; ++i) {
      const double normal = (row[i] - mean) * inverse;
      g[i] = inverse * (g[i] * weight[std::size_t(i)] - (sum + normal * weighted) / double(plan.width));
    }
  }
  return writeWanted(args, {&grad, &gradWeight, &gradBias});
}

// native_group_norm(input, weight, bias, N, C, HxW, group, eps)

/// Whether N, C and HxW, which are not negative, multiply to the number of elements. Plain ones may overflow.
bool fillsInput(const Tensor& input, SymInt n, SymInt c, SymInt area) {
  if (SymSizes{n, c, area}.isSymbolic() || input.isSymbolic()) return guardOrTrue(n * c * area == input.symNumel());
  std::int64_t total = 0;
  return !__builtin_mul_overflow(std::int64_t{n}, std::int64_t{c}, &total) &&
         !__builtin_mul_overflow(total, std::int64_t{area}, &total) && total == input.numel();
}

Result<Value> groupShape(const BoundArguments& args) {
  const Tensor& input = args.tensor(0);
  const SymInt n = args.symInteger(3), c = args.symInteger(4), area = args.symInteger(5), groups = args.symInteger(6);
  const bool valid = guardOrTrue(n >= 0) && guardOrTrue(c >= 0) && guardOrTrue(area >= 0) && guardOrTrue(groups > 0) &&
                     guardOrTrue(floorMod(c, groups) == 0) && fillsInput(input, n, c, area);
  if (!valid) return mismatch(args, "N, C, HxW and group do not fit an input of {} elements", input.symNumel());
  if (!guardOrFalse(input.symNumel() == 0))  // else C may be any number
    for (const std::size_t i : {1, 2}) KERF_CHECK(checkParameter(args, i, c));
  KERF_TRY(SymSizes strides, formatStrides(input.symSizes(), suggestFormat(input)));
  const Value statistics = metaTensor(statisticsType(input, args.tensorIf(1)), SymSizes{n, groups});
  return Value(ValueList{metaTensor(input.dtype(), input.symSizes(), std::move(strides)), statistics, statistics});
}

Result<Value> groupKernel(const BoundArguments& args) {
  KERF_TRY(const std::vector<Tensor> outs, makeOutputs(args));
  const std::int64_t channels = args.integer(4), area = args.integer(5), groups = args.integer(6);
  const std::int64_t inGroup = channels / groups, count = inGroup * area;
  KERF_TRY(Doubles x, doublesOf(args.tensor(0)));
  Doubles weight, bias;
  if (!x.empty()) {  // else C may be any number
    KERF_TRY(weight, parameter(args, 1, channels, 1));
    KERF_TRY(bias, parameter(args, 2, channels, 0));
  }
  Doubles means, inverses;
  for (std::int64_t g = 0; g < args.integer(3) * groups; ++g) {
    double* data = x.data() + g * count;
    const Statistics s = statisticsOver(count, args.number(7), [&](std::int64_t i) { return data[i]; });
    means.push_back(s.mean);
    inverses.push_back(s.inverseDeviation);
    for (std::int64_t i = 0; i < count; ++i) {
      const auto channel = std::size_t(g % groups * inGroup + i / area);
      data[i] = (data[i] - s.mean) * s.inverseDeviation * weight[channel] + bias[channel];
    }
  }
  KERF_CHECK(writeValues(x, outs[0]));
  KERF_CHECK(writeValues(means, outs[1]));
  KERF_CHECK(writeValues(inverses, outs[2]));
  return tensorList(outs);
}

constexpr OpTrait reduction = OpTrait::Reduction;
constexpr OpRow normalizationRows[] = {
    {"aten::native_layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight, Tensor? bias, float eps) -> "
     "(Tensor, Tensor, Tensor)",
     reduction, layerShape, layerKernel},
    {"aten::native_layer_norm_backward(Tensor grad_out, Tensor input, SymInt[] normalized_shape, Tensor mean, Tensor "
     "rstd, "
     "Tensor? weight, Tensor? bias, bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
     reduction, layerBackwardShape, layerBackwardKernel},
    {"aten::native_group_norm(Tensor input, Tensor? weight, Tensor? bias, SymInt N, SymInt C, SymInt HxW, int group, "
     "float eps) "
     "-> (Tensor, Tensor, Tensor)",
     reduction, groupShape, groupKernel},
};

const OpRegistration normalizationOps({.rows = normalizationRows});

}  // namespace

}  // namespace kerf::inline ops
