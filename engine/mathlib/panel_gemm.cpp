#include "engine/mathlib/panel_gemm.h"

#include <algorithm>
#include <vector>

#include "engine/mathlib/panel_blocks.h"
#include "engine/mathlib/panel_grid.h"
#include "engine/mathlib/row_dots.h"
#include "engine/support/streamed_from.h"
#include "engine/support/thread_pool.h"
#include "engine/tensor/empty.h"
#include "engine/tensor/simd.h"

namespace kerf::inline mathlib {
namespace {

constexpr std::int64_t longestBlock = 384;         // products of a block: a panel of it stays in the first cache
constexpr std::int64_t packedByThreads = 4 << 20;  // elements of an operand that all threads pack at once
constexpr std::int64_t tilesPerThread = 4;
constexpr std::int64_t fewRows = 24;  // copying the right matrix does not pay for them

/// Rows of the left matrix that lie as far apart as a way of the first cache throw each other out of it.
template <class T>
bool rowsCollide(const PanelProduct<T>& g) {
  constexpr std::int64_t way = 4096;
  return g.m > 4 && g.lda * std::int64_t(sizeof(T)) % way == 0;
}

template <class T>
bool mustPackLeft(const PanelProduct<T>& g) {
  return g.transposedA || (rowsCollide(g) && g.n > 2 * tileSize<T>().columns);
}

/// A right matrix is read where it lies if few rows are multiplied by it or the second cache holds it, and vectors of
/// its rows exist to the end.
template <class T>
bool mustPackRight(const PanelProduct<T>& g) {
  return g.transposedB || (g.m > fewRows && g.n * g.k > heldElements) || g.n % tileSize<T>().columns != 0;
}

template <class T>
TileGrid gridOf(const Part<T>& part, int threads) {
  const TileSize tile = tileSize<T>();
  const std::int64_t wanted = tilesPerThread * threads, highest = rowsOfTile / tile.rows;
  TileGrid grid{part.rows.panels(tile.rows), part.columns.panels(tile.columns)};
  const std::int64_t down = divideUp(grid.rowPanels, highest);
  grid.high = divideUp(grid.rowPanels, down);
  grid.wide = std::max<std::int64_t>(1, grid.columnPanels * down / wanted);
  while (grid.wide == 1 && grid.count() < wanted && grid.high > 1) grid.high = divideUp(grid.high, 2);
  grid.downFirst = part.product->n > part.product->m;
  return grid;
}

/// Of few rows: each thread packs the columns that it multiplies, twice if there are not enough of them for all
/// threads.
template <class T>
TileGrid fewRowsGrid(const Part<T>& part, int threads) {
  const TileSize tile = tileSize<T>();
  TileGrid grid{part.rows.panels(tile.rows), part.columns.panels(tile.columns)};
  const std::int64_t down = grid.columnPanels < 2 * threads ? 2 : 1;
  grid.high = divideUp(grid.rowPanels, down);
  grid.wide = divideUp(grid.columnPanels, std::min<std::int64_t>(grid.columnPanels, tilesPerThread * threads));
  grid.downFirst = true;
  return grid;
}

/// Of columns that need no packing: each thread packs the rows that it multiplies.
template <class T>
TileGrid fewColumnsGrid(const Part<T>& part, int threads) {
  const TileSize tile = tileSize<T>();
  TileGrid grid{part.rows.panels(tile.rows), part.columns.panels(tile.columns)};
  const std::int64_t most = rowsOfTile / tile.rows, shared = divideUp(grid.rowPanels, tilesPerThread * threads);
  grid.high = std::min(most, shared);
  grid.wide = grid.columnPanels;
  return grid;
}

constexpr std::int64_t mostPanels = 8;  // that a thread packs at a time, beside each other

template <class T>
void packByThreads(const Part<T>& part, bool packsA, bool packsB, int threads) {
  const TileSize tile = tileSize<T>();
  const std::int64_t blocks = part.blocks(), rows = part.rows.panels(tile.rows);
  const std::int64_t columns = part.columns.panels(tile.columns);
  const std::int64_t all = ((packsA ? rows : 0) + (packsB ? columns : 0)) * blocks;
  const std::int64_t panelsOfPiece = std::clamp<std::int64_t>(all / (tilesPerThread * threads), 1, mostPanels);
  const std::int64_t left = packsA ? divideUp(rows, panelsOfPiece) * blocks : 0;
  const std::int64_t right = packsB ? divideUp(columns, panelsOfPiece) * blocks : 0;
  parallelFor(left + right, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t piece = i < right ? i : i - right, panel = piece / blocks * panelsOfPiece;
      if (i < right)
        packRight(part, piece % blocks, panel, std::min(columns, panel + panelsOfPiece));
      else
        packLeft(part, piece % blocks, panel, std::min(rows, panel + panelsOfPiece));
    }
  });
}

/// Steps, rows and columns of a part that all threads pack at once.
template <class T>
struct PartSize {
  std::int64_t steps, rows, columns;
  PartSize(const PanelProduct<T>& g, std::int64_t blockSize) {
    constexpr std::int64_t fewestSteps = 4096;
    const TileSize tile = tileSize<T>();
    const std::int64_t most = std::max(fewestSteps, packedByThreads / std::max(g.m, g.n));
    steps = std::min(g.k, std::max<std::int64_t>(1, most / blockSize) * blockSize);
    rows = atOnce(g.m, tile.rows);
    columns = atOnce(g.n, tile.columns);
  }

 private:
  std::int64_t atOnce(std::int64_t size, std::int64_t width) const {
    return std::min(divideUp(size, width), std::max<std::int64_t>(1, packedByThreads / steps / width)) * width;
  }
};

/// A range of tiles as a part of its own.
template <class T>
Part<T> partOf(const Part<T>& whole, TileRange range) {
  const TileSize tile = tileSize<T>();
  Part<T> part = whole;
  part.rows = {range.rowBegin * tile.rows, std::min(whole.rows.end, range.rowEnd * tile.rows)};
  part.columns = {range.columnBegin * tile.columns, std::min(whole.columns.end, range.columnEnd * tile.columns)};
  return part;
}

/// Without a moment at which all threads wait for each other: each packs what it multiplies.
template <class T>
void multiplyApart(const Part<T>& whole, const TileGrid& grid, bool packsA, bool packsB) {
  parallelFor(grid.count(), 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) multiplyPart(partOf(whole, grid[i]), packsA, packsB);
  });
}

/// Few rows times a right matrix that no cache holds, and that is read once, where it lies.
template <class T>
bool suitsSweep(const PanelProduct<T>& g, bool packsB) {
  return !packsB && g.m <= fewRows && g.n * g.k > heldElements;
}

/// Each thread takes columns.
template <class T>
void sweepByThreads(const Part<T>& part, bool packsA, int threads) {
  const std::int64_t columns = tileSize<T>().columns, panels = part.columns.panels(columns);
  const std::int64_t share = threads == 1 ? panels : divideUp(panels, tilesPerThread * threads);
  parallelFor(panels, share, [&](std::int64_t begin, std::int64_t end) {
    Part<T> mine = part;
    mine.columns = {begin * columns, std::min(part.columns.end, end * columns)};
    sweepColumns(mine, packsA);
  });
}

/// All threads pack a part, then all multiply it.
template <class T>
void multiplyTogether(Part<T> part, PartSize<T> size, int threads) {
  const PanelProduct<T>& g = *part.product;
  for (std::int64_t column = 0; column < g.n; column += size.columns)
    for (std::int64_t step = 0; step < g.k; step += size.steps)
      for (std::int64_t row = 0; row < g.m; row += size.rows) {
        part.columns = {column, std::min(g.n, column + size.columns)};
        part.steps = {step, std::min(g.k, step + size.steps)};
        part.rows = {row, std::min(g.m, row + size.rows)};
        packByThreads(part, part.packedA != nullptr, part.packedB != nullptr && row == 0, threads);
        const TileGrid grid = gridOf(part, threads);
        parallelFor(grid.count(), 1, [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t i = begin; i < end; ++i) multiply(part, grid[i]);
        });
      }
}

/// Into how many sums the products of a few results are split: the shape decides, whatever threads there are.
template <class T>
std::int64_t piecesOf(const PanelProduct<T>& g) {
  constexpr std::int64_t fewResults = 1 << 15, fewestProducts = 1 << 14, shortestPiece = 1024, mostPieces = 64;
  if (g.m * g.n > fewResults || g.k < fewestProducts) return 1;
  return std::min(g.k / shortestPiece, mostPieces);
}

/// Few results of many products: there are too few tiles for all threads, which take products instead.
template <class T>
void multiplyPieces(const PanelProduct<T>& g, const T* a, const T* b, T* c, int threads) {
  const std::int64_t pieces = piecesOf(g), length = divideUp(divideUp(g.k, pieces), longestBlock) * longestBlock;
  std::vector<T> sums(static_cast<std::size_t>(pieces * g.m * g.n));
  const auto multiplyPiecesOf = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t p = begin; p < end; ++p) {
      const std::int64_t step = std::min(g.k, p * length), steps = std::min(g.k, step + length) - step;
      if (steps == 0) continue;
      const PanelProduct<T> piece{g.transposedA, g.transposedB, g.m, g.n, steps, g.alpha, g.lda, g.ldb, T(0), g.n};
      panelGemm(piece, a + step * (g.transposedA ? g.lda : 1), b + step * (g.transposedB ? 1 : g.ldb),
                sums.data() + p * g.m * g.n, 1);
    }
  };
  threads == 1 ? multiplyPiecesOf(0, pieces) : parallelFor(pieces, 1, multiplyPiecesOf);
  constexpr std::int64_t fewAdditions = 1 << 16;
  const auto addRows = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      addBlocks(sums.data() + i * g.n, g.m * g.n, pieces, g.beta, c + i * g.ldc, g.n);
  };
  threads == 1 ? addRows(0, g.m) : parallelFor(g.m, std::max<std::int64_t>(1, fewAdditions / (g.n * pieces)), addRows);
}

}  // namespace

bool suitsPanels(std::int64_t m, std::int64_t n, std::int64_t k) {
  constexpr std::int64_t fewestColumns = 8, smallest = 4096, largestNarrow = 1 << 24;
  const bool wide = isa() == Isa::Avx512, narrow = isa() == Isa::Avx2;
  if (n < fewestColumns || m * n * k < smallest || !(wide || (narrow && m * n * k <= largestNarrow))) return false;
  return m >= 2;
}

int usefulThreads(std::int64_t m, std::int64_t n, std::int64_t k, int threads) {
  constexpr std::int64_t workOfThread = 1 << 18;  // multiplications
  return int(std::clamp<std::int64_t>(m * n * k / workOfThread, 1, std::max(1, threads)));
}

template <class T>
void panelGemm(const PanelProduct<T>& product, const T* a, const T* b, T* c, int threads) {
  if (piecesOf(product) > 1) return multiplyPieces(product, a, b, c, threads);
  if (suitsRowDots(product)) return rowDots(product, a, b, c, threads);
  Part<T> part;
  part.product = &product, part.a = a, part.b = b, part.c = c;
  part.blockSize = divideUp(divideUp(product.k, divideUp(product.k, longestBlock)), 8) * 8;
  part.streamFrom = streamedFrom();
  part.rows = {0, product.m}, part.columns = {0, product.n}, part.steps = {0, product.k};
  const bool packsA = mustPackLeft(product), packsB = mustPackRight(product);
  const int useful = usefulThreads(product.m, product.n, product.k, threads);
  if (suitsSweep(product, packsB)) return sweepByThreads(part, packsA, useful);
  if (useful == 1) return multiplyPart(part, packsA, packsB);
  if (suitsBlocks(part, packsA, packsB)) return multiplyBlocks(part);
  if (packsB && !packsA && product.m <= 2 * rowsOfTile)
    return multiplyApart(part, fewRowsGrid(part, useful), false, true);
  if (packsA && !packsB) return multiplyApart(part, fewColumnsGrid(part, useful), true, false);
  const PartSize<T> size(product, part.blockSize);
  constexpr DType dtype = sizeof(T) == 4 ? DType::Float32 : DType::Float64;
  const std::int64_t right = packsB ? size.columns * size.steps : 0, left = packsA ? size.rows * size.steps : 0;
  Result<Tensor> memory = emptyTensor(dtype, {right + left});
  if (!memory) return multiplyPart(part, packsA, packsB);
  if (packsB) part.packedB = memory->data<T>();
  if (packsA) part.packedA = memory->data<T>() + right;
  multiplyTogether(part, size, useful);
}

template void panelGemm(const PanelProduct<float>&, const float*, const float*, float*, int);
template void panelGemm(const PanelProduct<double>&, const double*, const double*, double*, int);

}  // namespace kerf::inline mathlib
