// Activation functions and their element-wise backwards.
#include "engine/ops/core/op_registration.h"
#include "engine/ops/kernels/element_math.h"
#include "engine/ops/pointwise/vector.h"

namespace kerf::inline ops {
namespace {

using namespace element;

template <class T>
T softplus(T x, T beta, T threshold) {
  return x * beta > threshold ? x : std::log1p(std::exp(x * beta)) / beta;
}
template <class T>
T geluTanhInner(T x) {
  return T(M_SQRT2 * M_2_SQRTPI * 0.5) * (x + T(0.044715) * x * x * x);
}
template <class T>
T geluTanhBackward(T grad, T x, T t) {
  const T inner = T(M_SQRT2 * M_2_SQRTPI * 0.5) * (T(1) + T(3 * 0.044715) * x * x);
  return grad * (T(0.5) * (T(1) + t) + T(0.5) * x * (T(1) - t * t) * inner);
}
template <class T>
T clampTo(T x, T low, T high) {
  return minimum(maximum(x, low), high);
}
template <class T>
T siluBackward(T grad, T x, T sigmoid) {
  return grad * sigmoid * (T(1) + x * (T(1) - sigmoid));
}
template <class T>
T mishBackward(T grad, T x) {
  const T s = sigmoid(x);
  const T t = std::tanh(std::log1p(std::exp(x)));
  return grad * (t + x * s * (T(1) - t * t));
}
template <class T>
T logSigmoid(T x) {
  return std::min(T(0), x) - std::log1p(std::exp(-std::abs(x)));
}

KERF_ELEMENT1(Relu, maximum(x, T(0)));
KERF_ELEMENT1(Relu6, clampTo(x, T(0), T(6)));
KERF_ELEMENT1(Negated, -x);
KERF_ELEMENT2(SiluFromExp, x / (T(1) + y));
KERF_ELEMENT1(Mish, x* std::tanh(std::log1p(std::exp(x))));
KERF_ELEMENT1(HardSwish, x* clampTo(x + T(3), T(0), T(6)) / T(6));
KERF_ELEMENT1(HardSigmoid, clampTo(x + T(3), T(0), T(6)) / T(6));
KERF_ELEMENT1(GeluArgument, x* T(M_SQRT1_2));
KERF_ELEMENT2(GeluFromErf, x* T(0.5) * (T(1) + y));
KERF_ELEMENT1(GeluTanhArgument, geluTanhInner(x));
KERF_ELEMENT2(GeluFromTanh, T(0.5) * x * (T(1) + y));
KERF_ELEMENT2(LeakyRelu, x > 0 ? x : x * y);
KERF_ELEMENT2(Prelu, x > 0 ? x : x * y);
KERF_ELEMENT2(Celu, x > 0 ? x : y * std::expm1(x / y));
KERF_ELEMENT2(SoftShrink, std::isnan(x) ? x : x > y ? x - y : x < -y ? x + y : T(0));
KERF_ELEMENT2(HardShrink, x >= -y && x <= y ? T(0) : x);
KERF_ELEMENT3(Softplus, softplus(x, y, z));
KERF_ELEMENT4(Elu, x > 0 ? x * z : std::expm1(x * w) * y * z);

KERF_ELEMENT2(TanhBackward, x*(T(1) - y * y));
KERF_ELEMENT2(SigmoidBackward, x*(T(1) - y) * y);
KERF_ELEMENT2(NegatedSecond, -y);
KERF_ELEMENT3(SiluBackwardFromExp, siluBackward(x, y, T(1) / (T(1) + z)));
KERF_ELEMENT2(MishBackward, mishBackward(x, y));
KERF_ELEMENT2(HardSwishBackward, y <= T(-3) ? T(0) : y < T(3) ? x * (y / T(3) + T(0.5)) : x);
KERF_ELEMENT2(HardSigmoidBackward, y > T(-3) && y < T(3) ? x / T(6) : T(0));
KERF_ELEMENT2(GeluTanhBackwardArgument, geluTanhInner(y));
KERF_ELEMENT3(GeluBackwardFromTanh, geluTanhBackward(x, y, z));
KERF_ELEMENT3(ThresholdBackward, y <= z ? T(0) : x);
KERF_ELEMENT3(LeakyReluBackward, y > 0 ? x : x * z);
KERF_ELEMENT3(ShrinkBackward, y >= -z && y <= z ? T(0) : x);
KERF_ELEMENT4(HardTanhBackward, y <= z || y >= w ? T(0) : x);
KERF_ELEMENT4(SoftplusBackward, y* z > w ? x : x * std::exp(y * z) / (std::exp(y * z) + T(1)));
KERF_ELEMENT2(LogSigmoidBackward, x*(T(1) - sigmoid(y)));
KERF_ELEMENT1(LogSigmoid, logSigmoid(x));

struct EluBackward {  // grad, alpha, scale, input scale, self
  static constexpr int arity = 5;
  template <class T>
  static T apply(T grad, T alpha, T scale, T inputScale, T x) {
    return x <= 0 ? grad * inputScale * alpha * scale * std::exp(x * inputScale) : grad * scale;
  }
};
struct EluBackwardFromResult {
  static constexpr int arity = 5;
  template <class T>
  static T apply(T grad, T alpha, T scale, T inputScale, T y) {
    return y <= 0 ? grad * inputScale * (y + alpha * scale) : grad * scale;
  }
};

template <class F>
constexpr PointwiseSpec real = floatSpec<F>(Promotion::Same, NumberRounding::Exact);
template <class P>
constexpr PointwiseSpec program = programSpec<P>(Promotion::Same, NumberRounding::Exact);
template <class F>
constexpr PointwiseSpec rounded = floatSpec<F>(Promotion::Same);

using Silu = Around<Negated, VectorFunction::Exp, SiluFromExp>;
using SiluBackward = Around<NegatedSecond, VectorFunction::Exp, SiluBackwardFromExp>;
using Gelu = Around<GeluArgument, VectorFunction::Erf, GeluFromErf>;
using GeluTanh = Around<GeluTanhArgument, VectorFunction::Tanh, GeluFromTanh>;
using GeluTanhBackward = Around<GeluTanhBackwardArgument, VectorFunction::Tanh, GeluBackwardFromTanh>;

/// grad * (cdf(x) + x * pdf(x)) of the normal distribution.
struct GeluBackward {
  static constexpr std::size_t arity = 2;
  struct Arguments {
    KERF_KERNEL void run(const double* x, double* forErf, double* forExp, std::int64_t count) {
      for (std::int64_t i = 0; i < count; ++i) forErf[i] = x[i] * M_SQRT1_2;
      for (std::int64_t i = 0; i < count; ++i) forExp[i] = -0.5 * x[i] * x[i];
    }
  };
  struct Combine {
    KERF_KERNEL void run(const double* grad, const double* x, const double* exp, double* out, std::int64_t count) {
      constexpr double density = M_2_SQRTPI * M_SQRT1_2 * 0.5;
      for (std::int64_t i = 0; i < count; ++i) out[i] = grad[i] * (0.5 * (1 + out[i]) + x[i] * exp[i] * density);
    }
  };
  static void run(const double* const* in, double* out, std::int64_t count) {
    alignas(64) double exp[detail::programLength];
    perIsa<Arguments>(in[1], out, &exp[0], count);
    vectorMath(VectorFunction::Erf, out, out, count);
    vectorExp(&exp[0], &exp[0], count);
    perIsa<Combine>(in[0], in[1], static_cast<const double*>(&exp[0]), out, count);
  }
};

template <class Tanh>
const PointwiseSpec* byApproximation(const BoundArguments& args) {
  return args.text(args.position("approximate")) == "tanh" ? &program<Tanh> : nullptr;
}

template <class Exact, class Tanh>
constexpr PointwiseSpec geluSpec = [] {
  PointwiseSpec spec = program<Exact>;
  spec.select = byApproximation<Tanh>;
  return spec;
}();

constexpr PointwiseSpec eluBackward = [] {
  PointwiseSpec spec = real<EluBackward>;
  spec.select = [](const BoundArguments& args) -> const PointwiseSpec* {
    return args.boolean(args.position("is_result")) ? &real<EluBackwardFromResult> : nullptr;
  };
  return spec;
}();

constexpr OpRow activationRows[] = {
    pointwiseRow("aten::relu(Tensor self) -> Tensor", ordered<Relu>),
    pointwiseRow("aten::relu6(Tensor self) -> Tensor", ordered<Relu6>),
    pointwiseRow("aten::silu(Tensor self) -> Tensor", program<Silu>),
    pointwiseRow("aten::mish(Tensor self) -> Tensor", real<Mish>),
    pointwiseRow("aten::hardswish(Tensor self) -> Tensor", real<HardSwish>),
    pointwiseRow("aten::hardsigmoid(Tensor self) -> Tensor", real<HardSigmoid>),
    pointwiseRow("aten::gelu(Tensor self, *, str approximate=\"none\") -> Tensor", geluSpec<Gelu, GeluTanh>),
    pointwiseRow("aten::leaky_relu(Tensor self, Scalar negative_slope=0.01) -> Tensor", real<LeakyRelu>),
    pointwiseRow("aten::_prelu_kernel(Tensor self, Tensor weight) -> Tensor", rounded<Prelu>),
    pointwiseRow("aten::celu(Tensor self, Scalar alpha=1.) -> Tensor", real<Celu>),
    pointwiseRow("aten::softshrink(Tensor self, Scalar lambd=0.5) -> Tensor", rounded<SoftShrink>),
    pointwiseRow("aten::hardshrink(Tensor self, Scalar lambd=0.5) -> Tensor", rounded<HardShrink>),
    pointwiseRow("aten::softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor", real<Softplus>),
    pointwiseRow("aten::elu(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> Tensor", real<Elu>),
    pointwiseRow("aten::tanh_backward(Tensor grad_output, Tensor output) -> Tensor", real<TanhBackward>),
    pointwiseRow("aten::sigmoid_backward(Tensor grad_output, Tensor output) -> Tensor", real<SigmoidBackward>),
    pointwiseRow("aten::silu_backward(Tensor grad_output, Tensor self) -> Tensor", program<SiluBackward>),
    pointwiseRow("aten::mish_backward(Tensor grad_output, Tensor self) -> Tensor", real<MishBackward>),
    pointwiseRow("aten::hardswish_backward(Tensor grad_output, Tensor self) -> Tensor", real<HardSwishBackward>),
    pointwiseRow("aten::hardsigmoid_backward(Tensor grad_output, Tensor self) -> Tensor", real<HardSigmoidBackward>),
    pointwiseRow("aten::gelu_backward(Tensor grad_output, Tensor self, *, str approximate=\"none\") -> Tensor",
                 geluSpec<GeluBackward, GeluTanhBackward>),
    pointwiseRow("aten::threshold_backward(Tensor grad_output, Tensor self, Scalar threshold) -> Tensor",
                 ordered<ThresholdBackward>),
    pointwiseRow("aten::leaky_relu_backward(Tensor grad_output, Tensor self, Scalar negative_slope, "
                 "bool self_is_result) -> Tensor",
                 real<LeakyReluBackward>),
    pointwiseRow("aten::softshrink_backward(Tensor grad_output, Tensor self, Scalar lambd) -> Tensor",
                 rounded<ShrinkBackward>),
    pointwiseRow("aten::hardshrink_backward(Tensor grad_out, Tensor self, Scalar lambd) -> Tensor",
                 rounded<ShrinkBackward>),
    pointwiseRow("aten::hardtanh_backward(Tensor grad_output, Tensor self, Scalar min_val, Scalar max_val) -> Tensor",
                 rounded<HardTanhBackward>),
    pointwiseRow("aten::softplus_backward(Tensor grad_output, Tensor self, Scalar beta, Scalar threshold) -> Tensor",
                 real<SoftplusBackward>),
    pointwiseRow("aten::elu_backward(Tensor grad_output, Scalar alpha, Scalar scale, Scalar input_scale, "
                 "bool is_result, Tensor self_or_result) -> Tensor",
                 eluBackward),
    pointwiseRow("aten::log_sigmoid_backward(Tensor grad_output, Tensor self, Tensor buffer) -> Tensor",
                 real<LogSigmoidBackward>),
    pointwiseRow("aten::log_sigmoid(Tensor self) -> Tensor", real<LogSigmoid>),
};

const OpRegistration activationOps({.rows = activationRows});

}  // namespace

}  // namespace kerf::inline ops
