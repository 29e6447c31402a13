// Decompositions of batch norms: statistics by var_mean, running ones as values that the caller writes back.
#include "engine/ops/core/formula.h"
#include "engine/ops/core/op_math.h"
#include "engine/ops/core/op_registration.h"

namespace kerf::inline ops {
namespace {

Sizes dimsButChannels(std::int64_t rank) {
  Sizes dims{0};
  for (std::int64_t d = 2; d < rank; ++d) dims.push_back(d);
  return dims;
}

/// What a batch norm is called with; statistics may be none.
struct BatchNorm {
  Formula weight, bias, runningMean, runningVar;
  bool training = false;
  double momentum = 0, eps = 0;
};
struct BatchNormed {
  Formula out, mean, inverse, runningMean, runningVar;
};

/// momentum · fresh + (1 - momentum) · running
Formula movedTowards(const Formula& fresh, const Formula& running, double momentum) {
  return fresh * momentum + running * (1 - momentum);
}

Formula trained(Formulas& p, const Tensor& input, const BatchNorm& norm, BatchNormed& result) {
  const Sizes dims = dimsButChannels(input.dim());
  const Formula x = p[0], wide = p(to(x, opMathType(input.dtype())));
  const auto [variance, mean] = p.several<2>(
      {"aten.var_mean.correction"_op, {wide, intList(dims)}, {{"correction", std::int64_t{0}}, {"keepdim", true}}});
  const Formula inverse = p(rsqrt(variance + norm.eps));
  const Formula out = p((x - mean) * inverse);
  result.mean = p(squeeze(mean, dims));
  result.inverse = p(squeeze(inverse, dims));
  if (!norm.runningMean.isNone()) result.runningMean = p(movedTowards(result.mean, norm.runningMean, norm.momentum));
  if (norm.runningVar.isNone()) return out;
  const SymInt count = floorDiv(input.symNumel(), input.symSize(1));
  const Formula unbiased = p(squeeze(variance, dims) * p.quotient(count, count - SymInt(1)));
  result.runningVar = p(movedTowards(unbiased, norm.runningVar, norm.momentum));
  return out;
}

Formula evaluated(Formulas& p, const Tensor& input, const BatchNorm& norm, BatchNormed& result) {
  const DType wide = opMathType(input.dtype());
  const auto cast = [&](const Formula& x) { return p({"aten._to_copy.default"_op, {x}, {{"dtype", wide}}}); };
  result.runningMean = cast(norm.runningMean);
  result.runningVar = cast(norm.runningVar);
  const Formula inverse = p(1 / sqrt(result.runningVar + norm.eps));
  result.mean = newZeros(p[0], {0});
  result.inverse = newZeros(p[0], {0});
  const Formula mean = p(unsqueezedTo(result.runningMean, input.dim() - 1));
  const Formula scale = p(unsqueezedTo(inverse, input.dim() - 1));
  return p((p[0] - mean) * scale);
}

BatchNormed normalize(Formulas& p, const BatchNorm& norm) {
  const Tensor& input = p.args.tensor(0);
  BatchNormed result;
  Formula out = (norm.training ? trained : evaluated)(p, input, norm, result);
  if (!norm.weight.isNone()) out = p(out * unsqueezedTo(norm.weight, input.dim() - 1));
  if (!norm.bias.isNone()) out = p(out + unsqueezedTo(norm.bias, input.dim() - 1));
  result.mean = p(to(result.mean, input.dtype()));
  result.inverse = p(to(result.inverse, input.dtype()));
  result.out = p(to(out, input.dtype()));
  return result;
}

/// Whether input and statistics are what a batch norm takes.
Result<void> checked(const BoundArguments& args, const BatchNorm& norm) {
  if (args.tensor(0).dim() < 2) return mismatch(args, "input needs at least 2 dimensions");
  if (!norm.training && (norm.runningMean.isNone() || norm.runningVar.isNone()))
    return mismatch(args, "running statistics are needed where they are not computed");
  return {};
}

/// The written statistics and what the op gives beside output, mean and inverse deviation.
enum class Shape { Plain, Writing, Functional, Reserving, WritingReserving, FunctionalReserving };

Result<Value> batchNorm(const BoundArguments& args, const OpRunner& run, BatchNorm norm, Shape shape) {
  KERF_CHECK(checked(args, norm));
  Formulas p(args, run);
  const BatchNormed done = normalize(p, norm);
  std::vector<Formula> results{done.out, done.mean, done.inverse};
  const bool writes = norm.training && (shape == Shape::Writing || shape == Shape::WritingReserving);
  if (writes && !norm.runningMean.isNone()) p({"aten.copy_.default"_op, {norm.runningMean, done.runningMean}});
  if (writes && !norm.runningVar.isNone()) p({"aten.copy_.default"_op, {norm.runningVar, done.runningVar}});
  if (shape == Shape::Reserving || shape == Shape::WritingReserving || shape == Shape::FunctionalReserving)
    results.push_back({"aten.empty.memory_format"_op,
                       {intList({0})},
                       {{"dtype", DType::UInt8}, {"layout", Layout::Strided}, {"device", args.tensor(0).device()}}});
  if (shape == Shape::Functional || shape == Shape::FunctionalReserving) {
    results.push_back(done.runningMean);
    results.push_back(done.runningVar);
  }
  return p.done(results);
}

/// (input, weight, bias, running_mean, running_var, training, momentum, eps)
template <Shape shape>
Result<Value> nativeBatchNormLegit(const BoundArguments& args, const OpRunner& run) {
  const ValueList& v = args.values;
  return batchNorm(args, run, {v[1], v[2], v[3], v[4], args.boolean(5), args.number(6), args.number(7)}, shape);
}
/// (input, weight, bias, running_mean, running_var, momentum, eps)
template <Shape shape, bool training>
Result<Value> nativeBatchNormLegitNoTraining(const BoundArguments& args, const OpRunner& run) {
  const ValueList& v = args.values;
  return batchNorm(args, run, {v[1], v[2], v[3], v[4], training, args.number(5), args.number(6)}, shape);
}
/// (input, weight, bias, training, momentum, eps)
Result<Value> nativeBatchNormLegitNoStats(const BoundArguments& args, const OpRunner& run) {
  const ValueList& v = args.values;
  return batchNorm(args, run, {v[1], v[2], {}, {}, args.boolean(3), args.number(4), args.number(5)}, Shape::Plain);
}
/// native_batch_norm, as AOTAutograd sees it: the op whose schema says what is written.
Result<Value> nativeBatchNorm(const BoundArguments& args, const OpRunner& run) {
  const ValueList& v = args.values;
  if (args.none(3) && args.none(4))
    return run.value("aten._native_batch_norm_legit.no_stats"_op, {v[0], v[1], v[2], v[5], v[6], v[7]});
  if (args.none(3) || args.none(4)) return mismatch(args, "running statistics come both or not at all");
  if (args.boolean(5)) return run.value("aten._native_batch_norm_legit.default"_op, v);
  return run.value("aten._native_batch_norm_legit_no_training.default"_op, {v[0], v[1], v[2], v[3], v[4], v[6], v[7]});
}

/// Per channel, as a tensor that broadcasts over the others of `rank` dimensions.
Formula perChannel(Formulas& p, Formula x, std::int64_t rank) {
  x = p(unsqueeze(x, 0));
  for (std::int64_t d = 2; d < rank; ++d) x = p(unsqueeze(x, d));
  return x;
}

/// native_batch_norm_backward(grad, input, weight, running_mean, running_var, save_mean, save_invstd, train, eps, mask)
Result<Value> nativeBatchNormBackward(const BoundArguments& args, const OpRunner& run) {
  const Tensor& input = args.tensor(1);
  if (input.dim() < 2) return mismatch(args, "input needs at least 2 dimensions");
  const bool trains = args.boolean(7);
  if (args.none(trains ? 5 : 3) || args.none(trains ? 6 : 4)) return mismatch(args, "the statistics are missing");
  const DType wide = opMathType(input.dtype());
  const DType weightType = args.none(2) ? input.dtype() : args.tensor(2).dtype();
  const ValueList& mask = args.values[9].list();
  const auto wants = [&](std::size_t i) { return mask[i].as<bool>() && *mask[i].as<bool>(); };
  Formulas p(args, run);
  const auto cast = [&](std::size_t i) { return p(to(p[i], wide)); };
  const auto rank = input.dim();
  const Sizes dims = dimsButChannels(rank);
  const Formula grad = cast(0), x = cast(1), weight = args.none(2) ? Formula() : cast(2);
  Formula mean = cast(trains ? 5 : 3);
  const Formula inverse = trains ? cast(6) : p(rsqrt(cast(4) + args.number(8)));
  const Formula norm = p.quotient(1, floorDiv(input.symNumel(), input.symSize(1)));
  mean = perChannel(p, mean, rank);
  const Formula sums = p(sum(grad, dims));
  const Formula dots = p(sum(grad * (x - mean), dims));
  const Formula gradMean = perChannel(p, sums * norm, rank);
  const Formula projection = perChannel(p, dots * norm * (inverse * inverse), rank);
  const Formula scale = weight.isNone() ? p(perChannel(p, inverse, rank) * 1.0) : perChannel(p, inverse * weight, rank);
  const Formula flows = p(trains ? (grad - (x - mean) * projection - gradMean) * scale : grad * scale);
  const Formula ofWeight = wants(1) ? p(dots * inverse) : Formula();
  return p.done(std::vector<Formula>{to(flows, input.dtype()), wants(1) ? to(ofWeight, weightType) : Formula(),
                                     wants(2) ? to(sums, weightType) : Formula()});
}

constexpr OpFacts batchNormDecompositionsTable[] = {
    decomposes("aten::native_batch_norm", nativeBatchNorm),
    decomposes("aten::_native_batch_norm_legit.", nativeBatchNormLegit<Shape::Writing>),
    decomposes("aten::_native_batch_norm_legit.no_stats", nativeBatchNormLegitNoStats),
    decomposes("aten::_native_batch_norm_legit_no_training", nativeBatchNormLegitNoTraining<Shape::Plain, false>),
    decomposes("aten::_batch_norm_no_update", nativeBatchNormLegitNoTraining<Shape::Reserving, false>),
    decomposes("aten::_batch_norm_with_update", nativeBatchNormLegitNoTraining<Shape::WritingReserving, true>),
    decomposes("aten::native_batch_norm_backward", nativeBatchNormBackward),
    decomposes("aten::batch_norm_backward", nativeBatchNormBackward),
};

constexpr TableProgram programs[] = {
    {"aten::_native_batch_norm_legit_functional", nativeBatchNormLegit<Shape::Functional>},
    {"aten::_batch_norm_with_update_functional", nativeBatchNormLegitNoTraining<Shape::FunctionalReserving, true>},
};

const OpRegistration batchNormDecompositions({.facts = batchNormDecompositionsTable, .programs = programs});

}  // namespace

}  // namespace kerf::inline ops
