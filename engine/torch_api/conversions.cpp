#include "engine/torch_api/conversions.h"

#include <complex>

#include "engine/torch_api/generator_type.h"
#include "engine/torch_api/small_types.h"
#include "engine/torch_api/tensor_type.h"

namespace kerf::inline torch_api {
namespace {

constexpr int deepest = 100;  // lists in lists

Result<Value> convert(PyObject* object, int depth);

Result<Value> convertItems(PyObject* sequence, int depth) {
  if (depth > deepest) return fail(ErrorCode::BadUsage, "lists nest more than {} deep", deepest);
  const Ref items = Ref::steal(PySequence_Fast(sequence, "expected a sequence"));
  if (!items) return fail(pendingError());
  ValueList values;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items.get()); ++i) {
    KERF_TRY(Value value, convert(PySequence_Fast_GET_ITEM(items.get(), i), depth + 1));
    values.push_back(std::move(value));
  }
  return Value(std::move(values));
}

/// A bound of a slice: None, or a number by __index__.
Result<Value> bound(PyObject* object) {
  if (object == Py_None) return Value();
  const Ref index = Ref::steal(PyNumber_Index(object));
  if (!index) return fail(pendingError());
  return convert(index.get(), 0);
}

Result<Value> convertSlice(PyObject* object) {
  const auto* slice = reinterpret_cast<PySliceObject*>(object);
  KERF_TRY(Value start, bound(slice->start));
  KERF_TRY(Value stop, bound(slice->stop));
  KERF_TRY(Value step, bound(slice->step));
  return Value(ValueList{std::string("slice"), std::move(start), std::move(stop), std::move(step)});
}

Result<Value> convertInteger(PyObject* object) {
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
  if (overflow != 0) return fail(ErrorCode::RuntimeFailed, "Overflow when unpacking long long");
  if (value == -1 && PyErr_Occurred()) return fail(pendingError());
  return Value(std::int64_t(value));
}

/// A complex number is a tensor without dimensions: the engine's values have no complex numbers of their own.
Result<Value> convertComplex(PyObject* object) {
  KERF_TRY(Tensor tensor, Tensor::zeros(DType::Complex64, {}));
  const Py_complex value = PyComplex_AsCComplex(object);
  *tensor.data<std::complex<float>>() = {float(value.real), float(value.imag)};
  return Value(std::move(tensor));
}

std::optional<Value> convertConstant(PyObject* object) {
  if (const auto dtype = dtypeOf(object)) return Value(*dtype);
  if (const auto device = deviceOf(object)) return Value(*device);
  if (const auto layout = layoutOf(object)) return Value(*layout);
  if (const auto format = memoryFormatOf(object)) return Value(*format);
  if (isGenerator(object)) return Value();  // drawn from by who calls
  return {};
}

Result<Value> convert(PyObject* object, int depth) {
  if (object == Py_None) return Value();
  if (isTensor(object)) return Value(tensorOf(object));
  if (PyBool_Check(object)) return Value(object == Py_True);
  if (PyLong_Check(object)) return convertInteger(object);
  if (PyFloat_Check(object)) return Value(PyFloat_AS_DOUBLE(object));
  if (PyUnicode_Check(object)) return Value(textOf(object));
  if (object == Py_Ellipsis) return Value(std::string("..."));
  if (PySlice_Check(object)) return convertSlice(object);
  if (PyTuple_Check(object) || PyList_Check(object) || PyRange_Check(object)) return convertItems(object, depth);
  if (PyComplex_Check(object)) return convertComplex(object);
  if (auto constant = convertConstant(object)) return std::move(*constant);
  if (PyIndex_Check(object)) {
    const Ref index = Ref::steal(PyNumber_Index(object));
    if (!index) return fail(pendingError());
    return convertInteger(index.get());
  }
  return fail(ErrorCode::BadUsage, "a {} is no value that torch's functions take", Py_TYPE(object)->tp_name);
}

Ref tupleOf(const ValueList& values) {
  Ref tuple = Ref::steal(PyTuple_New(Py_ssize_t(values.size())));
  for (std::size_t i = 0; tuple && i < values.size(); ++i) {
    Ref item = objectOf(values[i]);
    if (!item) return {};
    PyTuple_SET_ITEM(tuple.get(), Py_ssize_t(i), item.release());
  }
  return tuple;
}

struct Maker {
  Ref operator()(std::monostate) const { return Ref::borrow(Py_None); }
  Ref operator()(bool value) const { return Ref::borrow(value ? Py_True : Py_False); }
  Ref operator()(std::int64_t value) const { return Ref::steal(PyLong_FromLongLong(value)); }
  Ref operator()(double value) const { return Ref::steal(PyFloat_FromDouble(value)); }
  Ref operator()(const std::string& value) const { return makeText(value); }
  Ref operator()(DType value) const { return objectOf(value); }
  Ref operator()(const Device& value) const { return objectOf(value); }
  Ref operator()(Layout value) const { return objectOf(value); }
  Ref operator()(MemoryFormat value) const { return objectOf(value); }
  Ref operator()(const Tensor& value) const { return wrapTensor(value); }
  Ref operator()(const std::shared_ptr<const ValueList>& value) const { return tupleOf(*value); }
  Ref operator()(const SymNumber&) const {
    PyErr_SetString(PyExc_RuntimeError, "a symbolic number has no value here");
    return {};
  }
};

}  // namespace

Result<Value> valueOf(PyObject* object) { return convert(object, 0); }
Ref objectOf(const Value& value) { return std::visit(Maker{}, value.variant()); }

}  // namespace kerf::inline torch_api
