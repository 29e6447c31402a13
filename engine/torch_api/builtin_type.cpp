#include "engine/torch_api/builtin_type.h"

#include "engine/torch_api/call_values.h"
#include "engine/torch_api/torch_function.h"

namespace kerf::inline torch_api {
namespace {

PyTypeObject* builtinType = nullptr;

Builtin& in(PyObject* self) { return *reinterpret_cast<Builtin*>(self); }

PyObject* callBuiltin(PyObject* self, PyObject* args, PyObject* kwargs) {
  const Builtin& builtin = in(self);
  if (hasTorchFunction(args, kwargs)) return callTorchFunction(self, args, kwargs);
  if (builtin.isOperator && PyTuple_GET_SIZE(args) == 2 && !takesOperand(PyTuple_GET_ITEM(args, 1)))
    Py_RETURN_NOTIMPLEMENTED;
  return builtin.handler ? builtin.handler(args, kwargs) : callByValues(builtin.target, args, kwargs);
}

PyObject* bindBuiltin(PyObject* self, PyObject* object, PyObject*) {
  if (object == nullptr || object == Py_None || !in(self).isMethod) return Py_NewRef(self);
  return PyMethod_New(self, object);
}

void freeBuiltin(PyObject* self) {
  Builtin& builtin = in(self);
  builtin.name.~basic_string();
  builtin.qualified.~basic_string();
  builtin.target.~basic_string();
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject* reprBuiltin(PyObject* self) {
  const Builtin& builtin = in(self);
  const bool isMethod = builtin.isMethod;
  return makeText(isMethod ? fmt::format("<method '{}' of 'torch._C.TensorBase' objects>", builtin.name)
                           : fmt::format("<built-in method {} of type object at {}>", builtin.name,
                                         static_cast<const void*>(builtinType)))
      .release();
}
PyObject* nameOfBuiltin(PyObject* self, void*) { return makeText(in(self).name).release(); }
PyObject* qualifiedName(PyObject* self, void*) {
  const Builtin& builtin = in(self);
  return makeText(builtin.isMethod ? "TensorBase." + builtin.name : builtin.name).release();
}
PyObject* moduleOf(PyObject* self, void*) {
  const std::string& name = in(self).qualified;
  return makeText(name.substr(0, name.rfind('.'))).release();
}
PyObject* reduceBuiltin(PyObject* self, PyObject*) {  // copy and deepcopy give the function itself
  return makeText(in(self).name).release();
}
PyObject* itself(PyObject* self, PyObject*) { return Py_NewRef(self); }

PyTypeObject* makeType() {
  static PyGetSetDef attributes[] = {{"__name__", nameOfBuiltin, nullptr, nullptr, nullptr},
                                     {"__qualname__", qualifiedName, nullptr, nullptr, nullptr},
                                     {"__module__", moduleOf, nullptr, nullptr, nullptr},
                                     {nullptr, nullptr, nullptr, nullptr, nullptr}};
  static PyMethodDef methods[] = {{"__reduce__", reduceBuiltin, METH_NOARGS, nullptr},
                                  {"__copy__", itself, METH_NOARGS, nullptr},
                                  {"__deepcopy__", itself, METH_O, nullptr},
                                  {nullptr, nullptr, 0, nullptr}};
  static PyType_Slot slots[] = {{Py_tp_call, reinterpret_cast<void*>(callBuiltin)},
                                {Py_tp_descr_get, reinterpret_cast<void*>(bindBuiltin)},
                                {Py_tp_dealloc, reinterpret_cast<void*>(freeBuiltin)},
                                {Py_tp_repr, reinterpret_cast<void*>(reprBuiltin)},
                                {Py_tp_getset, attributes},
                                {Py_tp_methods, methods},
                                {0, nullptr}};
  static PyType_Spec spec{"torch._C.builtin_function", sizeof(Builtin), 0,
                          Py_TPFLAGS_DEFAULT | Py_TPFLAGS_METHOD_DESCRIPTOR | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
  return reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
}

}  // namespace

Ref makeBuiltin(std::string name, std::string qualified, std::string target, Handler handler, bool isMethod,
                bool isOperator) {
  if (builtinType == nullptr) builtinType = makeType();
  PyObject* object = builtinType ? builtinType->tp_alloc(builtinType, 0) : nullptr;
  if (object == nullptr) return {};
  Builtin& builtin = in(object);
  new (&builtin.name) std::string(std::move(name));
  new (&builtin.qualified) std::string(std::move(qualified));
  new (&builtin.target) std::string(std::move(target));
  builtin.handler = handler;
  builtin.isMethod = isMethod;
  builtin.isOperator = isOperator;
  return Ref::steal(object);
}

const Builtin* builtinOf(PyObject* object) {
  if (object != nullptr && PyMethod_Check(object)) object = PyMethod_GET_FUNCTION(object);
  if (object == nullptr || builtinType == nullptr || Py_TYPE(object) != builtinType) return nullptr;
  return &in(object);
}

}  // namespace kerf::inline torch_api
