// Batch normalisation in its many ATen forms: one forward and one backward over [N, C, *] in double.
#include <cmath>

#include "engine/ops/core/composite.h"
#include "engine/ops/core/empty_output.h"
#include "engine/ops/core/op_registration.h"
#include "engine/ops/core/strides.h"
#include "engine/ops/kernels/doubles.h"
#include "engine/ops/kernels/planes.h"
#include "engine/ops/kernels/reduction_engine.h"
#include "engine/ops/nn/channels.h"
#include "engine/tensor/copy.h"

namespace kerf::inline ops {
namespace {

bool trains(const BoundArguments& args) {
  const std::string& name = args.op->schema.name;
  if (name.find("no_training") != std::string::npos || name.find("no_update") != std::string::npos) return false;
  return namedFlag(args, "training", true);
}

DType statisticsType(const BoundArguments& args, const Tensor& input) {
  const Tensor* weight = namedTensor(args, "weight");
  return weight && itemSize(weight->dtype()) > itemSize(input.dtype()) ? weight->dtype() : input.dtype();
}

Result<Value> forwardShape(const BoundArguments& args) {
  const Tensor& input = args.tensor(0);
  KERF_TRY(const SymInt channels, channelsOf(args, input));
  KERF_TRY(SymSizes strides, formatStrides(input.symSizes(), suggestFormat(input)));
  const Value saved = metaTensor(statisticsType(args, input), SymSizes{trains(args) ? channels : SymInt(0)});
  ValueList outs{metaTensor(input.dtype(), input.symSizes(), std::move(strides)), saved, saved};
  if (args.op->schema.returns.size() == 4) outs.emplace_back(metaTensor(DType::UInt8, SymSizes{0}));
  return Value(std::move(outs));
}

/// running = (1 - momentum) * running + momentum * batch value
Result<void> updateRunning(const BoundArguments& args, const Tensor* running, const Doubles& batch, double momentum) {
  if (!running || running->numel() == 0) return {};
  KERF_TRY(Doubles values, channelValues(args, running, std::int64_t(batch.size()), 0));
  for (std::size_t c = 0; c < values.size(); ++c) values[c] = (1 - momentum) * values[c] + momentum * batch[c];
  return writeValues(values, *running);
}

struct BatchStatistics {
  Doubles mean, inverse, unbiased;
};

bool isDense(const Tensor* tensor) {
  if (!tensor) return true;
  return tensor->isContiguous() || isContiguousAs(*tensor, MemoryFormat::ChannelsLast) ||
         isContiguousAs(*tensor, MemoryFormat::ChannelsLast3d);
}

/// PyTorch has fused kernels for dense tensors, which compute in float at least; strided ones go through a generic loop
/// that computes in the type of the statistics, so that 16-bit floats round after every step there.
struct Steps {
  DType dtype = DType::Float64;  ///< Float64 where steps do not round
  double operator()(double value) const { return dtype == DType::Float64 ? value : roundedTo(dtype, value); }
};
/// Steps without rounding, for loops over dense and 32-bit tensors.
struct ExactSteps {
  double operator()(double value) const { return value; }
};
Steps stepsOf(bool dense, DType dtype) { return {!dense && itemSize(dtype) < 4 ? dtype : DType::Float64}; }

/// The fused bfloat16 kernel hands the sum of squares on as bfloat16 and divides it there.
BatchStatistics batchStatistics(const ChannelGeometry& geometry, const Doubles& x, double eps, const Tensor& input,
                                DType dtype) {
  const auto channels = std::size_t(geometry.channels);
  BatchStatistics result{Doubles(channels), Doubles(channels), Doubles(channels)};
  const auto count = double(geometry.perChannel());
  const Steps handed = stepsOf(!isDense(&input) || dtype != DType::BFloat16, dtype);
  geometry.forChannels([&](std::int64_t c) {
    const auto k = std::size_t(c);
    ExactSum sum, squares;
    geometry.forChannel(c, [&](std::size_t at) { sum.add(x[at]); });
    const double mean = roundedTo(dtype, sum.value() / count);
    geometry.forChannel(c, [&](std::size_t at) { squares.add((x[at] - mean) * (x[at] - mean)); });
    const double spread = handed(squares.value());
    result.mean[k] = mean;
    result.inverse[k] = 1 / std::sqrt(handed(spread / count) + eps);
    result.unbiased[k] = handed(spread / (count - 1));
  });
  return result;
}

/// Normalises `x` in place.
template <class Rounding>
void normalise(const ChannelGeometry& geometry, const BatchStatistics& by, const Doubles& weight, const Doubles& bias,
               Rounding r, Doubles& x) {
  geometry.forChannels([&](std::int64_t c) {
    const auto k = std::size_t(c);
    const double mean = by.mean[k], inverse = by.inverse[k], slope = weight[k], shift = bias[k];
    geometry.forChannel(c, [&](std::size_t at) { x[at] = r(r(r(x[at] - mean) * inverse) * slope) + shift; });
  });
}

Result<Value> forwardKernel(const BoundArguments& args) {
  KERF_TRY(const std::vector<Tensor> outs, makeEmptyOutputs(args));
  const Tensor& input = args.tensor(0);
  KERF_TRY(const ChannelGeometry geometry, channelGeometry(args, input));
  KERF_TRY(Doubles x, doublesOf(input));
  KERF_TRY(const Doubles weight, channelValues(args, namedTensor(args, "weight"), geometry.channels, 1));
  KERF_TRY(const Doubles bias, channelValues(args, namedTensor(args, "bias"), geometry.channels, 0));
  const double eps = args.number(args.position("eps"));
  const Tensor* runningMean = namedTensor(args, "running_mean");
  const Tensor* runningVariance = namedTensor(args, "running_var");
  const bool dense = isDense(&input) && isDense(namedTensor(args, "weight")) && isDense(namedTensor(args, "bias")) &&
                     isDense(runningMean) && isDense(runningVariance);
  const Steps steps = stepsOf(dense, outs[1].dtype());
  BatchStatistics statistics;
  if (trains(args)) {
    statistics = batchStatistics(geometry, x, eps, input, outs[1].dtype());
    const double momentum = args.number(args.position("momentum"));
    KERF_CHECK(updateRunning(args, runningMean, statistics.mean, momentum));
    KERF_CHECK(updateRunning(args, runningVariance, statistics.unbiased, momentum));
    KERF_CHECK(writeValues(statistics.mean, outs[1]));
    KERF_CHECK(writeValues(statistics.inverse, outs[2]));
    KERF_TRY(statistics.mean, doublesOf(outs[1]));  // torch normalises with the statistics as they were saved
    KERF_TRY(statistics.inverse, doublesOf(outs[2]));
  } else {
    if (!runningMean || !runningVariance)
      return mismatch(args, "running_mean and running_var are needed outside of training");
    KERF_TRY(statistics.mean, channelValues(args, runningMean, geometry.channels, 0));
    KERF_TRY(statistics.inverse, channelValues(args, runningVariance, geometry.channels, 1));
    for (double& value : statistics.inverse) value = steps(1 / steps(std::sqrt(steps(value + eps))));
  }
  if (steps.dtype == DType::Float64)
    normalise(geometry, statistics, weight, bias, ExactSteps{}, x);
  else
    normalise(geometry, statistics, weight, bias, steps, x);
  KERF_CHECK(writeValues(x, outs[0]));
  return tensorList(outs);
}

// native_batch_norm_backward(grad_out, input, weight, running_mean, running_var, save_mean, save_invstd, train, eps,
// mask)

bool wanted(const BoundArguments& args, std::size_t k) {
  const Value& mask = args.values[args.position("output_mask")];
  return mask.isList() && k < mask.list().size() && mask.list()[k].as<bool>() && *mask.list()[k].as<bool>();
}

Result<Value> backwardShape(const BoundArguments& args) {
  const Tensor& input = args.tensor(1);
  if (!checkEqual(args.tensor(0).symSizes(), input.symSizes()))
    return mismatch(args, "grad_out and input differ in shape");
  KERF_TRY(const SymInt channels, channelsOf(args, input));
  const DType type = statisticsType(args, input);
  ValueList outs(3);
  KERF_TRY(SymSizes strides, formatStrides(input.symSizes(), suggestFormat(input)));
  if (wanted(args, 0)) outs[0] = metaTensor(input.dtype(), input.symSizes(), std::move(strides));
  if (wanted(args, 1)) outs[1] = metaTensor(type, SymSizes{channels});
  if (wanted(args, 2)) outs[2] = metaTensor(type, SymSizes{channels});
  return Value(std::move(outs));
}

struct ParameterSums {
  Doubles weight, bias;
};

/// Turns `grad` from the output's into the input's gradient. `r` rounds to the statistics' type, `stored` to the
/// input's, `handed` what a sum becomes before it is divided.
template <class Rounding>
void differentiate(const ChannelGeometry& geometry, const Doubles& x, const Doubles& means, const Doubles& inverses,
                   const Doubles& weight, bool train, Rounding r, Rounding stored, Rounding handed, Doubles& grad,
                   ParameterSums& sums) {
  const auto count = double(geometry.perChannel());
  geometry.forChannels([&](std::int64_t c) {
    const auto k = std::size_t(c);
    const double mean = means[k], inverse = inverses[k], scale = weight[k];
    double sum = 0, product = 0;
    geometry.forChannel(c, [&](std::size_t at) {
      sum += grad[at];
      product += r(grad[at] * r(x[at] - mean));
    });
    sums.weight[k] = product * inverse;
    sums.bias[k] = sum;
    const double slope = train ? stored(r(r(stored(product) * inverse) * inverse) / count) : 0;
    const double shift = train ? stored(handed(sum) / count) : 0;
    geometry.forChannel(c, [&](std::size_t at) {
      const double along = stored(r(x[at] - mean) * slope);
      grad[at] = r(r(stored(stored(grad[at] - shift) - along) * inverse) * scale);
    });
  });
}

Result<Value> backwardKernel(const BoundArguments& args) {
  KERF_TRY(const Value metas, runShapeRule(args));
  KERF_TRY(const ChannelGeometry geometry, channelGeometry(args, args.tensor(1)));
  KERF_TRY(Doubles grad, doublesOf(args.tensor(0)));
  KERF_TRY(const Doubles x, doublesOf(args.tensor(1)));
  KERF_TRY(const Doubles weight, channelValues(args, namedTensor(args, "weight"), geometry.channels, 1));
  const bool train = namedFlag(args, "train", namedFlag(args, "update", true));
  const Tensor* savedInverse =
      namedTensor(args, "save_invstd") ? namedTensor(args, "save_invstd") : namedTensor(args, "save_var");
  KERF_TRY(const Doubles mean,
           channelValues(args, namedTensor(args, train ? "save_mean" : "running_mean"), geometry.channels, 0));
  KERF_TRY(Doubles inverse,
           channelValues(args, train ? savedInverse : namedTensor(args, "running_var"), geometry.channels, 1));
  const bool dense = isDense(&args.tensor(0)) && isDense(&args.tensor(1)) &&
                     suggestFormat(args.tensor(0)) == suggestFormat(args.tensor(1));
  const Steps r = stepsOf(dense, statisticsType(args, args.tensor(1))), stored = stepsOf(dense, args.tensor(1).dtype());
  if (!train)
    for (double& value : inverse) value = r(1 / std::sqrt(r(value + args.number(args.position("eps")))));
  // of the 16-bit floats only bfloat16 rounds a sum before dividing it
  const Steps handed = args.tensor(1).dtype() == DType::BFloat16 ? stored : Steps{};
  ParameterSums sums{Doubles(weight.size()), Doubles(weight.size())};
  if (r.dtype == DType::Float64 && stored.dtype == DType::Float64)
    differentiate(geometry, x, mean, inverse, weight, train, ExactSteps{}, ExactSteps{}, ExactSteps{}, grad, sums);
  else
    differentiate(geometry, x, mean, inverse, weight, train, r, stored, handed, grad, sums);
  const Doubles* values[] = {&grad, &sums.weight, &sums.bias};
  ValueList outs(3);
  for (std::size_t i = 0; i < 3; ++i) {
    if (metas.list()[i].isNone()) continue;
    KERF_TRY(Tensor out, allocateEmpty(metas.list()[i].tensor()));
    KERF_CHECK(writeValues(*values[i], out));
    outs[i] = std::move(out);
  }
  return Value(std::move(outs));
}

/// The forms that functionalisation writes: running statistics come back as the last two results, the arguments stay.
Result<Value> functionalProgram(const BoundArguments& args, const OpRunner& run) {
  ValueList values = args.values;
  for (const std::size_t i : {std::size_t(3), std::size_t(4)}) {
    KERF_TRY(Tensor copy, run("aten.clone.default"_op, {args.values[i]}));
    values[i] = Value(std::move(copy));
  }
  KERF_TRY(const Value results, run.value(args.op->base, values));
  ValueList all = results.list();
  all.insert(all.end(), {values[3], values[4]});
  return Value(std::move(all));
}

constexpr OpTrait reduction = OpTrait::Reduction;
constexpr OpTrait updating = OpTrait::Reduction | OpTrait::Inplace | OpTrait::Impure;
constexpr OpRow batchNormRows[] = {
    {"aten::native_batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, "
     "bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor)",
     updating, forwardShape, forwardKernel},
    {"aten::_native_batch_norm_legit(Tensor input, Tensor? weight, Tensor? bias, Tensor(a!) running_mean, "
     "Tensor(b!) running_var, bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor)",
     updating, forwardShape, forwardKernel},
    {"aten::_native_batch_norm_legit.no_stats(Tensor input, Tensor? weight, Tensor? bias, bool training, float "
     "momentum, "
     "float eps) -> (Tensor, Tensor, Tensor)",
     reduction, forwardShape, forwardKernel},
    {"aten::_native_batch_norm_legit_no_training(Tensor input, Tensor? weight, Tensor? bias, Tensor running_mean, "
     "Tensor running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor)",
     OpTrait::None, forwardShape, forwardKernel},
    {"aten::_batch_norm_with_update(Tensor input, Tensor? weight, Tensor? bias, Tensor(a!) running_mean, Tensor(b!) "
     "running_var, "
     "float momentum, float eps) -> (Tensor, Tensor, Tensor, Tensor)",
     updating, forwardShape, forwardKernel},
    compositeRow(functionalProgram,
                 "aten::_native_batch_norm_legit_functional(Tensor input, Tensor? weight, Tensor? bias, Tensor "
                 "running_mean, Tensor running_var, bool training, float momentum, float eps) -> (Tensor, Tensor, "
                 "Tensor, Tensor running_mean_out, Tensor running_var_out)",
                 OpTrait::None, "aten._native_batch_norm_legit.default"),
    compositeRow(functionalProgram,
                 "aten::_batch_norm_with_update_functional(Tensor input, Tensor? weight, Tensor? bias, Tensor "
                 "running_mean, Tensor running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor, Tensor, "
                 "Tensor running_mean_out, Tensor running_var_out)",
                 OpTrait::None, "aten._batch_norm_with_update.default"),
    {"aten::_batch_norm_no_update(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? "
     "running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor, Tensor)",
     OpTrait::None, forwardShape, forwardKernel},
    {"aten::native_batch_norm_backward(Tensor grad_out, Tensor input, Tensor? weight, Tensor? running_mean, Tensor? "
     "running_var, "
     "Tensor? save_mean, Tensor? save_invstd, bool train, float eps, bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
     reduction, backwardShape, backwardKernel},
    {"aten::batch_norm_backward(Tensor grad_out, Tensor input, Tensor weight, Tensor? running_mean, Tensor? "
     "running_var, "
     "Tensor? save_mean, Tensor? save_var, bool update, float eps, bool[3] output_mask, Tensor reserve) -> (Tensor, "
     "Tensor, Tensor)",
     reduction, backwardShape, backwardKernel},
};

const OpRegistration batchNormOps({.rows = batchNormRows});

}  // namespace

}  // namespace kerf::inline ops
