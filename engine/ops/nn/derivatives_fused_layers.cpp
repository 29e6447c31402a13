// Gradients of gated units and grouped products; optimizer steps have none.
#include "engine/ops/core/op_registration.h"
#include "engine/ops/nn/backward_calls.h"

namespace kerf::inline ops {
namespace {

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
void gluBackward(Backward& b) {
  const std::int64_t dim = gluDim(b);
  const GluParts parts = gluParts(b, dim, b.grad());
  b.give(0, parts.first * parts.sigma + parts.second * parts.a * parts.slope);
  if (!b.wants(1)) return;
  const Formula bend = parts.slope * minusFrom(1, times(parts.sigma, 2));
  const Formula byA = b(parts.second * b[0] * parts.slope);
  const Formula byB = b(parts.first * b[0] * parts.slope + parts.second * b[0] * parts.a * bend);
  b.give(1, cat({byA, byB}, dim));
}
std::vector<Formula> gluBackwardForward(Forward& f) {
  const std::int64_t dim = gluDim(f);
  const Formula byGrad = f.has(0) ? Formula("aten.glu_backward.default"_op, {f.tangent(0), f[1], f[2]}) : Formula();
  if (!f.has(1)) return {byGrad};
  const GluParts parts = gluParts(f, dim, f.tangent(1));
  const Formula bend = parts.slope * minusFrom(1, times(parts.sigma, 2));
  const Formula first = f(f[0] * parts.slope * parts.second);
  const Formula second = f(f[0] * (parts.first * parts.slope + parts.a * bend * parts.second));
  return {sumOf({byGrad, cat({first, second}, dim)})};
}

// _grouped_mm(self, mat2, offs, bias, out_dtype): a group's rows in one product are its inner dimension in another

Formula turned(const Formula& a) { return {"aten.transpose.int"_op, {a, -2, -1}}; }
Formula grouped(const Formulas& p, const Formula& a, const Formula& b) {
  return {"aten._grouped_mm.default"_op, {a, b, p[2]}};
}
void groupedProduct(Backward& b) {
  b.give(0, grouped(b, b.grad(), turned(b[1])));
  b.give(1, grouped(b, turned(b[0]), b.grad()));
}

constexpr OpFacts fusedLayerDerivativesTable[] = {
    differentiable<gluBackward, gluBackwardForward>("aten::glu_backward"),
    linear<groupedProduct>("aten::_grouped_mm"),
    withoutDerivative("aten::_fused_adagrad"),
    withoutDerivative("aten::_fused_adagrad_"),
    withoutDerivative("aten::_fused_adam"),
    withoutDerivative("aten::_fused_adam_"),
    withoutDerivative("aten::_fused_adamw"),
    withoutDerivative("aten::_fused_adamw_"),
    withoutDerivative("aten::_fused_sgd"),
    withoutDerivative("aten::_fused_sgd_"),
    withoutDerivative("aten::_amp_foreach_non_finite_check_and_unscale"),
    withoutDerivative("aten::_amp_foreach_non_finite_check_and_unscale_"),
    withoutDerivative("aten::_amp_update_scale"),
    withoutDerivative("aten::_amp_update_scale_"),
};

const OpRegistration fusedLayerDerivatives({.facts = fusedLayerDerivativesTable});

}  // namespace

}  // namespace kerf::inline ops
