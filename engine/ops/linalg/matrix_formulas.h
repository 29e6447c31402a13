// Matrices in formulas: batches are the leading dimensions, as everywhere in torch.linalg.
#pragma once

#include "engine/ops/core/flow_terms.h"
#include "engine/ops/core/gradient_rules.h"

namespace kerf::inline ops::linalg {

/// Conjugates for one call: nothing where it computes real numbers only.
class Conjugates {
 public:
  explicit Conjugates(const CallRecord& call);
  bool isComplex() const { return m_isComplex; }
  Formula conj(const Formula& a) const;
  Formula adjoint(const Formula& a) const;

 private:
  bool m_isComplex = false;
};

Formula transposed(const Formula& a);
Formula matmul(const Formula& a, const Formula& b);
Formula matmul(const Formula& a, const Formula& b, const Formula& c);
Formula diagonal(const Formula& a);
/// The matrix with this diagonal.
Formula diagonalMatrix(const Formula& diagonal);
Formula lower(const Formula& a, std::int64_t diagonal = 0);
Formula upper(const Formula& a, std::int64_t diagonal = 0);
Formula asColumn(const Formula& vector);
Formula asRow(const Formula& vector);
/// The first `count` rows or columns.
Formula firstRows(const Formula& a, const SymInt& count);
Formula firstColumns(const Formula& a, const SymInt& count);
/// Those from `count` on.
Formula otherRows(const Formula& a, const SymInt& count);
Formula otherColumns(const Formula& a, const SymInt& count);
Formula realPart(const Formula& a);
Formula imaginaryPart(const Formula& a);

/// linalg_solve_triangular(a, b): of a's triangle.
Formula solvedTriangular(const Formula& a, const Formula& b, bool isUpper, bool left = true, bool unit = false);
Formula solvedByFactors(const Formula& lu, const Formula& pivots, const Formula& b, bool left, bool adjoint);
/// Half its diagonal.
Formula halvedDiagonal(const Formula& a);

SymInt rowCount(const Tensor& matrices);
SymInt columnCount(const Tensor& matrices);
/// What PyTorch hands to LAPACK transposed, where it factors for determinants.
bool factorsTransposed(const Tensor& a);

}  // namespace kerf::inline ops::linalg
