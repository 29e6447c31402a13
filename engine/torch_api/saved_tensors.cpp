#include "engine/torch_api/saved_tensors.h"

#include "engine/torch_api/conversions.h"
#include "engine/torch_api/tensor_type.h"

namespace kerf::inline torch_api {
namespace {

template <class Convert>
Result<Value> eachTensor(const Value& value, const Convert& convert) {
  if (value.isTensor()) return convert(value.tensor());
  if (!value.isList()) return value;
  ValueList items;
  for (const Value& item : value.list()) {
    KERF_TRY(Value made, eachTensor(item, convert));
    items.push_back(std::move(made));
  }
  return Value(std::move(items));
}

}  // namespace

std::vector<SavedTensorHooks>& savedTensorHooks() {
  static auto& hooks = *new std::vector<SavedTensorHooks>;
  return hooks;
}

Result<Value> packValue(const Value& value, std::vector<PackedTensor>& packed) {
  return eachTensor(value, [&](const Tensor& tensor) -> Result<Value> {
    const SavedTensorHooks hooks = savedTensorHooks().back();
    std::vector<SavedTensorHooks> outer;  // what pack() computes is not packed again
    outer.swap(savedTensorHooks());
    Tensor shown = tensor;
    shown.traced = -1;
    const Ref object = wrapTensor(shown);
    Ref kept = object ? Ref::steal(PyObject_CallOneArg(hooks.pack.get(), object.get())) : Ref();
    outer.swap(savedTensorHooks());
    if (!kept) return fail(pendingError());
    packed.push_back({std::move(kept), hooks.unpack});
    Tensor shape(nullptr, tensor.dtype(), tensor.symSizes(), tensor.symStrides());
    shape.setDevice(tensor.device());
    shape.traced = tensor.traced;
    return Value(std::move(shape));
  });
}

Result<Value> unpackValue(const Value& value, const std::vector<PackedTensor>& packed, std::size_t& next) {
  return eachTensor(value, [&](const Tensor& tensor) -> Result<Value> {
    const PackedTensor& entry = packed[next++];
    const Ref object = Ref::steal(PyObject_CallOneArg(entry.unpack.get(), entry.object.get()));
    if (!object) return fail(pendingError());
    if (!isTensor(object.get()))
      return fail(ErrorCode::BadUsage,
                  "Output of saved tensor unpack_hook expected to be a Tensor but got result of type {}",
                  Py_TYPE(object.get())->tp_name);
    Tensor back = tensorOf(object.get());
    back.traced = tensor.traced;
    return Value(std::move(back));
  });
}

}  // namespace kerf::inline torch_api
