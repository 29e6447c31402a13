#include "engine/ops/kernels/planes.h"

#include "engine/ops/kernels/indexing.h"

namespace kerf::inline ops {

Result<void> checkPlanes(const BoundArguments& args, const Tensor& input, std::size_t spatial) {
  const auto rank = std::size_t(input.dim());
  if (rank != spatial + 1 && rank != spatial + 2)
    return mismatch(args, "expects {} or {} dimensions, got {}", spatial + 1, spatial + 2, rank);
  for (std::size_t d = rank - spatial - 1; d < rank; ++d)
    if (d > 0 && !guardOrTrue(input.symSizes()[d] != 0)) return mismatch(args, "dimension {} has no elements", d);
  if (!input.isSymbolic()) KERF_CHECK(checkedNumel(input.sizes()));
  return {};
}

SymSizes withSpatial(const Tensor& input, const SymSizes& spatialSizes) {
  const SymSizes& own = input.symSizes();
  SymSizes sizes(own.begin(), own.end() - std::int64_t(spatialSizes.size()));
  sizes.append(spatialSizes.begin(), spatialSizes.end());
  return sizes;
}

Tensor planesMeta(const Tensor& like, const SymSizes& sizes, DType dtype) {
  auto strides = formatStrides(sizes, suggestFormat(like));
  return strides ? metaTensor(dtype, sizes, std::move(*strides)) : metaTensor(dtype, sizes);
}

Result<Doubles> scatterToPlanes(const BoundArguments& args, const Tensor& grad, const Tensor& indices,
                                const Sizes& inputSizes, std::size_t spatial) {
  if (grad.sizes() != indices.sizes()) return mismatch(args, "gradient and indices differ in shape");
  if (!isIntegral(indices.dtype())) return mismatch(args, "argument 'indices' must be integers");
  KERF_TRY(const Doubles values, doublesOf(grad));
  KERF_TRY(const std::vector<std::int64_t> positions, integerValues(indices));
  KERF_TRY(const std::int64_t count, checkedNumel(inputSizes));
  const std::int64_t inPlane = countOf(extentOf(inputSizes, spatial));
  const std::int64_t outPlane = std::max<std::int64_t>(1, countOf(extentOf(grad.sizes(), spatial)));
  if (planesOf(inputSizes, spatial) != planesOf(grad.sizes(), spatial))
    return mismatch(args, "gradient and input differ in planes");
  Doubles sums(std::size_t(count), 0.0);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (positions[i] < 0 || positions[i] >= inPlane)
      return fail(ErrorCode::RuntimeFailed, "{}: index {} is outside of a plane of {} elements", args.opName(),
                  positions[i], inPlane);
    sums[i / std::size_t(outPlane) * std::size_t(inPlane) + std::size_t(positions[i])] += values[i];
  }
  return sums;
}

}  // namespace kerf::inline ops
