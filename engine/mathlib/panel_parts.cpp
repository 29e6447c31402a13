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

  static Packed left(const Part<T>& p) {
    return {p.a, p.product->lda, p.product->transposedA, p.rows, p.packedA};
  }
  static Packed right(const Part<T>& p) {
    return {p.b, p.product->ldb, !p.product->transposedB, p.columns, p.packedB};
  }
};

/// `panel` counts within the part.
template <class T, int width, int bytes>
KERF_KERNEL void packOf(const Part<T>& part, Packed<T> from, std::int64_t i, std::int64_t panel) {
  const std::int64_t row = from.rows.begin + panel * width;
  const PanelSpan block = part.block(i);
  const PanelSource<T> source = from.stepsAreRows
                                    ? PanelSource<T>{from.data + block.begin * from.leading + row, 1, from.leading}
                                    : PanelSource<T>{from.data + row * from.leading + block.begin, from.leading, 1};
  packPanel<T, bytes, width>(source, std::min<std::int64_t>(width, from.rows.end - row), block.end - block.begin,
                             from.panels + panelAt(part, block, from.rows.panels(width), panel, width));
}

template <class T, int bytes>
struct PackLeft {
  KERF_KERNEL void run(const Part<T>* part, std::int64_t i, std::int64_t panel) {
    packOf<T, PanelTile<T, bytes>::rows, bytes>(*part, Packed<T>::left(*part), i, panel);
  }
};

template <class T, int bytes>
struct PackRight {
  KERF_KERNEL void run(const Part<T>* part, std::int64_t i, std::int64_t panel) {
    packOf<T, PanelTile<T, bytes>::columns, bytes>(*part, Packed<T>::right(*part), i, panel);
  }
};

template <class T, int bytes>
struct MultiplyRange {
  using Tile = PanelTile<T, bytes>;

  KERF_KERNEL PanelOperands<T> operandsOf(const Part<T>& part, PanelSpan block, std::int64_t rowPanel,
                                          std::int64_t columnPanel) {
    const PanelProduct<T>& g = *part.product;
    PanelOperands<T> in;
    in.steps = block.end - block.begin;
    in.left = part.packedA ? part.packedA + panelAt(part, block, part.rows.panels(Tile::rows), rowPanel, Tile::rows)
                           : part.a + (part.rows.begin + rowPanel * Tile::rows) * g.lda + block.begin;
    in.leftStride = g.lda;
    in.right = part.packedB
                   ? part.packedB + panelAt(part, block, part.columns.panels(Tile::columns), columnPanel, Tile::columns)
                   : part.b + block.begin * g.ldb + part.columns.begin + columnPanel * Tile::columns;
    in.rightStride = part.packedB ? Tile::columns : g.ldb;
    return in;
  }

  template <bool packed>
  KERF_KERNEL void runBlock(const Part<T>& part, TileRange range, PanelSpan block) {
    const PanelProduct<T>& g = *part.product;
    for (std::int64_t q = range.columnBegin; q < range.columnEnd; ++q)
      for (std::int64_t p = range.rowBegin; p < range.rowEnd; ++p) {
        const std::int64_t row = part.rows.begin + p * Tile::rows, column = part.columns.begin + q * Tile::columns;
        const std::int64_t rows = std::min<std::int64_t>(Tile::rows, part.rows.end - row);
        const std::int64_t valid = std::min<std::int64_t>(Tile::columns, part.columns.end - column);
        const PanelOperands<T> in = operandsOf(part, block, p, q);
        const PanelResult<T> to{part.c + row * g.ldc + column, g.ldc, g.alpha, block.begin == 0 ? g.beta : T(1)};
        if (valid > Tile::lanes)
          multiplyPanels<T, bytes, 2, packed>(rows, valid, in, to);
        else
          multiplyPanels<T, bytes, 1, packed>(rows, valid, in, to);
      }
  }

  KERF_KERNEL void run(const Part<T>* part, TileRange range) {
    for (std::int64_t i = 0; i < part->blocks(); ++i)
      if (part->packedA)
        runBlock<true>(*part, range, part->block(i));
      else
        runBlock<false>(*part, range, part->block(i));
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
void packLeft(const Part<T>& part, std::int64_t block, std::int64_t panel) {
  perWidth<PackLeft, T>(&part, block, panel);
}
template <class T>
void packRight(const Part<T>& part, std::int64_t block, std::int64_t panel) {
  perWidth<PackRight, T>(&part, block, panel);
}
template <class T>
void multiply(const Part<T>& part, TileRange range) {
  perWidth<MultiplyRange, T>(&part, range);
}

template TileSize tileSize<float>();
template TileSize tileSize<double>();
template void packLeft(const Part<float>&, std::int64_t, std::int64_t);
template void packLeft(const Part<double>&, std::int64_t, std::int64_t);
template void packRight(const Part<float>&, std::int64_t, std::int64_t);
template void packRight(const Part<double>&, std::int64_t, std::int64_t);
template void multiply(const Part<float>&, TileRange);
template void multiply(const Part<double>&, TileRange);

}  // namespace kerf::inline mathlib
