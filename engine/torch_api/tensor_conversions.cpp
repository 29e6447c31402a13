// to(), cuda(), cpu(), type(): other dtypes and the labels of devices.
#include "engine/torch_api/callables.h"
#include "engine/torch_api/conversions.h"
#include "engine/torch_api/data_tensors.h"
#include "engine/torch_api/small_types.h"
#include "engine/torch_api/tensor_handlers.h"
#include "engine/torch_api/tensor_object.h"

namespace kerf::inline torch_api {
namespace {

struct Wanted {
  DType dtype;
  Device device;
  std::optional<MemoryFormat> format;
  bool copies = false;
};

PyObject* converted(PyObject* self, const Wanted& wanted) {
  const Tensor tensor = tensorOf(self);
  Device device = wanted.device;
  if (device.type == "cuda" && device.index < 0)
    device.index = tensor.device().type == "cuda" ? tensor.device().index : 0;
  const bool sameFormat = !wanted.format || *wanted.format == MemoryFormat::Preserve ||
                          (*wanted.format == MemoryFormat::Contiguous && tensor.isContiguous());
  if (wanted.dtype == tensor.dtype() && device == tensor.device() && !wanted.copies && sameFormat)
    return Py_NewRef(self);
  const CallScope scope;
  KeywordValues keywords{{"dtype", Value(wanted.dtype)}};
  if (!(device == tensor.device())) keywords.emplace_back("device", Value(device));
  if (wanted.format) keywords.emplace_back("memory_format", Value(*wanted.format));
  auto result = callTorch("torch.ops.aten._to_copy.default", {Value(tensor)}, keywords, OpMode::Real);
  return result ? objectOf(*result).release() : raise(result.error());
}

/// One argument of to(): a dtype, a device, another tensor, a memory format.
bool read(PyObject* object, Wanted& wanted) {
  if (const auto dtype = dtypeOf(object)) return wanted.dtype = *dtype, true;
  if (const auto device = deviceOf(object)) return wanted.device = *device, true;
  if (const auto format = memoryFormatOf(object)) return wanted.format = *format, true;
  if (isTensor(object)) {
    wanted.dtype = variableIn(object)->tensor.dtype();
    wanted.device = variableIn(object)->tensor.device();
    return true;
  }
  if (PyUnicode_Check(object)) {
    auto device = parseDevice(textOf(object));
    if (!device) return raise(device.error()), false;
    return wanted.device = std::move(*device), true;
  }
  if (PyLong_CheckExact(object)) return wanted.device = Device{"cuda", int(PyLong_AsLong(object))}, true;
  if (PyBool_Check(object) || object == Py_None) return true;
  PyErr_Format(PyExc_TypeError, "to() received an invalid combination of arguments: got a %s",
               Py_TYPE(object)->tp_name);
  return false;
}

PyObject* to(PyObject* args, PyObject* kwargs) {
  PyObject* self = selfOf(args);
  if (self == nullptr) return nullptr;
  const Tensor& tensor = variableIn(self)->tensor;
  Wanted wanted{tensor.dtype(), tensor.device(), {}, false};
  int flags = 0;
  for (Py_ssize_t i = 1; i < PyTuple_GET_SIZE(args); ++i) {
    PyObject* object = PyTuple_GET_ITEM(args, i);
    if (PyBool_Check(object) && ++flags == 2) wanted.copies = object == Py_True;
    if (!read(object, wanted)) return nullptr;
  }
  PyObject *key = nullptr, *object = nullptr;
  Py_ssize_t at = 0;
  while (kwargs != nullptr && PyDict_Next(kwargs, &at, &key, &object)) {
    if (textOf(key) == "copy") wanted.copies = object == Py_True;
    if (!read(object, wanted)) return nullptr;
  }
  return converted(self, wanted);
}

template <DType dtype>
PyObject* toDtype(PyObject* args, PyObject* kwargs) {
  PyObject* self = selfOf(args);
  if (self == nullptr) return nullptr;
  Wanted wanted{dtype, variableIn(self)->tensor.device(), {}, false};
  if (PyObject* format = argumentOf(args, kwargs, 1, "memory_format")) wanted.format = memoryFormatOf(format);
  return converted(self, wanted);
}
PyObject* toCpu(PyObject* args, PyObject*) {
  PyObject* self = selfOf(args);
  return self ? converted(self, {variableIn(self)->tensor.dtype(), Device(), {}, false}) : nullptr;
}
PyObject* toCuda(PyObject* args, PyObject* kwargs) {
  PyObject* self = selfOf(args);
  if (self == nullptr) return nullptr;
  Wanted wanted{variableIn(self)->tensor.dtype(), Device{"cuda", -1}, {}, false};
  if (PyObject* device = argumentOf(args, kwargs, 1, "device"); device && !read(device, wanted)) return nullptr;
  return converted(self, wanted);
}
PyObject* typeAs(PyObject* args, PyObject* kwargs) {
  PyObject* self = selfOf(args);
  PyObject* other = self ? argumentOf(args, kwargs, 1, "other") : nullptr;
  if (!isTensor(other)) return self ? (PyErr_SetString(PyExc_TypeError, "type_as() takes a Tensor"), nullptr) : nullptr;
  const Tensor& like = variableIn(other)->tensor;
  return converted(self, {like.dtype(), like.device(), {}, false});
}

struct TypeName {
  const char* name;
  DType dtype;
};
constexpr TypeName typeNames[] = {
    {"FloatTensor", DType::Float32},
    {"DoubleTensor", DType::Float64},
    {"HalfTensor", DType::Float16},
    {"BFloat16Tensor", DType::BFloat16},
    {"LongTensor", DType::Int64},
    {"IntTensor", DType::Int32},
    {"ShortTensor", DType::Int16},
    {"CharTensor", DType::Int8},
    {"ByteTensor", DType::UInt8},
    {"BoolTensor", DType::Bool},
    {"ComplexFloatTensor", DType::Complex64},
    {"ComplexDoubleTensor", DType::Complex128},
};
PyObject* type(PyObject* args, PyObject* kwargs) {
  PyObject* self = selfOf(args);
  if (self == nullptr) return nullptr;
  const Tensor& tensor = variableIn(self)->tensor;
  PyObject* wanted = argumentOf(args, kwargs, 1, "dtype");
  if (wanted == nullptr || wanted == Py_None) {
    const char* prefix = tensor.device().type == "cuda" ? "torch.cuda." : "torch.";
    for (const TypeName& entry : typeNames)
      if (entry.dtype == tensor.dtype()) return PyUnicode_FromFormat("%s%s", prefix, entry.name);
    return PyUnicode_FromString("torch.Tensor");
  }
  if (const auto dtype = dtypeOf(wanted)) return converted(self, {*dtype, tensor.device(), {}, false});
  const Ref name = PyType_Check(wanted) ? attributeOf(wanted, "__name__") : Ref();  // torch.DoubleTensor
  const std::string text = textOf(name ? name.get() : wanted);
  for (const TypeName& entry : typeNames)
    if (text.ends_with(entry.name)) return converted(self, {entry.dtype, tensor.device(), {}, false});
  PyErr_Format(PyExc_ValueError, "invalid type: '%S'", wanted);
  return nullptr;
}

PyObject* newTensor(PyObject* args, PyObject* kwargs) {
  PyObject* self = selfOf(args);
  PyObject* data = self ? argumentOf(args, kwargs, 1, "data") : nullptr;
  if (data == nullptr) return nullptr;
  const auto dtype = dtypeOf(argumentOf(args, kwargs, 2, "dtype"));
  auto tensor = tensorOfData(data, dtype.value_or(variableIn(self)->tensor.dtype()));
  if (!tensor) return raise(tensor.error());
  tensor->setDevice(variableIn(self)->tensor.device());
  return wrapTensor(*tensor).release();
}

constexpr NamedHandler methods[] = {
    {"to", to},
    {"cpu", toCpu},
    {"cuda", toCuda},
    {"type", type},
    {"type_as", typeAs},
    {"new_tensor", newTensor},
    {"float", toDtype<DType::Float32>},
    {"double", toDtype<DType::Float64>},
    {"half", toDtype<DType::Float16>},
    {"bfloat16", toDtype<DType::BFloat16>},
    {"long", toDtype<DType::Int64>},
    {"int", toDtype<DType::Int32>},
    {"short", toDtype<DType::Int16>},
    {"char", toDtype<DType::Int8>},
    {"byte", toDtype<DType::UInt8>},
    {"bool", toDtype<DType::Bool>},
    {"cfloat", toDtype<DType::Complex64>},
    {"cdouble", toDtype<DType::Complex128>},
};

}  // namespace

std::span<const NamedHandler> conversionMethods() { return methods; }

}  // namespace kerf::inline torch_api
