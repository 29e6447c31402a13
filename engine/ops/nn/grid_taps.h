// Grid taps: the input elements that one position of grid_sample reads, their weights, and how weights follow the grid.
#pragma once

#include <array>
#include <vector>

#include "engine/ops/kernels/planes.h"

namespace kerf::inline ops {

enum class Interpolation : std::uint8_t { Linear, Nearest, Cubic };
enum class GridPadding : std::uint8_t { Zeros, Border, Reflection };

struct Sampling {
  Interpolation mode = Interpolation::Linear;
  GridPadding padding = GridPadding::Zeros;
  bool alignCorners = false;
  std::size_t spatial = 2;
  Extent size{1, 1, 1};  ///< depth, height, width of the input
  DType dtype =
      DType::Float32;  ///< every operation on positions, weights and sums rounds to this type, as PyTorch's do
  double rounded(double x) const { return roundedTo(dtype, x); }
};

/// One input position of one dimension; position -1 is outside and reads 0.
struct AxisTap {
  std::int64_t position = -1;
  double weight = 0;
  double slope = 0;  ///< derivative of the weight by the coordinate in pixels
};

struct AxisTaps {
  std::vector<AxisTap> taps;
  double scale = 0;  ///< pixels per unit of the grid: negative where padding mirrors, 0 where it stops the coordinate
};

struct GridTap {
  std::int64_t position = 0;  ///< flat, in the input plane
  double weight = 0;
};

struct GridTaps {
  std::array<AxisTaps, 3> axes;  ///< depth, height, width
  std::vector<GridTap> taps;     ///< their products, elements outside of the input left out
};

/// Taps for one grid entry (x, y[, z] in [-1, 1]).
GridTaps gridTaps(const Sampling& how, const double* point);
/// Weighted sum over one plane.
double sampleAt(const Sampling& how, const GridTaps& taps, const double* plane);

}  // namespace kerf::inline ops
