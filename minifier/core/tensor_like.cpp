#include "minifier/core/tensor_like.h"

#include "engine/tensor/copy.h"

namespace kerf::inline minifier::inline core {

bool hasData(const Value& value) { return value.isTensor() && value.tensor().defined(); }

Tensor markedAs(Tensor tensor, const Tensor& like) {
  tensor.setDevice(like.device());
  tensor.requiresGrad = like.requiresGrad;
  tensor.isLeaf = like.isLeaf;
  return tensor;
}

Tensor collapsed(const Tensor& tensor) {
  Sizes sizes = tensor.sizes(), strides = tensor.strides();
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (strides[d] != 0 || sizes[d] < 2) continue;
    sizes[d] = 1;
    strides[d] = 1;
  }
  return tensor.viewAs(sizes, strides, tensor.offset());
}

Tensor expandedAs(const Tensor& elements, const Tensor& like) {
  Sizes strides = elements.strides();
  for (std::size_t d = 0; d < strides.size(); ++d)
    if (like.sizes()[d] != elements.sizes()[d]) strides[d] = 0;
  return markedAs(elements.viewAs(like.sizes(), strides, elements.offset()), like);
}

std::optional<Tensor> corner(const Tensor& tensor, const Sizes& sizes, const Sizes& strides) {
  if (sizes.size() != tensor.sizes().size() || strides.size() != sizes.size()) return std::nullopt;
  Sizes own = sizes, ownStrides = strides;  // of the elements that are there once
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] > tensor.sizes()[d] || sizes[d] < 0) return std::nullopt;
    if (strides[d] != 0 || sizes[d] < 2) continue;
    if (tensor.strides()[d] != 0) return std::nullopt;
    own[d] = ownStrides[d] = 1;
  }
  const Result<Tensor> elements = Tensor::zerosStrided(tensor.dtype(), own, ownStrides);
  if (!elements || !copyElements(tensor.viewAs(own, tensor.strides(), tensor.offset()), *elements)) return std::nullopt;
  return markedAs(elements->viewAs(sizes, strides, elements->offset()), tensor);
}

bool looksAlike(const ValueMeta& a, const ValueMeta& b) {
  const TensorMeta *x = a.tensor(), *y = b.tensor();
  return x && y && x->dtype == y->dtype && x->sizes == y->sizes && x->strides == y->strides && x->device == y->device;
}

bool hasSymbols(const SymExpr& number) { return number.text.find_first_not_of("-0123456789") != std::string::npos; }

}  // namespace kerf::inline minifier::inline core
