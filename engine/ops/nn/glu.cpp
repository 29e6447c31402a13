// glu and glu_backward: one half of a tensor, times the sigmoid of the other.
#include <cmath>

#include "engine/ops/core/flow_terms.h"
#include "engine/ops/core/formula.h"
#include "engine/ops/core/gradient_rules.h"
#include "engine/ops/core/op_math.h"
#include "engine/ops/core/op_registration.h"
#include "engine/ops/core/symbolic_checks.h"
#include "engine/ops/index/views.h"
#include "engine/ops/kernels/doubles.h"
#include "engine/ops/kernels/element_math.h"
#include "engine/ops/kernels/planes.h"

namespace kerf::inline ops {
namespace {

// Shape rules and kernels

Result<Value> gluShape(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  if (self.dim() == 0) return mismatch(args, "needs at least one dimension");
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(1), self.dim()));
  SymSizes sizes = self.symSizes();
  SymInt& size = sizes[std::size_t(dim)];
  if (!guardOrTrue(floorMod(size, 2) == 0))
    return mismatch(args, "dimension {} of size {} cannot be halved", dim, size);
  size = floorDiv(size, 2);
  return Value(metaTensor(self.dtype(), sizes));
}
Result<Value> gluKernel(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  KERF_TRY(Tensor out, makeOutput(args));
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(1), self.dim()));
  const std::int64_t half = self.size(dim) / 2;
  KERF_TRY(const Tensor first, sliceView(args, self, dim, 0, half, 1));
  KERF_TRY(const Tensor second, sliceView(args, self, dim, half, 2 * half, 1));
  KERF_TRY(Doubles x, doublesOf(first));
  KERF_TRY(const Doubles gate, doublesOf(second));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] *= element::sigmoid(gate[i]);
  KERF_CHECK(writeValues(x, out));
  return Value(std::move(out));
}
Result<Value> gluBackwardShape(const BoundArguments& args) {
  const Tensor &grad = args.tensor(0), &self = args.tensor(1);
  if (self.dim() == 0 || !isFloating(self.dtype())) return mismatch(args, "argument 'self' must be a float tensor");
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(2), self.dim()));
  SymSizes half = self.symSizes();
  SymInt& length = half[std::size_t(dim)];
  if (!guardOrTrue(floorMod(length, 2) == 0)) return mismatch(args, "dimension {} must be even", dim);
  length = floorDiv(length, 2);
  if (!checkEqual(grad.symSizes(), half))
    return mismatch(args, "grad_output must have shape [{}]", fmt::join(half, ", "));
  return Value(metaTensor(self.dtype(), self.symSizes()));
}
Result<Value> gluBackwardKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  const Tensor& self = args.tensor(1);
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(2), self.dim()));
  KERF_TRY(const Doubles grad, doublesOf(args.tensor(0)));
  KERF_TRY(const Doubles x, doublesOf(self));
  std::int64_t inner = 1;
  for (std::int64_t d = dim + 1; d < self.dim(); ++d) inner *= self.size(d);
  const std::int64_t block = self.size(dim) / 2 * inner;
  Doubles values(x.size());
  for (std::int64_t i = 0; i < std::int64_t(grad.size()); ++i) {
    const auto a = std::size_t(i / block * 2 * block + i % block), b = a + std::size_t(block);
    const double gate = 1 / (1 + std::exp(-x[b])), own = grad[std::size_t(i)];
    values[a] = own * gate;
    values[b] = (1 - gate) * gate * own * x[a];
  }
  KERF_CHECK(writeValues(values, out));
  return Value(std::move(out));
}

// Derivatives

/// glu(self, dim): the first half times the sigmoid of the second.
void gluGradient(Backward& b) { b.give(0, {"aten.glu_backward.default"_op, {b.grad(), b[0], b[1]}}); }
std::vector<Formula> gluTangent(Forward& f) {
  const auto halves = [&](const Formula& x) {
    const SymInt half = floorDiv(f.args.tensor(0).symSize(f.dim(1)), 2);
    return std::pair(slice(x, f.dim(1), 0, half), slice(x, f.dim(1), half, half + half));
  };
  const auto [value, gate] = halves(f[0]);
  const auto [valueTangent, gateTangent] = halves(f.tangent());
  const Formula open = sigmoid(gate);
  return {open * valueTangent + value * Formula("aten.sigmoid_backward.default"_op, {gateTangent, open})};
}

// glu_backward(grad_output, self, dim) = [g · σ(b), g · a · σ'(b)] of self's halves a, b

struct GluParts {
  Formula a, sigma, slope;
  Formula first, second;  ///< halves of what flows
};
GluParts gluParts(const Formulas& p, std::int64_t dim, const Formula& flow) {
  const SymInt half = floorDiv(p.args.tensor(1).symSizes()[std::size_t(dim)], SymInt(2)), whole = half + half;
  const auto part = [&](const Formula& of, bool second) {
    return slice(of, dim, second ? half : SymInt(0), second ? whole : half);
  };
  const Formula sigma = sigmoid(part(p[1], true));
  return {part(p[1], false), sigma, sigma * minusFrom(1, sigma), flow.isNone() ? flow : part(flow, false),
          flow.isNone() ? flow : part(flow, true)};
}
std::int64_t gluDim(const Formulas& p) {
  const std::int64_t dim = p.args.integer(2);
  return dim < 0 ? dim + p.args.tensor(1).dim() : dim;
}
void gluBackwardGradient(Backward& b) {
  const std::int64_t dim = gluDim(b);
  const GluParts parts = gluParts(b, dim, b.grad());
  b.give(0, parts.first * parts.sigma + parts.second * parts.a * parts.slope);
  if (!b.wants(1)) return;
  const Formula bend = parts.slope * minusFrom(1, times(parts.sigma, 2));
  const Formula byA = b(parts.second * b[0] * parts.slope);
  const Formula byB = b(parts.first * b[0] * parts.slope + parts.second * b[0] * parts.a * bend);
  b.give(1, cat({byA, byB}, dim));
}
std::vector<Formula> gluBackwardTangent(Forward& f) {
  const std::int64_t dim = gluDim(f);
  const Formula byGrad = f.has(0) ? Formula("aten.glu_backward.default"_op, {f.tangent(0), f[1], f[2]}) : Formula();
  if (!f.has(1)) return {byGrad};
  const GluParts parts = gluParts(f, dim, f.tangent(1));
  const Formula bend = parts.slope * minusFrom(1, times(parts.sigma, 2));
  const Formula first = f(f[0] * parts.slope * parts.second);
  const Formula second = f(f[0] * (parts.first * parts.slope + parts.a * bend * parts.second));
  return {sumOf({byGrad, cat({first, second}, dim)})};
}

// Decompositions

Result<Value> gluProgram(const BoundArguments& args, const OpRunner& run) {
  const Tensor& self = args.tensor(0);
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(1), self.dim()));
  const SymInt half = floorDiv(self.symSize(dim), 2);
  Formulas p(args, run);
  const Formula first = p(slice(p[0], dim, 0, half)), second = p(slice(p[0], dim, half, 2 * half));
  return p.done(first * sigmoid(second));
}
/// glu_backward(grad, self, dim)
Result<Value> gluBackwardProgram(const BoundArguments& args, const OpRunner& run) {
  const Tensor& self = args.tensor(1);
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(2), self.dim()));
  const SymInt half = floorDiv(self.symSize(dim), 2);
  Formulas p(args, run);
  const Formula first = p(slice(p[1], dim, 0, half)), second = p(slice(p[1], dim, half, 2 * half));
  const Formula gate = p(sigmoid(second));
  const Formula ofSecond = p((1.0 - gate) * gate * first * p[0]);
  return p.done(cat({p(gate * p[0]), ofSecond}, dim));
}

constexpr OpRow gluRows[] = {
    OpRow{"aten::glu(Tensor self, int dim=-1) -> Tensor", OpTrait::None, gluShape, gluKernel}
        .derivative(differentiable<gluGradient, gluTangent>)
        .decomposition(inOpMath<gluProgram>),
    OpRow{"aten::glu_backward(Tensor grad_output, Tensor self, int dim) -> Tensor", OpTrait::None, gluBackwardShape,
          gluBackwardKernel}
        .derivative(differentiable<gluBackwardGradient, gluBackwardTangent>)
        .decomposition(inOpMath<gluBackwardProgram>),
};

const OpRegistration gluOps({.rows = gluRows});

}  // namespace

}  // namespace kerf::inline ops
