#include "engine/mathlib/convolution_gemm.h"

#include <optional>

#include "engine/mathlib/columns.h"
#include "engine/mathlib/convolution_depthwise.h"
#include "engine/mathlib/convolution_patches.h"
#include "engine/mathlib/exact_sums.h"
#include "engine/mathlib/gemm.h"
#include "engine/tensor/dispatch.h"
#include "engine/tensor/empty.h"

namespace kerf::inline mathlib {
namespace {

constexpr double sideBySideWork = 1e6;  // multiplications from which threads are worth waking
constexpr std::int64_t mostShares = 8;  // of the samples, in the gradient of the weight

/// The matrices of one (sample, group): rows of channels over flattened positions.
Tensor bigMatrix(const ConvolutionGeometry& g, const Tensor& big, std::int64_t n, std::int64_t group) {
  const std::int64_t at = (n * g.bigChannels + group * g.bigPerGroup()) * g.bigArea();
  return big.viewAs({g.bigPerGroup(), g.bigArea()}, {g.bigArea(), 1}, big.offset() + at);
}
Tensor smallMatrix(const ConvolutionGeometry& g, const Tensor& small, std::int64_t n, std::int64_t group) {
  const std::int64_t at = (n * g.smallChannels + group * g.smallPerGroup()) * g.smallArea();
  return small.viewAs({g.smallPerGroup(), g.smallArea()}, {g.smallArea(), 1}, small.offset() + at);
}
Tensor weightMatrix(const ConvolutionGeometry& g, const Tensor& weight, std::int64_t group) {
  const std::int64_t at = group * g.smallPerGroup() * g.columnRows();
  return weight.viewAs({g.smallPerGroup(), g.columnRows()}, {g.columnRows(), 1}, weight.offset() + at);
}
Tensor transposed(const Tensor& t) { return t.viewAs({t.size(1), t.size(0)}, {t.stride(1), t.stride(0)}, t.offset()); }

/// The filter is one tap that visits every position once: the image already is its column matrix.
bool isPointwise(const ConvolutionGeometry& g) {
  return g.kernelArea() == 1 && g.stride == Triple{1, 1, 1} && g.padding == Triple{0, 0, 0};
}

/// Exact sums carry, which the direct filters do not.
bool filtersDirectly(const ConvolutionGeometry& g, DType dtype) {
  return filtersByChannel(g, dtype) && !ExactSums::wanted();
}

template <class Body>
Result<void> forTypes(DType dtype, Body&& body) {
  return dispatchOver(dtype, body, ConvolutionTypes{});
}

Result<Tensor> makeColumns(const ConvolutionGeometry& g, DType dtype) {
  if (isPointwise(g)) return Tensor();
  return emptyTensor(dtype, {g.columnRows(), g.smallArea()});
}

Result<Tensor> columnsOf(const ConvolutionGeometry& g, const Tensor& image, const Tensor& columns) {
  if (isPointwise(g)) return image;
  KERF_CHECK(forTypes(image.dtype(), [&]<class T>() { imageToColumns(g, image.data<T>(), columns.data<T>()); }));
  return columns;
}

/// Runs body(piece) for pieces side by side when there are enough of them to keep all threads busy with one product
/// each, else one after another with threaded products. The first error wins.
template <class Body>
Result<void> forPieces(std::int64_t pieces, double work, Body&& body) {
  // Exact sums are wanted by the calling thread alone.
  const bool sideBySide = pieces >= threadCount() && work > sideBySideWork && !ExactSums::wanted();
  auto errors = std::vector<std::optional<Error>>(std::size_t(pieces));
  parallelFor(pieces, sideBySide ? 1 : pieces + 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t piece = begin; piece < end; ++piece)
      if (auto done = body(piece); !done) errors[std::size_t(piece)] = std::move(done).error();
  });
  for (auto& error : errors)
    if (error) return fail(std::move(*error));
  return {};
}

double workOf(const ConvolutionGeometry& g) {
  return double(g.batch * g.groups * g.smallPerGroup()) * double(g.smallArea()) * double(g.columnRows());
}

bool isEmpty(const ConvolutionGeometry& g) { return g.smallArea() == 0 || g.bigArea() == 0 || g.columnRows() == 0; }

/// Calls body(sample, group, scratch columns) for all of them, which must be independent of one another.
template <class Body>
Result<void> forSamplesAndGroups(const ConvolutionGeometry& g, DType dtype, Body&& body) {
  if (isEmpty(g)) return {};
  return forPieces(g.batch * g.groups, workOf(g), [&](std::int64_t piece) -> Result<void> {
    KERF_TRY(const Tensor columns, makeColumns(g, dtype));
    return body(piece / g.groups, piece % g.groups, columns);
  });
}

}  // namespace

Result<void> convolutionGather(const ConvolutionGeometry& g, const Tensor& big, const Tensor& weight,
                               const Tensor& small) {
  if (filtersDirectly(g, weight.dtype())) return depthwiseGather(g, big, weight, small);
  if (takesPatches(g, weight.dtype())) return patchGather(g, big, weight, {}, small);
  return forSamplesAndGroups(g, big.dtype(),
                             [&](std::int64_t n, std::int64_t group, const Tensor& scratch) -> Result<void> {
                               KERF_TRY(const Tensor columns, columnsOf(g, bigMatrix(g, big, n, group), scratch));
                               Tensor target = smallMatrix(g, small, n, group);
                               return gemm(weightMatrix(g, weight, group), columns, target);
                             });
}

Result<void> convolutionScatter(const ConvolutionGeometry& g, const Tensor& small, const Tensor& weight,
                                const Tensor& big) {
  if (filtersDirectly(g, weight.dtype())) return depthwiseScatter(g, small, weight, big);
  if (takesPatches(g, weight.dtype())) return patchScatter(g, small, weight, big);
  return forSamplesAndGroups(
      g, big.dtype(), [&](std::int64_t n, std::int64_t group, const Tensor& scratch) -> Result<void> {
        Tensor target = bigMatrix(g, big, n, group);
        Tensor columns = isPointwise(g) ? target : scratch;
        KERF_CHECK(gemm(transposed(weightMatrix(g, weight, group)), smallMatrix(g, small, n, group), columns));
        if (isPointwise(g)) return {};
        return forTypes(big.dtype(), [&]<class T>() { columnsToImage(g, columns.data<T>(), target.data<T>()); });
      });
}

namespace {

/// weight += gradient from the samples [begin, end) of one group.
Result<void> weightGradientOf(const ConvolutionGeometry& g, const Tensor& big, const Tensor& small, std::int64_t group,
                              std::int64_t begin, std::int64_t end, Tensor target) {
  KERF_TRY(const Tensor scratch, makeColumns(g, big.dtype()));
  for (std::int64_t n = begin; n < end; ++n) {
    KERF_TRY(const Tensor columns, columnsOf(g, bigMatrix(g, big, n, group), scratch));
    KERF_CHECK(gemm(smallMatrix(g, small, n, group), transposed(columns), target, 1, 1));
  }
  return {};
}

Result<void> addInto(const Tensor& part, const Tensor& sum) {
  return forTypes(sum.dtype(), [&]<class T>() {
    for (std::int64_t i = 0; i < sum.numel(); ++i) sum.data<T>()[i] += part.data<T>()[i];
  });
}

}  // namespace

Result<void> convolutionWeightGradient(const ConvolutionGeometry& g, const Tensor& big, const Tensor& small,
                                       const Tensor& weight) {
  if (isEmpty(g) || g.batch == 0) return {};
  if (filtersDirectly(g, weight.dtype())) return depthwiseWeightGradient(g, big, small, weight);
  if (takesPatches(g, weight.dtype())) return patchWeightGradient(g, big, small, weight);
  // Always the same shares of the samples, so that the sums do not depend on the number of threads.
  const std::int64_t shares = std::min(g.batch, mostShares);
  std::vector<Tensor> parts(std::size_t(shares), weight);
  for (std::size_t i = 1; i < parts.size(); ++i) {
    KERF_TRY(parts[i], Tensor::zeros(weight.dtype(), weight.sizes()));
  }
  KERF_CHECK(forPieces(shares * g.groups, workOf(g), [&](std::int64_t piece) {
    const std::int64_t share = piece / g.groups, group = piece % g.groups;
    return weightGradientOf(g, big, small, group, share * g.batch / shares, (share + 1) * g.batch / shares,
                            weightMatrix(g, parts[std::size_t(share)], group));
  }));
  for (std::size_t i = 1; i < parts.size(); ++i) KERF_CHECK(addInto(parts[i], weight));
  return {};
}

}  // namespace kerf::inline mathlib
