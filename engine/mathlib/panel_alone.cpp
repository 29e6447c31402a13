// One thread's share of a product from panels: it packs what it multiplies, a block at a time.
#include <algorithm>
#include <memory>
#include <new>

#include "engine/mathlib/panel_parts.h"

namespace kerf::inline mathlib {
namespace {

constexpr std::int64_t packedAtOnce = 1 << 20;  // elements of a packed block

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
    mine.elements = 0;  // if there is no memory, and the caller goes on
    mine.memory.reset(static_cast<T*>(::operator new[](std::size_t(elements) * sizeof(T), std::align_val_t(64))));
    mine.elements = elements;
  }
  return mine.memory.get();
}

/// Rows by a tile's height, with packed columns.
template <class T>
void multiplyRows(Part<T> part, bool packsA) {
  const TileSize tile = tileSize<T>();
  const std::int64_t height = rowsOfTile / tile.rows * tile.rows;
  const PanelSpan all = part.rows;
  for (std::int64_t row = all.begin; row < all.end; row += height) {
    part.rows = {row, std::min(all.end, row + height)};
    const std::int64_t panels = part.rows.panels(tile.rows);
    if (packsA) {
      part.packedA = panelMemory<T>(0, panels * tile.rows * (part.steps.end - part.steps.begin));
      for (std::int64_t block = 0; block < part.blocks(); ++block) packLeft(part, block, 0, panels);
    }
    multiply(part, TileRange{0, panels, 0, part.columns.panels(tile.columns)});
  }
}

/// Columns that are packed at once: what the second cache holds where they are read once only.
template <class T>
std::int64_t columnsAtOnce(const Part<T>& part, bool packsA) {
  const std::int64_t columns = tileSize<T>().columns;
  const bool once = !packsA && part.rows.end - part.rows.begin <= rowsOfTile;
  return std::max<std::int64_t>(1, (once ? heldElements : packedAtOnce) / part.blockSize / columns) * columns;
}

}  // namespace

template <class T>
void multiplyPart(Part<T> part, bool packsA, bool packsB) {
  const TileSize tile = tileSize<T>();
  const std::int64_t width = columnsAtOnce(part, packsA);
  const PanelSpan columns = part.columns, steps = part.steps;
  // Several blocks of few columns are packed at once, which takes less long than in turns with multiplying.
  const std::int64_t packed = std::min(width, columns.panels(tile.columns) * tile.columns) * part.blockSize;
  const std::int64_t length = std::max<std::int64_t>(1, packsB ? heldElements / packed : 1) * part.blockSize;
  for (std::int64_t column = columns.begin; column < columns.end; column += width)
    for (std::int64_t step = steps.begin; step < steps.end; step += length) {
      part.columns = {column, std::min(columns.end, column + width)};
      part.steps = {step, std::min(steps.end, step + length)};
      const std::int64_t panels = part.columns.panels(tile.columns);
      if (packsB) {
        part.packedB = panelMemory<T>(1, panels * tile.columns * (part.steps.end - step));
        for (std::int64_t block = 0; block < part.blocks(); ++block) packRight(part, block, 0, panels);
      }
      multiplyRows(part, packsA);
    }
}

template <class T>
void sweepColumns(Part<T> part, bool packsA) {
  constexpr std::int64_t sums = 8192;  // beside the steps that are read meanwhile
  const TileSize tile = tileSize<T>();
  const std::int64_t rows = divideUp(part.product->m, tile.rows) * tile.rows;
  const std::int64_t width = std::max<std::int64_t>(1, sums / rows / tile.columns) * tile.columns;
  const PanelSpan columns = part.columns, steps = part.steps;
  T* const begun = panelMemory<T>(1, rows * width);
  for (std::int64_t step = steps.begin; step < steps.end; step += part.blockSize) {
    part.steps = {step, std::min(steps.end, step + part.blockSize)};
    if (packsA) {
      part.packedA = panelMemory<T>(0, rows * part.blockSize);
      packLeft(part, 0, 0, rows / tile.rows);
    }
    for (std::int64_t column = columns.begin; column < columns.end; column += width) {
      part.columns = {column, std::min(columns.end, column + width)};
      sweep(part, begun);
    }
  }
}

template void multiplyPart(Part<float>, bool, bool);
template void multiplyPart(Part<double>, bool, bool);
template void sweepColumns(Part<float>, bool);
template void sweepColumns(Part<double>, bool);

}  // namespace kerf::inline mathlib
