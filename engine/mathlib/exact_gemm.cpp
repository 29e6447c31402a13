#include "engine/mathlib/exact_gemm.h"

#include "engine/mathlib/exact_sums.h"
#include "engine/support/thread_pool.h"
#include "engine/tensor/convert.h"

namespace kerf::inline mathlib {
namespace {

/// Element (i, j) of alpha * a @ b + beta * out; `a` and `b` are contiguous doubles, b transposed.
double element(const double* row, const double* column, std::int64_t count, double kept, double alpha, double beta,
               FloatFormat format) {
  SuperAccumulator sum;
  for (std::int64_t p = 0; p < count; ++p) sum.addProduct(row[p], column[p]);
  if (alpha == 1) {
    if (beta != 0) sum.addProduct(beta, kept);
    return sum.value(format);
  }
  SuperAccumulator scaled;
  scaled.addProduct(alpha, sum.value());
  if (beta != 0) scaled.addProduct(beta, kept);
  return scaled.value(format);
}

}  // namespace

Result<void> exactGemm(const Tensor& a, const Tensor& b, Tensor& out, double alpha, double beta) {
  const Tensor turned = b.viewAs({b.size(1), b.size(0)}, {b.stride(1), b.stride(0)}, b.offset());
  KERF_TRY(const Tensor wideA, a.to(DType::Float64));
  KERF_TRY(const Tensor left, wideA.contiguous());
  KERF_TRY(const Tensor wideB, turned.to(DType::Float64));
  KERF_TRY(const Tensor right, wideB.contiguous());
  const std::int64_t rows = out.size(0), columns = out.size(1), count = a.size(1);
  const FloatFormat format = formatOf(out.dtype());
  return dispatchFloating(out.dtype(), [&]<class T>() {
    parallelFor(rows * columns, std::max<std::int64_t>(1, 1024 / std::max<std::int64_t>(1, count)),
                [&](std::int64_t begin, std::int64_t end) {
                  for (std::int64_t e = begin; e < end; ++e) {
                    const std::int64_t i = e / columns, j = e % columns;
                    T& target = out.data<T>()[i * out.stride(0) + j * out.stride(1)];
                    const double kept = beta == 0 ? 0 : double(target);
                    target =
                        convertElement<T>(element(left.data<double>() + i * count, right.data<double>() + j * count,
                                                  count, kept, alpha, beta, format));
                  }
                });
  });
}

}  // namespace kerf::inline mathlib
