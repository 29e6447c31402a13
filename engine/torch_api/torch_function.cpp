#include "engine/torch_api/torch_function.h"

#include "engine/torch_api/callables.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/torch_api/tensor_type.h"

namespace kerf::inline torch_api {
namespace {

struct State {
  int subclassesOff = 0, allOff = 0;
  std::vector<Ref> modes;
  Ref disabled;  ///< _disabled_torch_function_impl
};
State& state() {
  static auto& instance = *new State;
  return instance;
}

bool takesOver(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  if (type == tensorClass() || type == tensorBaseType() || PyLong_CheckExact(object) || PyFloat_CheckExact(object) ||
      object == Py_None || PyUnicode_CheckExact(object))
    return false;
  PyObject* found = _PyType_Lookup(type, Ref::steal(PyUnicode_InternFromString("__torch_function__")).get());
  return found != nullptr && found != state().disabled.get();
}

void collect(PyObject* object, std::vector<PyObject*>& found, int depth) {
  if ((PyTuple_CheckExact(object) || PyList_CheckExact(object)) && depth < 2) {
    const Py_ssize_t size = PySequence_Fast_GET_SIZE(object);
    for (Py_ssize_t i = 0; i < size; ++i) collect(PySequence_Fast_GET_ITEM(object, i), found, depth + 1);
    return;
  }
  if (!takesOver(object)) return;
  const auto sameType = [&](PyObject* other) { return Py_TYPE(other) == Py_TYPE(object); };
  if (std::ranges::any_of(found, sameType)) return;
  const auto base = std::ranges::find_if(  // subclasses are asked before their bases
      found, [&](PyObject* other) { return PyType_IsSubtype(Py_TYPE(object), Py_TYPE(other)) != 0; });
  found.insert(base, object);
}

std::vector<PyObject*> overloaded(PyObject* args, PyObject* kwargs) {
  std::vector<PyObject*> found;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args); ++i) collect(PyTuple_GET_ITEM(args, i), found, 0);
  PyObject *key = nullptr, *value = nullptr;
  Py_ssize_t at = 0;
  while (kwargs != nullptr && PyDict_Next(kwargs, &at, &key, &value)) collect(value, found, 0);
  return found;
}

PyObject* disabledImplementation(PyObject*, PyObject* given) {
  PyObject *function = nullptr, *types = nullptr, *args = nullptr, *kwargs = nullptr;
  if (!PyArg_ParseTuple(given, "OO|OO", &function, &types, &args, &kwargs)) return nullptr;
  const Ref none = Ref::steal(PyTuple_New(0));
  ++state().subclassesOff;
  PyObject* result = PyObject_Call(function, args ? args : none.get(), kwargs == Py_None ? nullptr : kwargs);
  --state().subclassesOff;
  return result;
}

PyObject* hasFunction(PyObject*, PyObject* object) {
  const Ref args = Ref::steal(PySequence_Tuple(object));
  return args ? PyBool_FromLong(hasTorchFunction(args.get(), nullptr)) : nullptr;
}
PyObject* pushMode(PyObject*, PyObject* mode) {
  state().modes.push_back(Ref::borrow(mode));
  Py_RETURN_NONE;
}
PyObject* popMode(PyObject*, PyObject*) {
  if (state().modes.empty()) return PyErr_SetString(PyExc_RuntimeError, "no torch function mode is active"), nullptr;
  Ref mode = std::move(state().modes.back());
  state().modes.pop_back();
  return mode.release();
}
PyObject* countModes(PyObject*, PyObject*) { return PyLong_FromSize_t(state().modes.size()); }
PyObject* modeAt(PyObject*, PyObject* index) {
  const auto at = std::size_t(PyLong_AsLong(index));
  if (at >= state().modes.size()) return PyErr_SetString(PyExc_IndexError, "no such mode"), nullptr;
  return Py_NewRef(state().modes[at].get());
}
template <int State::* count, int step>
PyObject* change(PyObject* self, PyObject*) {
  state().*count += step;
  return Py_NewRef(step > 0 && self ? self : Py_None);
}

bool addGuard(PyObject* module, const char* full, const char* name, PyMethodDef* methods) {
  PyType_Slot slots[] = {{Py_tp_methods, methods}, {0, nullptr}};
  PyType_Spec spec{full, sizeof(PyObject), 0, Py_TPFLAGS_DEFAULT, slots};
  const Ref type = Ref::steal(PyType_FromSpec(&spec));
  return type && PyModule_AddObjectRef(module, name, type.get()) == 0;
}

PyObject* askMode(PyObject* function, PyObject* types, PyObject* args, PyObject* kwargs) {
  Ref mode = std::move(state().modes.back());
  state().modes.pop_back();
  PyObject* result = PyObject_CallMethod(mode.get(), "__torch_function__", "OOOO", function, types, args, kwargs);
  state().modes.push_back(std::move(mode));
  return result;
}

const std::unordered_map<std::string_view, const char*> kPublicNames = {
    {"__add__", "add"},         {"__radd__", "add"},    {"__iadd__", "add_"},     {"__sub__", "sub"},
    {"__isub__", "sub_"},       {"__mul__", "mul"},     {"__rmul__", "mul"},      {"__imul__", "mul_"},
    {"__matmul__", "matmul"},   {"__truediv__", "div"}, {"__itruediv__", "div_"}, {"__mod__", "remainder"},
    {"__imod__", "remainder_"}, {"__eq__", "eq"},       {"__ne__", "ne"},         {"__lt__", "lt"},
    {"__le__", "le"},           {"__gt__", "gt"},       {"__ge__", "ge"},         {"__neg__", "neg"},
    {"__pos__", "positive"},    {"__abs__", "abs"}};

/// Operators are asked about by the names of their methods.
Ref publicFunction(PyObject* function) {
  const std::string name = textOf(attributeOf(function, "__name__").get());
  const std::string wanted = publicMethodName(name);
  if (wanted == name || PyFunction_Check(function)) return Ref::borrow(function);
  Ref found = attributeOf(reinterpret_cast<PyObject*>(tensorClass()), wanted.c_str());
  return found ? found : Ref::borrow(function);
}

}  // namespace

std::string publicMethodName(const std::string& name) {
  const auto row = kPublicNames.find(name);
  return row == kPublicNames.end() ? name : row->second;
}

bool isDisabledTorchFunction(PyObject* function) { return function == state().disabled.get(); }

NoSubclassScope::NoSubclassScope() { ++state().subclassesOff; }
NoSubclassScope::~NoSubclassScope() { --state().subclassesOff; }

bool hasTorchFunction(PyObject* args, PyObject* kwargs) {
  if (state().allOff > 0) return false;
  if (!state().modes.empty()) return true;
  if (state().subclassesOff > 0) return false;
  const auto plain = [](PyObject* object) { return Py_TYPE(object) == tensorClass(); };
  bool simple = kwargs == nullptr;
  for (Py_ssize_t i = 0; simple && i < PyTuple_GET_SIZE(args); ++i) simple = plain(PyTuple_GET_ITEM(args, i));
  return !simple && !overloaded(args, kwargs).empty();
}

PyObject* callTorchFunction(PyObject* called, PyObject* args, PyObject* kwargs) {
  const Ref asked = publicFunction(called);
  PyObject* function = asked.get();
  const std::vector<PyObject*> objects =
      state().subclassesOff > 0 ? std::vector<PyObject*>() : overloaded(args, kwargs);
  const Ref types = Ref::steal(PyTuple_New(Py_ssize_t(objects.size())));
  for (std::size_t i = 0; i < objects.size(); ++i)
    PyTuple_SET_ITEM(types.get(), Py_ssize_t(i), Py_NewRef(reinterpret_cast<PyObject*>(Py_TYPE(objects[i]))));
  const Ref keywords = kwargs ? Ref::borrow(kwargs) : Ref::steal(PyDict_New());
  if (!state().modes.empty()) {
    PyObject* result = askMode(function, types.get(), args, keywords.get());
    if (result != Py_NotImplemented) return result;
    Py_DECREF(result);
  }
  const Ref name = Ref::steal(PyUnicode_InternFromString("__torch_function__"));
  for (PyObject* object : objects) {
    const Ref method = Ref::steal(PyObject_GetAttr(reinterpret_cast<PyObject*>(Py_TYPE(object)), name.get()));
    PyObject* result =
        method ? PyObject_CallFunctionObjArgs(method.get(), function, types.get(), args, keywords.get(), nullptr)
               : nullptr;
    if (result != Py_NotImplemented) return result;
    Py_DECREF(result);
  }
  const std::string spelled = callableOf(function);
  const Ref shown = spelled.empty() ? Ref::steal(PyObject_Str(function)) : makeText(spelled);
  const Ref list = Ref::steal(PySequence_List(types.get()));
  PyErr_Format(PyExc_TypeError, "no implementation found for '%S' on types that implement __torch_function__: %S",
               shown.get(), list.get());
  return nullptr;
}

bool addTorchFunction(PyObject* module) {
  static PyMethodDef functions[] = {{"_disabled_torch_function_impl", disabledImplementation, METH_VARARGS, nullptr},
                                    {"_has_torch_function", hasFunction, METH_O, nullptr},
                                    {"_push_on_torch_function_stack", pushMode, METH_O, nullptr},
                                    {"_pop_torch_function_stack", popMode, METH_NOARGS, nullptr},
                                    {"_len_torch_function_stack", countModes, METH_NOARGS, nullptr},
                                    {"_get_function_stack_at", modeAt, METH_O, nullptr},
                                    {nullptr, nullptr, 0, nullptr}};
  static PyMethodDef subclasses[] = {{"__enter__", change<&State::subclassesOff, 1>, METH_NOARGS, nullptr},
                                     {"__exit__", change<&State::subclassesOff, -1>, METH_VARARGS, nullptr},
                                     {nullptr, nullptr, 0, nullptr}};
  static PyMethodDef all[] = {{"__enter__", change<&State::allOff, 1>, METH_NOARGS, nullptr},
                              {"__exit__", change<&State::allOff, -1>, METH_VARARGS, nullptr},
                              {nullptr, nullptr, 0, nullptr}};
  if (PyModule_AddFunctions(module, functions) < 0) return false;
  state().disabled = attributeOf(module, "_disabled_torch_function_impl");
  return addGuard(module, "torch._C.DisableTorchFunctionSubclass", "DisableTorchFunctionSubclass", subclasses) &&
         addGuard(module, "torch._C.DisableTorchFunction", "DisableTorchFunction", all);
}

}  // namespace kerf::inline torch_api
