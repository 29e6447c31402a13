// gelu and gelu_backward, exact and by tanh.
#include <cmath>

#include "engine/ops/core/formula.h"
#include "engine/ops/core/gradient_rules.h"
#include "engine/ops/core/op_math.h"
#include "engine/ops/core/op_registration.h"
#include "engine/ops/pointwise/backward_slopes.h"
#include "engine/ops/pointwise/element_lowering.h"
#include "engine/ops/pointwise/vector.h"

namespace kerf::inline ops {
namespace {

using namespace lowered;
using enum ExprOp;
using enum OperandTypes;

// Kernels

template <class T>
T geluTanhInner(T x) {
  return T(M_SQRT2 * M_2_SQRTPI * 0.5) * (x + T(0.044715) * x * x * x);
}
template <class T>
T geluTanhBackward(T grad, T x, T t) {
  const T inner = T(M_SQRT2 * M_2_SQRTPI * 0.5) * (T(1) + T(3 * 0.044715) * x * x);
  return grad * (T(0.5) * (T(1) + t) + T(0.5) * x * (T(1) - t * t) * inner);
}
KERF_ELEMENT1(GeluArgument, x* T(M_SQRT1_2));
KERF_ELEMENT2(GeluFromErf, x* T(0.5) * (T(1) + y));
KERF_ELEMENT1(GeluTanhArgument, geluTanhInner(x));
KERF_ELEMENT2(GeluFromTanh, T(0.5) * x * (T(1) + y));
KERF_ELEMENT2(GeluTanhBackwardArgument, geluTanhInner(y));
KERF_ELEMENT3(GeluBackwardFromTanh, geluTanhBackward(x, y, z));

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

template <class P>
constexpr PointwiseSpec program = programSpec<P>(Promotion::Same, NumberRounding::Exact);
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

// Lowerings

bool usesTanh(Call c) { return c.bound.text(c.bound.position("approximate")) == "tanh"; }
int normalCdf(Call c, int x) {
  const int erf = c.b.unary(Erf, mul(c, x, c.number(M_SQRT1_2)));
  return mul(c, c.number(0.5), add(c, c.number(1), erf));
}
constexpr double geluScale = M_SQRT2 * M_2_SQRTPI * 0.5;
int geluTanh(Call c, int x) {
  const int cubed = mul(c, mul(c, x, x), x);
  const int inner = mul(c, c.number(geluScale), add(c, x, mul(c, c.number(0.044715), cubed)));
  return c.b.unary(Tanh, inner);
}
int geluElement(Call c) {
  if (!usesTanh(c)) return mul(c, c.x(0), normalCdf(c, c.x(0)));
  return mul(c, mul(c, c.number(0.5), c.x(0)), add(c, c.number(1), geluTanh(c, c.x(0))));
}
int geluBackwardTanh(Call c) {
  const int x = c.x(1);
  const int t = geluTanh(c, x);
  const int slope = add(c, c.number(1), mul(c, c.number(3 * 0.044715), mul(c, x, x)));
  const int left = mul(c, c.number(0.5), add(c, c.number(1), t));
  const int decay = sub(c, c.number(1), mul(c, t, t));
  const int right = mul(c, mul(c, mul(c, c.number(0.5), x), decay), mul(c, c.number(geluScale), slope));
  return mul(c, c.x(0), add(c, left, right));
}
int geluBackwardElement(Call c) {
  if (usesTanh(c)) return geluBackwardTanh(c);
  const int x = c.x(1);
  const int density = mul(c, expOf(c, mul(c, mul(c, c.number(-0.5), x), x)), c.number(M_2_SQRTPI * M_SQRT1_2 * 0.5));
  return mul(c, c.x(0), add(c, normalCdf(c, x), mul(c, x, density)));
}

// Derivatives

/// A keyword without its default is not written.
Formula geluSlope(const SlopeCall& c) {
  if (c.call.args.text(1) == "none") return {"aten.gelu_backward.default"_op, {c.flow, c.x()}};
  return {"aten.gelu_backward.default"_op, {c.flow, c.x()}, {{"approximate", c.x(1).value()}}};
}
/// φ(x), the density of the normal distribution.
Formula density(const Formula& x) { return times(exp(times(square(x), -0.5)), M_2_SQRTPI * M_SQRT1_2 / 2); }
Formula geluTanhBend(const Formula& x) {
  constexpr double cubic = 0.044715;
  const double root = M_SQRT2 * M_2_SQRTPI / 2;
  const Formula bent = tanh(times(x + times(pow(x, 3), cubic), root));
  const Formula steep = times(plus(times(square(x), 3 * cubic), 1), root);  // the slope of what tanh is of
  const Formula rise = minusFrom(1, square(bent));
  const Formula curve = times(x, 6 * cubic * root) - times(bent * square(steep), 2);
  return rise * (steep + times(x * curve, 0.5));
}
Formula geluBackwardSlope(const SlopeCall& c) {
  if (c.argument == 0) return again(c);
  const Formula x = c.x(1);
  const bool exact = c.call.args.text(2) == "none";
  return c.flow * c.x(0) * (exact ? density(x) * minusFrom(2, square(x)) : geluTanhBend(x));
}

// Decompositions

Result<Value> geluProgram(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  if (args.text(1) != "tanh") return p.done(p[0] * 0.5 * (erf(p[0] * M_SQRT1_2) + 1));
  const Formula cube = p(p[0] * p[0] * p[0]);
  const Formula inner = p((p[0] + cube * 0.044715) * (M_SQRT2 * M_2_SQRTPI * 0.5));
  return p.done(p[0] * 0.5 * (tanh(inner) + 1));
}
Result<Value> geluBackwardProgram(const BoundArguments& args, const OpRunner& run) {
  Formulas p(args, run);
  const Formula& x = p[1];
  if (args.text(2) != "tanh") {
    const Formula share = p((erf(x * M_SQRT1_2) + 1) * 0.5);
    const Formula density = p(exp(x * x * -0.5) * (M_2_SQRTPI * M_SQRT1_2 * 0.5));
    return p.done(p[0] * (share + x * density));
  }
  const double beta = M_SQRT2 * M_2_SQRTPI * 0.5, kappa = 0.044715;
  const Formula square = p(x * x);
  const Formula cube = p(square * x);
  const Formula bent = p(tanh((x + cube * kappa) * beta));
  const Formula left = p(x * 0.5), right = p(bent + 1);
  const Formula leftSlope = p(right * 0.5);
  const Formula bentSlope = p(1 - bent * bent);
  const Formula innerSlope = p((square * (3 * kappa) + 1) * beta);
  return p.done(p[0] * (leftSlope + left * bentSlope * innerSlope));
}

constexpr OpRow geluRows[] = {
    pointwiseRow("aten::gelu(Tensor self, *, str approximate=\"none\") -> Tensor", geluSpec<Gelu, GeluTanh>)
        .lowering(Floats, geluElement, 25)
        .derivative(slope<geluSlope>)
        .decomposition(inOpMath<geluProgram>),
    pointwiseRow("aten::gelu_backward(Tensor grad_output, Tensor self, *, str approximate=\"none\") -> Tensor",
                 geluSpec<GeluBackward, GeluTanhBackward>)
        .lowering(Floats, geluBackwardElement, 40)
        .derivative(slope<geluBackwardSlope>)
        .decomposition(inOpMath<geluBackwardProgram>),
};

const OpRegistration geluOps({.rows = geluRows});

}  // namespace

}  // namespace kerf::inline ops
