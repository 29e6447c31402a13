// How a product's tiles are dealt out to threads. Private to mathlib.
#pragma once

#include "engine/mathlib/panel_parts.h"

namespace kerf::inline mathlib {

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

}  // namespace kerf::inline mathlib
