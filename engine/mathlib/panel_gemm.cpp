#include "engine/mathlib/panel_gemm.h"

#include <algorithm>
#include <memory>
#include <new>

#include "engine/mathlib/panel_parts.h"
#include "engine/mathlib/row_dots.h"
#include "engine/support/thread_pool.h"
#include "engine/tensor/empty.h"
#include "engine/tensor/simd.h"

namespace kerf::inline mathlib {
namespace {

constexpr std::int64_t longestBlock = 384;        // products of a block: a panel of it stays in the first cache
constexpr std::int64_t rowsOfTile = 240;          // with such a block they fill a part of the second cache
constexpr std::int64_t packedAtOnce = 1 << 20;    // elements of a packed block on one thread
constexpr std::int64_t packedByThreads = 4 << 20;  // on several
constexpr std::int64_t tilesPerThread = 4;
constexpr std::int64_t fewRows = 24;              // copying the right matrix does not pay for them
constexpr std::int64_t heldElements = 1 << 16;    // of an operand in the second cache, beside others

/// Memory for panels that a thread keeps; grows as needed.
template <class T>
T* panelMemory(int which, std::int64_t elements) {
  struct Aligned {
    void operator()(T* memory) const { ::operator delete[](memory, std::align_val_t(64)); }
  };
  struct Kept {
    std::unique_ptr<T[], Aligned> memory;
    std::int64_t elements = 0;
  };
  thread_local Kept kept[2];
  Kept& mine = kept[which];
  if (mine.elements < elements) {
    mine.memory.reset();
    mine.memory.reset(static_cast<T*>(::operator new[](std::size_t(elements) * sizeof(T), std::align_val_t(64))));
    mine.elements = elements;
  }
  return mine.memory.get();
}

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

/// Rows by a tile's height, with packed columns.
template <class T>
void multiplyRowsAlone(Part<T> part, bool packsA) {
  const TileSize tile = tileSize<T>();
  const std::int64_t height = rowsOfTile / tile.rows * tile.rows;
  for (std::int64_t row = 0; row < part.product->m; row += height) {
    part.rows = {row, std::min(part.product->m, row + height)};
    const std::int64_t panels = part.rows.panels(tile.rows);
    if (packsA) {
      part.packedA = panelMemory<T>(0, panels * tile.rows * (part.steps.end - part.steps.begin));
      for (std::int64_t p = 0; p < panels; ++p) packLeft(part, 0, p);
    }
    multiply(part, TileRange{0, panels, 0, part.columns.panels(tile.columns)});
  }
}

/// Block by block of the products, as many columns as are packed at once.
template <class T>
void multiplyAlone(Part<T> part, bool packsA, bool packsB) {
  const PanelProduct<T>& g = *part.product;
  const TileSize tile = tileSize<T>();
  const std::int64_t width = packedAtOnce / part.blockSize / tile.columns * tile.columns;
  for (std::int64_t column = 0; column < g.n; column += width)
    for (std::int64_t step = 0; step < g.k; step += part.blockSize) {
      part.columns = {column, std::min(g.n, column + width)};
      part.steps = {step, std::min(g.k, step + part.blockSize)};
      const std::int64_t panels = part.columns.panels(tile.columns);
      if (packsB) {
        part.packedB = panelMemory<T>(1, panels * tile.columns * (part.steps.end - step));
        for (std::int64_t q = 0; q < panels; ++q) packRight(part, 0, q);
      }
      multiplyRowsAlone(part, packsA);
    }
}

/// Tiles of about equal size, some for each thread: as high as the second cache holds where there are enough of them.
/// Tiles beside each other share the longer operand's panels, which are one thread's as long as nobody helps it.
struct TileGrid {
  std::int64_t rowPanels = 0, columnPanels = 0, high = 1, wide = 1;
  bool downFirst = false;
  std::int64_t down() const { return divideUp(rowPanels, high); }
  std::int64_t across() const { return divideUp(columnPanels, wide); }
  std::int64_t count() const { return down() * across(); }
  TileRange operator[](std::int64_t i) const {
    const std::int64_t row = (downFirst ? i % down() : i / across()) * high;
    const std::int64_t column = (downFirst ? i / down() : i % across()) * wide;
    return {row, std::min(rowPanels, row + high), column, std::min(columnPanels, column + wide)};
  }
};

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
  const std::int64_t most = packedAtOnce / (part.product->k * tile.columns);
  grid.wide = std::max<std::int64_t>(1, std::min(most, grid.columnPanels / (tilesPerThread * threads)));
  grid.downFirst = true;
  return grid;
}

/// Of columns that need no packing: each thread packs the rows that it multiplies.
template <class T>
TileGrid fewColumnsGrid(const Part<T>& part, int threads) {
  const TileSize tile = tileSize<T>();
  TileGrid grid{part.rows.panels(tile.rows), part.columns.panels(tile.columns)};
  const std::int64_t most = std::min(rowsOfTile / tile.rows, packedAtOnce / (part.product->k * tile.rows));
  grid.high = std::max<std::int64_t>(1, std::min(most, grid.rowPanels / (tilesPerThread * threads)));
  grid.wide = grid.columnPanels;
  return grid;
}

template <class T>
void packByThreads(const Part<T>& part, bool packsA, bool packsB) {
  const TileSize tile = tileSize<T>();
  const std::int64_t blocks = part.blocks();
  const std::int64_t left = packsA ? part.rows.panels(tile.rows) * blocks : 0;
  const std::int64_t right = packsB ? part.columns.panels(tile.columns) * blocks : 0;
  parallelFor(left + right, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      if (i < right)
        packRight(part, i % blocks, i / blocks);
      else
        packLeft(part, (i - right) % blocks, (i - right) / blocks);
  });
}

/// Rows and columns of a part that is packed at once.
std::int64_t atOnce(std::int64_t size, std::int64_t steps, std::int64_t width) {
  return std::min(divideUp(size, width), std::max<std::int64_t>(1, packedByThreads / steps / width)) * width;
}
template <class T>
struct PartSize {
  std::int64_t rows, columns;
  explicit PartSize(const PanelProduct<T>& g) {
    const TileSize tile = tileSize<T>();
    rows = atOnce(g.m, g.k, tile.rows);
    columns = atOnce(g.n, g.k, tile.columns);
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

template <class T>
void packAll(const Part<T>& part, std::int64_t panels, void (*pack)(const Part<T>&, std::int64_t, std::int64_t)) {
  for (std::int64_t p = 0; p < panels; ++p)
    for (std::int64_t block = 0; block < part.blocks(); ++block) pack(part, block, p);
}

/// Without a moment at which all threads wait for each other: each packs what it multiplies.
template <class T>
void multiplyApart(const Part<T>& whole, const TileGrid& grid, bool packsA, bool packsB) {
  const TileSize tile = tileSize<T>();
  const std::int64_t steps = whole.product->k;
  parallelFor(grid.count(), 1, [&](std::int64_t begin, std::int64_t end) {
    std::int64_t packedColumn = -1;
    for (std::int64_t i = begin; i < end; ++i) {
      const TileRange range = grid[i];
      Part<T> part = partOf(whole, range);
      const std::int64_t rows = part.rows.panels(tile.rows), columns = part.columns.panels(tile.columns);
      if (packsA) part.packedA = panelMemory<T>(0, grid.high * tile.rows * steps);
      if (packsB) part.packedB = panelMemory<T>(1, grid.wide * tile.columns * steps);
      if (packsA) packAll(part, rows, packLeft<T>);
      if (packsB && range.columnBegin != packedColumn) packAll(part, columns, packRight<T>);
      packedColumn = range.columnBegin;
      multiply(part, TileRange{0, rows, 0, columns});
    }
  });
}

constexpr std::int64_t longestApart = 8192;  // products: a thread's panels are its own memory

template <class T>
bool hasFewRows(const PanelProduct<T>& g) {
  return g.m <= 2 * rowsOfTile && g.k <= longestApart;
}

template <class T>
void multiplyByThreads(Part<T> part, PartSize<T> size, int threads) {
  const PanelProduct<T>& g = *part.product;
  part.steps = {0, g.k};
  for (std::int64_t column = 0; column < g.n; column += size.columns)
    for (std::int64_t row = 0; row < g.m; row += size.rows) {
      part.columns = {column, std::min(g.n, column + size.columns)};
      part.rows = {row, std::min(g.m, row + size.rows)};
      packByThreads(part, part.packedA != nullptr, part.packedB != nullptr && row == 0);
      const TileGrid grid = gridOf(part, threads);
      parallelFor(grid.count(), 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) multiply(part, grid[i]);
      });
    }
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
  if (suitsRowDots(product)) return rowDots(product, a, b, c, threads);
  Part<T> part;
  part.product = &product, part.a = a, part.b = b, part.c = c;
  part.blockSize = divideUp(divideUp(product.k, divideUp(product.k, longestBlock)), 8) * 8;
  const bool packsA = mustPackLeft(product), packsB = mustPackRight(product);
  const int useful = usefulThreads(product.m, product.n, product.k, threads);
  if (useful == 1) return multiplyAlone(part, packsA, packsB);
  part.rows = {0, product.m}, part.columns = {0, product.n}, part.steps = {0, product.k};
  if (packsB && !packsA && hasFewRows(product)) return multiplyApart(part, fewRowsGrid(part, useful), false, true);
  if (packsA && !packsB && product.k <= longestApart)
    return multiplyApart(part, fewColumnsGrid(part, useful), true, false);
  const PartSize<T> size(product);
  constexpr DType dtype = sizeof(T) == 4 ? DType::Float32 : DType::Float64;
  const std::int64_t right = packsB ? size.columns * product.k : 0, left = packsA ? size.rows * product.k : 0;
  Result<Tensor> memory = emptyTensor(dtype, {right + left});
  if (!memory) return multiplyAlone(part, packsA, packsB);
  if (packsB) part.packedB = memory->data<T>();
  if (packsA) part.packedA = memory->data<T>() + right;
  multiplyByThreads(part, size, useful);
}

template void panelGemm(const PanelProduct<float>&, const float*, const float*, float*, int);
template void panelGemm(const PanelProduct<double>&, const double*, const double*, double*, int);

}  // namespace kerf::inline mathlib
