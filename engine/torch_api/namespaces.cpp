#include "engine/torch_api/namespaces.h"

#include <algorithm>
#include <array>

#include "engine/ops/core/op_registry.h"
#include "engine/torch_api/builtin_type.h"
#include "engine/torch_api/names_of_ops.h"
#include "engine/torch_api/tensor_handlers.h"

namespace kerf::inline torch_api {
namespace {

struct NamespaceObject {
  PyObject_HEAD std::string prefix;  ///< of what its functions are called: "torch.", "torch._C._nn."
  PyObject* made;                    ///< dict of the builtins asked for so far
};

PyTypeObject* namespaceType = nullptr;
NamespaceObject& in(PyObject* self) { return *reinterpret_cast<NamespaceObject*>(self); }

/// Functions that Python's half of torch has by names which ATen's ops do not have.
constexpr std::array<std::string_view, 3> pythonRows = {"multi_head_attention_forward", "conv_transpose", "sym_size"};

Ref builtinNamed(const std::string& prefix, const std::string& name) {
  if (prefix == "torch.")
    for (const NamedHandler& entry : dataFunctions())
      if (name == entry.name) return makeBuiltin(name, prefix + name, prefix + name, entry.handler, false);
  const bool known = functionNames().contains(name) || std::ranges::find(pythonRows, name) != pythonRows.end();
  return known ? makeBuiltin(name, prefix + name, prefix + name, nullptr, false) : Ref();
}

PyObject* getAttribute(PyObject* self, PyObject* name) {
  NamespaceObject& space = in(self);
  if (PyObject* found = PyDict_GetItemWithError(space.made, name)) return Py_NewRef(found);
  Ref builtin = builtinNamed(space.prefix, textOf(name));
  if (!builtin) return PyErr_Occurred() ? nullptr : PyObject_GenericGetAttr(self, name);
  if (PyDict_SetItem(space.made, name, builtin.get()) < 0) return nullptr;
  return builtin.release();
}

PyObject* directory(PyObject* self, PyObject*) {
  Ref names = Ref::steal(PyList_New(0));
  const auto add = [&](const std::string& name) { PyList_Append(names.get(), makeText(name).get()); };
  for (const std::string& name : functionNames()) add(name);
  if (in(self).prefix == "torch.")
    for (const NamedHandler& entry : dataFunctions()) add(entry.name);
  return names.release();
}

void freeNamespace(PyObject* self) {
  in(self).prefix.~basic_string();
  Py_XDECREF(in(self).made);
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

bool addNamespace(PyObject* module, const char* name, std::string prefix) {
  PyObject* object = namespaceType->tp_alloc(namespaceType, 0);
  if (object == nullptr) return false;
  const Ref owner = Ref::steal(object);
  new (&in(object).prefix) std::string(std::move(prefix));
  in(object).made = PyDict_New();
  return PyModule_AddObjectRef(module, name, object) == 0;
}

// torch.ops

/// "aten::add" and overload "Tensor" as the op's row.
const OpInfo* rowOf(PyObject* name, PyObject* overload) {
  std::string text = textOf(name);
  if (const std::size_t colons = text.find("::"); colons != std::string::npos) text.replace(colons, 2, ".");
  const std::string form = textOf(overload);
  return findOp(OpTarget(text + "." + (form.empty() ? "default" : form)));
}
PyObject* getOverload(PyObject*, PyObject* args) {
  PyObject *name = nullptr, *overload = nullptr;
  if (!PyArg_ParseTuple(args, "OO", &name, &overload)) return nullptr;
  const OpInfo* op = rowOf(name, overload);
  if (op == nullptr) Py_RETURN_NONE;
  const std::string full = "torch.ops." + op->schema.qualifiedName();
  return makeBuiltin(full.substr(10), full, full, nullptr, false).release();
}
PyObject* getSchema(PyObject*, PyObject* args) {
  PyObject *name = nullptr, *overload = nullptr;
  if (!PyArg_ParseTuple(args, "OO", &name, &overload)) return nullptr;
  const OpInfo* op = rowOf(name, overload);
  if (op == nullptr) Py_RETURN_NONE;
  return makeText(op->schema.text).release();
}
/// The function that finds the overload by its arguments, and the overloads' names.
PyObject* getOperation(PyObject*, PyObject* name) {
  const std::string text = textOf(name);
  Ref overloads = Ref::steal(PyList_New(0));
  for (const OpInfo& op : allOps())
    if (op.schema.name == text) PyList_Append(overloads.get(), makeText(op.schema.overload).get());
  if (PyList_GET_SIZE(overloads.get()) == 0) Py_RETURN_NONE;
  const std::string plain = text.substr(text.rfind(':') + 1);
  const std::string full = "torch.ops." + text.substr(0, text.find(':')) + "." + plain;
  const bool isOfTorch = text.starts_with("aten::");
  const Ref function = makeBuiltin(plain, full, isOfTorch ? "torch." + plain : full, nullptr, false);
  return function ? PyTuple_Pack(2, function.get(), overloads.get()) : nullptr;
}

PyMethodDef functions[] = {{"_get_operation_overload", getOverload, METH_VARARGS, nullptr},
                           {"_get_schema", getSchema, METH_VARARGS, nullptr},
                           {"_get_operation", getOperation, METH_O, nullptr},
                           {nullptr, nullptr, 0, nullptr}};

}  // namespace

bool addNamespaces(PyObject* module) {
  static PyMethodDef methods[] = {{"__dir__", directory, METH_NOARGS, nullptr}, {nullptr, nullptr, 0, nullptr}};
  static PyType_Slot slots[] = {{Py_tp_getattro, reinterpret_cast<void*>(getAttribute)},
                                {Py_tp_dealloc, reinterpret_cast<void*>(freeNamespace)},
                                {Py_tp_methods, methods},
                                {0, nullptr}};
  static PyType_Spec spec{"torch._C.Namespace", sizeof(NamespaceObject), 0,
                          Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
  namespaceType = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  return namespaceType != nullptr && addNamespace(module, "_VariableFunctions", "torch.") &&
         addNamespace(module, "_nn", "torch._C._nn.") && addNamespace(module, "_linalg", "torch._C._linalg.") &&
         addNamespace(module, "_fft", "torch._C._fft.") && addNamespace(module, "_special", "torch._C._special.") &&
         PyModule_AddFunctions(module, functions) == 0;
}

}  // namespace kerf::inline torch_api
