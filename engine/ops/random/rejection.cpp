// Draws that try until one fits: Poisson and binomial counts, gamma and Dirichlet numbers, the slopes of rrelu. Always
// from the CPU generator, in PyTorch's order of draws.
#include <cmath>
#include <limits>

#include "engine/ops/core/op_registration.h"
#include "engine/ops/kernels/doubles.h"
#include "engine/ops/random/draws.h"
#include "engine/tensor/copy.h"

namespace kerf::inline ops {
namespace {

double uniform() { return randomState().cpu.uniformDouble(); }

/// Transformed rejection (Hörmann 1993): a point under a hat whose ends are cut at `us`, half a unit minus |u|.
struct HatPoint {
  double u, v, us;
};
HatPoint hatPoint() {
  const double u = uniform() - 0.5, v = uniform();
  return {u, v, 0.5 - std::abs(u)};
}

/// PTRS from a rate of 10 on, products of uniforms below.
double poissonCount(double rate) {
  if (rate == 0) return 0;
  if (rate < 10) {
    const double least = std::exp(-rate);
    double count = 0;
    for (double product = uniform(); product > least; product *= uniform()) ++count;
    return count;
  }
  const double root = std::sqrt(rate), b = 0.931 + 2.53 * root, a = -0.059 + 0.02483 * b;
  const double inverseAlpha = 1.1239 + 1.1328 / (b - 3.4), accepted = 0.9277 - 3.6224 / (b - 2);
  for (;;) {
    const auto [u, v, us] = hatPoint();
    const double k = std::floor((2 * a / us + b) * u + rate + 0.43);
    if (us >= 0.07 && v <= accepted) return k;
    if (k < 0 || (us < 0.013 && v > us)) continue;
    const double bound = -rate + k * std::log(rate) - std::lgamma(k + 1);
    if (std::log(v) + std::log(inverseAlpha) - std::log(a / (us * us) + b) <= bound) return k;
  }
}

/// What Stirling's formula lacks to log(k!), by its series from 10 on.
double stirlingRest(double k) {
  if (k < 10) return std::lgamma(k + 1) - ((k + 0.5) * std::log(k + 1) - (k + 1) + 0.5 * std::log(2 * M_PI));
  const double square = (k + 1) * (k + 1);
  return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1);
}

/// BTRS for count * odds >= 10 and odds <= 1/2.
double binomialByHat(double count, double odds) {
  const double deviation = std::sqrt(count * odds * (1 - odds)), b = 1.15 + 2.53 * deviation;
  const double a = -0.0873 + 0.0248 * b + 0.01 * odds, centre = count * odds + 0.5, accepted = 0.92 - 4.2 / b;
  const double ratio = odds / (1 - odds), alpha = (2.83 + 5.1 / b) * deviation, mode = std::floor((count + 1) * odds);
  for (;;) {
    const auto [u, v, us] = hatPoint();
    const double k = std::floor((2 * a / us + b) * u + centre);
    if (us >= 0.07 && v <= accepted) return k;
    if (k < 0 || k > count) continue;
    const double bound = (mode + 0.5) * std::log((mode + 1) / (ratio * (count - mode + 1))) +
                         (count + 1) * std::log((count - mode + 1) / (count - k + 1)) +
                         (k + 0.5) * std::log(ratio * (count - k + 1) / (k + 1)) + stirlingRest(mode) +
                         stirlingRest(count - mode) - stirlingRest(k) - stirlingRest(count - k);
    if (std::log(v * alpha / (a / (us * us) + b)) <= bound) return k;
  }
}

/// Sums geometric waiting times.
double binomialByWaiting(double count, double odds) {
  const double logMiss = std::log1p(-odds);
  double successes = 0;
  for (double waited = std::ceil(std::log(uniform()) / logMiss); waited <= count;
       waited += std::ceil(std::log(uniform()) / logMiss))
    ++successes;
  return successes;
}

double binomialCount(double count, double odds) {
  if (std::isnan(count) || std::isnan(odds)) return std::numeric_limits<double>::quiet_NaN();
  if (count <= 0 || odds <= 0) return 0;
  if (odds >= 1) return count;
  if (odds > 0.5) return count - binomialCount(count, 1 - odds);
  return count * odds >= 10 ? binomialByHat(count, odds) : binomialByWaiting(count, odds);
}

/// Marsaglia and Tsang (2000); shapes below 1 are raised by 1 and scaled back.
double gammaNumber(double shape) {
  if (shape == 0) return 0;
  double scale = 1;
  if (shape < 1) {
    scale = std::pow(1 - uniform(), 1 / shape);
    shape += 1;
  }
  const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  for (;;) {
    double x = 0, y = 0;
    do {
      x = randomState().cpu.normal();
      y = 1 + c * x;
    } while (y <= 0);
    const double v = y * y * y, u = 1 - uniform(), square = x * x;
    if (u < 1 - 0.0331 * square * square || std::log(u) < 0.5 * square + d * (1 - v + std::log(v)))
      return scale * d * v;
  }
}

/// Smallest positive normal number of a floating dtype.
double leastOf(DType dtype) {
  if (dtype == DType::Float64) return std::numeric_limits<double>::min();
  return dtype == DType::Float16 ? 0x1p-14 : double(std::numeric_limits<float>::min());
}

// Kernels: one draw per element, row-major

Result<Value> rowMajorShape(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  if (!isFloating(self.dtype())) return mismatch(args, "needs a floating point tensor");
  return Value(metaTensor(self.dtype(), self.symSizes()));
}

template <class Draw>
Result<Value> drawEach(const BoundArguments& args, Doubles values, Draw&& draw) {
  KERF_TRY(Tensor out, makeOutput(args));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = draw(i, values[i]);
  KERF_CHECK(writeValues(values, out));
  return Value(std::move(out));
}

Result<Value> poissonKernel(const BoundArguments& args) {
  KERF_TRY(const Doubles rates, doublesOf(args.tensor(0)));
  for (double rate : rates)
    if (!(rate >= 0 && rate < 1e18))
      return fail(ErrorCode::RuntimeFailed, "{}: invalid Poisson rate {}, expected one that is not negative",
                  args.opName(), rate);
  return drawEach(args, rates, [](std::size_t, double rate) { return poissonCount(rate); });
}

Result<Value> binomialKernel(const BoundArguments& args) {
  KERF_TRY(const Doubles counts, doublesOf(args.tensor(0)));
  KERF_TRY(const Doubles odds, doublesOf(args.tensor(1), args.tensor(0).sizes()));
  for (double count : counts)
    if (!(count < 1e15)) return fail(ErrorCode::RuntimeFailed, "{}: no {} trials", args.opName(), count);
  return drawEach(args, counts, [&](std::size_t i, double count) { return binomialCount(count, odds[i]); });
}

Result<void> checkShapes(const BoundArguments& args, const Doubles& shapes) {
  for (double shape : shapes)
    if (!(shape >= 0 && std::isfinite(shape)))
      return fail(ErrorCode::RuntimeFailed, "{}: no gamma distribution of shape {}", args.opName(), shape);
  return {};
}

Result<Value> gammaKernel(const BoundArguments& args) {
  KERF_TRY(const Doubles shapes, doublesOf(args.tensor(0)));
  KERF_CHECK(checkShapes(args, shapes));
  const double least = leastOf(args.tensor(0).dtype());
  return drawEach(args, shapes, [least](std::size_t, double shape) { return std::max(least, gammaNumber(shape)); });
}

/// Gamma numbers over the sum of their line, kept inside of (0, 1).
Result<Value> dirichletKernel(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  if (self.dim() == 0) return mismatch(args, "needs a dimension of concentrations");
  KERF_TRY(Doubles numbers, doublesOf(self));
  KERF_CHECK(checkShapes(args, numbers));
  for (double& number : numbers) number = std::max(leastOf(DType::Float64), gammaNumber(number));
  const auto width = std::size_t(self.sizes().back());
  Doubles sums;
  for (std::size_t first = 0; width > 0 && first < numbers.size(); first += width) {
    sums.push_back(0);
    for (std::size_t i = 0; i < width; ++i) sums.back() += numbers[first + i];
  }
  const double least = leastOf(self.dtype());
  const double most = self.dtype() == DType::Float64 ? std::nextafter(1.0, 0.0) : std::nextafter(1.f, 0.f);
  return drawEach(args, numbers, [&](std::size_t i, double x) { return std::clamp(x / sums[i / width], least, most); });
}

// rrelu_with_noise(self, noise, lower, upper, training): slopes drawn where self is not positive

/// Outside of training: a leaky relu of the mean slope.
Result<Value> leaky(const BoundArguments& args) {
  const double slope = (args.number(args.position("lower")) + args.number(args.position("upper"))) / 2;
  return callOp("aten.leaky_relu.default"_op, {args.values[0], slope});
}

struct Slopes {
  Doubles out, noise;
};
Result<Slopes> drawSlopes(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  const double lower = args.number(args.position("lower")), upper = args.number(args.position("upper"));
  if (!(lower <= upper) || !std::isfinite(upper - lower))
    return mismatch(args, "lower bound {} should be less than or equal to upper bound {}", lower, upper);
  Slopes slopes;
  KERF_TRY(slopes.out, doublesOf(self));
  for (double& value : slopes.out) {
    double slope = 1;
    if (value <= 0) {
      slope = uniform() * (upper - lower) + lower;
      if (randomState().drawDtype(self.dtype()) != DType::Float64) slope = float(slope);
      value *= slope;
    }
    slopes.noise.push_back(slope);
  }
  return slopes;
}

Result<Value> rreluShape(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  if (!isFloating(self.dtype())) return mismatch(args, "needs a floating point tensor");
  Value out = metaTensor(self.dtype(), self.symSizes());
  if (!args.boolean(args.position("training"))) {
    KERF_TRY(out, inferShapes("aten.leaky_relu.default"_op, {args.values[0]}, {}));
  }
  if (args.op->schema.returns.size() == 1) return out;
  return Value(ValueList{out, metaTensor(self.dtype(), args.tensor(1).symSizes())});
}

/// The noise goes to the argument of that name.
Result<Value> rreluKernel(const BoundArguments& args) {
  if (!args.boolean(args.position("training"))) return leaky(args);
  KERF_TRY(const Value meta, rreluShape(args));
  KERF_TRY(const Slopes slopes, drawSlopes(args));
  KERF_TRY(Tensor out, allocate(meta.tensor()));
  KERF_CHECK(writeValues(slopes.out, out));
  if (args.tensor(1).sizes() != out.sizes()) return mismatch(args, "noise must have the shape of self");
  KERF_CHECK(writeValues(slopes.noise, args.tensor(1)));
  return Value(std::move(out));
}

/// rrelu: with noise that nobody else sees.
Result<Value> rreluProgram(const BoundArguments& args, const OpRunner& run) {
  KERF_TRY(const Tensor noise, run("aten.empty_like.default"_op, {args.values[0]}));
  ValueList values = args.values;
  values.insert(values.begin() + 1, noise);
  return run.first("aten.rrelu_with_noise_functional.default"_op, values);
}

Result<Value> rreluFunctional(const BoundArguments& args) {
  KERF_TRY(const std::vector<Tensor> outs, makeOutputs(args));
  if (!args.boolean(args.position("training"))) {
    KERF_TRY(const Value out, leaky(args));
    KERF_CHECK(copyElements(args.tensor(1), outs[1]));
    return Value(ValueList{out, outs[1]});
  }
  if (outs[1].sizes() != outs[0].sizes()) return mismatch(args, "noise must have the shape of self");
  KERF_TRY(const Slopes slopes, drawSlopes(args));
  KERF_CHECK(writeValues(slopes.out, outs[0]));
  KERF_CHECK(writeValues(slopes.noise, outs[1]));
  return tensorList(outs);
}

constexpr OpTrait random = OpTrait::Random;
#define KERF_SLOPES \
  "Scalar lower=0.125, Scalar upper=0.3333333333333333, bool training=False, Generator? generator=None) -> "
constexpr OpRow randomRejectionRows[] = {
    {"aten::poisson(Tensor self, Generator? generator=None) -> Tensor", random, rowMajorShape, poissonKernel},
    {"aten::binomial(Tensor count, Tensor prob, Generator? generator=None) -> Tensor", random, rowMajorShape,
     binomialKernel},
    {"aten::_standard_gamma(Tensor self, Generator? generator=None) -> Tensor", random, rowMajorShape, gammaKernel},
    {"aten::_sample_dirichlet(Tensor self, Generator? generator=None) -> Tensor", random, rowMajorShape,
     dirichletKernel},
    compositeRow(rreluProgram, "aten::rrelu(Tensor self, " KERF_SLOPES "Tensor", random),
    {"aten::rrelu_with_noise(Tensor self, Tensor(b!) noise, " KERF_SLOPES "Tensor", random | OpTrait::Impure,
     rreluShape, rreluKernel},
    {"aten::rrelu_with_noise_functional(Tensor self, Tensor noise, " KERF_SLOPES "(Tensor, Tensor noise_out)", random,
     rreluShape, rreluFunctional},
};

const OpRegistration randomRejectionOps({.rows = randomRejectionRows});

}  // namespace

}  // namespace kerf::inline ops
