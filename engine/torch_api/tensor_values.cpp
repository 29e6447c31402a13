// Sizes of tensors and numbers out of them.
#include "engine/torch_api/batched_tensors.h"
#include "engine/torch_api/conversions.h"
#include "engine/torch_api/data_tensors.h"
#include "engine/torch_api/small_types.h"
#include "engine/torch_api/tensor_handlers.h"
#include "engine/torch_api/tensor_object.h"

namespace kerf::inline torch_api {
namespace {

const Tensor& tensorIn(PyObject* self) { return variableIn(self)->tensor; }

PyObject* oneOf(const Sizes& values, PyObject* dim) {
  const Ref index = Ref::steal(PyNumber_Index(dim));
  if (!index) return nullptr;
  const long long given = PyLong_AsLongLong(index.get());
  const auto rank = std::int64_t(values.size());
  if (given < -rank || given >= rank) {
    PyErr_Format(PyExc_IndexError, "Dimension out of range (expected to be in range of [%lld, %lld], but got %lld)",
                 static_cast<long long>(-std::max<std::int64_t>(rank, 1)),
                 static_cast<long long>(std::max<std::int64_t>(rank, 1) - 1), given);
    return nullptr;
  }
  return PyLong_FromLongLong(values[std::size_t(given < 0 ? given + rank : given)]);
}
PyObject* size(PyObject* args, PyObject* kwargs) {
  PyObject* self = selfOf(args);
  if (self == nullptr) return nullptr;
  PyObject* dim = argumentOf(args, kwargs, 1, "dim");
  if (dim == nullptr || dim == Py_None) return sizeObject(tensorIn(self).sizes()).release();
  return oneOf(tensorIn(self).sizes(), dim);
}
PyObject* stride(PyObject* args, PyObject* kwargs) {
  PyObject* self = selfOf(args);
  if (self == nullptr) return nullptr;
  PyObject* dim = argumentOf(args, kwargs, 1, "dim");
  if (dim != nullptr && dim != Py_None) return oneOf(tensorIn(self).strides(), dim);
  return PySequence_Tuple(sizeObject(tensorIn(self).strides()).get());
}
template <std::int64_t (*count)(const Tensor&)>
PyObject* number(PyObject* args, PyObject*) {
  PyObject* self = selfOf(args);
  return self ? PyLong_FromLongLong(count(tensorIn(self))) : nullptr;
}
std::int64_t dimensions(const Tensor& t) { return t.dim(); }
std::int64_t elements(const Tensor& t) { return t.numel(); }
std::int64_t offset(const Tensor& t) { return t.offset(); }
std::int64_t elementBytes(const Tensor& t) { return itemSize(t.dtype()); }
std::int64_t address(const Tensor& t) {
  return t.defined()
             ? std::int64_t(reinterpret_cast<std::intptr_t>(t.storage()->data())) + t.offset() * itemSize(t.dtype())
             : 0;
}
PyObject* length(PyObject* args, PyObject*) {
  PyObject* self = selfOf(args);
  if (self == nullptr) return nullptr;
  if (tensorIn(self).dim() == 0) return PyErr_SetString(PyExc_TypeError, "len() of a 0-d tensor"), nullptr;
  return PyLong_FromLongLong(tensorIn(self).size(0));
}

PyObject* item(PyObject* args, PyObject*) {
  PyObject* self = selfOf(args);
  if (self == nullptr || !mayAskItem(self)) return nullptr;
  if (tensorIn(self).numel() != 1) {
    PyErr_Format(PyExc_RuntimeError, "a Tensor with %lld elements cannot be converted to Scalar",
                 static_cast<long long>(tensorIn(self).numel()));
    return nullptr;
  }
  return elementObject(tensorIn(self), 0).release();
}
PyObject* toList(PyObject* args, PyObject*) {
  PyObject* self = selfOf(args);
  return self && mayAskItem(self) ? listOf(tensorIn(self)).release() : nullptr;
}
PyObject* truth(PyObject* args, PyObject*) {
  PyObject* self = selfOf(args);
  if (self == nullptr || !mayBranchOn(self)) return nullptr;
  const Tensor& tensor = tensorIn(self);
  if (tensor.numel() == 1) {
    const Ref value = elementObject(tensor, 0);
    return value ? PyBool_FromLong(PyObject_IsTrue(value.get())) : nullptr;
  }
  PyErr_SetString(PyExc_RuntimeError, tensor.numel() == 0
                                          ? "Boolean value of Tensor with no values is ambiguous"
                                          : "Boolean value of Tensor with more than one value is ambiguous");
  return nullptr;
}
template <PyObject* (*convert)(PyObject*)>
PyObject* asNumber(PyObject* args, PyObject* kwargs) {
  const Ref value = Ref::steal(item(args, kwargs));
  return value ? convert(value.get()) : nullptr;
}
PyObject* toComplex(PyObject* value) {
  return PyObject_CallOneArg(reinterpret_cast<PyObject*>(&PyComplex_Type), value);
}
PyObject* asIndex(PyObject* args, PyObject* kwargs) {
  PyObject* self = selfOf(args);
  if (self == nullptr) return nullptr;
  if (!isIntegral(tensorIn(self).dtype()) || tensorIn(self).numel() != 1) {
    PyErr_SetString(PyExc_TypeError, "only integer tensors of a single element can be converted to an index");
    return nullptr;
  }
  const Ref value = Ref::steal(item(args, kwargs));
  return value ? PyNumber_Long(value.get()) : nullptr;
}

template <bool (*is)(const Tensor&)>
PyObject* flag(PyObject* args, PyObject*) {
  PyObject* self = selfOf(args);
  return self ? PyBool_FromLong(is(tensorIn(self))) : nullptr;
}
bool isFloat(const Tensor& t) { return isFloating(t.dtype()); }
bool isComplexTensor(const Tensor& t) { return isComplex(t.dtype()); }
bool isSigned(const Tensor& t) {
  const DType d = t.dtype();
  return d != DType::UInt8 && d != DType::UInt16 && d != DType::UInt32 && d != DType::UInt64 && d != DType::Bool;
}
bool never(const Tensor&) { return false; }

PyObject* isContiguous(PyObject* args, PyObject* kwargs) {
  PyObject* self = selfOf(args);
  if (self == nullptr) return nullptr;
  const auto format = memoryFormatOf(argumentOf(args, kwargs, 1, "memory_format"));
  const Tensor& tensor = tensorIn(self);
  if (!format || *format == MemoryFormat::Contiguous) return PyBool_FromLong(tensor.isContiguous());
  const std::int64_t rank = *format == MemoryFormat::ChannelsLast ? 4 : 5;
  if (tensor.dim() != rank) Py_RETURN_FALSE;
  std::int64_t expected = 1;
  for (std::int64_t k = 0; k < rank;
       ++k) {  // channels first, then from the last dimension to the second, then the batch
    const std::int64_t d = k == 0 ? 1 : k == rank - 1 ? 0 : rank - k;
    if (tensor.size(d) == 1) continue;
    if (tensor.stride(d) != expected) Py_RETURN_FALSE;
    expected *= tensor.size(d);
  }
  Py_RETURN_TRUE;
}
PyObject* isView(PyObject* args, PyObject*) {
  PyObject* self = selfOf(args);
  return self ? PyBool_FromLong(variableIn(self)->base != nullptr) : nullptr;
}

constexpr NamedHandler methods[] = {
    {"size", size},
    {"stride", stride},
    {"dim", number<dimensions>},
    {"ndimension", number<dimensions>},
    {"numel", number<elements>},
    {"nelement", number<elements>},
    {"storage_offset", number<offset>},
    {"element_size", number<elementBytes>},
    {"data_ptr", number<address>},
    {"__len__", length},
    {"item", item},
    {"tolist", toList},
    {"__bool__", truth},
    {"__int__", asNumber<PyNumber_Long>},
    {"__float__", asNumber<PyNumber_Float>},
    {"__complex__", asNumber<toComplex>},
    {"__index__", asIndex},
    {"is_floating_point", flag<isFloat>},
    {"is_complex", flag<isComplexTensor>},
    {"is_signed", flag<isSigned>},
    {"is_conj", flag<never>},
    {"is_neg", flag<never>},
    {"is_pinned", flag<never>},
    {"is_shared", flag<never>},
    {"is_contiguous", isContiguous},
    {"_is_view", isView},
};

}  // namespace

PyObject* selfOf(PyObject* args) {
  PyObject* self = PyTuple_GET_SIZE(args) > 0 ? PyTuple_GET_ITEM(args, 0) : nullptr;
  if (isTensor(self)) return self;
  PyErr_SetString(PyExc_TypeError, "the first argument must be a Tensor");
  return nullptr;
}

PyObject* argumentOf(PyObject* args, PyObject* kwargs, Py_ssize_t position, const char* name) {
  if (position < PyTuple_GET_SIZE(args)) return PyTuple_GET_ITEM(args, position);
  return kwargs ? PyDict_GetItemString(kwargs, name) : nullptr;
}

std::span<const NamedHandler> valueMethods() { return methods; }

}  // namespace kerf::inline torch_api
