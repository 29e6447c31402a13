// Element-wise ops whose elements are doubles: logit, polygamma, frexp and others.
#include <cmath>

#include "engine/ops/core/formula.h"
#include "engine/ops/core/op_math.h"
#include "engine/ops/core/op_registration.h"
#include "engine/ops/core/type_promotion.h"
#include "engine/ops/kernels/doubles.h"
#include "engine/ops/kernels/planes.h"
#include "engine/ops/pointwise/backward_slopes.h"
#include "engine/ops/pointwise/special_functions.h"
#include "engine/tensor/copy.h"

namespace kerf::inline ops {
namespace {

Result<Value> elementShape(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  return Value(metaTensor(self.dtype(), self.symSizes(), elementwiseStrides(std::span(&self, 1), self.symSizes())));
}
Result<Value> floatElementShape(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  return Value(
      metaTensor(toFloating(self.dtype()), self.symSizes(), elementwiseStrides(std::span(&self, 1), self.symSizes())));
}

/// out = f(x) over doubles, row-major.
Result<Value> mapElements(const BoundArguments& args, const Tensor& self, auto&& f) {
  KERF_TRY(Tensor out, makeOutput(args));
  KERF_TRY(Doubles x, doublesOf(self));
  for (double& value : x) value = f(value);
  KERF_CHECK(writeValues(x, out));
  return Value(std::move(out));
}

/// 16-bit floats round after every step, which shows near one half.
Result<Value> logitKernel(const BoundArguments& args) {
  const auto eps = args.numberIf(1);
  const DType dtype = toFloating(args.tensor(0).dtype());
  const auto r = [dtype](double x) { return roundedTo(dtype, x); };
  return mapElements(args, args.tensor(0), [&](double x) {
    const double low = eps ? r(*eps) : 0;
    const double z = eps ? std::clamp(x, low, std::max(low, r(1 - low))) : x;
    return std::log(r(z / r(1 - z)));
  });
}

Result<Value> logitBackwardKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  KERF_TRY(Doubles grad, doublesOf(args.tensor(0), out.sizes()));
  KERF_TRY(const Doubles x, doublesOf(args.tensor(1), out.sizes()));
  const auto eps = args.numberIf(2);
  const double low = eps.value_or(0);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const bool inside = x[i] >= low && x[i] <= 1 - low;
    grad[i] = inside ? grad[i] / (x[i] * (1 - x[i])) : (eps ? 0 : std::numeric_limits<double>::quiet_NaN());
  }
  KERF_CHECK(writeValues(grad, out));
  return Value(std::move(out));
}

/// Largest finite value of a floating dtype.
double largestOf(DType dtype) {
  if (dtype == DType::Float64) return std::numeric_limits<double>::max();
  if (dtype == DType::Float16) return 65504;
  return dtype == DType::BFloat16 ? 0x1.fep127 : std::numeric_limits<float>::max();
}

Result<Value> nanToNumKernel(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  if (!isFloating(self.dtype())) {
    KERF_TRY(Tensor out, makeOutput(args));
    KERF_CHECK(copyElements(self, out));
    return Value(std::move(out));
  }
  const double largest = largestOf(self.dtype());
  const double nan = args.numberIf(1).value_or(0), high = args.numberIf(2).value_or(largest),
               low = args.numberIf(3).value_or(-largest);
  return mapElements(args, self, [=](double x) {
    return std::isnan(x) ? nan : std::isinf(x) ? (x > 0 ? high : low) : x;
  });
}

Result<Value> polygammaShape(const BoundArguments& args) {
  const Tensor& self = args.tensor(1);
  if (args.integer(0) < 0 || args.integer(0) > 1000)
    return mismatch(args, "argument 'n' is out of range: {}", args.integer(0));
  return Value(
      metaTensor(toFloating(self.dtype()), self.symSizes(), elementwiseStrides(std::span(&self, 1), self.symSizes())));
}
Result<Value> polygammaKernel(const BoundArguments& args) {
  const int n = int(args.integer(0));
  const DType dtype = toFloating(args.tensor(1).dtype());
  if (dtype == DType::Float64)
    return mapElements(args, args.tensor(1), [n](double x) { return special::polygamma(n, x); });
  if (n < 2 || itemSize(dtype) == 4)
    return mapElements(args, args.tensor(1), [n](double x) { return special::polygammaSingle(n, x); });
  const double factor = std::tgamma(n + 1.0);  // 16-bit floats round the zeta function before it is multiplied
  return mapElements(args, args.tensor(1),
                     [=](double x) { return factor * roundedTo(dtype, special::polygammaSingle(n, x) / factor); });
}

Result<Value> mvlgammaKernel(const BoundArguments& args) {
  const auto p = args.integer(1);
  if (p < 1 || p > 10000) return mismatch(args, "argument 'p' is out of range: {}", p);
  const DType dtype = toFloating(args.tensor(0).dtype());
  const DType step = itemSize(dtype) < 4 ? dtype : DType::Float64;  // 16-bit floats round after every step
  return mapElements(args, args.tensor(0), [p, step](double x) {
    double sum = 0;
    for (std::int64_t i = 0; i < p; ++i) sum += roundedTo(step, std::lgamma(roundedTo(step, x - double(i) / 2)));
    return roundedTo(step, sum) + roundedTo(step, double(p * (p - 1)) / 4 * std::log(M_PI));
  });
}

Result<Value> roundDecimalsKernel(const BoundArguments& args) {
  const auto decimals = std::clamp<std::int64_t>(args.integer(1), -400, 400);  // beyond, powers of ten are infinite
  const double scale = std::pow(10.0, double(std::abs(decimals)));
  if (isIntegral(args.tensor(0).dtype())) return mapElements(args, args.tensor(0), [](double x) { return x; });
  const bool single = args.tensor(0).dtype() != DType::Float64;  // whose products overflow sooner
  const auto r = [single](double x) { return single ? double(float(x)) : x; };
  return mapElements(args, args.tensor(0), [=](double x) {
    return decimals < 0 ? r(std::nearbyint(r(x / r(scale))) * r(scale)) : r(std::nearbyint(r(x * r(scale))) / r(scale));
  });
}

Result<Value> frexpShape(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  if (!isFloating(self.dtype())) return mismatch(args, "needs a floating point input");
  const SymSizes strides = elementwiseStrides(std::span(&self, 1), self.symSizes());
  return Value(ValueList{metaTensor(self.dtype(), self.symSizes(), strides),
                         metaTensor(DType::Int32, self.symSizes(), strides)});
}
Result<Value> frexpKernel(const BoundArguments& args) {
  KERF_TRY(const std::vector<Tensor> outs, makeOutputs(args));
  KERF_TRY(Doubles x, doublesOf(args.tensor(0)));
  std::vector<std::int64_t> exponents;
  for (double& value : x) {
    int exponent = 0;
    value = std::frexp(value, &exponent);
    exponents.push_back(std::isfinite(value) ? exponent : 0);
  }
  KERF_CHECK(writeValues(x, outs[0]));
  KERF_CHECK(writeValues(exponents, outs[1]));
  return tensorList(outs);
}

Result<Value> rreluBackwardKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  KERF_TRY(Doubles grad, doublesOf(args.tensor(0)));
  KERF_TRY(const Doubles x, doublesOf(args.tensor(1), out.sizes()));
  KERF_TRY(const Doubles noise, doublesOf(args.tensor(2), out.sizes()));
  const double lower = args.number(3), upper = args.number(4);
  const bool random = args.boolean(5) && upper - lower > 1e-6;
  for (std::size_t i = 0; i < grad.size(); ++i) grad[i] *= random ? noise[i] : x[i] > 0 ? 1 : (lower + upper) / 2;
  KERF_CHECK(writeValues(grad, out));
  return Value(std::move(out));
}

// Decompositions

/// logit(self, eps): without eps the bounds only keep NaN what is NaN.
Result<Value> logitProgram(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const double low = args.numberIf(1).value_or(-1);
  const Formula x = p(clamp(p[0], low, 1 - low));
  return p.done(log(x / (1 - x)));
}
/// logit_backward(grad, self, eps): 0 outside of the bounds, without eps NaN outside of [0, 1].
Result<Value> logitBackwardProgram(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const double low = args.numberIf(2).value_or(0);
  const Formula inside = p({"aten.logical_and.default"_op, {p[1] >= low, p[1] <= 1 - low}});
  const Formula slope = p(p[0] / (p[1] * (1.0 - p[1])));
  if (!args.none(2)) return p.done(where(inside, slope, 0.0));
  return p.done(where(inside, slope, newFull(p[1], {}, std::nan(""))));
}
/// rrelu_with_noise_backward(grad, self, noise, lower, upper, training, self_is_result)
Result<Value> rreluWithNoiseBackwardProgram(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const double lower = args.number(3), upper = args.number(4);
  if (args.boolean(5) && upper - lower > 1e-6) return p.done(p[0] * p[2]);
  return p.done({"aten.leaky_relu_backward.default"_op, {p[0], p[1], (lower + upper) / 2, p[6]}});
}

constexpr OpTrait pointwise = OpTrait::Pointwise;
constexpr OpRow overDoublesRows[] = {
    OpRow{"aten::logit(Tensor self, float? eps=None) -> Tensor", pointwise, floatElementShape, logitKernel}
        .decomposition(inRealMath<logitProgram>),
    OpRow{"aten::logit_backward(Tensor grad_output, Tensor self, float? eps=None) -> Tensor", pointwise, elementShape,
          logitBackwardKernel}
        .decomposition(inOpMath<logitBackwardProgram>),
    {"aten::nan_to_num(Tensor self, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor", pointwise,
     elementShape, nanToNumKernel},
    {"aten::polygamma(int n, Tensor self) -> Tensor", pointwise, polygammaShape, polygammaKernel},
    {"aten::mvlgamma(Tensor self, int p) -> Tensor", pointwise, floatElementShape, mvlgammaKernel},
    {"aten::round.decimals(Tensor self, *, int decimals) -> Tensor", pointwise, elementShape, roundDecimalsKernel},
    {"aten::frexp.Tensor(Tensor self) -> (Tensor mantissa, Tensor exponent)", pointwise, frexpShape, frexpKernel},
    OpRow{"aten::rrelu_with_noise_backward(Tensor grad_output, Tensor self, Tensor noise, Scalar lower, Scalar upper, "
          "bool training, bool self_is_result) -> Tensor",
          pointwise, elementShape, rreluBackwardKernel}
        .derivative(slope<piecewise>)
        .decomposition(inOpMath<rreluWithNoiseBackwardProgram>),
};

const OpRegistration overDoublesOps({.rows = overDoublesRows});

}  // namespace

}  // namespace kerf::inline ops
