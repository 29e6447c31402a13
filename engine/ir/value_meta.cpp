#include "engine/ir/value_meta.h"

namespace kerf::inline ir {
namespace {

std::vector<Dim> dimsOf(const Sizes& sizes) {
  std::vector<Dim> dims;
  dims.reserve(sizes.size());
  for (const std::int64_t size : sizes) dims.push_back(dim(size));
  return dims;
}

std::optional<Value> tensorOf(const TensorMeta& meta) {
  auto sizes = meta.concreteSizes(), strides = meta.concreteStrides();
  if (!sizes || !strides) return {};
  if (strides->size() != sizes->size()) strides = contiguousStrides(*sizes);
  Tensor tensor(nullptr, meta.dtype, std::move(*sizes), std::move(*strides), meta.storageOffset);
  tensor.setDevice(meta.device);
  return Value(std::move(tensor));
}

}  // namespace

TensorMeta metaOf(const Tensor& tensor) {
  return {.dtype = tensor.dtype(),
          .sizes = dimsOf(tensor.sizes()),
          .strides = dimsOf(tensor.strides()),
          .storageOffset = tensor.offset(),
          .device = tensor.device(),
          .requiresGrad = tensor.requiresGrad};
}

ValueMeta metaOf(const Value& value) {
  if (value.isTensor()) return {metaOf(value.tensor())};
  if (const auto* number = value.as<std::int64_t>()) return {SymMeta{{std::to_string(*number), *number}}};
  if (!value.isList()) return {};
  std::vector<ValueMeta> items;
  for (const Value& item : value.list()) items.push_back(metaOf(item));
  return {std::move(items)};
}

std::optional<Value> valueOf(const ValueMeta& meta) {
  if (const TensorMeta* tensor = meta.tensor()) return tensorOf(*tensor);
  if (const SymMeta* sym = meta.sym()) return sym->expr.hint ? std::optional(Value(*sym->expr.hint)) : std::nullopt;
  if (!meta.list()) return {};
  ValueList values;
  for (const ValueMeta& item : *meta.list()) values.push_back(valueOf(item).value_or(Value()));
  return Value(std::move(values));
}

}  // namespace kerf::inline ir
