#include "engine/mathlib/convolution_patches.h"

#include <algorithm>

#include "engine/mathlib/exact_sums.h"
#include "engine/mathlib/gemm.h"
#include "engine/support/thread_pool.h"
#include "engine/tensor/dispatch.h"
#include "engine/tensor/empty.h"

namespace kerf::inline mathlib {
namespace {

constexpr std::int64_t fewest = 32;  // channels of a result, and elements of a patch, worth a product
constexpr std::int64_t mostPatches = 256;
constexpr std::int64_t elementsPerThread = 1 << 14;

template <class Body>
Result<void> forFloats(DType dtype, Body&& body) {
  return dispatchOver(dtype, body, TypeList<float, double>{});
}

/// Where the elements of [N, C, spatial…] lie; missing axes come first.
struct PixelStrides {
  std::int64_t sample, channel;
  Triple axis{0, 0, 0};

  explicit PixelStrides(const Tensor& t) : sample(t.stride(0)), channel(t.stride(1)) {
    for (std::int64_t d = 2; d < t.dim(); ++d) axis[std::size_t(d + 3 - t.dim())] = t.stride(d);
  }
  std::int64_t at(std::int64_t n, std::int64_t z, std::int64_t y, std::int64_t x) const {
    return n * sample + z * axis[0] + y * axis[1] + x * axis[2];
  }
};

/// The columns of a matrix of patches, or of filters: channel × tap, or tap × channel as filters lie channels last.
struct PatchColumns {
  std::int64_t channel, tap;

  static PatchColumns of(const ConvolutionGeometry& g, bool tapsFirst) {
    return tapsFirst ? PatchColumns{1, g.bigChannels} : PatchColumns{g.kernelArea(), 1};
  }
};

/// A line of a patch: `count` elements, in the image and in the matrix of patches.
struct PatchLine {
  std::int64_t image, matrix, count, imageStep, matrixStep;
};

/// visit(line) for all lines of all patches, by threads that share the patches.
template <class Visit>
void forPatchLines(const ConvolutionGeometry& g, const PixelStrides& strides, PatchColumns columns,
                   const Visit& visit) {
  const auto tapLines = [&](std::int64_t image, std::int64_t matrix) {
    for (std::int64_t tap = 0; tap < g.kernelArea(); ++tap) {
      const std::int64_t x = tap % g.kernel[2], y = tap / g.kernel[2] % g.kernel[1];
      const std::int64_t z = tap / (g.kernel[2] * g.kernel[1]);
      const std::int64_t from = image + strides.at(0, z, y, x), to = matrix + tap * columns.tap;
      if (strides.channel == 1) visit(PatchLine{from, to, g.bigChannels, 1, columns.channel});
      if (strides.channel == 1 || x > 0) continue;
      for (std::int64_t c = 0; c < g.bigChannels; ++c)
        visit(
            PatchLine{from + c * strides.channel, to + c * columns.channel, g.kernel[2], strides.axis[2], columns.tap});
    }
  };
  const std::int64_t grain = std::max<std::int64_t>(1, elementsPerThread / g.columnRows());
  parallelFor(g.batch * g.smallArea(), grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t patch = begin; patch < end; ++patch) {
      const std::int64_t n = patch / g.smallArea(), p = patch % g.smallArea();
      const std::int64_t x = p % g.small[2], y = p / g.small[2] % g.small[1], z = p / (g.small[2] * g.small[1]);
      tapLines(strides.at(n, z * g.kernel[0], y * g.kernel[1], x * g.kernel[2]), patch * g.columnRows());
    }
  });
}

template <class T>
void copyLine(const T* from, std::int64_t fromStep, T* to, std::int64_t toStep, std::int64_t count) {
  if (fromStep == 1 && toStep == 1) return void(std::copy_n(from, count, to));
  for (std::int64_t i = 0; i < count; ++i) to[i * toStep] = from[i * fromStep];
}

bool tapsComeFirst(const ConvolutionGeometry& g, const Tensor& weight) {
  const PixelStrides s(weight);
  const auto is = [&](std::size_t axis, std::int64_t stride) { return g.kernel[axis] == 1 || s.axis[axis] == stride; };
  const std::int64_t x = g.bigChannels, y = x * g.kernel[2], z = y * g.kernel[1];
  return g.bigChannels > 1 && s.channel == 1 && is(2, x) && is(1, y) && is(0, z) && s.sample == g.columnRows();
}

/// [filters, columns of a patch].
struct FilterMatrix {
  Tensor matrix;
  PatchColumns columns;
};
FilterMatrix asMatrix(const ConvolutionGeometry& g, const Tensor& weight) {
  return {weight.viewAs({g.smallChannels, g.columnRows()}, {g.columnRows(), 1}, weight.offset()),
          PatchColumns::of(g, tapsComeFirst(g, weight))};
}
Result<FilterMatrix> filterMatrix(const ConvolutionGeometry& g, const Tensor& weight) {
  if (tapsComeFirst(g, weight)) return asMatrix(g, weight);
  KERF_TRY(const Tensor plain, weight.contiguous());
  return asMatrix(g, plain);
}

/// Whether [N, C, spatial…] is a matrix [pixels, channels] where it lies.
bool isPixelMatrix(const ConvolutionGeometry& g, const Tensor& small) {
  const PixelStrides s(small);
  const auto is = [](std::int64_t size, std::int64_t stride, std::int64_t wanted) {
    return size == 1 || stride == wanted;
  };
  const std::int64_t x = g.smallChannels, y = x * g.small[2], z = y * g.small[1], n = z * g.small[0];
  return s.channel == 1 && is(g.small[2], s.axis[2], x) && is(g.small[1], s.axis[1], y) &&
         is(g.small[0], s.axis[0], z) && is(g.batch, s.sample, n);
}

/// [pixels, channels] of memory that lies so.
Tensor pixelMatrix(const ConvolutionGeometry& g, const Tensor& small) {
  return small.viewAs({g.batch * g.smallArea(), g.smallChannels}, {g.smallChannels, 1}, small.offset());
}

/// visit(element of the small tensor of a pixel's first channel, step from channel to channel, row of the matrix).
template <class Visit>
void forPixels(const ConvolutionGeometry& g, const Tensor& small, const Visit& visit) {
  const PixelStrides s(small);
  const std::int64_t pixels = g.batch * g.smallArea();
  parallelFor(pixels, std::max<std::int64_t>(1, elementsPerThread / g.smallChannels),
              [&](std::int64_t begin, std::int64_t end) {
                for (std::int64_t r = begin; r < end; ++r) {
                  const std::int64_t n = r / g.smallArea(), p = r % g.smallArea();
                  const std::int64_t x = p % g.small[2], y = p / g.small[2] % g.small[1];
                  visit(s.at(n, p / (g.small[2] * g.small[1]), y, x), s.channel, r * g.smallChannels);
                }
              });
}

/// [pixels, channels].
template <class T>
Result<Tensor> pixelRows(const ConvolutionGeometry& g, const Tensor& small) {
  if (isPixelMatrix(g, small)) return pixelMatrix(g, small);
  KERF_TRY(Tensor rows, emptyTensor(small.dtype(), {g.batch * g.smallArea(), g.smallChannels}));
  const T* const from = small.data<T>();
  T* const to = rows.data<T>();
  forPixels(g, small, [&](std::int64_t pixel, std::int64_t step, std::int64_t row) {
    copyLine(from + pixel, step, to + row, 1, g.smallChannels);
  });
  return rows;
}

/// [patches, columns].
template <class T>
Result<Tensor> patchMatrix(const ConvolutionGeometry& g, const Tensor& big, PatchColumns columns) {
  KERF_TRY(const Tensor patches, emptyTensor(big.dtype(), {g.batch * g.smallArea(), g.columnRows()}));
  const T* const from = big.data<T>();
  T* const to = patches.data<T>();
  forPatchLines(g, PixelStrides(big), columns, [&](const PatchLine& line) {
    copyLine(from + line.image, line.imageStep, to + line.matrix, line.matrixStep, line.count);
  });
  return patches;
}

Tensor turned(const Tensor& matrix) {
  return matrix.viewAs({matrix.size(1), matrix.size(0)}, {1, matrix.size(1)}, matrix.offset());
}

/// `bias` may be null.
template <class T>
void writePixels(const ConvolutionGeometry& g, const Tensor& rows, const T* bias, const Tensor& small) {
  const T* const from = rows.data<T>();
  T* const to = small.data<T>();
  forPixels(g, small, [&](std::int64_t pixel, std::int64_t step, std::int64_t row) {
    if (bias == nullptr) return copyLine(from + row, 1, to + pixel, step, g.smallChannels);
    for (std::int64_t c = 0; c < g.smallChannels; ++c) to[pixel + c * step] = from[row + c] + bias[c];
  });
}

template <class T>
Result<void> gather(const ConvolutionGeometry& g, const Tensor& big, const Tensor& weight, const Tensor& bias,
                    const Tensor& small) {
  KERF_TRY(const FilterMatrix filters, filterMatrix(g, weight));
  KERF_TRY(const Tensor patches, patchMatrix<T>(g, big, filters.columns));
  const bool inPlace = isPixelMatrix(g, small);
  KERF_TRY(Tensor rows, inPlace ? Result<Tensor>(pixelMatrix(g, small))
                                : emptyTensor(big.dtype(), {patches.size(0), g.smallChannels}));
  KERF_CHECK(gemm(patches, turned(filters.matrix), rows));
  if (!inPlace || bias.defined()) writePixels<T>(g, rows, bias.defined() ? bias.data<T>() : nullptr, small);
  return {};
}

template <class T>
Result<void> scatter(const ConvolutionGeometry& g, const Tensor& small, const Tensor& weight, const Tensor& big) {
  KERF_TRY(const FilterMatrix filters, filterMatrix(g, weight));
  KERF_TRY(const Tensor rows, pixelRows<T>(g, small));
  KERF_TRY(Tensor patches, emptyTensor(small.dtype(), {rows.size(0), g.columnRows()}));
  KERF_CHECK(gemm(rows, filters.matrix, patches));
  const T* const from = patches.data<T>();
  T* const to = big.data<T>();
  forPatchLines(g, PixelStrides(big), filters.columns, [&](const PatchLine& line) {
    copyLine(from + line.matrix, line.matrixStep, to + line.image, line.imageStep, line.count);
  });
  return {};
}

template <class T>
Result<void> weightGradient(const ConvolutionGeometry& g, const Tensor& big, const Tensor& small,
                            const Tensor& weight) {
  FilterMatrix target = asMatrix(g, weight);
  KERF_TRY(const Tensor rows, pixelRows<T>(g, small));
  KERF_TRY(const Tensor patches, patchMatrix<T>(g, big, target.columns));
  return gemm(turned(rows), patches, target.matrix);
}

}  // namespace

bool takesPatches(const ConvolutionGeometry& g, DType dtype) {
  if (ExactSums::wanted() || g.groups != 1 || (dtype != DType::Float32 && dtype != DType::Float64)) return false;
  if (g.stride != g.kernel || g.padding != Triple{0, 0, 0} || g.dilation != Triple{1, 1, 1}) return false;
  return g.kernelArea() > 1 && g.batch > 0 && g.smallArea() > 0 &&
         g.batch * g.smallArea() <= std::min(mostPatches, g.columnRows()) && g.smallChannels >= fewest &&
         g.columnRows() >= fewest;
}

bool patchesCover(const ConvolutionGeometry& g) {
  bool all = true;
  for (std::size_t axis = 0; axis < 3; ++axis) all &= g.small[axis] * g.kernel[axis] == g.big[axis];
  return all;
}

Result<void> patchGather(const ConvolutionGeometry& g, const Tensor& big, const Tensor& weight, const Tensor& bias,
                         const Tensor& small) {
  Result<void> done;
  KERF_CHECK(forFloats(big.dtype(), [&]<class T>() { done = gather<T>(g, big, weight, bias, small); }));
  return done;
}

Result<void> patchScatter(const ConvolutionGeometry& g, const Tensor& small, const Tensor& weight, const Tensor& big) {
  Result<void> done;
  KERF_CHECK(forFloats(big.dtype(), [&]<class T>() { done = scatter<T>(g, small, weight, big); }));
  return done;
}

Result<void> patchWeightGradient(const ConvolutionGeometry& g, const Tensor& big, const Tensor& small,
                                 const Tensor& weight) {
  Result<void> done;
  KERF_CHECK(forFloats(big.dtype(), [&]<class T>() { done = weightGradient<T>(g, big, small, weight); }));
  return done;
}

}  // namespace kerf::inline mathlib
