// grid_sample in two and three dimensions: an image read at normalised positions, with its gradients.
#include <cmath>

#include "engine/ops/core/op_registration.h"
#include "engine/ops/kernels/planes.h"
#include "engine/ops/nn/grid_taps.h"

namespace kerf::inline ops {
namespace {

constexpr OpTrait none = OpTrait::None;

/// Checks input, grid and modes; arguments from `first`: input, grid, interpolation_mode, padding_mode, align_corners.
template <std::size_t spatial>
Result<void> checkSampling(const BoundArguments& args, std::size_t first) {
  const Tensor &input = args.tensor(first), &grid = args.tensor(first + 1);
  const auto rank = std::int64_t(spatial + 2);
  if (input.dim() != rank || grid.dim() != rank)
    return mismatch(args, "input and grid must have {} dimensions, got {} and {}", rank, input.dim(), grid.dim());
  if (!isFloating(input.dtype()) || grid.dtype() != input.dtype())
    return mismatch(args, "input and grid must be of one floating point dtype");
  if (!guardOrTrue(grid.symSize(0) == input.symSize(0)))
    return mismatch(args, "batch sizes {} and {}", input.symSize(0), grid.symSize(0));
  if (!guardOrTrue(grid.symSizes().back() == std::int64_t(spatial)))
    return mismatch(args, "the grid's last dimension must be {}, got {}", spatial, grid.symSizes().back());
  for (std::int64_t d = 2; d < rank; ++d)
    if (!guardOrTrue(input.symSize(d) != 0)) return mismatch(args, "input dimension {} has no elements", d);
  const std::int64_t mode = args.integer(first + 2), padding = args.integer(first + 3);
  if (mode < 0 || mode > 2 || (mode == 2 && spatial == 3))
    return mismatch(args, "no interpolation_mode {} in {} dimensions", mode, spatial);
  if (padding < 0 || padding > 2) return mismatch(args, "no padding_mode {}", padding);
  for (const Tensor* tensor : {&input, &grid})
    if (!tensor->isSymbolic()) KERF_CHECK(checkedNumel(tensor->sizes()));
  return {};
}

template <std::size_t spatial>
Result<Sampling> sampling(const BoundArguments& args, std::size_t first) {
  KERF_CHECK(checkSampling<spatial>(args, first));
  Sampling result;
  result.mode = static_cast<Interpolation>(args.integer(first + 2));
  result.padding = static_cast<GridPadding>(args.integer(first + 3));
  result.alignCorners = args.boolean(first + 4);
  result.spatial = spatial;
  result.size = extentOf(args.tensor(first).sizes(), spatial);
  result.dtype = args.tensor(first).dtype();
  return result;
}

SymSizes sampledSizes(const Tensor& input, const Tensor& grid) {
  SymSizes sizes{input.symSize(0), input.symSize(1)};
  sizes.append(grid.symSizes().begin() + 1, grid.symSizes().end() - 1);
  return sizes;
}

template <std::size_t spatial>
Result<Value> sampleShape(const BoundArguments& args) {
  KERF_CHECK(checkSampling<spatial>(args, 0));
  return Value(metaTensor(args.tensor(0).dtype(), sampledSizes(args.tensor(0), args.tensor(1))));
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
  Doubles values(std::size_t(out.numel()), 0.0);
  for (std::int64_t n = 0; n < out.size(0); ++n)
    for (std::int64_t i = 0; i < points; ++i) {
      const GridTaps taps = gridTaps(how, grid.data() + (n * points + i) * std::int64_t(spatial));
      for (std::int64_t c = 0; c < channels; ++c) {
        const double* plane = image.data() + (n * channels + c) * inPlane;
        values[std::size_t((n * channels + c) * points + i)] = sampleAt(how, taps, plane);
      }
    }
  KERF_CHECK(writeValues(values, out));
  return Value(std::move(out));
}

/// grid_sampler_Nd_backward(grad_output, input, grid, …, output_mask)
template <std::size_t spatial>
Result<Value> backwardShape(const BoundArguments& args) {
  KERF_CHECK(checkSampling<spatial>(args, 1));
  const Tensor &input = args.tensor(1), &grid = args.tensor(2);
  if (!checkEqual(args.tensor(0).symSizes(), sampledSizes(input, grid)))
    return mismatch(args, "grad_output has the wrong shape");
  const ValueList mask = args.values[6].list();
  const bool wantsInput = !mask.empty() && mask[0].as<bool>() && *mask[0].as<bool>();
  const Value inputGrad = wantsInput ? Value(metaTensor(input.dtype(), input.symSizes())) : Value();
  return Value(ValueList{inputGrad, metaTensor(grid.dtype(), grid.symSizes())});
}

/// Everything the gradients of one batch entry need, planes channel after channel.
struct GradientOf {
  const Sampling& how;
  const double *grad, *image, *grid;
  double *imageSums, *gridSums;
  std::int64_t channels, inPlane, points;

  double rounded(double x) const { return how.rounded(x); }
  GridTaps tapsAt(std::int64_t point) const { return gridTaps(how, grid + point * std::int64_t(how.spatial)); }
  void addToImage(std::int64_t channel, std::int64_t position, double value) const {
    double& sum = imageSums[channel * inPlane + position];
    sum = rounded(sum + value);
  }
  /// Flat position in the plane of a pair of taps, -1 outside.
  std::int64_t positionOf(const AxisTap& y, const AxisTap& x) const {
    return y.position < 0 || x.position < 0 ? -1 : y.position * how.size[2] + x.position;
  }
};

/// Adds what the points of one vector give to one channel of the image: corner by corner, not point by point. Cubic
/// corners run down the columns.
void addCorners(const GradientOf& of, const std::vector<GridTaps>& taps, std::int64_t first, std::int64_t channel) {
  const std::size_t side = of.how.mode == Interpolation::Cubic ? 4 : of.how.mode == Interpolation::Linear ? 2 : 1;
  for (std::size_t corner = 0; corner < side * side; ++corner)
    for (std::size_t i = 0; i < taps.size(); ++i) {
      const auto &ys = taps[i].axes[1].taps, &xs = taps[i].axes[2].taps;
      if (ys.empty() || xs.empty()) continue;
      const bool down = side == 4;
      const AxisTap &y = ys[down ? corner % side : corner / side], &x = xs[down ? corner / side : corner % side];
      const std::int64_t position = of.positionOf(y, x);
      const double share = of.grad[channel * of.points + first + std::int64_t(i)];
      if (position >= 0)
        of.addToImage(channel, position,
                      down ? of.rounded(of.rounded(share * x.weight) * y.weight)
                           : of.rounded(of.rounded(x.weight * y.weight) * share));
    }
}

/// Adds one channel's part to the derivative by a point's x and y, in pixels.
void addSlopes(const GradientOf& of, const GridTaps& taps, const double* plane, double share,
               std::array<double, 2>& sums) {
  const auto r = [&](double value) { return of.rounded(value); };
  const auto &ys = taps.axes[1].taps, &xs = taps.axes[2].taps;
  if (ys.empty() || xs.empty() || of.how.mode == Interpolation::Nearest) return;
  const auto value = [&](const AxisTap& y, const AxisTap& x) {
    const std::int64_t position = of.positionOf(y, x);
    return position < 0 ? 0.0 : plane[position];
  };
  if (of.how.mode == Interpolation::Cubic) {
    for (const AxisTap& x : xs)
      for (const AxisTap& y : ys) {
        const double own = r(value(y, x) * share);
        sums[0] = r(sums[0] + r(r(own * x.slope) * y.weight));
        sums[1] = r(sums[1] + r(r(own * y.slope) * x.weight));
      }
    return;
  }
  const double nw = value(ys[0], xs[0]), ne = value(ys[0], xs[1]), sw = value(ys[1], xs[0]), se = value(ys[1], xs[1]);
  const double alongX = r(r(r(ne - nw) * ys[0].weight) + r(r(se - sw) * ys[1].weight));
  const double alongY = r(r(r(sw - nw) * xs[0].weight) + r(r(se - ne) * xs[1].weight));
  sums[0] = r(sums[0] + r(alongX * share));
  sums[1] = r(sums[1] + r(alongY * share));
}

/// Two dimensions: `count` points from `first` on, which PyTorch's kernel holds in one vector register.
void addVector(const GradientOf& of, std::int64_t first, std::int64_t count) {
  std::vector<GridTaps> taps;
  for (std::int64_t i = 0; i < count; ++i) taps.push_back(of.tapsAt(first + i));
  std::vector<std::array<double, 2>> sums(taps.size());
  for (std::int64_t c = 0; c < of.channels; ++c) {
    addCorners(of, taps, first, c);
    for (std::size_t i = 0; i < taps.size(); ++i)
      addSlopes(of, taps[i], of.image + c * of.inPlane, of.grad[c * of.points + first + std::int64_t(i)], sums[i]);
  }
  for (std::size_t i = 0; i < taps.size(); ++i)
    for (std::size_t d = 0; d < 2; ++d)
      of.gridSums[(first + std::int64_t(i)) * 2 + std::int64_t(d)] = sums[i][d] * taps[i].axes[2 - d].scale;
}

/// Vectors of 32 bytes run along the whole output where the grid is contiguous, else along each of its rows.
void addPlane(const GradientOf& of, const Tensor& grid) {
  const std::int64_t step = 32 / itemSize(grid.dtype()), width = grid.size(2);
  const bool whole = grid.stride(3) == 1 && grid.stride(2) == 2 && grid.stride(1) == 2 * width;
  const std::int64_t line = whole ? of.points : width;
  for (std::int64_t begin = 0; begin < of.points; begin += line)
    for (std::int64_t at = 0; at < line; at += step) addVector(of, begin + at, std::min(step, line - at));
}

/// Three dimensions: point by point.
void addPoint(const GradientOf& of, std::int64_t point) {
  const auto r = [&](double value) { return of.rounded(value); };
  const GridTaps taps = of.tapsAt(point);
  std::array<double, 3> sums{};
  for (std::int64_t c = 0; c < of.channels; ++c) {
    const double share = of.grad[c * of.points + point];
    for (const GridTap& tap : taps.taps) of.addToImage(c, tap.position, r(tap.weight * share));
    for (const AxisTap& z : taps.axes[0].taps)
      for (const AxisTap& y : taps.axes[1].taps)
        for (const AxisTap& x : taps.axes[2].taps) {
          if (z.position < 0 || of.positionOf(y, x) < 0) continue;
          const double value =
              of.image[c * of.inPlane + z.position * of.how.size[1] * of.how.size[2] + of.positionOf(y, x)];
          sums[0] = r(sums[0] + x.slope * r(r(r(value * y.weight) * z.weight) * share));
          sums[1] = r(sums[1] + y.slope * r(r(r(value * x.weight) * z.weight) * share));
          sums[2] = r(sums[2] + z.slope * r(r(r(value * x.weight) * y.weight) * share));
        }
  }
  for (std::size_t d = 0; d < 3; ++d) of.gridSums[point * 3 + std::int64_t(d)] = sums[d] * taps.axes[2 - d].scale;
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
  for (std::int64_t n = 0; points > 0 && n < sizes[0]; ++n) {
    const std::int64_t entries = n * points * std::int64_t(spatial), planes = n * channels;
    const GradientOf of{how,
                        grad.data() + planes * points,
                        image.data() + planes * inPlane,
                        grid.data() + entries,
                        imageSums.data() + planes * inPlane,
                        gridSums.data() + entries,
                        channels,
                        inPlane,
                        points};
    if (spatial == 2) addPlane(of, args.tensor(2));
    for (std::int64_t i = 0; spatial == 3 && i < points; ++i) addPoint(of, i);
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

constexpr OpRow gridSamplerRows[] = {
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

const OpRegistration gridSamplerOps({.rows = gridSamplerRows});

}  // namespace

}  // namespace kerf::inline ops
