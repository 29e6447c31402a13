#include "engine/torch_api/dispatch_classes.h"

#include <algorithm>

#include "engine/torch_api/conversions.h"
#include "engine/torch_api/dispatch_mode.h"
#include "engine/torch_api/eager_ops.h"
#include "engine/torch_api/small_types.h"
#include "engine/torch_api/tensor_object.h"

namespace kerf::inline torch_api {
namespace {

bool haveTensors = false;
int dispatchOff = 0;
Ref disabledDispatch;

template <class Visit>
void eachDispatched(const Value& value, const Visit& visit) {
  if (value.isTensor() && isDispatched(value.tensor())) visit(*variableOf(value.tensor()));
  if (!value.isList()) return;
  for (const Value& item : value.list()) eachDispatched(item, visit);
}

/// The objects whose classes are asked, each class once, a subclass before what it is derived from.
std::vector<PyObject*> askedObjects(const ValueList& args, const KeywordValues& kwargs) {
  std::vector<PyObject*> asked;
  const auto add = [&](const Variable& variable) {
    PyObject* object = variable.object;
    const auto isOfType = [object](PyObject* other) { return Py_TYPE(other) == Py_TYPE(object); };
    if (std::ranges::any_of(asked, isOfType)) return;
    const auto base = std::ranges::find_if(
        asked, [object](PyObject* other) { return PyType_IsSubtype(Py_TYPE(object), Py_TYPE(other)) != 0; });
    asked.insert(base, object);
  };
  for (const Value& value : args) eachDispatched(value, add);
  for (const auto& [name, value] : kwargs) eachDispatched(value, add);
  return asked;
}

Ref typesOf(const std::vector<PyObject*>& objects) {
  Ref types = Ref::steal(PyTuple_New(Py_ssize_t(objects.size())));
  for (std::size_t i = 0; i < objects.size(); ++i)
    PyTuple_SET_ITEM(types.get(), Py_ssize_t(i), Py_NewRef(reinterpret_cast<PyObject*>(Py_TYPE(objects[i]))));
  return types;
}

class DispatchOff {
 public:
  DispatchOff() { ++dispatchOff; }
  ~DispatchOff() { --dispatchOff; }
  DispatchOff(const DispatchOff&) = delete;
  DispatchOff& operator=(const DispatchOff&) = delete;
};

/// _disabled_torch_dispatch_impl(func, types, args, kwargs): the operator on the tensors as they are.
PyObject* runUndispatched(PyObject*, PyObject* given) {
  PyObject *function = nullptr, *types = nullptr, *args = nullptr, *kwargs = nullptr;
  if (!PyArg_ParseTuple(given, "OO|OO", &function, &types, &args, &kwargs)) return nullptr;
  const Ref positional = args != nullptr ? Ref::steal(PySequence_Tuple(args)) : Ref::steal(PyTuple_New(0));
  if (!positional) return nullptr;
  const DispatchOff off;
  return PyObject_Call(function, positional.get(), kwargs == Py_None ? nullptr : kwargs);
}

template <int By>
PyObject* changeOff(PyObject*, PyObject*) {
  dispatchOff += By;
  Py_RETURN_NONE;
}

/// _make_wrapper(cls, data, device, requires_grad): a tensor of a class with the sizes of `data`, which has no elements
/// of its own, and says that it is on a device.
PyObject* makeWrapper(PyObject*, PyObject* args) {
  PyObject *type = nullptr, *data = nullptr, *device = nullptr;
  int wants = 0;
  if (!PyArg_ParseTuple(args, "OOO|p", &type, &data, &device, &wants)) return nullptr;
  if (!PyType_Check(type) || !PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(type), tensorBaseType()) ||
      !isTensor(data))
    return PyErr_SetString(PyExc_TypeError, "_make_wrapper_subclass takes a subclass of Tensor"), nullptr;
  const VariablePtr variable = makeVariable(variableIn(data)->tensor);
  const auto wanted = deviceOf(device);
  if (!wanted) return PyErr_SetString(PyExc_TypeError, "_make_wrapper takes a torch.device"), nullptr;
  variable->tensor.setDevice(*wanted);
  variable->requiresGrad = wants != 0;
  return newTensorObject(reinterpret_cast<PyTypeObject*>(type), variable).release();
}

bool addSwitch(PyObject* module) {
  static PyMethodDef methods[] = {{"__enter__", changeOff<1>, METH_NOARGS, nullptr},
                                  {"__exit__", changeOff<-1>, METH_VARARGS, nullptr},
                                  {nullptr, nullptr, 0, nullptr}};
  static PyType_Slot slots[] = {{Py_tp_methods, methods}, {0, nullptr}};
  static PyType_Spec spec{"torch._C._DisableTorchDispatch", sizeof(PyObject), 0, Py_TPFLAGS_DEFAULT, slots};
  const Ref type = Ref::steal(PyType_FromSpec(&spec));
  return type && PyModule_AddObjectRef(module, "_DisableTorchDispatch", type.get()) == 0;
}

}  // namespace

bool isDispatchClass(PyTypeObject* type) {
  static PyObject* name = PyUnicode_InternFromString("__torch_dispatch__");
  PyObject* found = _PyType_Lookup(type, name);
  if (found == nullptr) return false;
  if (found == disabledDispatch.get()) return false;
  const Ref function = attributeOf(found, "__func__");  // of a classmethod or staticmethod
  PyErr_Clear();
  return function.get() != disabledDispatch.get();
}

void noteDispatchTensor() { haveTensors = true; }
bool haveDispatchTensors() { return haveTensors; }

bool isDispatched(const Tensor& tensor) {
  if (!haveTensors || dispatchOff > 0) return false;
  const VariablePtr variable = variableOf(tensor);
  return variable && variable->isDispatched && variable->object != nullptr;
}

bool anyDispatched(const ValueList& args, const KeywordValues& kwargs) {
  if (!haveTensors || dispatchOff > 0) return false;
  bool any = false;
  const auto note = [&any](const Variable&) { any = true; };
  for (const Value& value : args) eachDispatched(value, note);
  for (const auto& [name, value] : kwargs) eachDispatched(value, note);
  return any;
}

void collectDispatched(const Value& value, std::vector<Ref>& objects) {
  if (!haveTensors) return;
  eachDispatched(value, [&objects](const Variable& variable) { objects.push_back(Ref::borrow(variable.object)); });
}

Result<Value> callDispatchClasses(const OpInfo& op, const ValueList& args, const KeywordValues& kwargs) {
  const std::vector<PyObject*> objects = askedObjects(args, kwargs);
  std::vector<Ref> kept;
  for (PyObject* object : objects) kept.push_back(Ref::borrow(object));
  KERF_TRY(const DispatchCall call, dispatchCall(op, args, kwargs));
  const Ref types = typesOf(objects);
  const BelowAutograd below;
  for (PyObject* object : objects) {
    const Ref method = attributeOf(reinterpret_cast<PyObject*>(Py_TYPE(object)), "__torch_dispatch__");
    const Ref result = method ? Ref::steal(PyObject_CallFunctionObjArgs(method.get(), call.overload.get(), types.get(),
                                                                        call.args.get(), call.kwargs.get(), nullptr))
                              : Ref();
    if (!result) return fail(pendingError());
    if (result.get() == Py_NotImplemented) continue;
    CallScope::keepObject(result);
    auto value = valueOf(result.get());
    if (value) keepVariables(*value);
    return value;
  }
  const Ref list = Ref::steal(PySequence_List(types.get()));
  const Ref shown = Ref::steal(PyObject_Str(list.get()));
  PyErr_Format(PyExc_TypeError,
               "Multiple dispatch failed for 'torch.ops.%s'; all __torch_dispatch__ handlers returned NotImplemented:\n"
               "\n  - tensor subclasses %U",
               op.schema.qualifiedName().c_str(), shown.get());
  return fail(pendingError());
}

Ref dispatchTypes(const ValueList& args, const KeywordValues& kwargs) { return typesOf(askedObjects(args, kwargs)); }

bool addDispatchClasses(PyObject* module) {
  static PyMethodDef functions[] = {{"_disabled_torch_dispatch_impl", runUndispatched, METH_VARARGS, nullptr},
                                    {"_make_wrapper", makeWrapper, METH_VARARGS, nullptr},
                                    {nullptr, nullptr, 0, nullptr}};
  if (PyModule_AddFunctions(module, functions) < 0) return false;
  disabledDispatch = attributeOf(module, "_disabled_torch_dispatch_impl");
  return addSwitch(module);
}

}  // namespace kerf::inline torch_api
