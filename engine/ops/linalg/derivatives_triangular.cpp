// Gradients of triangular systems.
#include "engine/ops/core/op_registration.h"
#include "engine/ops/linalg/matrix_formulas.h"

namespace kerf::inline ops {
namespace {

using namespace linalg;

/// The part of a matrix that a triangular solver reads.
Formula readPart(const Formula& a, bool isUpper, bool unit) {
  return isUpper ? upper(a, unit ? 1 : 0) : lower(a, unit ? -1 : 0);
}

/// linalg_solve_triangular(A, B, *, upper, left, unitriangular).
void solveTriangular(Backward& b) {
  const Conjugates c(b.call);
  const bool isUpper = b.args.boolean(2), left = b.args.boolean(3), unit = b.args.boolean(4);
  const Formula byB = solvedTriangular(c.adjoint(b[0]), b.grad(), !isUpper, left, unit);
  b.give(1, byB);
  const Formula x = c.adjoint(b.result());
  b.give(0, readPart(-(left ? matmul(byB, x) : matmul(x, byB)), isUpper, unit));
}
std::vector<Formula> solveTriangularForward(Forward& f) {
  const bool isUpper = f.args.boolean(2), left = f.args.boolean(3), unit = f.args.boolean(4);
  Formula right = f.tangent(1);
  if (f.has(0)) {
    const Formula change = readPart(f.tangent(0), isUpper, unit);
    right = sumOf({right, -(left ? matmul(change, f.result()) : matmul(f.result(), change))});
  }
  return {solvedTriangular(f[0], right, isUpper, left, unit)};
}

/// triangular_solve(B, A, upper, transpose, unitriangular) → (solution, a copy of A).
Formula oldSolution(Formulas& p, const Formula& right, const Formula& a, bool transpose) {
  return p.several<2>({"aten.triangular_solve.default"_op, {right, a, p[2], transpose, p[4]}})[0];
}
void oldTriangular(Backward& b) {
  const Conjugates c(b.call);
  const bool isUpper = b.args.boolean(2), transpose = b.args.boolean(3), unit = b.args.boolean(4);
  Formula byA = b.grad(1);
  if (b.has(0)) {
    const Formula byB = oldSolution(b, b.grad(), c.conj(b[1]), !transpose);
    b.give(0, byB);
    const Formula product =
        transpose ? matmul(c.conj(b.result()), transposed(byB)) : matmul(byB, c.adjoint(b.result()));
    byA = sumOf({readPart(-product, isUpper, unit), byA});
  }
  b.give(1, byA);
}
std::vector<Formula> oldTriangularForward(Forward& f) {
  const bool isUpper = f.args.boolean(2), transpose = f.args.boolean(3), unit = f.args.boolean(4);
  Formula right = f.tangent(0), copied;
  if (f.has(1)) {
    const Formula change = readPart(f.tangent(1), isUpper, unit);
    right = sumOf({right, -matmul(transpose ? transposed(change) : change, f.result())});
    copied = expand(f.tangent(1), f.call.results[1].tensor().symSizes());
  }
  return {oldSolution(f, f(right), f[1], transpose), copied};
}

constexpr OpFacts triangularDerivativesTable[] = {
    differentiable<solveTriangular, solveTriangularForward>("aten::linalg_solve_triangular"),
    differentiable<oldTriangular, oldTriangularForward>("aten::triangular_solve"),
};

const OpRegistration triangularDerivatives({.facts = triangularDerivativesTable});

}  // namespace

}  // namespace kerf::inline ops
