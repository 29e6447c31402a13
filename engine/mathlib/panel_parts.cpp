#include "engine/mathlib/panel_parts.h"

#include "engine/mathlib/panel_kernel.h"
#include "engine/mathlib/panel_packing.h"

namespace kerf::inline mathlib {
namespace {

/// Where a panel of a packed operand begins: blocks lie behind one another, each with all panels.
template <class T>
std::int64_t panelAt(const Part<T>& part, PanelSpan block, std::int64_t panels, std::int64_t panel,
                     std::int64_t width) {
  return ((block.begin - part.steps.begin) * panels + panel * (block.end - block.begin)) * width;
}

/// One operand as rows to pack: those of the left matrix, or the columns of the right one.
template <class T>
struct Packed {
  const T* data = nullptr;
  std::int64_t leading = 1;
  bool stepsAreRows = false;  ///< of memory: the packed rows lie side by side
  PanelSpan rows;
  T* panels = nullptr;

  static Packed left(const Part<T>& p) { return {p.a, p.product->lda, p.product->transposedA, p.rows, p.packedA}; }
  static Packed right(const Part<T>& p) { return {p.b, p.product->ldb, !p.product->transposedB, p.columns, p.packedB}; }
};

/// Panels [begin, end), counted within the part.
template <class T, int width, int bytes>
KERF_KERNEL void packOf(const Part<T>& part, Packed<T> from, std::int64_t i, std::int64_t begin, std::int64_t end) {
  constexpr int together = 8;
  const PanelSpan block = part.block(i);
  const std::int64_t steps = block.end - block.begin;
  for (std::int64_t panel = begin; panel < end;) {
    const std::int64_t row = from.rows.begin + panel * width, left = from.rows.end - row;
    const PanelSource<T> source = from.stepsAreRows
                                      ? PanelSource<T>{from.data + block.begin * from.leading + row, 1, from.leading}
                                      : PanelSource<T>{from.data + row * from.leading + block.begin, from.leading, 1};
    T* const out = from.panels + panelAt(part, block, from.rows.panels(width), panel, width);
    std::int64_t done = 1;
    if (from.stepsAreRows && left >= together * width && end - panel >= together)
      packBeside<T, width, together>(source, steps, out), done = together;
    else if (from.stepsAreRows && left >= width)
      packBeside<T, width, 1>(source, steps, out);
    else
      packPanel<T, bytes, width>(source, std::min<std::int64_t>(width, left), steps, out);
    panel += done;
  }
}

template <class T, int bytes>
struct PackLeft {
  KERF_KERNEL void run(const Part<T>* part, std::int64_t i, std::int64_t begin, std::int64_t end) {
    packOf<T, PanelTile<T, bytes>::rows, bytes>(*part, Packed<T>::left(*part), i, begin, end);
  }
};

template <class T, int bytes>
struct PackRight {
  KERF_KERNEL void run(const Part<T>* part, std::int64_t i, std::int64_t begin, std::int64_t end) {
    packOf<T, PanelTile<T, bytes>::columns, bytes>(*part, Packed<T>::right(*part), i, begin, end);
  }
};

/// Where a tile's operands lie.
template <class T, int bytes>
KERF_KERNEL PanelOperands<T> operandsOf(const Part<T>& part, PanelSpan block, std::int64_t rowPanel,
                                        std::int64_t columnPanel) {
  const PanelProduct<T>& g = *part.product;
  PanelOperands<T> in;
  in.steps = block.end - block.begin;
  in.left = part.packedA ? part.packedA + panelAt(part, block, part.rows.panels(PanelTile<T, bytes>::rows), rowPanel,
                                                  PanelTile<T, bytes>::rows)
                         : part.a + (part.rows.begin + rowPanel * PanelTile<T, bytes>::rows) * g.lda + block.begin;
  in.leftStride = g.lda;
  in.right = part.packedB
                 ? part.packedB + panelAt(part, block, part.columns.panels(PanelTile<T, bytes>::columns), columnPanel,
                                          PanelTile<T, bytes>::columns)
                 : part.b + block.begin * g.ldb + part.columns.begin + columnPanel * PanelTile<T, bytes>::columns;
  in.rightStride = part.packedB ? PanelTile<T, bytes>::columns : g.ldb;
  return in;
}

template <class T, int bytes>
struct MultiplyRange {
  using Tile = PanelTile<T, bytes>;

  template <bool packed>
  KERF_KERNEL void runTile(const Part<T>& part, PanelSpan block, std::int64_t p, std::int64_t q, bool streamed) {
    const PanelProduct<T>& g = *part.product;
    const std::int64_t row = part.rows.begin + p * Tile::rows, column = part.columns.begin + q * Tile::columns;
    const std::int64_t rows = std::min<std::int64_t>(Tile::rows, part.rows.end - row);
    const std::int64_t valid = std::min<std::int64_t>(Tile::columns, part.columns.end - column);
    const PanelOperands<T> in = operandsOf<T, bytes>(part, block, p, q);
    PanelResult<T> to{part.c + row * g.ldc + column, g.ldc, g.alpha, block.begin == 0 ? g.beta : T(1)};
    to.streamed = streamed;
    if (valid > Tile::lanes)
      multiplyPanels<T, bytes, 2, packed>(rows, valid, in, to);
    else
      multiplyPanels<T, bytes, 1, packed>(rows, valid, in, to);
  }

  /// A result that no cache holds, and which nothing is added to, is written past them.
  KERF_KERNEL bool streams(const Part<T>& part) {
    const PanelProduct<T>& g = *part.product;
    const bool aligned = (reinterpret_cast<std::uintptr_t>(part.c) | std::uintptr_t(g.ldc) * sizeof(T)) % bytes == 0;
    return aligned && g.beta == 0 && g.k <= part.blockSize && g.m * g.ldc * std::int64_t(sizeof(T)) >= part.streamFrom;
  }

  /// Down the rows a panel of columns stays in the first cache; where products are short, writing the result along its
  /// rows counts for more.
  template <bool packed>
  KERF_KERNEL void runBlock(const Part<T>& part, TileRange range, PanelSpan block) {
    constexpr std::int64_t shortSteps = 64;
    const bool streamed = streams(part);
    const bool alongRows = block.end - block.begin <= shortSteps;
    const PanelSpan rows{range.rowBegin, range.rowEnd}, columns{range.columnBegin, range.columnEnd};
    const PanelSpan outer = alongRows ? rows : columns, inner = alongRows ? columns : rows;
    for (std::int64_t i = outer.begin; i < outer.end; ++i)  // one call of runTile, whose whole code is inlined in it
      for (std::int64_t j = inner.begin; j < inner.end; ++j)
        runTile<packed>(part, block, alongRows ? i : j, alongRows ? j : i, streamed);
  }

  KERF_KERNEL void run(const Part<T>* part, TileRange range) {
    for (std::int64_t i = 0; i < part->blocks(); ++i)
      if (part->packedA)
        runBlock<true>(*part, range, part->block(i));
      else
        runBlock<false>(*part, range, part->block(i));
    finishStreams();
  }
};

/// Few rows of one block: some steps of all columns after the other, so that the right matrix is read along its rows.
template <class T, int bytes>
struct SweepBlock {
  using Tile = PanelTile<T, bytes>;

  template <bool packed>
  KERF_KERNEL void runSteps(const Part<T>& part, PanelSpan steps, PanelSpan block, T* sums) {
    const PanelProduct<T>& g = *part.product;
    const std::int64_t panels = part.columns.panels(Tile::columns), width = panels * Tile::columns;
    const bool first = steps.begin == block.begin, last = steps.end == block.end;
    for (std::int64_t q = 0; q < panels; ++q)
      for (std::int64_t row = 0; row < g.m; row += Tile::rows) {
        PanelOperands<T> in = operandsOf<T, bytes>(part, block, row / Tile::rows, q);
        in.steps = steps.end - steps.begin;
        in.left += (steps.begin - block.begin) * (packed ? Tile::rows : 1);
        in.right += (steps.begin - block.begin) * in.rightStride;
        const std::int64_t column = part.columns.begin + q * Tile::columns;
        const std::int64_t valid =
            last ? std::min<std::int64_t>(Tile::columns, part.columns.end - column) : Tile::columns;
        T* const begun = sums + row * width + q * Tile::columns;
        PanelResult<T> to{begun, width, T(1), T(0), first ? nullptr : begun, width};
        if (last) to.c = part.c + row * g.ldc + column, to.stride = g.ldc, to.alpha = g.alpha;
        if (last) to.keep = block.begin == 0 ? g.beta : T(1);
        multiplyPanels<T, bytes, 2, packed>(std::min<std::int64_t>(Tile::rows, g.m - row), valid, in, to);
      }
  }

  KERF_KERNEL void run(const Part<T>* part, T* sums) {
    constexpr std::int64_t together = detail::stepsAhead;  // so that each step's successor is asked for
    const PanelSpan block = part->steps;
    for (std::int64_t step = block.begin; step < block.end; step += together) {
      const PanelSpan steps{step, std::min(block.end, step + together)};
      if (part->packedA)
        runSteps<true>(*part, steps, block, sums);
      else
        runSteps<false>(*part, steps, block, sums);
    }
  }
};

}  // namespace

template <class T>
TileSize tileSize() {
  if (isa() == Isa::Avx512) return {PanelTile<T, 64>::rows, PanelTile<T, 64>::columns};
  if (isa() == Isa::Avx2) return {PanelTile<T, 32>::rows, PanelTile<T, 32>::columns};
  return {PanelTile<T, 16>::rows, PanelTile<T, 16>::columns};
}

template <class T>
void packLeft(const Part<T>& part, std::int64_t block, std::int64_t begin, std::int64_t end) {
  perWidth<PackLeft, T>(&part, block, begin, end);
}
template <class T>
void packRight(const Part<T>& part, std::int64_t block, std::int64_t begin, std::int64_t end) {
  perWidth<PackRight, T>(&part, block, begin, end);
}
template <class T>
void multiply(const Part<T>& part, TileRange range) {
  perWidth<MultiplyRange, T>(&part, range);
}
template <class T>
void sweep(const Part<T>& part, T* sums) {
  perWidth<SweepBlock, T>(&part, sums);
}

template TileSize tileSize<float>();
template TileSize tileSize<double>();
template void packLeft(const Part<float>&, std::int64_t, std::int64_t, std::int64_t);
template void packLeft(const Part<double>&, std::int64_t, std::int64_t, std::int64_t);
template void packRight(const Part<float>&, std::int64_t, std::int64_t, std::int64_t);
template void packRight(const Part<double>&, std::int64_t, std::int64_t, std::int64_t);
template void multiply(const Part<float>&, TileRange);
template void multiply(const Part<double>&, TileRange);
template void sweep(const Part<float>&, float*);
template void sweep(const Part<double>&, double*);

}  // namespace kerf::inline mathlib
