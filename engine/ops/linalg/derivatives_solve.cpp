// Gradients of inverses and linear systems.
#include "engine/ops/core/op_registration.h"
#include "engine/ops/linalg/matrix_formulas.h"

namespace kerf::inline ops {
namespace {

using namespace linalg;

/// linalg_inv_ex(A): -A⁻ᴴ · grad · A⁻ᴴ.
void inverse(Backward& b) {
  if (!b.has(0)) return;
  const Formula turned = Conjugates(b.call).adjoint(b.result());
  b.give(0, -matmul(turned, b.grad(), turned));
}
std::vector<Formula> inverseForward(Forward& f) { return {-matmul(f.result(), f.tangent(0), f.result()), Formula()}; }

// _linalg_solve_ex(A, B, *, left, check_errors) → (result, LU, pivots, info)

/// Batches of vectors are columns for the time being.
bool isVector(const CallRecord& call) {
  const Tensor &a = call.args.tensor(0), &x = call.args.tensor(1);
  if (x.dim() == 1) return true;
  if (a.dim() - 1 != x.dim()) return false;
  for (std::int64_t d = 0; d < x.dim(); ++d)
    if (!guardOrFalse(a.symSize(d) == x.symSize(d))) return false;
  return true;
}
void solve(Backward& b) {
  if (!b.has(0)) return;
  const Conjugates c(b.call);
  const bool vector = isVector(b.call), left = b.args.boolean(2);
  const auto matrix = [&](const Formula& x) { return vector ? asColumn(x) : x; };
  const Formula byB = solvedByFactors(b.result(1), b.result(2), matrix(b.grad()), left, /*adjoint=*/true);
  b.give(1, vector ? squeeze(byB, -1) : byB);
  const Formula x = c.adjoint(matrix(b.result()));
  b.give(0, -(left ? matmul(byB, x) : matmul(x, byB)));
}
std::vector<Formula> solveForward(Forward& f) {
  const bool vector = isVector(f.call), left = f.args.boolean(2);
  const auto matrix = [&](const Formula& x) { return vector ? asColumn(x) : x; };
  const Formula x = matrix(f.result());
  const Formula byA = f.has(0) ? -(left ? matmul(f.tangent(0), x) : matmul(x, f.tangent(0))) : Formula();
  const Formula right = sumOf({f.has(1) ? matrix(f.tangent(1)) : Formula(), byA});
  const Formula solution = solvedByFactors(f.result(1), f.result(2), right, left, /*adjoint=*/false);
  return {vector ? squeeze(solution, -1) : solution};
}

// linalg_lu_solve(LU, pivots, B, *, left, adjoint), A = P · L · U

struct Factors {
  Formula order, lower, upper;
};
Factors unpacked(Formulas& p, const Formula& lu, const Formula& pivots) {
  const auto parts = p.several<3>({"aten.lu_unpack.default"_op, {lu, pivots}});
  return {parts[0], parts[1], parts[2]};
}
/// X · op(A) = B is opᴴ(A) · Xᴴ = Bᴴ.
void luSolve(Backward& b) {
  const Conjugates c(b.call);
  const bool left = b.args.boolean(3), adjoint = b.args.boolean(4) == left;
  b.give(2, solvedByFactors(b[0], b[1], b.grad(), left, !b.args.boolean(4)));
  if (!b.wants(0)) return;
  const Factors f = unpacked(b, b[0], b[1]);
  const Formula x = left ? b.result() : c.adjoint(b.result()), grad = left ? b.grad() : c.adjoint(b.grad());
  Formula byLower, byUpper;
  if (!adjoint) {  // X = U⁻¹ · L⁻¹ · Pᵀ · B
    const Formula v = solvedTriangular(c.adjoint(f.upper), grad, false);
    const Formula turned = matmul(v, c.adjoint(x));
    byUpper = turned;
    byLower = solvedTriangular(c.adjoint(f.lower), matmul(turned, c.adjoint(f.upper)), true, true, true);
  } else {  // Pᵀ · X = L⁻ᴴ · U⁻ᴴ · B
    const Formula y = matmul(transposed(f.order), x);
    const Formula k = solvedTriangular(f.lower, matmul(transposed(f.order), grad), false, true, true);
    byLower = matmul(y, c.adjoint(k));
    byUpper = matmul(matmul(c.adjoint(f.lower), y), c.adjoint(solvedTriangular(f.upper, k, true)));
  }
  b.give(0, -(lower(byLower, -1) + upper(byUpper)));
}
std::vector<Formula> luSolveForward(Forward& f) {
  const Conjugates c(f.call);
  const bool left = f.args.boolean(3), adjoint = f.args.boolean(4);
  Formula right = f.tangent(2);
  if (f.has(0)) {
    const Factors parts = unpacked(f, f[0], f[1]);
    const Formula moved = matmul(lower(f.tangent(0), -1), parts.upper) + matmul(parts.lower, upper(f.tangent(0)));
    const Formula change = matmul(parts.order, moved), matrix = adjoint ? c.adjoint(change) : change;
    right = sumOf({right, -(left ? matmul(matrix, f.result()) : matmul(f.result(), matrix))});
  }
  return {solvedByFactors(f[0], f[1], right, left, adjoint)};
}

// cholesky_solve(B, L, upper): A = L · Lᴴ, or Uᴴ · U

void choleskySolve(Backward& b) {
  const Conjugates c(b.call);
  const bool isUpper = b.args.boolean(2);
  const Formula byB("aten.cholesky_solve.default"_op, {b.grad(), b[1], b[2]});
  b.give(0, byB);
  const Formula half = matmul(byB, c.adjoint(b.result())), both = half + c.adjoint(half);
  b.give(1, -(isUpper ? upper(matmul(upper(b[1]), both)) : lower(matmul(both, lower(b[1])))));
}
std::vector<Formula> choleskySolveForward(Forward& f) {
  const Conjugates c(f.call);
  const bool isUpper = f.args.boolean(2);
  Formula right = f.tangent(0);
  if (f.has(1)) {
    const Formula change = isUpper ? upper(f.tangent(1)) : lower(f.tangent(1));
    const Formula half = isUpper ? matmul(c.adjoint(upper(f[1])), change) : matmul(change, c.adjoint(lower(f[1])));
    right = sumOf({right, -matmul(half + c.adjoint(half), f.result())});
  }
  return {Formula("aten.cholesky_solve.default"_op, {right, f[1], f[2]})};
}

constexpr OpFacts solveDerivativesTable[] = {
    differentiable<inverse, inverseForward>("aten::linalg_inv_ex"),
    differentiable<solve, solveForward>("aten::_linalg_solve_ex"),
    differentiable<luSolve, luSolveForward>("aten::linalg_lu_solve"),
    differentiable<choleskySolve, choleskySolveForward>("aten::cholesky_solve"),
    differentiable<choleskySolve, choleskySolveForward>("aten::_cholesky_solve_helper"),
    notDifferentiable("aten::_linalg_check_errors"),
    withoutDerivative("aten::linalg_ldl_factor_ex"),
    withoutDerivative("aten::linalg_ldl_solve"),
};

const OpRegistration solveDerivatives({.facts = solveDerivativesTable});

}  // namespace

}  // namespace kerf::inline ops
