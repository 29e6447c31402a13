#include "engine/mathlib/convolution_patches.h"

#include <algorithm>

#include "engine/mathlib/exact_sums.h"
#include "engine/mathlib/gemm.h"
#include "engine/support/thread_pool.h"
#include "engine/tensor/dispatch.h"
#include "engine/tensor/empty.h"

namespace kerf::inline mathlib {
namespace {

constexpr std::int64_t fewest = 32;                // channels of a result, and elements of a patch, worth a product
constexpr std::int64_t mostPatches = 64;
constexpr std::int64_t elementsPerThread = 1 << 14;

template <class Body>
Result<void> forFloats(DType dtype, Body&& body) {
  return dispatchOver(dtype, body, TypeList<float, double>{});
}

/// A row of a patch: `count` elements beside each other, in the image and in the matrix [patches, channel × tap].
struct PatchRow {
  std::int64_t image, matrix, count;
};

/// visit(row) for all rows of all patches, by threads that share the channels of the samples.
template <class Visit>
void forPatchRows(const ConvolutionGeometry& g, const Visit& visit) {
  const std::int64_t perPatch = g.columnRows(), rows = g.kernel[0] * g.kernel[1];
  const auto channel = [&](std::int64_t n, std::int64_t c) {
    const std::int64_t image = (n * g.bigChannels + c) * g.bigArea();
    for (std::int64_t p = 0; p < g.smallArea(); ++p) {
      const std::int64_t x = p % g.small[2], y = p / g.small[2] % g.small[1], z = p / (g.small[2] * g.small[1]);
      for (std::int64_t r = 0; r < rows; ++r) {
        const std::int64_t bigZ = z * g.kernel[0] + r / g.kernel[1], bigY = y * g.kernel[1] + r % g.kernel[1];
        visit(PatchRow{image + (bigZ * g.big[1] + bigY) * g.big[2] + x * g.kernel[2],
                       (n * g.smallArea() + p) * perPatch + c * g.kernelArea() + r * g.kernel[2], g.kernel[2]});
      }
    }
  };
  const std::int64_t grain = std::max<std::int64_t>(1, elementsPerThread / (g.smallArea() * g.kernelArea()));
  parallelFor(g.batch * g.bigChannels, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) channel(i / g.bigChannels, i % g.bigChannels);
  });
}

/// [patches, channels of the small tensor].
template <class T>
Result<Tensor> pixelRows(const ConvolutionGeometry& g, const Tensor& small) {
  KERF_TRY(Tensor rows, emptyTensor(small.dtype(), {g.batch * g.smallArea(), g.smallChannels}));
  const T* const from = small.data<T>();
  T* const to = rows.data<T>();
  parallelFor(rows.size(0), std::max<std::int64_t>(1, elementsPerThread / g.smallChannels),
              [&](std::int64_t begin, std::int64_t end) {
                for (std::int64_t r = begin; r < end; ++r) {
                  const T* pixel = from + r / g.smallArea() * g.smallChannels * g.smallArea() + r % g.smallArea();
                  for (std::int64_t c = 0; c < g.smallChannels; ++c) to[r * g.smallChannels + c] = pixel[c * g.smallArea()];
                }
              });
  return rows;
}

Tensor filterMatrix(const ConvolutionGeometry& g, const Tensor& weight) {
  return weight.viewAs({g.smallChannels, g.columnRows()}, {g.columnRows(), 1}, weight.offset());
}

/// [patches, channel × tap].
template <class T>
Result<Tensor> patchMatrix(const ConvolutionGeometry& g, const Tensor& big) {
  KERF_TRY(const Tensor patches, emptyTensor(big.dtype(), {g.batch * g.smallArea(), g.columnRows()}));
  const T* const from = big.data<T>();
  T* const to = patches.data<T>();
  forPatchRows(g, [&](const PatchRow& row) { std::copy_n(from + row.image, row.count, to + row.matrix); });
  return patches;
}

Tensor turned(const Tensor& matrix) {
  return matrix.viewAs({matrix.size(1), matrix.size(0)}, {1, matrix.size(1)}, matrix.offset());
}

template <class T>
Result<void> gather(const ConvolutionGeometry& g, const Tensor& big, const Tensor& weight, const Tensor& small) {
  KERF_TRY(const Tensor patches, patchMatrix<T>(g, big));
  KERF_TRY(Tensor rows, emptyTensor(big.dtype(), {patches.size(0), g.smallChannels}));
  KERF_CHECK(gemm(patches, turned(filterMatrix(g, weight)), rows));
  const T* const from = rows.data<T>();
  T* const to = small.data<T>();
  for (std::int64_t r = 0; r < rows.size(0); ++r) {
    T* pixel = to + r / g.smallArea() * g.smallChannels * g.smallArea() + r % g.smallArea();
    for (std::int64_t c = 0; c < g.smallChannels; ++c) pixel[c * g.smallArea()] = from[r * g.smallChannels + c];
  }
  return {};
}

template <class T>
Result<void> scatter(const ConvolutionGeometry& g, const Tensor& small, const Tensor& weight, const Tensor& big) {
  KERF_TRY(const Tensor rows, pixelRows<T>(g, small));
  KERF_TRY(Tensor patches, emptyTensor(small.dtype(), {rows.size(0), g.columnRows()}));
  KERF_CHECK(gemm(rows, filterMatrix(g, weight), patches));
  const T* const from = patches.data<T>();
  T* const to = big.data<T>();
  forPatchRows(g, [&](const PatchRow& row) { std::copy_n(from + row.matrix, row.count, to + row.image); });
  return {};
}

template <class T>
Result<void> weightGradient(const ConvolutionGeometry& g, const Tensor& big, const Tensor& small,
                            const Tensor& weight) {
  KERF_TRY(const Tensor rows, pixelRows<T>(g, small));
  KERF_TRY(const Tensor patches, patchMatrix<T>(g, big));
  Tensor target = filterMatrix(g, weight);
  return gemm(turned(rows), patches, target);
}

}  // namespace

bool takesPatches(const ConvolutionGeometry& g, DType dtype) {
  if (ExactSums::wanted() || g.groups != 1 || (dtype != DType::Float32 && dtype != DType::Float64)) return false;
  if (g.stride != g.kernel || g.padding != Triple{0, 0, 0} || g.dilation != Triple{1, 1, 1}) return false;
  return g.kernelArea() > 1 && g.batch > 0 && g.smallArea() > 0 &&
         g.batch * g.smallArea() <= mostPatches && g.smallChannels >= fewest && g.columnRows() >= fewest;
}

Result<void> patchGather(const ConvolutionGeometry& g, const Tensor& big, const Tensor& weight, const Tensor& small) {
  Result<void> done;
  KERF_CHECK(forFloats(big.dtype(), [&]<class T>() { done = gather<T>(g, big, weight, small); }));
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
