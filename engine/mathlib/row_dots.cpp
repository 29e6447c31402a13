#include "engine/mathlib/row_dots.h"

#include <algorithm>
#include <utility>

#include "engine/mathlib/vector_of.h"
#include "engine/support/thread_pool.h"

namespace kerf::inline mathlib {
namespace {

constexpr std::int64_t mostRows = 32;      // beyond, packing pays
constexpr std::int64_t shortestRow = 256;  // below, adding lanes up takes as long as multiplying

/// Rows of the left by rows of the right whose sums stay in registers.
template <int bytes>
struct DotTile {
  static constexpr int left = bytes == 64 ? 4 : 2;
  static constexpr int right = bytes == 64 ? 6 : 4;
};

template <class T>
struct DotCall {
  const PanelProduct<T>* product;
  const T *a, *b;
  T* c;
};

template <class T, int bytes>
struct DotRange {
  using Vector = typename VectorOf<T, bytes>::Type;
  using Loose = typename VectorOf<T, bytes>::Loose;
  static constexpr int lanes = bytes / int(sizeof(T));
  using Tile = DotTile<bytes>;

  template <int distance, int... i>
  KERF_KERNEL void fold(Vector& v, std::integer_sequence<int, i...>) {
    v += __builtin_shufflevector(v, v, (i ^ distance)...);
  }
  /// Every lane becomes the sum of all.
  template <int distance = lanes / 2>
  KERF_KERNEL void addLanes(Vector& v) {
    if constexpr (distance > 0) {
      fold<distance>(v, std::make_integer_sequence<int, lanes>{});
      addLanes<distance / 2>(v);
    }
  }

  /// `ahead` of the rows of the right that come after these columns are asked for meanwhile, from number `next` on.
  template <int R, int J>
  KERF_KERNEL void multiplyRows(const DotCall<T>& call, std::int64_t row, std::int64_t column, std::int64_t next,
                                std::int64_t ahead) {
    const PanelProduct<T>& g = *call.product;
    const T *const a = call.a + row * g.lda, *const b = call.b + column * g.ldb;
    Vector sums[R][J];
#pragma GCC unroll 4
    for (int i = 0; i < R; ++i)
#pragma GCC unroll 6
      for (int j = 0; j < J; ++j) sums[i][j] = Vector{};
    std::int64_t p = 0;
    for (; p + lanes <= g.k; p += lanes) {
      for (std::int64_t j = next; j < next + ahead; ++j) __builtin_prefetch(call.b + j * g.ldb + p, 0, 2);
      Vector left[R];
#pragma GCC unroll 4
      for (int i = 0; i < R; ++i) left[i] = *reinterpret_cast<const Loose*>(a + i * g.lda + p);
#pragma GCC unroll 6
      for (int j = 0; j < J; ++j) {
        const Vector right = *reinterpret_cast<const Loose*>(b + j * g.ldb + p);
#pragma GCC unroll 4
        for (int i = 0; i < R; ++i) sums[i][j] += left[i] * right;
      }
    }
#pragma GCC unroll 4
    for (int i = 0; i < R; ++i)
#pragma GCC unroll 6
      for (int j = 0; j < J; ++j) {
        addLanes(sums[i][j]);
        T sum = sums[i][j][0];
        for (std::int64_t q = p; q < g.k; ++q) sum += a[i * g.lda + q] * b[j * g.ldb + q];
        T& to = call.c[(row + i) * g.ldc + column + j];
        to = g.beta == 0 ? g.alpha * sum : g.alpha * sum + g.beta * to;
      }
  }

  template <int J>
  KERF_KERNEL void multiplyColumns(const DotCall<T>& call, std::int64_t column, std::int64_t next, std::int64_t end) {
    const std::int64_t passes = std::max<std::int64_t>(1, call.product->m / Tile::left);
    const std::int64_t share = (Tile::right + passes - 1) / passes;
    std::int64_t row = 0;
    for (; row + Tile::left <= call.product->m; row += Tile::left, next += share) {
      const std::int64_t ahead = std::clamp<std::int64_t>(std::min(end, column + 2 * Tile::right) - next, 0, share);
      multiplyRows<Tile::left, J>(call, row, column, next, ahead);
    }
    for (; row < call.product->m; ++row) multiplyRows<1, J>(call, row, column, next, 0);
  }

  KERF_KERNEL void run(const DotCall<T>* call, std::int64_t begin, std::int64_t end) {
    std::int64_t column = begin;
    for (; column + Tile::right <= end; column += Tile::right)
      multiplyColumns<Tile::right>(*call, column, column + Tile::right, end);
    for (; column < end; ++column) multiplyColumns<1>(*call, column, end, end);
  }
};

}  // namespace

template <class T>
bool suitsRowDots(const PanelProduct<T>& product) {
  return product.transposedB && !product.transposedA && product.m <= mostRows && product.k >= shortestRow;
}

template <class T>
void rowDots(const PanelProduct<T>& product, const T* a, const T* b, T* c, int threads) {
  const DotCall<T> call{&product, a, b, c};
  const std::int64_t parts = usefulThreads(product.m, product.n, product.k, threads);
  parallelFor(product.n, std::max<std::int64_t>(1, product.n / parts),
              [&](std::int64_t begin, std::int64_t end) { perWidth<DotRange, T>(&call, begin, end); });
}

template bool suitsRowDots(const PanelProduct<float>&);
template bool suitsRowDots(const PanelProduct<double>&);
template void rowDots(const PanelProduct<float>&, const float*, const float*, float*, int);
template void rowDots(const PanelProduct<double>&, const double*, const double*, double*, int);

}  // namespace kerf::inline mathlib
