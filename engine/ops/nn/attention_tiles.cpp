#include "engine/ops/nn/attention_tiles.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "engine/mathlib/exact_sums.h"
#include "engine/mathlib/gemm.h"
#include "engine/ops/nn/row_math.h"
#include "engine/support/thread_pool.h"
#include "engine/tensor/copy.h"
#include "engine/tensor/empty.h"

namespace kerf::inline ops {
namespace {

constexpr std::int64_t scoresPerTile = 1 << 16;
constexpr std::int64_t fewestRows = 32;
constexpr std::int64_t enoughTiles = 64;

/// As many rows as the second cache has room for, but no more than make some tiles for each of many threads; the answer
/// does not depend on how many there are.
std::int64_t tileRows(const TiledAttention& a) {
  const std::int64_t fitting = scoresPerTile / std::max<std::int64_t>(1, a.keys);
  const std::int64_t shared = a.matrices() * a.queries / enoughTiles;
  const std::int64_t rows = std::max(fewestRows, std::min(fitting, shared));
  return std::clamp<std::int64_t>(rows, 1, std::max<std::int64_t>(1, a.queries));
}
std::int64_t tilesPerMatrix(const TiledAttention& a) { return (a.queries + tileRows(a) - 1) / tileRows(a); }

/// Into how many parts a matrix's queries are divided in a backward pass, each with sums of its own for the gradients
/// of keys and values; the answer does not depend on how many threads there are.
std::int64_t partsPerMatrix(const TiledAttention& a) {
  constexpr std::int64_t enoughParts = 48, mostParts = 16;
  const std::int64_t wanted = std::min(mostParts, (enoughParts + a.matrices() - 1) / a.matrices());
  return std::clamp<std::int64_t>(wanted, 1, tilesPerMatrix(a));
}

/// Rows [begin, begin + count) of matrix `m` of [M, R, C].
Tensor rowsOf(const Tensor& t, std::int64_t m, std::int64_t begin, std::int64_t count) {
  return t.viewAs({count, t.size(2)}, {t.stride(1), t.stride(2)}, t.offset() + m * t.stride(0) + begin * t.stride(1));
}
Tensor across(const Tensor& t) { return t.viewAs({t.size(1), t.size(0)}, {t.stride(1), t.stride(0)}, t.offset()); }

/// One block of queries of one matrix, on memory that its thread keeps.
template <class T>
class Tile {
 public:
  Tile(const TiledAttention& a, std::int64_t matrix, std::int64_t tile)
      : m_a(a), m_matrix(matrix), m_first(tile * tileRows(a)), m_count(std::min(tileRows(a), a.queries - m_first)) {
    m_keys = a.causal ? std::min(a.keys, m_first + m_count) : a.keys;
  }

  std::int64_t first() const { return m_first; }
  std::int64_t count() const { return m_count; }
  std::int64_t keyCount() const { return m_keys; }  ///< that any of the queries sees
  Tensor own(const Tensor& t) const { return rowsOf(t, m_matrix, m_first, m_count); }
  Tensor keys(const Tensor& t) const { return rowsOf(t, m_matrix / m_a.groups, 0, m_keys); }  ///< and of values
  Tensor seen(const Tensor& gradients) const { return rowsOf(gradients, m_matrix, 0, m_keys); }
  std::int64_t row(std::int64_t i) const { return m_matrix * m_a.queries + m_first + i; }

  /// scale q kᵀ + mask, minus infinity where the triangle hides a key; [count, keys].
  Result<Tensor> scores() const {
    KERF_TRY(Tensor scores, emptyTensor(m_a.q.dtype(), {m_count, m_keys}));
    KERF_CHECK(gemm(own(m_a.q), across(keys(m_a.k)), scores, m_a.scale, 0));
    for (std::int64_t i = 0; i < m_count; ++i) hide(i, at(scores, i));
    return scores;
  }

  T* at(const Tensor& t, std::int64_t i) const { return t.data<T>() + i * t.stride(0); }

  /// Scores to exponentials; their sum. `shift` gets what was subtracted.
  double exponentials(T* row, double& shift) const {
    const double largest = double(rowmath::largest(row, m_keys));
    shift = std::isinf(largest) ? 0 : largest;
    return rowmath::expShifted(row, shift, m_keys);
  }

  /// What dropout multiplies row `i` by; valid until the next call.
  const T* dropout(std::int64_t i) {
    if (m_a.dropout.p == 0) return nullptr;
    m_factors.resize(std::size_t(m_keys));
    dropoutFactors(m_a.dropout, this->row(i) * m_a.keys, m_keys, m_factors.data());
    return m_factors.data();
  }
  void drop(T* row, const T* factors) const {
    for (std::int64_t k = 0; factors && k < m_keys; ++k) row[k] *= factors[k];
  }

 private:
  void hide(std::int64_t i, T* row) const {
    const std::int64_t query = m_first + i;
    if (m_a.mask.defined()) {
      const Tensor& mask = m_a.mask;
      const T* add = mask.data<T>() + m_matrix / m_a.heads * mask.stride(0) + m_matrix % m_a.heads * mask.stride(1) +
                     query * mask.stride(2);
      if (mask.stride(3) == 1)
        rowmath::add(row, add, m_keys);
      else
        for (std::int64_t k = 0; k < m_keys; ++k) row[k] += add[k * mask.stride(3)];
    }
    const std::int64_t visible = m_a.causal ? query + 1 : m_keys;
    for (std::int64_t k = visible; k < m_keys; ++k) row[k] = -std::numeric_limits<T>::infinity();
  }

  const TiledAttention& m_a;
  std::int64_t m_matrix, m_first, m_count, m_keys;
  std::vector<T> m_factors;
};

/// Numbers of a product's operand as the 16-bit type has them.
Result<Tensor> narrowed(const TiledAttention& a, const Tensor& t) {
  if (!a.narrow) return t;
  KERF_TRY(const Tensor narrow, t.to(*a.narrow));
  return narrow.to(t.dtype());
}

/// body(piece) for all, on all threads; the first error.
template <class Body>
Result<void> forPieces(std::int64_t pieces, Body&& body) {
  std::vector<Result<void>> done(static_cast<std::size_t>(pieces));
  parallelFor(pieces, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) done[std::size_t(i)] = body(i);
  });
  for (Result<void>& result : done) KERF_CHECK(result);
  return {};
}

template <class T>
Result<void> attendTile(const TiledAttention& a, Tile<T>& tile, const Tensor& out, std::vector<double>& sums) {
  KERF_TRY(const Tensor scores, tile.scores());
  std::vector<double> rowSums(std::size_t(tile.count()));
  for (std::int64_t i = 0; i < tile.count(); ++i) {
    double shift = 0;
    rowSums[std::size_t(i)] = tile.exponentials(tile.at(scores, i), shift);
    sums[std::size_t(tile.row(i))] = shift + std::log(rowSums[std::size_t(i)]);
    tile.drop(tile.at(scores, i), tile.dropout(i));
  }
  KERF_TRY(Tensor result, emptyTensor(a.q.dtype(), {tile.count(), a.valueWidth}));
  KERF_TRY(const Tensor factors, narrowed(a, scores));
  KERF_CHECK(gemm(factors, tile.keys(a.v), result));
  for (std::int64_t i = 0; i < tile.count(); ++i)
    if (const double sum = rowSums[std::size_t(i)]; sum != 0) rowmath::divide(tile.at(result, i), sum, a.valueWidth);
  return copyElements(result, out);
}

template <class T>
Result<void> attend(const TiledAttention& a, const Tensor& out, std::vector<double>& sums) {
  const std::int64_t tiles = tilesPerMatrix(a);
  return forPieces(a.matrices() * tiles, [&](std::int64_t piece) {
    const std::int64_t m = piece / tiles;
    Tile<T> tile(a, m, piece % tiles);
    const Tensor target = out.viewAs(
        {tile.count(), a.valueWidth}, {out.stride(2), out.stride(3)},
        out.offset() + m / a.heads * out.stride(0) + m % a.heads * out.stride(1) + tile.first() * out.stride(2));
    return attendTile<T>(a, tile, target, sums);
  });
}

/// The softmax's rows in place of the scores.
template <class T>
void weights(const Tile<T>& tile, const Tensor& scores, const SavedSoftmax& saved) {
  for (std::int64_t i = 0; i < tile.count(); ++i) {
    T* row = tile.at(scores, i);
    if (!saved.logSumExp.empty()) {
      const double shift = saved.logSumExp[std::size_t(tile.row(i))];
      rowmath::expShifted(row, std::isinf(shift) ? 0 : shift, tile.keyCount());
      continue;
    }
    double shift = 0;
    if (const double sum = tile.exponentials(row, shift); sum != 0) rowmath::divide(row, sum, tile.keyCount());
  }
}

/// dS = P ∘ (dP − sum of dP ∘ P), dP = dO vᵀ under dropout; the tile's share of the three gradients.
template <class T>
Result<void> addTileGradients(const TiledAttention& a, Tile<T>& tile, const Tensor& grad, const SavedSoftmax& saved,
                              const TiledGradients& into) {
  KERF_TRY(Tensor p, tile.scores());
  weights(tile, p, saved);
  const Tensor dO = tile.own(grad), out = saved.out.defined() ? tile.own(saved.out) : Tensor();
  KERF_TRY(Tensor dS, emptyTensor(p.dtype(), p.sizes()));
  KERF_CHECK(gemm(dO, across(tile.keys(a.v)), dS));
  for (std::int64_t i = 0; i < tile.count(); ++i) {
    T* row = tile.at(dS, i);
    const T* factors = tile.dropout(i);
    tile.drop(row, factors);
    const double sum = out.defined() ? rowmath::dot(tile.at(dO, i), tile.at(out, i), a.valueWidth)
                                     : rowmath::dot(row, tile.at(p, i), tile.keyCount());
    rowmath::softmaxGradient(row, tile.at(p, i), sum, tile.keyCount());
    tile.drop(tile.at(p, i), factors);
  }
  KERF_TRY(dS, narrowed(a, dS));
  KERF_TRY(p, narrowed(a, p));
  Tensor query = tile.own(into.query), key = tile.seen(into.key), value = tile.seen(into.value);
  KERF_CHECK(gemm(dS, tile.keys(a.k), query, a.scale, 0));
  KERF_CHECK(gemm(across(dS), tile.own(a.q), key, a.scale, 1));
  return gemm(across(p), dO, value, 1, 1);
}

/// One of [parts, M, R, C].
Tensor partOf(const Tensor& t, std::int64_t part) {
  return t.viewAs({t.size(1), t.size(2), t.size(3)}, {t.stride(1), t.stride(2), t.stride(3)},
                  t.offset() + part * t.stride(0));
}

/// sum = all parts of [parts, M, R, C], in their order.
template <class T>
void addParts(const Tensor& parts, const Tensor& sum) {
  constexpr std::int64_t grain = 1 << 14;
  const T* const from = parts.data<T>();
  T* const to = sum.data<T>();
  const std::int64_t count = parts.size(0), size = sum.numel();
  parallelFor(size, grain, [&](std::int64_t begin, std::int64_t end) {
    std::copy(from + begin, from + end, to + begin);
    for (std::int64_t part = 1; part < count; ++part) rowmath::add(to + begin, from + part * size + begin, end - begin);
  });
}

template <class T>
Result<void> gradients(const TiledAttention& a, const Tensor& grad, const SavedSoftmax& saved,
                       const TiledGradients& into) {
  const std::int64_t parts = partsPerMatrix(a), tiles = tilesPerMatrix(a);
  KERF_TRY(const Tensor keys, Tensor::zeros(a.q.dtype(), {parts, a.matrices(), a.keys, a.width}));
  KERF_TRY(const Tensor values, Tensor::zeros(a.q.dtype(), {parts, a.matrices(), a.keys, a.valueWidth}));
  KERF_CHECK(forPieces(parts * a.matrices(), [&](std::int64_t piece) -> Result<void> {
    const std::int64_t part = piece % parts, m = piece / parts;
    const TiledGradients own{into.query, partOf(keys, part), partOf(values, part)};
    for (std::int64_t t = part * tiles / parts; t < (part + 1) * tiles / parts; ++t) {
      Tile<T> tile(a, m, t);
      KERF_CHECK(addTileGradients<T>(a, tile, grad, saved, own));
    }
    return {};
  }));
  addParts<T>(keys, into.key);
  addParts<T>(values, into.value);
  return {};
}

}  // namespace

bool attentionFitsTiles(const TiledAttention& a) {
  return !ExactSums::wanted() && a.matrices() > 0 && a.queries > 0 && a.keys > 0 && a.width > 0 && a.valueWidth > 0;
}

Result<std::vector<double>> attendInTiles(const TiledAttention& a, const Tensor& out) {
  std::vector<double> sums(std::size_t(a.matrices() * a.queries));
  KERF_CHECK(a.q.dtype() == DType::Float64 ? attend<double>(a, out, sums) : attend<float>(a, out, sums));
  return sums;
}

Result<TiledGradients> attentionGradientsInTiles(const TiledAttention& a, const Tensor& grad,
                                                 const SavedSoftmax& saved) {
  TiledGradients result;
  KERF_TRY(result.query, emptyTensor(a.q.dtype(), {a.matrices(), a.queries, a.width}));
  KERF_TRY(result.key, emptyTensor(a.q.dtype(), {a.matrices(), a.keys, a.width}));
  KERF_TRY(result.value, emptyTensor(a.q.dtype(), {a.matrices(), a.keys, a.valueWidth}));
  KERF_CHECK(a.q.dtype() == DType::Float64 ? gradients<double>(a, grad, saved, result)
                                           : gradients<float>(a, grad, saved, result));
  return result;
}

}  // namespace kerf::inline ops
