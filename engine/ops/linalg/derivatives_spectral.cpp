// Gradients of eigenvalues and eigenvectors.
#include "engine/ops/core/op_registration.h"
#include "engine/ops/linalg/matrix_formulas.h"

namespace kerf::inline ops {
namespace {

using namespace linalg;

Formula withoutDiagonal(const Formula& a) { return a - diagonalMatrix(diagonal(a)); }
/// values[j] - values[i], with ones on the diagonal.
Formula gaps(const Formula& values) { return asRow(values) - asColumn(values) + diagonalMatrix(onesLike(values)); }

// _linalg_eigh(A, UPLO, compute_v) → (L, V) of a Hermitian A: dL = diag(Vᴴ dA V), dV = V · (Vᴴ dA V / gaps)

Formula eighVectors(Formulas& p, const CallRecord& call) {
  if (p.args.boolean(2)) return call.results[1];
  return p.several<2>({"aten._linalg_eigh.default"_op, {p[0], p[1], true}})[1];
}
void eigh(Backward& b) {
  if (!b.has(0) && !b.has(1)) return;
  const Conjugates c(b.call);
  const Formula vectors = eighVectors(b, b.call), turned = c.adjoint(vectors);
  if (!b.has(1)) return b.give(0, matmul(vectors * asRow(b.grad(0)), turned));
  const Formula inner = withoutDiagonal(matmul(turned, b.grad(1)) / gaps(b.result(0)));
  const Formula both = b.has(0) ? inner + diagonalMatrix(b.grad(0)) : inner;
  b.give(0, matmul(vectors, both, turned));
}
std::vector<Formula> eighForward(Forward& f) {
  const Conjugates c(f.call);
  const Formula vectors = eighVectors(f, f.call), change = matmul(c.adjoint(vectors), f.tangent(0), vectors);
  const Formula values = c.isComplex() ? realPart(diagonal(change)) : diagonal(change);
  if (!f.args.boolean(2)) return {values, Formula()};
  return {values, matmul(vectors, withoutDiagonal(change / gaps(f.result(0))))};
}

// linalg_eig(A) → (L, V), complex, with columns of norm one: what would stretch a column is taken out of its tangent

/// A real matrix as a complex one, as its eigenvectors are.
Formula complexed(const CallRecord& call, const Formula& a) {
  const DType dtype = call.result().dtype();
  if (isComplex(call.args.tensor(0).dtype())) return a;
  return {"aten._to_copy.default"_op, {a}, {{"dtype", dtype}}};
}
Formula solved(const Formula& a, const Formula& b) { return {"aten.linalg_solve.default"_op, {a, b}}; }

void eig(Backward& b) {
  if (!b.has(0) && !b.has(1)) return;
  const Conjugates c(b.call);
  const Formula values = b.result(0), vectors = b.result(1), turned = c.adjoint(vectors);
  Formula inner = b.has(0) ? diagonalMatrix(b.grad(0)) : Formula();
  if (b.has(1)) {
    const Formula along = matmul(turned, b.grad(1));
    const Formula stretched = matmul(turned, vectors * asRow(realPart(diagonal(along))));
    inner = sumOf({withoutDiagonal((along - stretched) / c.conj(gaps(values))), inner});
  }
  b.give(0, solved(turned, matmul(inner, turned)));
}
std::vector<Formula> eigForward(Forward& f) {
  const Conjugates c(f.call);
  const Formula vectors = f.result(1);
  const Formula change = solved(vectors, matmul(complexed(f.call, f.tangent(0)), vectors));
  const Formula moved = matmul(vectors, withoutDiagonal(change / gaps(f.result(0))));
  const Formula stretch = realPart(diagonal(matmul(c.adjoint(vectors), moved)));
  return {diagonal(change), moved - vectors * asRow(stretch)};
}

constexpr OpFacts spectralDerivativesTable[] = {
    differentiable<eigh, eighForward>("aten::_linalg_eigh"),
    differentiable<eig, eigForward>("aten::linalg_eig"),
    withoutDerivative("aten::_linalg_eigvals"),
};

const OpRegistration spectralDerivatives({.facts = spectralDerivativesTable});

}  // namespace

}  // namespace kerf::inline ops
