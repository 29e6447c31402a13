#include <cstring>
#include <map>
#include <set>

#include "engine/accuracy/same_two_models.h"
#include "engine/tensor/copy.h"

namespace kerf::inline accuracy {
namespace {

/// Clones whole storages once each, so that tensors that shared one share its clone.
class InputCloner {
 public:
  explicit InputCloner(bool toFp64) : m_toFp64(toFp64) {}

  void collect(const Value& value) {
    if (value.isTensor()) m_dtypes[value.tensor().storage().get()].insert(value.tensor().dtype());
    if (value.isList())
      for (const auto& item : value.list()) collect(item);
  }

  Result<Value> clone(const Value& value) {
    if (value.isTensor()) {
      KERF_TRY(Tensor copy, cloneTensor(value.tensor()));
      return Value(std::move(copy));
    }
    if (!value.isList()) return value;
    ValueList items;
    for (const auto& item : value.list()) {
      KERF_TRY(Value copy, clone(item));
      items.push_back(std::move(copy));
    }
    return Value(std::move(items));
  }

 private:
  /// Elements from the storage's start as one flat tensor.
  static Tensor wholeStorage(const Tensor& tensor) {
    const std::int64_t count = tensor.storage()->bytes() / itemSize(tensor.dtype());
    return Tensor(tensor.storage(), tensor.dtype(), {count}, {1});
  }

  /// A storage seen with two dtypes cannot be converted as a whole: such tensors are converted one by one.
  bool convertsWhole(const Tensor& tensor) const {
    const auto found = m_dtypes.find(tensor.storage().get());
    return found != m_dtypes.end() && found->second.size() == 1;
  }

  Result<Tensor> cloneTensor(const Tensor& tensor) {
    if (!tensor.defined()) return tensor;
    const bool cast = m_toFp64 && isFloating(tensor.dtype());
    const DType dtype = cast ? DType::Float64 : tensor.dtype();
    if (cast && !convertsWhole(tensor)) return convertAlone(tensor);
    const std::pair key(tensor.storage().get(), cast);
    auto found = m_clones.find(key);
    if (found == m_clones.end()) {
      KERF_TRY(StoragePtr storage, cast ? convertStorage(tensor) : copyStorage(*tensor.storage()));
      found = m_clones.emplace(key, std::move(storage)).first;
    }
    return finish(Tensor(found->second, dtype, tensor.sizes(), tensor.strides(), tensor.offset()), tensor);
  }

  static Result<StoragePtr> copyStorage(const Storage& storage) {
    KERF_TRY(StoragePtr copy, Storage::allocate(storage.bytes()));
    if (storage.bytes() > 0) std::memcpy(copy->data(), storage.data(), std::size_t(storage.bytes()));
    return copy;
  }
  static Result<StoragePtr> convertStorage(const Tensor& tensor) {
    KERF_TRY(const Tensor wide, wholeStorage(tensor).to(DType::Float64));
    if (wide.storage() == tensor.storage()) return copyStorage(*tensor.storage());
    return wide.storage();
  }
  static Result<Tensor> convertAlone(const Tensor& tensor) {
    KERF_TRY(const Tensor wide, Tensor::zerosStrided(DType::Float64, tensor.sizes(), tensor.strides()));
    KERF_CHECK(copyElements(tensor, wide));
    return finish(wide, tensor);
  }
  static Tensor finish(Tensor copy, const Tensor& original) {
    copy.setDevice(original.device());
    copy.requiresGrad = original.requiresGrad;
    copy.isLeaf = original.isLeaf;
    return copy;
  }

  bool m_toFp64;
  std::map<const Storage*, std::set<DType>> m_dtypes;
  std::map<std::pair<const Storage*, bool>, StoragePtr> m_clones;
};

}  // namespace

Result<ValueList> cloneInputs(const ValueList& inputs, bool toFp64) {
  InputCloner cloner(toFp64);
  for (const auto& input : inputs) cloner.collect(input);
  ValueList copies;
  for (const auto& input : inputs) {
    KERF_TRY(Value copy, cloner.clone(input));
    copies.push_back(std::move(copy));
  }
  return copies;
}

}  // namespace kerf::inline accuracy
