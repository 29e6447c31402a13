// grid_sample in two and three dimensions: an image read at normalised positions, with its gradients.
#include <cmath>

#include "engine/ops/grid_taps.h"
#include "engine/ops/planes.h"
#include "engine/ops/rare_rows.h"

namespace kerf {
namespace {

constexpr OpTrait none = OpTrait::None;

/// Checks input, grid and modes; arguments from `first`: input, grid, interpolation_mode, padding_mode, align_corners.
template <std::size_t spatial>
Result<Sampling> sampling(const BoundArguments& args, std::size_t first) {
  const Tensor &input = args.tensor(first), &grid = args.tensor(first + 1);
  const auto rank = static_cast<std::int64_t>(spatial + 2);
  if (input.dim() != rank || grid.dim() != rank)
    return mismatch(args, "input and grid must have {} dimensions, got {} and {}", rank, input.dim(), grid.dim());
  if (!isFloating(input.dtype()) || grid.dtype() != input.dtype())
    return mismatch(args, "input and grid must be of one floating point dtype");
  if (grid.size(0) != input.size(0)) return mismatch(args, "batch sizes {} and {}", input.size(0), grid.size(0));
  if (grid.sizes().back() != static_cast<std::int64_t>(spatial))
    return mismatch(args, "the grid's last dimension must be {}, got {}", spatial, grid.sizes().back());
  for (std::int64_t d = 2; d < rank; ++d)
    if (input.size(d) == 0) return mismatch(args, "input dimension {} has no elements", d);
  const std::int64_t mode = args.integer(first + 2), padding = args.integer(first + 3);
  if (mode < 0 || mode > 2 || (mode == 2 && spatial == 3))
    return mismatch(args, "no interpolation_mode {} in {} dimensions", mode, spatial);
  if (padding < 0 || padding > 2) return mismatch(args, "no padding_mode {}", padding);
  Sampling result;
  result.mode = static_cast<Interpolation>(mode);
  result.padding = static_cast<GridPadding>(padding);
  result.alignCorners = args.boolean(first + 4);
  result.spatial = spatial;
  result.size = extentOf(input.sizes(), spatial);
  result.dtype = input.dtype();
  KERF_CHECK(checkedNumel(input.sizes()));
  KERF_CHECK(checkedNumel(grid.sizes()));
  return result;
}

template <std::size_t spatial>
Sizes sampledSizes(const Tensor& input, const Tensor& grid) {
  Sizes sizes{input.size(0), input.size(1)};
  sizes.insert(sizes.end(), grid.sizes().begin() + 1, grid.sizes().end() - 1);
  return sizes;
}

template <std::size_t spatial>
Result<Value> sampleShape(const BoundArguments& args) {
  KERF_CHECK(sampling<spatial>(args, 0));
  return Value(metaTensor(args.tensor(0).dtype(), sampledSizes<spatial>(args.tensor(0), args.tensor(1))));
}

template <std::size_t spatial>
Result<Value> sampleKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  KERF_TRY(const Sampling how, sampling<spatial>(args, 0));
  KERF_TRY(const Doubles image, doublesOf(args.tensor(0)));
  KERF_TRY(const Doubles grid, doublesOf(args.tensor(1)));
  if (out.numel() == 0) return Value(std::move(out));
  const std::int64_t channels = out.size(1), inPlane = countOf(how.size);
  const std::int64_t points = countOf(extentOf(out.sizes(), spatial));
  Doubles values(static_cast<std::size_t>(out.numel()), 0.0);
  for (std::int64_t n = 0; n < out.size(0); ++n)
    for (std::int64_t i = 0; i < points; ++i) {
      const GridTaps taps = gridTaps(how, grid.data() + (n * points + i) * static_cast<std::int64_t>(spatial));
      for (std::int64_t c = 0; c < channels; ++c) {
        const double* plane = image.data() + (n * channels + c) * inPlane;
        values[static_cast<std::size_t>((n * channels + c) * points + i)] = sampleAt(how, taps, plane);
      }
    }
  KERF_CHECK(writeValues(values, out));
  return Value(std::move(out));
}

/// grid_sampler_Nd_backward(grad_output, input, grid, …, output_mask)
template <std::size_t spatial>
Result<Value> backwardShape(const BoundArguments& args) {
  KERF_CHECK(sampling<spatial>(args, 1));
  const Tensor &input = args.tensor(1), &grid = args.tensor(2);
  if (args.tensor(0).sizes() != sampledSizes<spatial>(input, grid))
    return mismatch(args, "grad_output has the wrong shape");
  const ValueList mask = args.values[6].list();
  const bool wantsInput = !mask.empty() && mask[0].as<bool>() && *mask[0].as<bool>();
  const Value inputGrad = wantsInput ? Value(metaTensor(input.dtype(), input.sizes())) : Value();
  return Value(ValueList{inputGrad, metaTensor(grid.dtype(), grid.sizes())});
}

template <std::size_t spatial>
Result<Value> backwardKernel(const BoundArguments& args) {
  KERF_TRY(const Value metas, runShapeRule(args));
  KERF_TRY(const Sampling how, sampling<spatial>(args, 1));
  KERF_TRY(const Doubles grad, doublesOf(args.tensor(0)));
  KERF_TRY(const Doubles image, doublesOf(args.tensor(1)));
  KERF_TRY(const Doubles grid, doublesOf(args.tensor(2)));
  const Sizes& sizes = args.tensor(0).sizes();
  const std::int64_t channels = sizes[1], inPlane = countOf(how.size), points = countOf(extentOf(sizes, spatial));
  Doubles imageSums(image.size(), 0.0), gridSums(grid.size(), 0.0);
  for (std::int64_t n = 0; points > 0 && n < sizes[0]; ++n)
    for (std::int64_t i = 0; i < points; ++i) {
      const std::int64_t at = (n * points + i) * static_cast<std::int64_t>(spatial);
      const GridTaps taps = gridTaps(how, grid.data() + at);
      for (std::int64_t c = 0; c < channels; ++c) {
        const double share = grad[static_cast<std::size_t>((n * channels + c) * points + i)];
        const std::int64_t plane = (n * channels + c) * inPlane;
        for (const GridTap& tap : taps.taps) {
          imageSums[static_cast<std::size_t>(plane + tap.position)] += tap.weight * share;
          for (std::size_t d = 0; d < spatial; ++d)
            gridSums[static_cast<std::size_t>(at) + d] +=
                tap.slope[d] * image[static_cast<std::size_t>(plane + tap.position)] * share;
        }
      }
    }
  ValueList outs(2);
  for (std::size_t k = 0; k < 2; ++k) {
    if (metas.list()[k].isNone()) continue;
    KERF_TRY(Tensor out, allocate(metas.list()[k].tensor()));
    KERF_CHECK(writeValues(k == 0 ? imageSums : gridSums, out));
    outs[k] = std::move(out);
  }
  return Value(std::move(outs));
}

#define KERF_GRID_MODES "int interpolation_mode, int padding_mode, bool align_corners"

constexpr OpRow rows[] = {
    {"aten::grid_sampler_2d(Tensor input, Tensor grid, " KERF_GRID_MODES ") -> Tensor", none, sampleShape<2>,
     sampleKernel<2>},
    {"aten::grid_sampler_3d(Tensor input, Tensor grid, " KERF_GRID_MODES ") -> Tensor", none, sampleShape<3>,
     sampleKernel<3>},
    {"aten::grid_sampler_2d_backward(Tensor grad_output, Tensor input, Tensor grid, " KERF_GRID_MODES
     ", bool[2] output_mask) -> (Tensor, Tensor)",
     none, backwardShape<2>, backwardKernel<2>},
    {"aten::grid_sampler_3d_backward(Tensor grad_output, Tensor input, Tensor grid, " KERF_GRID_MODES
     ", bool[2] output_mask) -> (Tensor, Tensor)",
     none, backwardShape<3>, backwardKernel<3>},
    {"aten::_grid_sampler_2d_cpu_fallback(Tensor input, Tensor grid, " KERF_GRID_MODES ") -> Tensor", none,
     sampleShape<2>, sampleKernel<2>},
};

}  // namespace

OpRows gridSamplerOps() { return rows; }

}  // namespace kerf
