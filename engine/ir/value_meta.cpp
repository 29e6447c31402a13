#include "engine/ir/value_meta.h"

#include "engine/symbolic/shape_env.h"

namespace kerf::inline ir {
namespace {

Dim dimOf(SymInt size) {
  if (!size.isSymbolic()) return dim(size.bits());
  ShapeEnv& env = *ShapeEnv::current();
  const SymInt value = env.resolved(size);
  if (!value.isSymbolic()) return dim(value.bits());
  return {env.text(value), env.recordedHint(value)};
}

std::vector<Dim> dimsOf(const SymSizes& sizes) {
  std::vector<Dim> dims;
  dims.reserve(sizes.size());
  for (const SymInt size : sizes) dims.push_back(dimOf(size));
  return dims;
}

/// The expression of the text; its hint where it cannot be read.
std::optional<SymInt> sizeOf(const SymExpr& expr) {
  if (!expr.text.empty())
    if (const auto value = ShapeEnv::current()->parse(expr.text)) return *value;
  return expr.hint ? std::optional(SymInt(*expr.hint)) : std::nullopt;
}

std::optional<SymSizes> sizesOf(const std::vector<Dim>& dims) {
  SymSizes sizes;
  sizes.reserve(dims.size());
  for (const Dim& item : dims) {
    const auto size = sizeOf(item);
    if (!size) return {};
    sizes.push_back(*size);
  }
  return sizes;
}

std::optional<Value> symbolicTensorOf(const TensorMeta& meta) {
  auto sizes = sizesOf(meta.sizes), strides = sizesOf(meta.strides);
  if (!sizes || !strides) return {};
  if (strides->size() != sizes->size()) strides = contiguousStrides(*sizes);
  Tensor tensor(nullptr, meta.dtype, std::move(*sizes), std::move(*strides), meta.storageOffset);
  tensor.setDevice(meta.device);
  return Value(std::move(tensor));
}

std::optional<Value> tensorOf(const TensorMeta& meta) {
  if (ShapeEnv::current() != nullptr) return symbolicTensorOf(meta);
  auto sizes = meta.concreteSizes(), strides = meta.concreteStrides();
  if (!sizes || !strides) return {};
  if (strides->size() != sizes->size()) strides = contiguousStrides(*sizes);
  Tensor tensor(nullptr, meta.dtype, std::move(*sizes), std::move(*strides), meta.storageOffset);
  tensor.setDevice(meta.device);
  return Value(std::move(tensor));
}

std::optional<Value> numberOf(const SymExpr& expr) {
  if (ShapeEnv::current() != nullptr && !expr.text.empty())
    if (const auto value = ShapeEnv::current()->parse(expr.text)) {
      if (!value->isSymbolic()) return Value(value->bits());
      return Value(SymNumber{*value, ShapeEnv::current()->kind(*value)});
    }
  return expr.hint ? std::optional(Value(*expr.hint)) : std::nullopt;
}

}  // namespace

TensorMeta metaOf(const Tensor& tensor) {
  return {.dtype = tensor.dtype(),
          .sizes = dimsOf(tensor.symSizes()),
          .strides = dimsOf(tensor.symStrides()),
          .storageOffset = tensor.symOffset().isSymbolic() ? 0 : tensor.offset(),
          .device = tensor.device(),
          .requiresGrad = tensor.requiresGrad};
}

ValueMeta metaOf(const Value& value) {
  if (value.isTensor()) return {metaOf(value.tensor())};
  if (const auto* number = value.as<std::int64_t>()) return {SymMeta{{std::to_string(*number), *number}}};
  if (const auto* symbolic = value.as<SymNumber>()) {
    Dim number = dimOf(symbolic->value);
    if (number.text.empty()) number.text = std::to_string(*number.hint);
    return {SymMeta{std::move(number)}};
  }
  if (!value.isList()) return {};
  std::vector<ValueMeta> items;
  for (const Value& item : value.list()) items.push_back(metaOf(item));
  return {std::move(items)};
}

std::optional<Value> valueOf(const ValueMeta& meta) {
  if (const TensorMeta* tensor = meta.tensor()) return tensorOf(*tensor);
  if (const SymMeta* sym = meta.sym()) return numberOf(sym->expr);
  if (!meta.list()) return {};
  ValueList values;
  for (const ValueMeta& item : *meta.list()) values.push_back(valueOf(item).value_or(Value()));
  return Value(std::move(values));
}

}  // namespace kerf::inline ir
