// Gradients of pseudo-inverses and least squares.
#include "engine/ops/core/op_registration.h"
#include "engine/ops/linalg/matrix_formulas.h"

namespace kerf::inline ops {
namespace {

using namespace linalg;

// Where the rank stays what it is, P = A⁺ changes by -P dA P + P Pᴴ dAᴴ (1 - A P) + (1 - P A) dAᴴ Pᴴ P (Golub, Pereyra)

void pseudoInverse(Backward& b) {
  const Conjugates c(b.call);
  const Formula a = b[0], p = b.result(), turned = c.adjoint(p), grad = c.adjoint(b.grad());
  const Formula outside = matmul(grad, p, turned), within = matmul(turned, p, grad);
  b.give(0, outside - matmul(a, matmul(p, outside)) + within - matmul(within, matmul(p, a)) -
                matmul(turned, b.grad(), turned));
}
std::vector<Formula> pseudoInverseForward(Forward& f) {
  if (!f.has(0)) return {Formula()};
  const Conjugates c(f.call);
  const Formula a = f[0], p = f.result(), turned = c.adjoint(p), change = c.adjoint(f.tangent(0));
  const Formula outside = matmul(p, turned, change), within = matmul(change, turned, p);
  return {outside - matmul(outside, matmul(a, p)) + within - matmul(p, matmul(a, within)) - matmul(p, f.tangent(0), p)};
}

// linalg_lstsq(A, B, rcond, *, driver) → (X, residuals, rank, singular values), for A of full rank

struct LeastSquares {
  Conjugates c;
  bool vector, tall, wide;
  Formula a, x, right, inverse, rest;  ///< rest: B - A · X

  Formula matrix(const Formula& x) const { return x.isNone() || !vector ? x : asColumn(x); }
  Formula given(const Formula& x) const { return x.isNone() || !vector ? x : squeeze(x, -1); }
};
LeastSquares leastSquares(Formulas& p, const CallRecord& call) {
  const Tensor& a = call.args.tensor(0);
  LeastSquares terms{.c = Conjugates(call),
                     .vector = call.result().dim() < a.dim(),
                     .tall = guardOrFalse(rowCount(a) > columnCount(a)),
                     .wide = guardOrFalse(rowCount(a) < columnCount(a)),
                     .a = p[0]};
  terms.x = terms.matrix(call.results[0]);
  terms.right = terms.matrix(p[1]);
  terms.inverse = p({"aten.linalg_pinv.atol_rtol_float"_op, {p[0]}});
  terms.rest = terms.right - matmul(terms.a, terms.x);
  return terms;
}
bool hasResiduals(const CallRecord& call) { return guardOrFalse(call.results[1].tensor().symNumel() > 0); }

void leastSquaresRule(Backward& b) {
  const LeastSquares t = leastSquares(b, b.call);
  Formula byA, byB;
  if (b.has(0)) {
    const Formula grad = t.matrix(b.grad());
    byB = matmul(t.c.adjoint(t.inverse), grad);
    byA = -matmul(byB, t.c.adjoint(t.x));
    if (t.tall) byA = byA + matmul(t.rest, t.c.adjoint(matmul(t.inverse, byB)));
    if (t.wide) {
      const Formula unreached = grad - matmul(t.c.adjoint(t.a), byB);
      byA = byA + matmul(matmul(t.c.adjoint(t.inverse), t.x), t.c.adjoint(unreached));
    }
  }
  if (b.has(1) && hasResiduals(b.call)) {
    const Formula flow = times(t.rest * asRow(t.matrix(b.grad(1))), 2);
    byA = sumOf({byA, -matmul(flow, t.c.adjoint(t.x))});
    byB = sumOf({byB, flow});
  }
  b.give(0, byA);
  b.give(1, t.given(byB));
}
std::vector<Formula> leastSquaresForward(Forward& f) {
  const LeastSquares t = leastSquares(f, f.call);
  const Formula byB = t.matrix(f.tangent(1));
  const Formula change = sumOf({byB, f.has(0) ? -matmul(f.tangent(0), t.x) : Formula()});
  Formula tangent = matmul(t.inverse, change);
  if (f.has(0) && t.tall)
    tangent = tangent + matmul(t.inverse, matmul(t.c.adjoint(t.inverse), matmul(t.c.adjoint(f.tangent(0)), t.rest)));
  if (f.has(0) && t.wide) {
    const Formula row = matmul(t.c.adjoint(f.tangent(0)), matmul(t.c.adjoint(t.inverse), t.x));
    tangent = tangent + row - matmul(t.inverse, matmul(t.a, row));
  }
  std::vector<Formula> results{t.given(tangent), Formula(), Formula(), Formula()};
  if (!hasResiduals(f.call)) return results;
  const Formula products = times(t.c.conj(t.rest) * change, 2);
  const Formula sums = sum(t.c.isComplex() ? realPart(products) : products, {-2});
  results[1] = t.given(sums);
  return results;
}

constexpr OpFacts leastSquaresDerivativesTable[] = {
    differentiable<pseudoInverse, pseudoInverseForward>("aten::linalg_pinv.atol_rtol_tensor"),
    differentiable<leastSquaresRule, leastSquaresForward>("aten::linalg_lstsq"),
};

const OpRegistration leastSquaresDerivatives({.facts = leastSquaresDerivativesTable});

}  // namespace

}  // namespace kerf::inline ops
