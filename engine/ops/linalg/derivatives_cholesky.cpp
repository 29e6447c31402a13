// Gradients of Cholesky factors.
#include "engine/ops/core/op_registration.h"
#include "engine/ops/linalg/matrix_formulas.h"

namespace kerf::inline ops {
namespace {

using namespace linalg;

// Cholesky: A = L · Lᴴ, with A symmetric; dL = L · Φ(L⁻¹ dA L⁻ᴴ), Φ: the lower triangle with half its diagonal

struct LowerFactor {
  Formula factor, flow;
};
/// An upper factor is the adjoint of a lower one.
LowerFactor asLower(const Conjugates& c, bool isUpper, const Formula& factor, const Formula& flow) {
  return isUpper ? LowerFactor{c.adjoint(factor), c.adjoint(flow)} : LowerFactor{factor, flow};
}
void cholesky(Backward& b) {
  if (!b.has(0)) return;
  const Conjugates c(b.call);
  const auto [l, grad] = asLower(c, b.args.boolean(1), b.result(), b.grad());
  const Formula phi = lower(matmul(c.adjoint(l), grad));
  const Formula both = times(phi + c.adjoint(lower(phi, -1)), 0.5);
  const Formula right = solvedTriangular(l, both, false, /*left=*/false);
  b.give(0, solvedTriangular(c.adjoint(l), right, true));
}
std::vector<Formula> choleskyForward(Forward& f) {
  const Conjugates c(f.call);
  const bool isUpper = f.args.boolean(1);
  const Formula l = isUpper ? c.adjoint(f.result()) : f.result();
  const Formula half = solvedTriangular(l, f.tangent(0), false);
  const Formula inner = lower(solvedTriangular(c.adjoint(l), half, true, /*left=*/false));
  const Formula tangent = matmul(l, halvedDiagonal(inner));
  return {isUpper ? c.adjoint(tangent) : tangent, Formula()};
}

/// cholesky_inverse(L, upper) = (L · Lᴴ)⁻¹.
void choleskyInverse(Backward& b) {
  const Conjugates c(b.call);
  const Formula both = b.grad() + c.adjoint(b.grad()), flow = matmul(b.result(), both, b.result());
  b.give(0, -(b.args.boolean(1) ? upper(matmul(upper(b[0]), flow)) : lower(matmul(flow, lower(b[0])))));
}
std::vector<Formula> choleskyInverseForward(Forward& f) {
  const Conjugates c(f.call);
  const bool isUpper = f.args.boolean(1);
  const Formula change = isUpper ? upper(f.tangent(0)) : lower(f.tangent(0));
  const Formula half = isUpper ? matmul(c.adjoint(upper(f[0])), change) : matmul(change, c.adjoint(lower(f[0])));
  return {-matmul(f.result(), half + c.adjoint(half), f.result())};
}

constexpr OpFacts choleskyDerivativesTable[] = {
    differentiable<cholesky, choleskyForward>("aten::linalg_cholesky_ex"),
    differentiable<cholesky, choleskyForward>("aten::cholesky"),
    differentiable<choleskyInverse, choleskyInverseForward>("aten::cholesky_inverse"),
};

const OpRegistration choleskyDerivatives({.facts = choleskyDerivativesTable});

}  // namespace

}  // namespace kerf::inline ops
