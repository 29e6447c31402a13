// Parts of a product of matrices whose operands are packed at once: what is packed, and what tiles are multiplied from
// it. Private to mathlib.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/mathlib/panel_gemm.h"

namespace kerf::inline mathlib {

constexpr std::int64_t rowsOfTile = 240;        // with the longest block they fill a part of the second cache
constexpr std::int64_t heldElements = 1 << 16;  // of an operand in the second cache, beside others

inline std::int64_t divideUp(std::int64_t size, std::int64_t part) { return (size + part - 1) / part; }

/// A range of rows or columns, in panels.
struct PanelSpan {
  std::int64_t begin = 0, end = 0;  ///< elements; begin is a multiple of a panel's width
  std::int64_t panels(std::int64_t width) const { return divideUp(end - begin, width); }
};

/// One part of a product whose operands are packed at once: rows × columns.
template <class T>
struct Part {
  const PanelProduct<T>* product = nullptr;
  const T *a = nullptr, *b = nullptr;
  T* c = nullptr;
  T *packedA = nullptr, *packedB = nullptr;  ///< null: read where they lie
  PanelSpan rows, columns, steps;
  std::int64_t blockSize = 1;
  std::int64_t streamFrom = 0;  ///< bytes of a result that is written past the caches

  std::int64_t blocks() const { return divideUp(steps.end - steps.begin, blockSize); }
  PanelSpan block(std::int64_t i) const {
    return {steps.begin + i * blockSize, std::min(steps.end, steps.begin + (i + 1) * blockSize)};
  }
};

/// Panels [rowBegin, rowEnd) of rows by panels [columnBegin, columnEnd) of columns, counted within the part.
struct TileRange {
  std::int64_t rowBegin, rowEnd, columnBegin, columnEnd;
};

/// Rows and columns of this machine's tiles.
struct TileSize {
  std::int64_t rows = 0, columns = 0;
};
template <class T>
TileSize tileSize();

/// Copies panels [begin, end) of rows, or of columns, of one block; all are counted within the part. Panels are best
/// copied beside each other.
template <class T>
void packLeft(const Part<T>& part, std::int64_t block, std::int64_t begin, std::int64_t end);
template <class T>
void packRight(const Part<T>& part, std::int64_t block, std::int64_t begin, std::int64_t end);

/// The results of a range, from all blocks of the part.
template <class T>
void multiply(const Part<T>& part, TileRange range);

/// All rows, which are few, of a part of one block whose right matrix lies where it is, full panels only. `sums` has
/// room for the part's results. The bits are those of `multiply`.
template <class T>
void sweep(const Part<T>& part, T* sums);

/// A part on one thread: block by block of the products, some columns at a time. What is packed has a size of its own,
/// whatever the product's is.
template <class T>
void multiplyPart(Part<T> part, bool packsA, bool packsB);

/// The same by `sweep`, of all rows.
template <class T>
void sweepColumns(Part<T> part, bool packsA);

}  // namespace kerf::inline mathlib
