#include "engine/torch_api/small_types.h"

#include <algorithm>
#include <array>
#include <map>

namespace kerf::inline torch_api {
namespace {

/// An object that is one value of an enumeration.
template <class T>
struct Constant {
  PyObject_HEAD T value;
};

template <class T>
struct ConstantType {
  PyTypeObject* type = nullptr;
  std::map<T, Ref> objects;
};
template <class T>
ConstantType<T>& constants() {
  static auto& instance = *new ConstantType<T>;
  return instance;
}

template <class T>
Ref constantOf(T value) {
  auto& all = constants<T>();
  Ref& object = all.objects[value];
  if (!object && all.type) {
    PyObject* made = all.type->tp_alloc(all.type, 0);
    if (made == nullptr) return {};
    reinterpret_cast<Constant<T>*>(made)->value = value;
    object = Ref::steal(made);
  }
  return object;
}

template <class T>
std::optional<T> constantIn(PyObject* object) {
  if (object == nullptr || Py_TYPE(object) != constants<T>().type) return {};
  return reinterpret_cast<Constant<T>*>(object)->value;
}

std::string nameOf(DType dtype) { return std::string(dtypeInfo(dtype).torchName); }
std::string nameOf(Layout layout) {
  constexpr std::array<const char*, 8> names = {"torch.strided",    "torch.sparse_coo", "torch.sparse_csr",
                                                "torch.sparse_csc", "torch.sparse_bsr", "torch.sparse_bsc",
                                                "torch._mkldnn",    "torch.jagged"};
  return names[std::size_t(layout)];
}
std::string nameOf(MemoryFormat format) {
  constexpr std::array<const char*, 4> names = {"torch.contiguous_format", "torch.channels_last",
                                                "torch.channels_last_3d", "torch.preserve_format"};
  return names[std::size_t(format)];
}

template <class T>
PyObject* reprConstant(PyObject* self) {
  return makeText(nameOf(reinterpret_cast<Constant<T>*>(self)->value)).release();
}
/// copy, deepcopy and pickle find the constant by its name in torch.
template <class T>
PyObject* reduceConstant(PyObject* self, PyObject*) {
  return makeText(nameOf(reinterpret_cast<Constant<T>*>(self)->value).substr(6)).release();
}

template <class T>
bool makeConstantType(PyObject* module, const char* fullName, const char* name, PyGetSetDef* attributes,
                      PyMethodDef* methods) {
  PyType_Slot slots[] = {{Py_tp_repr, reinterpret_cast<void*>(reprConstant<T>)},
                         {Py_tp_getset, attributes},
                         {Py_tp_methods, methods},
                         {0, nullptr}};
  PyType_Spec spec{fullName, sizeof(Constant<T>), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
  PyObject* type = PyType_FromSpec(&spec);
  constants<T>().type = reinterpret_cast<PyTypeObject*>(type);
  return type != nullptr && PyModule_AddObjectRef(module, name, type) == 0;
}

DType dtypeIn(PyObject* self) { return reinterpret_cast<Constant<DType>*>(self)->value; }
PyObject* isFloatingPoint(PyObject* self, void*) { return PyBool_FromLong(isFloating(dtypeIn(self))); }
PyObject* isComplexType(PyObject* self, void*) { return PyBool_FromLong(isComplex(dtypeIn(self))); }
PyObject* isSigned(PyObject* self, void*) {
  const DType d = dtypeIn(self);
  const bool isUnsigned =
      d == DType::UInt8 || d == DType::UInt16 || d == DType::UInt32 || d == DType::UInt64 || d == DType::Bool;
  return PyBool_FromLong(!isUnsigned);
}
PyObject* itemBytes(PyObject* self, void*) { return PyLong_FromLong(long(itemSize(dtypeIn(self)))); }
PyObject* toReal(PyObject* self, PyObject*) {
  const DType d = dtypeIn(self);
  return objectOf(d == DType::Complex64    ? DType::Float32
                  : d == DType::Complex128 ? DType::Float64
                  : d == DType::Complex32  ? DType::Float16
                                           : d)
      .release();
}
PyObject* toComplex(PyObject* self, PyObject*) {
  const DType d = dtypeIn(self);
  return objectOf(d == DType::Float64   ? DType::Complex128
                  : d == DType::Float16 ? DType::Complex32
                  : isComplex(d)        ? d
                                        : DType::Complex64)
      .release();
}

PyGetSetDef dtypeAttributes[] = {{"is_floating_point", isFloatingPoint, nullptr, nullptr, nullptr},
                                 {"is_complex", isComplexType, nullptr, nullptr, nullptr},
                                 {"is_signed", isSigned, nullptr, nullptr, nullptr},
                                 {"itemsize", itemBytes, nullptr, nullptr, nullptr},
                                 {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyMethodDef dtypeMethods[] = {{"__reduce__", reduceConstant<DType>, METH_NOARGS, nullptr},
                              {"to_real", toReal, METH_NOARGS, nullptr},
                              {"to_complex", toComplex, METH_NOARGS, nullptr},
                              {nullptr, nullptr, 0, nullptr}};
PyGetSetDef noAttributes[] = {{nullptr, nullptr, nullptr, nullptr, nullptr}};
PyMethodDef layoutMethods[] = {{"__reduce__", reduceConstant<Layout>, METH_NOARGS, nullptr},
                               {nullptr, nullptr, 0, nullptr}};
PyMethodDef formatMethods[] = {{"__reduce__", reduceConstant<MemoryFormat>, METH_NOARGS, nullptr},
                               {nullptr, nullptr, 0, nullptr}};

struct DTypeAlias {
  const char* name;
  DType dtype;
};
constexpr DTypeAlias aliases[] = {
    {"half", DType::Float16},     {"float", DType::Float32},      {"double", DType::Float64},
    {"short", DType::Int16},      {"int", DType::Int32},          {"long", DType::Int64},
    {"cfloat", DType::Complex64}, {"cdouble", DType::Complex128}, {"chalf", DType::Complex32},
};

bool addDtypes(PyObject* module) {
  for (int i = 0; i <= int(lastOf(DType())); ++i) {
    const Ref object = objectOf(DType(i));
    if (!object || PyModule_AddObjectRef(module, nameOf(DType(i)).substr(6).c_str(), object.get()) < 0) return false;
  }
  return std::ranges::all_of(aliases, [&](const DTypeAlias& alias) {
    return PyModule_AddObjectRef(module, alias.name, objectOf(alias.dtype).get()) == 0;
  });
}

template <class T>
bool addAll(PyObject* module, int count) {
  for (int i = 0; i < count; ++i) {
    const Ref object = constantOf(T(i));
    if (!object || PyModule_AddObjectRef(module, nameOf(T(i)).substr(6).c_str(), object.get()) < 0) return false;
  }
  return true;
}

}  // namespace

Ref objectOf(DType dtype) { return constantOf(dtype); }
Ref objectOf(Layout layout) { return constantOf(layout); }
Ref objectOf(MemoryFormat format) { return constantOf(format); }
std::optional<DType> dtypeOf(PyObject* object) {
  if (object == reinterpret_cast<PyObject*>(&PyFloat_Type)) return DType::Float64;  // dtype=float
  if (object == reinterpret_cast<PyObject*>(&PyLong_Type)) return DType::Int64;
  if (object == reinterpret_cast<PyObject*>(&PyBool_Type)) return DType::Bool;
  return constantIn<DType>(object);
}
std::optional<Layout> layoutOf(PyObject* object) { return constantIn<Layout>(object); }
std::optional<MemoryFormat> memoryFormatOf(PyObject* object) { return constantIn<MemoryFormat>(object); }

bool addDeviceAndSize(PyObject* module);  // device_type.cpp

bool addSmallTypes(PyObject* module) {
  return makeConstantType<DType>(module, "torch.dtype", "dtype", dtypeAttributes, dtypeMethods) && addDtypes(module) &&
         makeConstantType<Layout>(module, "torch.layout", "layout", noAttributes, layoutMethods) &&
         addAll<Layout>(module, 8) &&
         makeConstantType<MemoryFormat>(module, "torch.memory_format", "memory_format", noAttributes, formatMethods) &&
         addAll<MemoryFormat>(module, 4) && addDeviceAndSize(module);
}

}  // namespace kerf::inline torch_api
