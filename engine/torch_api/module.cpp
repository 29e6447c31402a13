#include "engine/torch_api/module.h"
#include "engine/torch_api/dispatch_classes.h"
#include "engine/torch_api/dispatch_mode.h"

#include <array>

#include "engine/ops/core/op_registry.h"
#include "engine/torch_api/autograd_module.h"
#include "engine/torch_api/batched_tensors.h"
#include "engine/torch_api/call_values.h"
#include "engine/torch_api/callables.h"
#include "engine/torch_api/compile_hook.h"
#include "engine/torch_api/generator_type.h"
#include "engine/torch_api/names_of_ops.h"
#include "engine/torch_api/namespaces.h"
#include "engine/torch_api/number_limits.h"
#include "engine/torch_api/small_types.h"
#include "engine/torch_api/tensor_handlers.h"
#include "engine/torch_api/tensor_object.h"
#include "engine/torch_api/torch_function.h"

namespace kerf::inline torch_api {
namespace {

bool setMethod(const std::string& name, const std::string& target, Handler handler, bool isOperator = false) {
  const Ref builtin = makeBuiltin(name, "torch.Tensor." + name, target, handler, true, isOperator);
  return builtin &&
         PyObject_SetAttrString(reinterpret_cast<PyObject*>(tensorBaseType()), name.c_str(), builtin.get()) == 0;
}

struct Operator {
  const char* name;    ///< "__add__"
  const char* target;  ///< what it calls
};
constexpr Operator operators[] = {
    {"__add__", "operator.add"},
    {"__sub__", "operator.sub"},
    {"__mul__", "operator.mul"},
    {"__truediv__", "operator.truediv"},
    {"__floordiv__", "operator.floordiv"},
    {"__mod__", "operator.mod"},
    {"__pow__", "operator.pow"},
    {"__matmul__", "operator.matmul"},
    {"__and__", "torch.bitwise_and"},
    {"__or__", "torch.bitwise_or"},
    {"__xor__", "torch.bitwise_xor"},
    {"__lshift__", "torch.bitwise_left_shift"},
    {"__rshift__", "torch.bitwise_right_shift"},
    {"__eq__", "torch.eq"},
    {"__ne__", "torch.ne"},
    {"__lt__", "torch.lt"},
    {"__le__", "torch.le"},
    {"__gt__", "torch.gt"},
    {"__ge__", "torch.ge"},
    {"__iadd__", "method.add_"},
    {"__isub__", "method.sub_"},
    {"__imul__", "method.mul_"},
    {"__itruediv__", "method.div_"},
    {"__ifloordiv__", "method.floor_divide_"},
    {"__imod__", "method.remainder_"},
    {"__ipow__", "method.pow_"},
    {"__iand__", "method.bitwise_and_"},
    {"__ior__", "method.bitwise_or_"},
    {"__ixor__", "method.bitwise_xor_"},
    {"__neg__", "torch.neg"},
    {"__invert__", "torch.bitwise_not"},
    {"__abs__", "torch.abs"},
    {"__pos__", "torch.positive"},
    {"__div__", "operator.truediv"},
    {"__idiv__", "method.div_"},
    {"__ilshift__", "method.bitwise_left_shift_"},
    {"__irshift__", "method.bitwise_right_shift_"},
};

/// Operators whose tensor is on the right: the same with the operands the other way round.
template <const char* target>
PyObject* reflected(PyObject* args, PyObject*) {
  if (PyTuple_GET_SIZE(args) != 2) return nullptr;
  const Ref turned = Ref::steal(PyTuple_Pack(2, PyTuple_GET_ITEM(args, 1), PyTuple_GET_ITEM(args, 0)));
  return turned ? callByValues(target, turned.get(), nullptr) : nullptr;
}
constexpr char add[] = "torch.add", sub[] = "torch.sub", mul[] = "torch.mul", divide[] = "torch.div",
               floorDivide[] = "torch.floor_divide", remainder[] = "torch.remainder", power[] = "torch.pow",
               matmul[] = "torch.matmul", bitAnd[] = "torch.bitwise_and", bitOr[] = "torch.bitwise_or",
               bitXor[] = "torch.bitwise_xor";
PyObject* reflectedAdd(PyObject* args, PyObject*) { return callByValues(add, args, nullptr); }
PyObject* reflectedMul(PyObject* args, PyObject*) { return callByValues(mul, args, nullptr); }
PyObject* reflectedSub(PyObject* args, PyObject*) { return callByValues("torch.rsub", args, nullptr); }
/// number / tensor, as PyTorch computes it.
PyObject* reflectedDivide(PyObject* args, PyObject*) {
  const Ref inverse = Ref::steal(
      callByValues("torch.reciprocal", Ref::steal(PyTuple_Pack(1, PyTuple_GET_ITEM(args, 0))).get(), nullptr));
  if (!inverse) return nullptr;
  return callByValues(mul, Ref::steal(PyTuple_Pack(2, inverse.get(), PyTuple_GET_ITEM(args, 1))).get(), nullptr);
}
constexpr NamedHandler reflections[] = {
    {"__radd__", reflectedAdd},
    {"__rsub__", reflectedSub},
    {"__rmul__", reflectedMul},
    {"__rtruediv__", reflectedDivide},
    {"__rfloordiv__", reflected<floorDivide>},
    {"__rmod__", reflected<remainder>},
    {"__rpow__", reflected<power>},
    {"__rmatmul__", reflected<matmul>},
    {"__rand__", reflected<bitAnd>},
    {"__ror__", reflected<bitOr>},
    {"__rxor__", reflected<bitXor>},
};

bool hasAttribute(const char* name) { return PyDict_GetItemString(tensorBaseType()->tp_dict, name) != nullptr; }

bool addMethods() {
  for (const auto handlers : {valueMethods(), conversionMethods(), autogradMethods(), indexingMethods()})
    for (const NamedHandler& entry : handlers)
      if (!setMethod(entry.name, std::string("method.") + entry.name, entry.handler)) return false;
  for (const Operator& entry : operators)
    if (!setMethod(entry.name, entry.target, nullptr, true)) return false;
  for (const NamedHandler& entry : reflections)
    if (!setMethod(entry.name, entry.name, entry.handler, true)) return false;
  for (const std::string& name : methodNames())
    if (!hasAttribute(name.c_str()) && !setMethod(name, "method." + name, nullptr)) return false;
  constexpr std::array<const char*, 10> pythonRows = {"contiguous", "flatten",       "expand_as",        "view_as",
                                                      "reshape_as", "share_memory_", "split_with_sizes", "unflatten",
                                                      "conj",       "clamp_"};
  for (const char* name : pythonRows)
    if (!hasAttribute(name) && !setMethod(name, std::string("method.") + name, nullptr)) return false;
  return true;
}

PyObject* setTensorType(PyObject*, PyObject* args) {
  PyObject *tensor = nullptr, *parameter = nullptr;
  if (!PyArg_ParseTuple(args, "O|O", &tensor, &parameter)) return nullptr;
  if (!PyType_Check(tensor)) return PyErr_SetString(PyExc_TypeError, "_init_tensor_class takes types"), nullptr;
  setTensorClass(reinterpret_cast<PyTypeObject*>(tensor));
  Py_RETURN_NONE;
}
/// Nobody counts; calls in traced code are nodes.
PyObject* logUsage(PyObject*, PyObject*) { Py_RETURN_NONE; }
PyObject* getDefaultDtype(PyObject*, PyObject*) { return objectOf(defaultDtype()).release(); }
PyObject* changeDefaultDtype(PyObject*, PyObject* object) {
  const auto dtype = dtypeOf(object);
  if (!dtype || !isFloating(*dtype))
    return PyErr_SetString(PyExc_TypeError, "only floating-point types are supported as the default type"), nullptr;
  defaultDtype() = *dtype;
  Py_RETURN_NONE;
}
PyObject* getDefaultDevice(PyObject*, PyObject*) { return objectOf(defaultDevice().value_or(Device())).release(); }
PyObject* changeDefaultDevice(PyObject*, PyObject* object) {
  if (object == Py_None) {
    defaultDevice().reset();
    Py_RETURN_NONE;
  }
  auto device =
      PyUnicode_Check(object) ? parseDevice(textOf(object)) : Result<Device>(deviceOf(object).value_or(Device()));
  if (!device) return raise(device.error());
  defaultDevice() = std::move(*device);
  Py_RETURN_NONE;
}

PyMethodDef functions[] = {{"_init_tensor_class", setTensorType, METH_VARARGS, nullptr},
                           {"_log_api_usage_once", logUsage, METH_O, nullptr},
                           {"get_default_dtype", getDefaultDtype, METH_NOARGS, nullptr},
                           {"set_default_dtype", changeDefaultDtype, METH_O, nullptr},
                           {"_set_default_dtype", changeDefaultDtype, METH_O, nullptr},
                           {"_get_default_device", getDefaultDevice, METH_NOARGS, nullptr},
                           {"_set_default_device", changeDefaultDevice, METH_O, nullptr},
                           {nullptr, nullptr, 0, nullptr}};

bool addSubModules(PyObject* module) {
  for (const SubModule& part : subModules()) {
    const Ref made = Ref::steal(part.make());
    if (!made || PyModule_AddObjectRef(module, part.name, made.get()) < 0) return false;
  }
  return true;
}

}  // namespace

PyObject* makeTorchModule() {
  static PyModuleDef definition{
      PyModuleDef_HEAD_INIT, "torch._C", nullptr, -1, functions, nullptr, nullptr, nullptr, nullptr};
  Ref module = Ref::steal(PyModule_Create(&definition));
  if (!module || tensorBaseType() == nullptr) return nullptr;
  if (PyModule_AddObjectRef(module.get(), "TensorBase", reinterpret_cast<PyObject*>(tensorBaseType())) < 0)
    return nullptr;
  const bool whole = addSmallTypes(module.get()) && addGenerator(module.get()) && addNumberLimits(module.get()) &&
                     addTorchFunction(module.get()) && addAutograd(module.get()) && addMethods() &&
                     addNamespaces(module.get()) && addDispatchModes(module.get()) &&
                     addDispatchClasses(module.get()) && addBatchedTensors(module.get()) && addSubModules(module.get());
  return whole ? module.release() : nullptr;
}

}  // namespace kerf::inline torch_api
