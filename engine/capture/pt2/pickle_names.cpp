#include "engine/capture/pt2/pickle_names.h"

#include <algorithm>
#include <array>
#include <limits>

#include "engine/ir/python_constants.h"

namespace kerf::inline capture::pt2 {
namespace {

using Kind = PickleValue::Kind;

constexpr std::size_t maxArguments = 64;  // dimensions of a tensor, arguments of a call
constexpr std::size_t longestName = 255;  // of a storage's file, a device: every tensor has its own copy

struct StorageRow {
  std::string_view name;
  DType dtype;
};
constexpr auto storages = std::to_array<StorageRow>({{"torch.DoubleStorage", DType::Float64},
                                                     {"torch.FloatStorage", DType::Float32},
                                                     {"torch.HalfStorage", DType::Float16},
                                                     {"torch.BFloat16Storage", DType::BFloat16},
                                                     {"torch.LongStorage", DType::Int64},
                                                     {"torch.IntStorage", DType::Int32},
                                                     {"torch.ShortStorage", DType::Int16},
                                                     {"torch.CharStorage", DType::Int8},
                                                     {"torch.ByteStorage", DType::UInt8},
                                                     {"torch.BoolStorage", DType::Bool},
                                                     {"torch.ComplexFloatStorage", DType::Complex64},
                                                     {"torch.ComplexDoubleStorage", DType::Complex128},
                                                     {"torch.storage.UntypedStorage", DType::UInt8}});

std::optional<DType> storageDtype(std::string_view name) {
  const auto found = std::ranges::find(storages, name, &StorageRow::name);
  return found == storages.end() ? std::nullopt : std::optional(found->dtype);
}

Result<const PickleValue*> argument(const Pickle& pickle, const PickleValue& args, std::size_t index, Kind kind) {
  if (index >= args.items.size()) return fail(ErrorCode::BadInput, "the pickle rebuilds a tensor from too few values");
  const PickleValue& value = pickle.values[args.items[index]];
  if (value.kind != kind) return fail(ErrorCode::BadInput, "the pickle rebuilds a tensor from values of other kinds");
  return &value;
}

Result<Sizes> sizesOf(const Pickle& pickle, const PickleValue& args, std::size_t index) {
  KERF_TRY(const PickleValue* list, argument(pickle, args, index, Kind::Tuple));
  Sizes sizes;
  if (list->items.size() > maxArguments)
    return fail(ErrorCode::BadInput, "the pickle holds a tensor of {} dimensions", list->items.size());
  for (std::size_t i = 0; i < list->items.size(); ++i) {
    KERF_TRY(const PickleValue* value, argument(pickle, *list, i, Kind::Int));
    if (value->integer < 0)
      return fail(ErrorCode::BadInput, "the pickle holds a tensor with the size {}", value->integer);
    sizes.push_back(value->integer);
  }
  return sizes;
}

PickleValue tensorValue(Pickle& pickle, PickledTensor tensor) {
  PickleValue value;
  value.kind = Kind::Tensor;
  value.integer = std::int64_t(pickle.tensors.size());
  pickle.tensors.push_back(std::move(tensor));
  return value;
}

/// _rebuild_tensor_v2(storage, offset, size, stride, requires_grad, hooks) and v3, which adds the dtype.
Result<PickleValue> rebuildTensor(Pickle& pickle, const PickleValue& args) {
  KERF_TRY(const PickleValue* storage, argument(pickle, args, 0, Kind::Storage));
  PickledTensor tensor = pickle.tensors[std::size_t(storage->integer)];
  KERF_TRY(const PickleValue* offset, argument(pickle, args, 1, Kind::Int));
  KERF_TRY(tensor.sizes, sizesOf(pickle, args, 2));
  KERF_TRY(tensor.strides, sizesOf(pickle, args, 3));
  KERF_TRY(const PickleValue* grad, argument(pickle, args, 4, Kind::Bool));
  tensor.offset = offset->integer;
  tensor.requiresGrad = grad->integer != 0;
  if (args.items.size() > 6 && pickle.values[args.items[6]].kind == Kind::Name) {
    const auto dtype = dtypeFromTorchName(pickle.values[args.items[6]].text);
    if (!dtype) return fail(ErrorCode::BadInput, "the pickle holds a tensor of an unknown dtype");
    tensor.dtype = *dtype;
  }
  if (tensor.sizes.size() != tensor.strides.size() || tensor.offset < 0)
    return fail(ErrorCode::BadInput, "the pickle holds a tensor whose strides do not fit its sizes");
  return tensorValue(pickle, std::move(tensor));
}

/// _rebuild_parameter(data, requires_grad, hooks).
Result<PickleValue> rebuildParameter(Pickle& pickle, const PickleValue& args) {
  KERF_TRY(const PickleValue* data, argument(pickle, args, 0, Kind::Tensor));
  KERF_TRY(const PickleValue* grad, argument(pickle, args, 1, Kind::Bool));
  PickledTensor tensor = pickle.tensors[std::size_t(data->integer)];
  tensor.requiresGrad = grad->integer != 0;
  tensor.isParameter = true;
  return tensorValue(pickle, std::move(tensor));
}

/// OrderedDict(): torch.save fills it afterwards.
Result<PickleValue> rebuildDict(Pickle&, const PickleValue& args) {
  if (!args.items.empty()) return fail(ErrorCode::BadInput, "the pickle builds a dict from values of other kinds");
  PickleValue dict;
  dict.kind = Kind::Dict;
  return dict;
}

Result<PickleValue> rebuildSize(Pickle& pickle, const PickleValue& args) {
  KERF_CHECK(sizesOf(pickle, args, 0));
  return pickle.values[args.items[0]];
}

Result<PickleValue> rebuildDevice(Pickle& pickle, const PickleValue& args) {
  KERF_TRY(const PickleValue* name, argument(pickle, args, 0, Kind::String));
  if (name->text.size() > longestName) return fail(ErrorCode::BadInput, "the pickle holds no device torch knows");
  return *name;
}

struct CallRow {
  std::string_view name;
  Result<PickleValue> (*rebuild)(Pickle&, const PickleValue&);
};
constexpr auto calls = std::to_array<CallRow>({{"torch._utils._rebuild_tensor_v2", rebuildTensor},
                                               {"torch._utils._rebuild_tensor_v3", rebuildTensor},
                                               {"torch._utils._rebuild_parameter", rebuildParameter},
                                               {"collections.OrderedDict", rebuildDict},
                                               {"torch.Size", rebuildSize},
                                               {"torch.device", rebuildDevice}});

}  // namespace

bool isKnownPickleName(std::string_view name) {
  return storageDtype(name) || std::ranges::find(calls, name, &CallRow::name) != calls.end() ||
         (name.starts_with("torch.") && dtypeFromTorchName(name));
}

Result<PickleValue> rebuildValue(Pickle& pickle, std::string_view name, std::uint32_t argsIndex) {
  const PickleValue& args = pickle.values[argsIndex];
  const auto found = std::ranges::find(calls, name, &CallRow::name);
  if (found == calls.end()) return fail(ErrorCode::BadInput, "the pickle calls '{}', which is not a tensor", name);
  if (args.kind != Kind::Tuple) return fail(ErrorCode::BadInput, "the pickle calls '{}' without a tuple", name);
  if (args.items.size() > maxArguments)
    return fail(ErrorCode::BadInput, "the pickle calls '{}' with {} values", name, args.items.size());
  return found->rebuild(pickle, args);
}

Result<PickleValue> storageValue(Pickle& pickle, std::uint32_t idIndex) {
  const PickleValue& id = pickle.values[idIndex];
  if (id.kind != Kind::Tuple || id.items.size() > maxArguments)
    return fail(ErrorCode::BadInput, "the pickle's storage has no proper name");
  KERF_TRY(const PickleValue* word, argument(pickle, id, 0, Kind::String));
  KERF_TRY(const PickleValue* type, argument(pickle, id, 1, Kind::Name));
  KERF_TRY(const PickleValue* key, argument(pickle, id, 2, Kind::String));
  KERF_TRY(const PickleValue* location, argument(pickle, id, 3, Kind::String));
  KERF_TRY(const PickleValue* count, argument(pickle, id, 4, Kind::Int));
  const auto dtype = storageDtype(type->text);
  if (word->text != "storage" || !dtype || key->text.size() > longestName || location->text.size() > longestName)
    return fail(ErrorCode::BadInput, "the pickle's storage has no proper name");
  if (count->integer < 0 || count->integer > std::numeric_limits<std::int64_t>::max() / itemSize(*dtype))
    return fail(ErrorCode::BadInput, "the pickle holds a storage of {} elements", count->integer);
  const auto device = deviceFromText(location->text);
  if (!device)
    return fail(ErrorCode::BadInput, "the pickle's storage is of no device that torch knows: '{}'", location->text);
  PickledTensor storage;
  storage.dtype = *dtype;
  storage.storageKey = key->text;
  storage.storageBytes = count->integer * itemSize(*dtype);
  storage.device = *device;
  PickleValue value = tensorValue(pickle, std::move(storage));
  value.kind = Kind::Storage;
  return value;
}

}  // namespace kerf::inline capture::pt2
