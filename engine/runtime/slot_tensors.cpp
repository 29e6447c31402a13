#include "engine/runtime/slot_tensors.h"

#include <fmt/ranges.h>

#include "engine/tensor/copy.h"

namespace kerf::inline runtime {

std::string sizesText(const Sizes& sizes) { return fmt::format("[{}]", fmt::join(sizes, ", ")); }

bool sameStrides(const Tensor& tensor, const Sizes& strides) {
  for (std::size_t d = 0; d < strides.size(); ++d)
    if (tensor.sizes()[d] > 1 && tensor.strides()[d] != strides[d]) return false;
  return true;
}

Result<Tensor> restrided(const Tensor& tensor, const Sizes& strides) {
  KERF_TRY(Tensor copy, Tensor::zerosStrided(tensor.dtype(), tensor.sizes(), strides));
  KERF_CHECK(copyElements(tensor, copy));
  copy.setDevice(tensor.device());
  return copy;
}

}  // namespace kerf::inline runtime
