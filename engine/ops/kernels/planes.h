// Planes: tensors of channels with one to three spatial dimensions, seen as (planes, depth, height, width).
#pragma once

#include <array>

#include "engine/ops/core/op_call.h"
#include "engine/ops/core/strides.h"
#include "engine/ops/kernels/doubles.h"

namespace kerf::inline ops {

/// Spatial sizes of one plane, missing leading dimensions being 1.
using Extent = std::array<std::int64_t, 3>;

/// The last `spatial` entries of a size list, padded with ones in front.
inline Extent extentOf(const Sizes& sizes, std::size_t spatial) {
  Extent extent{1, 1, 1};
  for (std::size_t d = 0; d < spatial && d < sizes.size(); ++d) extent[2 - d] = sizes[sizes.size() - 1 - d];
  return extent;
}
inline std::int64_t countOf(const Extent& extent) { return extent[0] * extent[1] * extent[2]; }
/// Product of the dimensions before the spatial ones.
inline std::int64_t planesOf(const Sizes& sizes, std::size_t spatial) {
  std::int64_t planes = 1;
  for (std::size_t d = 0; d + spatial < sizes.size(); ++d) planes *= sizes[d];
  return planes;
}
inline SymInt planesOf(const SymSizes& sizes, std::size_t spatial) {
  SymInt planes = 1;
  for (std::size_t d = 0; d + spatial < sizes.size(); ++d) planes *= sizes[d];
  return planes;
}

/// ShapeMismatch unless `input` has `spatial` + 1 or + 2 dimensions, none but the first of a batch empty.
Result<void> checkPlanes(const BoundArguments& args, const Tensor& input, std::size_t spatial);
/// `input`'s leading sizes followed by `spatialSizes`.
SymSizes withSpatial(const Tensor& input, const SymSizes& spatialSizes);
/// New tensor of the sizes given, channels-last where `like` is.
Tensor planesMeta(const Tensor& like, const SymSizes& sizes, DType dtype);

/// The value that `dtype` stores for x: float16, bfloat16 and float32 round to nearest even.
inline double roundedTo(DType dtype, double x) {
  switch (dtype) {
    case DType::Float32:
      return float(x);
    case DType::Float16:
      return float(Half(float(x)));
    case DType::BFloat16:
      return float(BFloat16(float(x)));
    default:
      return x;
  }
}

/// Adds every element of `grad` at the flat position in its plane that `indices` gives: the backward of pooling with
/// positions. RuntimeFailed where a position is outside of the plane. Returns row-major sums, one per input element.
Result<Doubles> scatterToPlanes(const BoundArguments& args, const Tensor& grad, const Tensor& indices,
                                const Sizes& inputSizes, std::size_t spatial);

}  // namespace kerf::inline ops
