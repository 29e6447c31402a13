#include "minifier/core/copied_values.h"

#include <cstring>
#include <unordered_map>

#include "minifier/core/tensor_like.h"

namespace kerf::inline minifier::inline core {

namespace {

Result<StoragePtr> copyStorage(const StoragePtr& storage) {
  KERF_TRY(StoragePtr copy, Storage::allocate(storage->bytes()));
  if (storage->bytes() > 0) std::memcpy(copy->data(), storage->data(), std::size_t(storage->bytes()));
  return copy;
}

Result<Tensor> copyTensor(const Tensor& tensor, std::unordered_map<const Storage*, StoragePtr>& copies) {
  StoragePtr& storage = copies[tensor.storage().get()];
  if (!storage) {
    KERF_TRY(storage, copyStorage(tensor.storage()));
  }
  Tensor copy(storage, tensor.dtype(), tensor.sizes(), tensor.strides(), tensor.offset());
  return markedAs(std::move(copy), tensor);
}

}  // namespace

Result<ValueList> copyInputs(const ValueList& inputs) {
  std::unordered_map<const Storage*, StoragePtr> copies;
  ValueList result;
  for (const Value& input : inputs) {
    if (!hasData(input)) {
      result.push_back(input);
      continue;
    }
    KERF_TRY(Tensor copy, copyTensor(input.tensor(), copies));
    result.emplace_back(std::move(copy));
  }
  return result;
}

Result<Value> compacted(const Value& value) {
  if (value.isList()) {
    ValueList items = value.list();
    for (Value& item : items) {
      KERF_TRY(item, compacted(item));
    }
    return Value(std::move(items));
  }
  if (!hasData(value)) return value;
  const Tensor& tensor = value.tensor();
  if (tensor.storage()->bytes() == tensor.byteSize() && tensor.offset() == 0) return value;
  KERF_TRY(Tensor copy, tensor.clonePreservingStrides());
  copy.setDevice(tensor.device());
  return Value(std::move(copy));
}

}  // namespace kerf::inline minifier::inline core
