#include "engine/torch_api/number_limits.h"

#include <algorithm>
#include <array>
#include <limits>

#include "engine/torch_api/call_values.h"
#include "engine/torch_api/small_types.h"

namespace kerf::inline torch_api {
namespace {

struct FloatLimits {
  DType dtype;
  int bits;
  double eps, max, tiny, resolution;
};
constexpr FloatLimits floats[] = {
    {DType::Float16, 16, 0x1p-10, 65504.0, 0x1p-14, 1e-3},
    {DType::BFloat16, 16, 0x1p-7, 0x1.fep127, 0x1p-126, 1e-2},
    {DType::Float32, 32, 0x1p-23, 0x1.fffffep127, 0x1p-126, 1e-6},
    {DType::Float64, 64, 0x1p-52, std::numeric_limits<double>::max(), std::numeric_limits<double>::min(), 1e-15},
    {DType::Float8E4M3FN, 8, 0.125, 448.0, 0x1p-6, 1.0},
    {DType::Float8E5M2, 8, 0.25, 57344.0, 0x1p-14, 1.0},
    {DType::Float8E4M3FNUZ, 8, 0.125, 240.0, 0x1p-7, 1.0},
    {DType::Float8E5M2FNUZ, 8, 0.25, 57344.0, 0x1p-15, 1.0},
};

PyStructSequence_Field floatFields[] = {{"bits", nullptr},       {"eps", nullptr},   {"max", nullptr},
                                        {"min", nullptr},        {"tiny", nullptr},  {"smallest_normal", nullptr},
                                        {"resolution", nullptr}, {"dtype", nullptr}, {nullptr, nullptr}};
PyStructSequence_Desc floatDescription{"torch.finfo", nullptr, floatFields, 8};
PyStructSequence_Field integerFields[] = {
    {"bits", nullptr}, {"max", nullptr}, {"min", nullptr}, {"dtype", nullptr}, {nullptr, nullptr}};
PyStructSequence_Desc integerDescription{"torch.iinfo", nullptr, integerFields, 4};

/// "finfo(resolution=1e-06, …, dtype=float32)": PyTorch's order and digits.
PyObject* describeFloat(PyObject* self) {
  const auto number = [&](Py_ssize_t place) { return PyFloat_AsDouble(PyTuple_GET_ITEM(self, place)); };
  return makeText(fmt::format(
                      "finfo(resolution={:g}, min={:g}, max={:g}, eps={:g}, smallest_normal={:g}, tiny={:g}, dtype={})",
                      number(6), number(3), number(2), number(1), number(5), number(4),
                      textOf(PyTuple_GET_ITEM(self, 7))))
      .release();
}
PyObject* describeInteger(PyObject* self) {
  const auto item = [&](Py_ssize_t place) { return printed(PyTuple_GET_ITEM(self, place)); };
  return makeText(fmt::format("iinfo(min={}, max={}, dtype={})", item(2), item(1), item(3))).release();
}
PyTypeObject* limitsType(PyStructSequence_Desc& description, reprfunc repr) {
  PyTypeObject* type = PyStructSequence_NewType(&description);
  if (type != nullptr) type->tp_repr = type->tp_str = repr;
  return type;
}

PyObject* filled(PyTypeObject* type, std::initializer_list<PyObject*> items) {
  PyObject* tuple = PyStructSequence_New(type);
  Py_ssize_t i = 0;
  for (PyObject* item : items) PyStructSequence_SetItem(tuple, i++, item);
  return tuple;
}

PyObject* nameOf(DType dtype) { return makeText(dtypeInfo(dtype).torchName.substr(6)).release(); }

DType realOf(DType dtype) {
  if (dtype == DType::Complex64) return DType::Float32;
  if (dtype == DType::Complex128) return DType::Float64;
  return dtype == DType::Complex32 ? DType::Float16 : dtype;
}

PyObject* finfo(PyObject*, PyObject* args) {
  static PyTypeObject* type = limitsType(floatDescription, describeFloat);
  PyObject* given = PyTuple_GET_SIZE(args) > 0 ? PyTuple_GET_ITEM(args, 0) : nullptr;
  const DType dtype = realOf(given ? dtypeOf(given).value_or(DType::Int64) : defaultDtype());
  const auto* found = std::ranges::find(floats, dtype, &FloatLimits::dtype);
  if (found == std::end(floats))
    return PyErr_SetString(PyExc_TypeError,
                           "torch.finfo() requires a floating point input type. Use torch.iinfo to handle "
                           "'torch.finfo'"),
           nullptr;
  const auto number = [](double value) { return PyFloat_FromDouble(value); };
  return filled(type, {PyLong_FromLong(found->bits), number(found->eps), number(found->max), number(-found->max),
                       number(found->tiny), number(found->tiny), number(found->resolution), nameOf(dtype)});
}

PyObject* iinfo(PyObject*, PyObject* args) {
  static PyTypeObject* type = limitsType(integerDescription, describeInteger);
  PyObject* given = PyTuple_GET_SIZE(args) > 0 ? PyTuple_GET_ITEM(args, 0) : nullptr;
  const auto dtype = dtypeOf(given);
  if (!dtype || !isIntegral(*dtype) || *dtype == DType::Bool)
    return PyErr_SetString(PyExc_TypeError,
                           "torch.iinfo() requires an integer input type. Use torch.finfo to handle "
                           "'torch.iinfo'"),
           nullptr;
  const int bits = int(itemSize(*dtype)) * 8;
  const bool isUnsigned = dtypeInfo(*dtype).torchName.find("uint") != std::string_view::npos;
  const std::uint64_t most = isUnsigned ? ~std::uint64_t{0} >> (64 - bits) : ~std::uint64_t{0} >> (65 - bits);
  PyObject* least = isUnsigned ? PyLong_FromLong(0) : PyLong_FromLongLong(-std::int64_t(most) - 1);
  return filled(type, {PyLong_FromLong(bits), PyLong_FromUnsignedLongLong(most), least, nameOf(*dtype)});
}

}  // namespace

bool addNumberLimits(PyObject* module) {
  static PyMethodDef functions[] = {
      {"finfo", finfo, METH_VARARGS, nullptr}, {"iinfo", iinfo, METH_VARARGS, nullptr}, {nullptr, nullptr, 0, nullptr}};
  return PyModule_AddFunctions(module, functions) == 0;
}

}  // namespace kerf::inline torch_api
