#include "engine/ops/linalg/matrix_formulas.h"

#include <limits>

namespace kerf::inline ops::linalg {

namespace {

bool holdsComplex(const Value& value) { return value.isTensor() && kerf::isComplex(value.tensor().dtype()); }

Formula cut(const Formula& a, std::int64_t dim, const SymInt& from, const SymInt& to) {
  return slice(a, dim, from, to);
}
const SymInt end = std::numeric_limits<std::int64_t>::max();

}  // namespace

Conjugates::Conjugates(const CallRecord& call)
    : m_isComplex(std::ranges::any_of(call.args.values, holdsComplex) ||
                  std::ranges::any_of(call.results, holdsComplex)) {}

Formula Conjugates::conj(const Formula& a) const { return m_isComplex ? Formula("aten._conj.default"_op, {a}) : a; }
Formula Conjugates::adjoint(const Formula& a) const { return conj(transposed(a)); }

Formula transposed(const Formula& a) { return {"aten.transpose.int"_op, {a, -2, -1}}; }
Formula matmul(const Formula& a, const Formula& b) { return {"aten.matmul.default"_op, {a, b}}; }
Formula matmul(const Formula& a, const Formula& b, const Formula& c) { return matmul(matmul(a, b), c); }
Formula diagonal(const Formula& a) { return {"aten.diagonal.default"_op, {a, 0, -2, -1}}; }
Formula diagonalMatrix(const Formula& diagonal) { return {"aten.diag_embed.default"_op, {diagonal}}; }
Formula lower(const Formula& a, std::int64_t diagonal) { return {"aten.tril.default"_op, {a, diagonal}}; }
Formula upper(const Formula& a, std::int64_t diagonal) { return {"aten.triu.default"_op, {a, diagonal}}; }
Formula asColumn(const Formula& vector) { return unsqueeze(vector, -1); }
Formula asRow(const Formula& vector) { return unsqueeze(vector, -2); }
Formula firstRows(const Formula& a, const SymInt& count) { return cut(a, -2, 0, count); }
Formula firstColumns(const Formula& a, const SymInt& count) { return cut(a, -1, 0, count); }
Formula otherRows(const Formula& a, const SymInt& count) { return cut(a, -2, count, end); }
Formula otherColumns(const Formula& a, const SymInt& count) { return cut(a, -1, count, end); }
Formula realPart(const Formula& a) { return {"aten.real.default"_op, {a}}; }
Formula imaginaryPart(const Formula& a) { return {"aten.imag.default"_op, {a}}; }

Formula solvedTriangular(const Formula& a, const Formula& b, bool isUpper, bool left, bool unit) {
  return {"aten.linalg_solve_triangular.default"_op,
          {a, b},
          {{"upper", Value(isUpper)}, {"left", Value(left)}, {"unitriangular", Value(unit)}}};
}
Formula solvedByFactors(const Formula& lu, const Formula& pivots, const Formula& b, bool left, bool adjoint) {
  return {"aten.linalg_lu_solve.default"_op, {lu, pivots, b}, {{"left", Value(left)}, {"adjoint", Value(adjoint)}}};
}
Formula halvedDiagonal(const Formula& a) { return a - diagonalMatrix(times(diagonal(a), 0.5)); }

SymInt rowCount(const Tensor& matrices) { return matrices.symSize(matrices.dim() - 2); }
SymInt columnCount(const Tensor& matrices) { return matrices.symSize(matrices.dim() - 1); }
bool factorsTransposed(const Tensor& a) { return a.isContiguous() && !kerf::isComplex(a.dtype()); }

}  // namespace kerf::inline ops::linalg
