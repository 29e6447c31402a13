// x[index] and x[index] = value.
#include "engine/torch_api/callables.h"
#include "engine/torch_api/conversions.h"
#include "engine/torch_api/data_tensors.h"
#include "engine/torch_api/error_words.h"
#include "engine/torch_api/tensor_handlers.h"
#include "engine/torch_api/tensor_object.h"

namespace kerf::inline torch_api {
namespace {

bool isRagged(PyObject* object) {
  return PyList_Check(object) && PyList_GET_SIZE(object) > 0 &&
         (PyList_Check(PyList_GET_ITEM(object, 0)) || PyTuple_Check(PyList_GET_ITEM(object, 0)));
}

/// Lists of lists index as the tensor of their numbers; True and False add a dimension.
Result<Value> indexOf(PyObject* object) {
  if (isRagged(object) || (PyList_Check(object) && PyList_GET_SIZE(object) == 0)) {
    KERF_TRY(Tensor tensor,
             tensorOfData(object, PyList_GET_SIZE(object) == 0 ? std::optional(DType::Int64) : std::nullopt));
    return Value(std::move(tensor));
  }
  if (PyBool_Check(object)) {
    KERF_TRY(Tensor flag, tensorOfData(object, DType::Bool));
    return Value(std::move(flag));
  }
  if (PyTuple_Check(object)) {
    ValueList items;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(object); ++i) {
      KERF_TRY(Value item, indexOf(PyTuple_GET_ITEM(object, i)));
      items.push_back(std::move(item));
    }
    return Value(std::move(items));
  }
  return valueOf(object);
}

constexpr Py_ssize_t mostIndices = 32;

/// Whether a list is the places of one dimension, as PyTorch 2.11 tells it from a tuple: nothing in it is an index of its
/// own, or it is too long for a tuple of indices.
bool isPlaces(PyObject* object) {
  if (!PyList_Check(object) || PyList_GET_SIZE(object) == 0) return false;
  if (PyList_GET_SIZE(object) >= mostIndices) return true;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(object); ++i) {
    PyObject* item = PyList_GET_ITEM(object, i);
    if (item == Py_None || item == Py_Ellipsis || PySlice_Check(item) || isTensor(item) || PySequence_Check(item))
      return false;
  }
  return true;
}

/// x[[0, 2]] is x[[0, 2],], not x[0, 2]; x[[[0, 1], [1, 2]]] is x[[0, 1], [1, 2]].
Result<Value> wholeIndexOf(PyObject* object) {
  const bool isTuple = PyList_Check(object) && PyList_GET_SIZE(object) > 0 && !isPlaces(object);
  const Ref given = isTuple ? Ref::steal(PyList_AsTuple(object)) : Ref::borrow(object);
  KERF_TRY(Value index, indexOf(given.get()));
  return isPlaces(object) ? Value(ValueList{std::move(index)}) : std::move(index);
}

/// Whether an object may be an index at all; else Python's words for it.
bool isIndex(PyObject* item) {
  if (PyUnicode_Check(item) || PyBytes_Check(item)) {
    PyErr_Format(PyExc_TypeError, "new(): invalid data type '%s'", Py_TYPE(item)->tp_name);
    return false;
  }
  if (PyFloat_Check(item) || PyComplex_Check(item) || PyDict_Check(item)) {
    PyErr_Format(PyExc_IndexError,
                 "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices "
                 "(got %s)",
                 Py_TYPE(item)->tp_name);
    return false;
  }
  return true;
}

/// Python's words for what is no index, or one beyond a dimension; none where all fit.
bool fits(const Tensor& self, PyObject* key) {
  const Ref single = PyTuple_Check(key) ? Ref::borrow(key) : Ref::steal(PyTuple_Pack(1, key));
  std::int64_t dim = 0;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(single.get()); ++i) {
    PyObject* item = PyTuple_GET_ITEM(single.get(), i);
    if (!isIndex(item)) return false;
    if (!PyLong_CheckExact(item)) {
      if (item == Py_Ellipsis || isTensor(item)) return true;  // dimensions are not counted any further
      if (item != Py_None) ++dim;
      continue;
    }
    if (self.dim() == 0) {
      PyErr_SetString(PyExc_IndexError,
                      "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or "
                      "`tensor.item<T>()` in C++ to convert a 0-dim tensor to a number");
      return false;
    }
    if (dim >= self.dim()) {
      PyErr_Format(PyExc_IndexError, "too many indices for tensor of dimension %d", int(self.dim()));
      return false;
    }
    const long long index = PyLong_AsLongLong(item);
    const long long size = self.size(dim);
    if (index < -size || index >= size) {
      PyErr_Format(PyExc_IndexError, "index %lld is out of bounds for dimension %d with size %lld", index, int(dim),
                   size);
      return false;
    }
    ++dim;
  }
  return true;
}

PyObject* getItem(PyObject* args, PyObject*) {
  PyObject* self = selfOf(args);
  if (self == nullptr || PyTuple_GET_SIZE(args) != 2) return nullptr;
  PyObject* key = PyTuple_GET_ITEM(args, 1);
  if (!fits(variableIn(self)->tensor, key)) return nullptr;
  auto index = wholeIndexOf(key);
  if (!index) return raise(index.error());
  const CallScope scope;
  const Tensor tensor = tensorOf(self);
  auto result = callTorch("operator.getitem", {tensor, *index}, {}, OpMode::Real);
  if (result && result->isTensor() && result->tensor().traced == tensor.traced)
    result = callTorch("torch.ops.aten.alias.default", {tensor}, {}, OpMode::Real);
  return result ? objectOf(*result).release() : raise(inTorchsWords(result.error(), "getitem", {tensor, *index}));
}

/// What is written: lists as the tensor of their numbers.
Result<Value> writtenValue(PyObject* given, DType dtype) {
  if (!PyList_Check(given) && !PyTuple_Check(given)) return valueOf(given);
  KERF_TRY(Tensor tensor, tensorOfData(given, dtype));
  return Value(std::move(tensor));
}

PyObject* setItem(PyObject* args, PyObject*) {
  PyObject* self = selfOf(args);
  if (self == nullptr || PyTuple_GET_SIZE(args) != 3) return nullptr;
  if (!fits(variableIn(self)->tensor, PyTuple_GET_ITEM(args, 1))) return nullptr;
  auto index = wholeIndexOf(PyTuple_GET_ITEM(args, 1));
  if (!index) return raise(index.error());
  PyObject* given = PyTuple_GET_ITEM(args, 2);
  const Tensor tensor = tensorOf(self);
  auto value = writtenValue(given, tensor.dtype());
  if (!value) return raise(value.error());
  const CallScope scope;
  auto done = callTorch("operator.setitem", {Value(tensor), *index, *value}, {}, OpMode::Real);
  if (!done) return raise(inTorchsWords(done.error(), "setitem", {Value(tensor), *index, *value}));
  Py_RETURN_NONE;
}

constexpr NamedHandler methods[] = {{"__getitem__", getItem}, {"__setitem__", setItem}};

}  // namespace

std::span<const NamedHandler> indexingMethods() { return methods; }

}  // namespace kerf::inline torch_api
