#include "engine/mathlib/gemm.h"

#include <algorithm>
#include <climits>
#include <cmath>
#include <complex>

#include <cblas.h>

#include "engine/mathlib/blas_turn.h"
#include "engine/mathlib/exact_gemm.h"
#include "engine/mathlib/exact_sums.h"
#include "engine/mathlib/math_threads.h"
#include "engine/mathlib/panel_gemm.h"
#include "engine/support/thread_pool.h"
#include "engine/tensor/convert.h"
#include "engine/tensor/copy.h"
#include "engine/tensor/empty.h"

namespace kerf::inline mathlib {
namespace {

// Batches run beside each other, one thread each, from this many multiplications in all on.
constexpr std::int64_t sideBySideWork = 1 << 18;
// A single product is cut into blocks of at least so much.
constexpr std::int64_t blockWork = 1 << 19;
constexpr std::int64_t manyBlocksWork = 1 << 25;
constexpr std::int64_t blockUnit = 16;  // blocks end at multiples of this many rows and columns

/// A 2-d tensor as BLAS wants it: row-major with a leading dimension, perhaps transposed.
struct BlasMatrix {
  Tensor tensor;
  bool transposed = false;
  std::int64_t leading = 1;
};

bool fitsRows(const Tensor& t, std::int64_t row, std::int64_t column) {
  const bool unit = t.size(column) == 1 || t.stride(column) == 1;
  return unit && (t.size(row) == 1 || t.stride(row) >= std::max<std::int64_t>(1, t.size(column)));
}

std::int64_t leadingOf(const Tensor& t, std::int64_t row, std::int64_t column) {
  return t.size(row) == 1 ? std::max<std::int64_t>(1, t.size(column)) : t.stride(row);
}

Result<BlasMatrix> asBlas(const Tensor& tensor) {
  if (fitsRows(tensor, 0, 1)) return BlasMatrix{tensor, false, leadingOf(tensor, 0, 1)};
  if (fitsRows(tensor, 1, 0)) return BlasMatrix{tensor, true, leadingOf(tensor, 1, 0)};
  KERF_TRY(Tensor dense, tensor.clone());
  return BlasMatrix{dense, false, std::max<std::int64_t>(1, tensor.size(1))};
}

struct Shape {
  std::int64_t m, n, k;
};

/// One product as BLAS is asked for it; the tensors are those of the first batch.
struct BlasCall {
  Shape shape;
  bool transposedA, transposedB;
  std::int64_t lda, ldb, ldc;
  double alpha, beta;
  bool inPanels = false;  ///< float32 and float64 only
};

template <class T>
constexpr bool isReal = std::is_same_v<T, float> || std::is_same_v<T, double>;

template <class T>
void callPanels(const BlasCall& call, const T* left, const T* right, T* out, int threads) {
  const PanelProduct<T> product{call.transposedA, call.transposedB, call.shape.m, call.shape.n, call.shape.k,
                                T(call.alpha),    call.lda,         call.ldb,     T(call.beta), call.ldc};
  panelGemm(product, left, right, out, threads);
}

template <class T>
void callBlas(const BlasCall& call, const T* left, const T* right, T* out) {
  if constexpr (isReal<T>)
    if (call.inPanels) return callPanels(call, left, right, out, 1);
  const auto flagA = call.transposedA ? CblasTrans : CblasNoTrans;
  const auto flagB = call.transposedB ? CblasTrans : CblasNoTrans;
  const auto m = static_cast<blasint>(call.shape.m), n = static_cast<blasint>(call.shape.n),
             k = static_cast<blasint>(call.shape.k);
  const auto lda = static_cast<blasint>(call.lda), ldb = static_cast<blasint>(call.ldb);
  const T scale = static_cast<T>(call.alpha), keep = static_cast<T>(call.beta);
  const BlasTurn turn;
  const auto c = static_cast<blasint>(call.ldc);
  if constexpr (std::is_same_v<T, float>)
    cblas_sgemm(CblasRowMajor, flagA, flagB, m, n, k, scale, left, lda, right, ldb, keep, out, c);
  else if constexpr (std::is_same_v<T, double>)
    cblas_dgemm(CblasRowMajor, flagA, flagB, m, n, k, scale, left, lda, right, ldb, keep, out, c);
  else if constexpr (std::is_same_v<T, std::complex<float>>)
    cblas_cgemm(CblasRowMajor, flagA, flagB, m, n, k, &scale, left, lda, right, ldb, &keep, out, c);
  else
    cblas_zgemm(CblasRowMajor, flagA, flagB, m, n, k, &scale, left, lda, right, ldb, &keep, out, c);
}

std::int64_t workOf(const Shape& shape) { return shape.m * shape.n * std::max<std::int64_t>(1, shape.k); }

/// `out` is row-major here.
Result<BlasCall> planBlas(const BlasMatrix& a, const BlasMatrix& b, const Tensor& out, const Shape& shape, double alpha,
                          double beta) {
  BlasCall call{shape, a.transposed, b.transposed, a.leading, b.leading, leadingOf(out, 0, 1), alpha, beta};
  call.inPanels = suitsPanels(shape.m, shape.n, shape.k);
  if (std::max({shape.m, shape.n, shape.k, call.lda, call.ldb, call.ldc}) > INT_MAX)
    return fail(ErrorCode::TooLarge, "a matrix of [{}, {}] x [{}, {}] is beyond BLAS", shape.m, shape.k, shape.k,
                shape.n);
  return call;
}

/// Blocks of a product: rows × columns of them.
struct Blocks {
  std::int64_t rows = 1, columns = 1, height = 0, width = 0;
};

std::int64_t roundedUp(std::int64_t size, std::int64_t parts) {
  const std::int64_t part = (size + parts - 1) / parts;
  return (part + blockUnit - 1) / blockUnit * blockUnit;
}

/// One block per thread, two where each still has so much work that packing its operands does not count, as square as
/// the shape allows: each block reads whole rows of a and whole columns of b.
Blocks blocksOf(const Shape& shape) {
  const std::int64_t threads = mathThreads();
  const std::int64_t most = workOf(shape) / threads >= manyBlocksWork ? 2 * threads : threads;
  const std::int64_t wanted = threads == 1 ? 1 : std::min(most, workOf(shape) / blockWork);
  if (wanted < 2) return {1, 1, shape.m, shape.n};
  const double ideal = std::sqrt(double(wanted) * double(shape.m) / double(shape.n));
  const std::int64_t rows = std::clamp<std::int64_t>(std::llround(ideal), 1, wanted);
  Blocks blocks{0, 0, roundedUp(shape.m, rows), roundedUp(shape.n, std::max<std::int64_t>(1, wanted / rows))};
  blocks.rows = (shape.m + blocks.height - 1) / blocks.height;
  blocks.columns = (shape.n + blocks.width - 1) / blocks.width;
  return blocks;
}

/// One product, block by block on all threads. Every element is one sum in the order of the whole product's library.
template <class T>
void callBlasInBlocks(const BlasCall& call, const T* left, const T* right, T* out) {
  if constexpr (isReal<T>)
    if (call.inPanels) return callPanels(call, left, right, out, mathThreads());
  const Blocks blocks = blocksOf(call.shape);
  parallelFor(blocks.rows * blocks.columns, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t row = i / blocks.columns * blocks.height, column = i % blocks.columns * blocks.width;
      BlasCall part = call;
      part.shape.m = std::min(blocks.height, call.shape.m - row);
      part.shape.n = std::min(blocks.width, call.shape.n - column);
      callBlas<T>(part, left + (call.transposedA ? row : row * call.lda),
                  right + (call.transposedB ? column * call.ldb : column), out + row * call.ldc + column);
    }
  });
}

/// `out` is row-major here.
template <class T>
Result<void> blasGemm(const Tensor& a, const Tensor& b, Tensor& out, double alpha, double beta) {
  const Shape shape{out.size(0), out.size(1), a.size(1)};
  KERF_TRY(const BlasMatrix left, asBlas(a));
  KERF_TRY(const BlasMatrix right, asBlas(b));
  KERF_TRY(const BlasCall call, planBlas(left, right, out, shape, alpha, beta));
  callBlasInBlocks<T>(call, left.tensor.data<T>(), right.tensor.data<T>(), out.data<T>());
  return {};
}

/// Row by row, so that the inner loop runs along unit strides; unsigned arithmetic wraps without undefined behaviour.
template <class T>
Result<void> integerGemm(const Tensor& a, const Tensor& b, Tensor& out, double alpha, double beta) {
  using Wrap = std::uint64_t;
  KERF_TRY(const Tensor right, b.contiguous());
  const std::int64_t n = out.size(1), k = a.size(1);
  const auto scale = static_cast<Wrap>(convertElement<std::int64_t>(alpha));
  const auto keep = static_cast<Wrap>(convertElement<std::int64_t>(beta));
  const std::int64_t grain = std::max<std::int64_t>(1, 65536 / std::max<std::int64_t>(1, n * k));
  parallelFor(out.size(0), grain, [&](std::int64_t begin, std::int64_t end) {
    auto row = std::vector<Wrap>(std::size_t(n));
    for (std::int64_t i = begin; i < end; ++i) {
      std::ranges::fill(row, 0);
      for (std::int64_t p = 0; p < k; ++p) {
        const auto factor = static_cast<Wrap>(a.data<T>()[i * a.stride(0) + p * a.stride(1)]);
        const T* source = right.data<T>() + p * n;
        for (std::int64_t j = 0; j < n; ++j) row[std::size_t(j)] += factor * static_cast<Wrap>(source[j]);
      }
      for (std::int64_t j = 0; j < n; ++j) {
        T& target = out.data<T>()[i * out.stride(0) + j * out.stride(1)];
        const Wrap kept = beta == 0 ? 0 : keep * static_cast<Wrap>(target);
        target = static_cast<T>(scale * row[std::size_t(j)] + kept);
      }
    }
  });
  return {};
}

/// Through a dense tensor of another dtype (or layout), converted back once.
Result<void> gemmThrough(DType dtype, const Tensor& a, const Tensor& b, Tensor& out, double alpha, double beta) {
  KERF_TRY(const Tensor left, a.to(dtype));
  KERF_TRY(const Tensor right, b.to(dtype));
  KERF_TRY(Tensor temporary, emptyTensor(dtype, out.sizes()));
  if (beta != 0) KERF_CHECK(copyElements(out, temporary));
  KERF_CHECK(gemm(left, right, temporary, alpha, beta));
  return copyElements(temporary, out);
}

Result<void> checkShapes(const Tensor& a, const Tensor& b, const Tensor& out, std::int64_t dims) {
  const bool ok = a.dim() == dims && b.dim() == dims && out.dim() == dims && a.dtype() == b.dtype() &&
                  a.dtype() == out.dtype() && a.size(dims - 1) == b.size(dims - 2) &&
                  out.size(dims - 2) == a.size(dims - 2) && out.size(dims - 1) == b.size(dims - 1) &&
                  (dims == 2 || (a.size(0) == b.size(0) && a.size(0) == out.size(0)));
  if (ok) return {};
  return fail(ErrorCode::ShapeMismatch, "cannot multiply {}[{}] by {}[{}] into {}[{}]", dtypeInfo(a.dtype()).shortCode,
              fmt::join(a.sizes(), ", "), dtypeInfo(b.dtype()).shortCode, fmt::join(b.sizes(), ", "),
              dtypeInfo(out.dtype()).shortCode, fmt::join(out.sizes(), ", "));
}

/// The operand of a product of nothing: with alpha = 0 elements that are not finite are no part of the result, as in
/// BLAS.
Tensor withoutSteps(const Tensor& t, std::size_t dim) {
  Sizes sizes = t.sizes();
  sizes[dim] = 0;
  return t.viewAs(sizes, t.strides(), t.offset());
}

Tensor transposed(const Tensor& t) { return t.viewAs({t.size(1), t.size(0)}, {t.stride(1), t.stride(0)}, t.offset()); }
Tensor slice(const Tensor& t, std::int64_t i) {
  return t.viewAs({t.size(1), t.size(2)}, {t.stride(1), t.stride(2)}, t.offset() + i * t.stride(0));
}

}  // namespace

Result<void> gemm(const Tensor& a, const Tensor& b, Tensor& out, double alpha, double beta) {
  KERF_CHECK(checkShapes(a, b, out, 2));
  if (out.numel() == 0) return {};
  if (alpha == 0 && a.size(1) != 0) return gemm(withoutSteps(a, 1), withoutSteps(b, 0), out, 1, beta);
  const DType dtype = out.dtype();
  if (ExactSums::wanted() && isFloating(dtype)) return exactGemm(a, b, out, alpha, beta);
  if (dtype == DType::Float16 || dtype == DType::BFloat16) return gemmThrough(DType::Float32, a, b, out, alpha, beta);
  Result<void> result;
  if (isIntegral(dtype)) {
    KERF_CHECK(dispatchInteger(dtype, [&]<class T>() { result = integerGemm<T>(a, b, out, alpha, beta); }));
    return result;
  }
  if (!fitsRows(out, 0, 1)) {
    if (!fitsRows(out, 1, 0)) return gemmThrough(dtype, a, b, out, alpha, beta);
    Tensor flipped = transposed(out);
    return gemm(transposed(b), transposed(a), flipped, alpha, beta);
  }
  applySingleBlasThread();
  KERF_CHECK(dispatchOver(
      dtype, [&]<class T>() { result = blasGemm<T>(a, b, out, alpha, beta); }, TypeList<float, double>{},
      ComplexTypes{}));
  return result;
}

namespace {

/// Batches whose slices all look alike to BLAS: pointers step from one to the next. False where they do not.
template <class T>
Result<bool> blasBatches(const Tensor& a, const Tensor& b, const Tensor& out, double alpha, double beta) {
  const Tensor firstA = slice(a, 0), firstB = slice(b, 0), firstOut = slice(out, 0);
  const auto fits = [](const Tensor& t) { return fitsRows(t, 0, 1) || fitsRows(t, 1, 0); };
  if (!fits(firstA) || !fits(firstB) || !fitsRows(firstOut, 0, 1)) return false;
  const Shape shape{out.size(1), out.size(2), a.size(2)};
  KERF_TRY(const BlasMatrix left, asBlas(firstA));
  KERF_TRY(const BlasMatrix right, asBlas(firstB));
  KERF_TRY(const BlasCall call, planBlas(left, right, firstOut, shape, alpha, beta));
  const std::int64_t batches = out.size(0), work = workOf(shape);
  applySingleBlasThread();
  const auto product = [&](std::int64_t i, auto&& run) {
    run(call, firstA.data<T>() + i * a.stride(0), firstB.data<T>() + i * b.stride(0),
        firstOut.data<T>() + i * out.stride(0));
  };
  if (batches < mathThreads() && work >= 2 * blockWork) {
    for (std::int64_t i = 0; i < batches; ++i) product(i, callBlasInBlocks<T>);
    return true;
  }
  const std::int64_t grain = mathThreads() == 1 ? batches : std::max<std::int64_t>(1, sideBySideWork / work);
  parallelFor(batches, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) product(i, callBlas<T>);
  });
  return true;
}

bool blasHas(DType dtype) {
  return dtype == DType::Float32 || dtype == DType::Float64 || dtype == DType::Complex64 || dtype == DType::Complex128;
}

/// Batch by batch, for what BLAS cannot take as it is.
Result<void> eachBatch(const Tensor& a, const Tensor& b, Tensor& out, double alpha, double beta) {
  for (std::int64_t i = 0; i < out.size(0); ++i) {
    Tensor target = slice(out, i);
    KERF_CHECK(gemm(slice(a, i), slice(b, i), target, alpha, beta));
  }
  return {};
}

/// 16-bit floats: one conversion for all batches, sums in float, one rounding.
Result<void> bmmThroughFloat(const Tensor& a, const Tensor& b, Tensor& out, double alpha, double beta) {
  KERF_TRY(const Tensor left, a.to(DType::Float32));
  KERF_TRY(const Tensor right, b.to(DType::Float32));
  KERF_TRY(Tensor sums, emptyTensor(DType::Float32, out.sizes()));
  if (beta != 0) KERF_CHECK(copyElements(out, sums));
  KERF_CHECK(bmm(left, right, sums, alpha, beta));
  return copyElements(sums, out);
}

}  // namespace

Result<void> bmm(const Tensor& a, const Tensor& b, Tensor& out, double alpha, double beta) {
  KERF_CHECK(checkShapes(a, b, out, 3));
  if (out.numel() == 0) return {};
  if (alpha == 0 && a.size(2) != 0) return bmm(withoutSteps(a, 2), withoutSteps(b, 1), out, 1, beta);
  const DType dtype = out.dtype();
  if ((dtype == DType::Float16 || dtype == DType::BFloat16) && !ExactSums::wanted())
    return bmmThroughFloat(a, b, out, alpha, beta);
  if (!blasHas(dtype) || ExactSums::wanted()) return eachBatch(a, b, out, alpha, beta);
  Result<bool> done = false;
  KERF_CHECK(dispatchOver(
      dtype, [&]<class T>() { done = blasBatches<T>(a, b, out, alpha, beta); }, TypeList<float, double>{},
      ComplexTypes{}));
  if (!done) return fail(std::move(done).error());
  return *done ? Result<void>{} : eachBatch(a, b, out, alpha, beta);
}

}  // namespace kerf::inline mathlib
