// Batches of matrices as LAPACK wants them: column-major copies in double or complex double, and results written back.
#pragma once

#include <complex>

#include "engine/mathlib/lapack.h"
#include "engine/ops/core/op_call.h"
#include "engine/ops/core/op_row.h"
#include "engine/tensor/dispatch.h"

namespace kerf::inline ops::linalg {

using lapack::Complex;

/// Owned copy of [batch…, rows, columns] with element (i, j) of matrix b at at<T>(b)[j * rows + i].
struct Matrices {
  Tensor data;  ///< [batch, columns, rows], contiguous, float64 or complex128
  std::int64_t batch = 1;
  std::int64_t rows = 0;
  std::int64_t columns = 0;

  template <class T>
  T* at(std::int64_t b) const {
    return data.data<T>() + b * rows * columns;
  }
  int m() const { return int(rows); }
  int n() const { return int(columns); }
};

/// float64, or complex128 for complex dtypes.
inline DType wideOf(DType dtype) { return isComplex(dtype) ? DType::Complex128 : DType::Float64; }
/// The dtype of absolute values.
DType realOf(DType dtype);
/// complex64 for float32, complex128 for float64, complex dtypes themselves.
DType complexOf(DType dtype);

/// All but the last `count` sizes.
SymSizes batchSizes(const Tensor& tensor, std::size_t count = 2);
SymSizes joined(SymSizes batch, std::initializer_list<SymInt> rest);

/// Meta of matrices that LAPACK wrote: every matrix column-major, batches row-major.
Tensor columnMajorMeta(DType dtype, const SymSizes& batch, SymInt rows, SymInt columns);
/// What PyTorch returns for parts that were not asked for: shape [0].
Tensor emptyMeta(DType dtype);

/// Whether LAPACK's integers hold m, n and m * n; symbolic sizes are taken to fit.
bool fitsLapack(SymInt m, SymInt n);

/// Argument i must be a floating or complex [..., m, n] (square when wanted) within LAPACK's sizes.
Result<void> wantMatrix(const BoundArguments& args, std::size_t i, bool square = false);
/// The batch sizes of two matrix arguments broadcast against each other.
Result<SymSizes> commonBatch(const BoundArguments& args, const SymSizes& a, const SymSizes& b);
/// The tensor seen with other batch sizes, which it broadcasts to.
Tensor expandBatch(const Tensor& tensor, const SymSizes& batch);

/// Copies; `dtype` must be float64 or complex128.
Result<Matrices> matricesOf(const Tensor& tensor, DType dtype);
Result<Matrices> zeroMatrices(DType dtype, std::int64_t batch, std::int64_t rows, std::int64_t columns);
/// Copies the leading rows and columns into `out` [batch…, rows, columns] of any strides and dtype.
Result<void> store(const Matrices& from, const Tensor& out);

/// The tensor's elements, row-major, as int32 or int64; checks 1 <= |pivot| <= rows (the sign may be - when allowed).
Result<std::vector<int>> pivotsOf(const BoundArguments& args, const Tensor& pivots, std::int64_t rows, bool signedToo);

/// body<T>() with T double or Complex.
template <class Body>
Result<void> forWide(DType dtype, Body&& body) {
  return dispatchOver(wideOf(dtype), body, TypeList<double, std::complex<double>>{});
}

/// "(Batch element 1): " for batches, "" for a single matrix.
std::string batchPrefix(const SymSizes& batch, std::int64_t b);
/// Whether every element is finite.
bool allFinite(const Matrices& matrices);

template <class T>
T conjugate(T x) {
  if constexpr (std::is_same_v<T, double>)
    return x;
  else
    return std::conj(x);
}

}  // namespace kerf::inline ops::linalg
