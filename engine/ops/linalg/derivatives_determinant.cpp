// Gradients of determinants and of the matrix exponential.
#include <limits>

#include "engine/ops/core/op_registration.h"
#include "engine/ops/linalg/matrix_formulas.h"

namespace kerf::inline ops {
namespace {

using namespace linalg;

/// tr(A⁻¹ · dA) from the factors of A, or of its transpose.
Formula relativeChange(Forward& f, const Formula& lu, const Formula& pivots) {
  const Formula solved = solvedByFactors(lu, pivots, f.tangent(0), true, factorsTransposed(f.args.tensor(0)));
  return sum(diagonal(solved), {-1});
}
/// scale · A⁻ᴴ, a scale for each matrix.
Formula scaledInverse(Backward& b, const Formula& scale, const Formula& lu, const Formula& pivots) {
  const bool turned = factorsTransposed(b.args.tensor(0));
  SymSizes sizes(b.sizes().begin(), b.sizes().end() - 1);
  const Formula scales = diagonalMatrix(expand(asColumn(scale), sizes));
  return solvedByFactors(lu, pivots, scales, !turned, !turned);
}

/// _linalg_det(A) → (det, LU, pivots): det · A⁻ᴴ. A singular matrix is moved a little, since the derivative is
/// continuous.
void determinant(Backward& b) {
  if (!b.has(0)) return;
  const Conjugates c(b.call);
  const DType dtype = b.args.tensor(0).dtype();
  const bool wide = dtype == DType::Float64 || dtype == DType::Complex128;
  const double little = wide ? std::numeric_limits<double>::epsilon() : double(std::numeric_limits<float>::epsilon());
  const Formula pivot = diagonal(b.result(1));
  const Formula isZero("aten._to_copy.default"_op, {equals(pivot, 0.0)}, {{"dtype", dtype}});
  const Formula lu = b.result(1) + diagonalMatrix(times(isZero, little));
  b.give(0, scaledInverse(b, b.grad() * c.conj(b.result()), lu, b.result(2)));
}
std::vector<Formula> determinantForward(Forward& f) {
  return {f.result() * relativeChange(f, f.result(1), f.result(2)), Formula(), Formula()};
}

/// _linalg_slogdet(A) → (sign, logabsdet, LU, pivots): a complex sign turns with the imaginary part of tr(A⁻¹ · dA).
void logDeterminant(Backward& b) {
  const Conjugates c(b.call);
  Formula scale = b.grad(1);
  if (c.isComplex()) {
    const Formula size = b.has(1) ? b.grad(1) : Formula(zerosLike(b.result(1)));
    const Formula turn = b.has(0) ? -imaginaryPart(c.conj(b.grad(0)) * b.result(0)) : Formula(zerosLike(size));
    scale = {"aten.complex.default"_op, {size, turn}};
  }
  if (!scale.isNone()) b.give(0, scaledInverse(b, scale, b.result(2), b.result(3)));
}
std::vector<Formula> logDeterminantForward(Forward& f) {
  const Formula change = relativeChange(f, f.result(2), f.result(3));
  if (!Conjugates(f.call).isComplex()) return {zerosLike(f.result(0)), change, Formula(), Formula()};
  const Formula turn("aten.complex.default"_op, {zerosLike(f.result(1)), imaginaryPart(change)});
  return {f.result(0) * turn, realPart(change), Formula(), Formula()};
}

/// The derivative of exp at A in a direction: the upper right block of exp([[A, D], [0, A]]).
Formula exponentialChange(Formulas& p, const Formula& a, const Formula& direction, const SymInt& n) {
  const Formula matrix = p(a), moved = p(direction), zeros = p(zerosLike(matrix));
  const Formula above = p(cat({matrix, moved}, -1)), below = p(cat({zeros, matrix}, -1));
  const Formula whole("aten.linalg_matrix_exp.default"_op, {cat({above, below}, -2)});
  return otherColumns(firstRows(whole, n), n);
}
void exponential(Backward& b) {
  b.give(0, exponentialChange(b, Conjugates(b.call).adjoint(b[0]), b.grad(), rowCount(b.args.tensor(0))));
}
std::vector<Formula> exponentialForward(Forward& f) {
  return {exponentialChange(f, f[0], f.tangent(0), rowCount(f.args.tensor(0)))};
}

constexpr OpFacts determinantDerivativesTable[] = {
    differentiable<determinant, determinantForward>("aten::_linalg_det"),
    differentiable<logDeterminant, logDeterminantForward>("aten::_linalg_slogdet"),
    differentiable<exponential, exponentialForward>("aten::linalg_matrix_exp"),
};

const OpRegistration determinantDerivatives({.facts = determinantDerivativesTable});

}  // namespace

}  // namespace kerf::inline ops
