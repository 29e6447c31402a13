// panelGemm: products of float32 and float64 matrices from panels of their rows and columns, on all threads.
//
// Both operands are copied once into panels, which all threads read; then threads take tiles of the result. A library
// that is called for each thread's part packs the operands once for each part, and allocates what it packs into.
#pragma once

#include <cstdint>

namespace kerf::inline mathlib {

/// Row-major matrices: a is [m, k] (stored as [k, m] where transposed), b is [k, n] (stored as [n, k]), c is [m, n].
template <class T>
struct PanelProduct {
  bool transposedA = false, transposedB = false;
  std::int64_t m = 0, n = 0, k = 0;
  T alpha = 1;
  std::int64_t lda = 1, ldb = 1;
  T beta = 0;
  std::int64_t ldc = 1;
};

/// Whether panels suit the shape: elsewhere OpenBLAS is faster (vectors times matrices, few columns, and large products
/// where there is no AVX-512). The answer looks at the whole product only, never at how many threads there are.
bool suitsPanels(std::int64_t m, std::int64_t n, std::int64_t k);

/// Of `threads` as many as are worth waking for a product; at least one.
int usefulThreads(std::int64_t m, std::int64_t n, std::int64_t k, int threads);

/// c = alpha * a @ b + beta * c, on `threads` threads at most. Every element is one chain of fused multiplications and
/// additions over each 384 (or a little fewer) products, whose sums are added in order; those of few results are sums
/// of up to 64 pieces of the products. Few long rows times a transposed matrix are dot products (row_dots.h). The bits
/// depend on the whole product's shape, never on threads; what is packed at once has a size of its own.
template <class T>
void panelGemm(const PanelProduct<T>& product, const T* a, const T* b, T* c, int threads);

}  // namespace kerf::inline mathlib
