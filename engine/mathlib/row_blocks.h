// How the rows of a convolution's result are divided into blocks. Private to mathlib.
#pragma once

#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

#include "engine/mathlib/row_convolution.h"

namespace kerf::inline mathlib {

/// What one kernel computes: rows of one image, and how many rows of padding lie above and below what they read. Where
/// the kernel is one pixel the result's pixels are the rows of one long image.
struct RowPiece {
  std::int64_t rows = 0, above = 0, below = 0;
  auto operator<=>(const RowPiece&) const = default;
};

/// One block: a piece at its place.
struct RowBlock {
  RowPiece piece;
  std::int64_t imageOffset = 0;   ///< elements of the image, of its first row
  std::int64_t resultOffset = 0;  ///< elements of the result
  std::int64_t imageRows = 0;     ///< that it reads
};

/// A 1 × 1 kernel that takes every pixel: a product of matrices.
inline bool isPixelwise(const RowGeometry& g) {
  return g.kernelHeight == 1 && g.kernelWidth == 1 && g.strideHeight == 1 && g.strideWidth == 1 &&
         g.paddingHeight == 0 && g.paddingWidth == 0 && g.groups == 1;
}

/// In order of the result. None where a block would read nothing but padding.
std::optional<std::vector<RowBlock>> rowBlocks(const RowGeometry& geometry, std::int64_t multiple, int threads);

}  // namespace kerf::inline mathlib
