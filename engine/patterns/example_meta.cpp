// Metas from plain numbers.
#include "engine/patterns/example_meta.h"

#include "engine/tensor/tensor.h"

namespace kerf::inline patterns {

TensorMeta exampleMeta(DType dtype, const Sizes& sizes, Sizes strides) {
  if (strides.empty()) strides = contiguousStrides(sizes);
  TensorMeta result{.dtype = dtype};
  result.device = Device{"cpu"};
  for (const std::int64_t size : sizes) result.sizes.push_back(dim(size));
  for (const std::int64_t stride : strides) result.strides.push_back(dim(stride));
  return result;
}

}  // namespace kerf::inline patterns
