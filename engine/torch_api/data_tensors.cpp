#include "engine/torch_api/data_tensors.h"

#include <algorithm>
#include <complex>

#include "engine/torch_api/call_values.h"
#include "engine/torch_api/placed_tensors.h"
#include "engine/torch_api/small_types.h"
#include "engine/torch_api/tensor_type.h"

namespace kerf::inline torch_api {
namespace {

enum class NumberKind { Bool, Integer, Float, Complex };

/// Numbers of nested lists, row by row.
struct Numbers {
  Sizes sizes;
  std::vector<std::complex<double>> reals;
  std::vector<std::int64_t> integers;
  NumberKind kind = NumberKind::Bool;
  bool isEmpty = true;
  std::optional<DType> dtype;  ///< of tensors among them

  void saw(NumberKind other) {
    kind = isEmpty ? other : std::max(kind, other);
    isEmpty = false;
  }
};

bool isSequence(PyObject* object) {
  return PyList_Check(object) || PyTuple_Check(object) || PyRange_Check(object) ||
         (PySequence_Check(object) && !PyUnicode_Check(object) && !PyBytes_Check(object) && !isTensor(object) &&
          !PyDict_Check(object));
}

Result<void> addTensor(PyObject* object, std::size_t depth, Numbers& numbers);

Result<void> addNumber(PyObject* object, Numbers& numbers) {
  if (PyBool_Check(object)) {
    numbers.saw(NumberKind::Bool);
    numbers.integers.push_back(object == Py_True);
    numbers.reals.emplace_back(object == Py_True ? 1.0 : 0.0);
    return {};
  }
  if (PyComplex_Check(object)) {
    const Py_complex value = PyComplex_AsCComplex(object);
    numbers.saw(NumberKind::Complex);
    numbers.integers.push_back(0);
    numbers.reals.emplace_back(value.real, value.imag);
    return {};
  }
  if (PyLong_Check(object) || (PyIndex_Check(object) && !PyFloat_Check(object))) {
    const Ref index = Ref::steal(PyNumber_Index(object));
    const long long value = index ? PyLong_AsLongLong(index.get()) : -1;
    if (PyErr_Occurred()) return fail(pendingError());
    numbers.saw(NumberKind::Integer);
    numbers.integers.push_back(value);
    numbers.reals.emplace_back(double(value));
    return {};
  }
  const double value = PyFloat_AsDouble(object);
  if (value == -1.0 && PyErr_Occurred()) {
    PyErr_Clear();
    if (PyUnicode_Check(object)) return fail(ErrorCode::BadUsage, "new(): invalid data type 'str'");
    return fail(ErrorCode::RuntimeFailed, "Could not infer dtype of {}", Py_TYPE(object)->tp_name);
  }
  numbers.saw(NumberKind::Float);
  numbers.integers.push_back(0);
  numbers.reals.emplace_back(value);
  return {};
}

Result<void> collect(PyObject* object, std::size_t depth, Numbers& numbers) {
  if (isTensor(object)) return addTensor(object, depth, numbers);
  if (!isSequence(object)) {
    if (depth < numbers.sizes.size())
      return fail(ErrorCode::BadUsage, "not a sequence at dimension {} though its neighbours are", depth);
    return addNumber(object, numbers);
  }
  const Ref items = Ref::steal(PySequence_Fast(object, "expected a sequence"));
  if (!items) return fail(pendingError());
  const Py_ssize_t count = PySequence_Fast_GET_SIZE(items.get());
  if (depth == numbers.sizes.size()) {
    if (!numbers.isEmpty || depth > 64)
      return fail(ErrorCode::BadInput, "ValueError: only one element tensors can be converted to Python scalars");
    numbers.sizes.push_back(count);
  } else if (numbers.sizes[depth] != count) {
    return fail(ErrorCode::BadInput, "ValueError: expected sequence of length {} at dim {} (got {})",
                numbers.sizes[depth], depth, count);
  }
  for (Py_ssize_t i = 0; i < count; ++i)
    KERF_CHECK(collect(PySequence_Fast_GET_ITEM(items.get(), i), depth + 1, numbers));
  return {};
}

Result<void> addTensor(PyObject* object, std::size_t depth, Numbers& numbers) {
  const Tensor tensor = tensorOf(object);
  if (tensor.dim() == 0) {
    const Ref number = elementObject(tensor, 0);
    if (!number) return fail(pendingError());
    const DType dtype = tensor.dtype();
    if (isFloating(dtype)) numbers.dtype = dtype;
    return addNumber(number.get(), numbers);
  }
  const Ref list = listOf(tensor);
  if (!list) return fail(pendingError());
  return collect(list.get(), depth, numbers);
}

Result<Tensor> written(const Numbers& numbers) {
  constexpr DType wide[] = {DType::Bool, DType::Int64, DType::Float64, DType::Complex128};
  KERF_TRY(Tensor tensor,
           Tensor::zeros(numbers.isEmpty ? DType::Float64 : wide[std::size_t(numbers.kind)], numbers.sizes));
  for (std::size_t i = 0; i < numbers.reals.size(); ++i) switch (numbers.kind) {
      case NumberKind::Bool:
        tensor.data<bool>()[i] = numbers.integers[i] != 0;
        break;
      case NumberKind::Integer:
        tensor.data<std::int64_t>()[i] = numbers.integers[i];
        break;
      case NumberKind::Float:
        tensor.data<double>()[i] = numbers.reals[i].real();
        break;
      case NumberKind::Complex:
        tensor.data<std::complex<double>>()[i] = numbers.reals[i];
        break;
    }
  return tensor;
}

DType inferred(const Numbers& numbers) {
  if (numbers.isEmpty) return defaultDtype();
  switch (numbers.kind) {
    case NumberKind::Bool:
      return DType::Bool;
    case NumberKind::Integer:
      return DType::Int64;
    case NumberKind::Float:
      return numbers.dtype && *numbers.dtype == DType::Float64 ? DType::Float64 : defaultDtype();
    default:
      return defaultDtype() == DType::Float64 ? DType::Complex128 : DType::Complex64;
  }
}

template <class T>
Ref complexElement(const Tensor& tensor, std::int64_t at) {
  const std::complex<T> value = tensor.data<std::complex<T>>()[at];
  return Ref::steal(PyComplex_FromDoubles(double(value.real()), double(value.imag())));
}

Ref nested(const Tensor& tensor, std::int64_t dim, std::int64_t& next) {
  if (dim == tensor.dim()) return elementObject(tensor, next++);
  Ref list = Ref::steal(PyList_New(Py_ssize_t(tensor.size(dim))));
  for (std::int64_t i = 0; list && i < tensor.size(dim); ++i) {
    Ref item = nested(tensor, dim + 1, next);
    if (!item) return {};
    PyList_SET_ITEM(list.get(), Py_ssize_t(i), item.release());
  }
  return list;
}

}  // namespace

Result<Tensor> tensorOfData(PyObject* data, std::optional<DType> dtype) {
  if (isTensor(data)) {
    const Tensor given = tensorOf(data);
    KERF_TRY(const Tensor copy, given.clone());
    KERF_TRY(Tensor result, copy.to(dtype.value_or(given.dtype())));
    result.traced = -1;
    return result;
  }
  Numbers numbers;
  KERF_CHECK(collect(data, 0, numbers));
  KERF_TRY(const Tensor wide, written(numbers));
  return wide.to(dtype.value_or(inferred(numbers)));
}

Result<Tensor> legacyTensor(PyObject* args, PyObject*) {
  const Py_ssize_t count = PyTuple_GET_SIZE(args);
  if (count == 0) return Tensor::zeros(defaultDtype(), {0});
  PyObject* first = PyTuple_GET_ITEM(args, 0);
  if (isTensor(first)) {
    Tensor same = tensorOf(first);
    same.traced = -1;
    return same;
  }
  if (!PyLong_Check(first) && !isSize(first)) return tensorOfData(first, defaultDtype());
  PyObject* list = isSize(first) ? first : args;
  Sizes sizes;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(list); ++i) sizes.push_back(PyLong_AsLongLong(PyTuple_GET_ITEM(list, i)));
  if (PyErr_Occurred()) return fail(pendingError());
  return Tensor::zeros(defaultDtype(), sizes);
}

Ref elementObject(const Tensor& tensor, std::int64_t index) {
  if (!tensor.defined()) {
    PyErr_SetString(PyExc_RuntimeError, "a tensor without data has no elements");
    return {};
  }
  if (const auto own = refusePlaced(tensor, "an element"); !own) return raise(own.error()), Ref();
  const DType dtype = tensor.dtype();
  if (isComplex(dtype)) {
    auto whole = tensor.to(DType::Complex128);
    auto flat = whole ? whole->contiguous() : std::move(whole);
    if (!flat) return raise(flat.error()), Ref();
    return complexElement<double>(*flat, index);
  }
  if (dtype == DType::Bool) return Ref::borrow(tensor.itemAsInt(index) != 0 ? Py_True : Py_False);
  if (dtype == DType::UInt64) return Ref::steal(PyLong_FromUnsignedLongLong(std::uint64_t(tensor.itemAsInt(index))));
  if (isIntegral(dtype)) return Ref::steal(PyLong_FromLongLong(tensor.itemAsInt(index)));
  return Ref::steal(PyFloat_FromDouble(tensor.itemAsDouble(index)));
}

Ref listOf(const Tensor& tensor) {
  std::int64_t next = 0;
  return nested(tensor, 0, next);
}

}  // namespace kerf::inline torch_api
