// requires_grad_(), detach(), retain_grad(), hooks of tensors.
#include "engine/torch_api/callables.h"
#include "engine/torch_api/conversions.h"
#include "engine/torch_api/dispatch_classes.h"
#include "engine/torch_api/eager_ops.h"
#include "engine/torch_api/grad_node.h"
#include "engine/torch_api/hooks.h"
#include "engine/torch_api/placed_tensors.h"
#include "engine/torch_api/tensor_handlers.h"
#include "engine/torch_api/tensor_object.h"

namespace kerf::inline torch_api {
namespace {

PyObject* requiresGrad(PyObject* args, PyObject* kwargs) {
  PyObject* self = selfOf(args);
  if (self == nullptr) return nullptr;
  PyObject* wanted = argumentOf(args, kwargs, 1, "requires_grad");
  if (PyObject_SetAttrString(self, "requires_grad", wanted ? wanted : Py_True) < 0) return nullptr;
  return Py_NewRef(self);
}

PyObject* detach(PyObject* args, PyObject*) {
  PyObject* self = selfOf(args);
  if (self == nullptr) return nullptr;
  const VariablePtr& of = variableIn(self);
  if (isPlaced(of->tensor)) {
    const auto part = placedTensors()->call(*findOp("aten.detach.default"_op), {of->tensor}, {});
    return part ? wrapTensor(part->tensor()).release() : raise(part.error());
  }
  if (isDispatched(of->tensor)) {
    const CallScope scope;
    const auto made = eagerOps().call("aten.detach.default"_op, {of->tensor}, {});
    return made ? objectOf(*made).release() : raise(made.error());
  }
  return newTensorObject(tensorClass(), makeView(of->tensor, of, false)).release();
}
PyObject* detachInPlace(PyObject* args, PyObject*) {
  PyObject* self = selfOf(args);
  if (self == nullptr) return nullptr;
  Variable& variable = *variableIn(self);
  variable.gradFn = nullptr;
  variable.requiresGrad = false;
  variable.base = nullptr;
  return Py_NewRef(self);
}

PyObject* retainGrad(PyObject* args, PyObject*) {
  PyObject* self = selfOf(args);
  if (self == nullptr) return nullptr;
  const VariablePtr& variable = variableIn(self);
  const Edge edge = edgeOf(*variable);
  if (!edge.node)
    return PyErr_SetString(PyExc_RuntimeError, "can't retain_grad on Tensor that has requires_grad=False"), nullptr;
  if (edge.node->leaf || variable->retainsGrad) Py_RETURN_NONE;
  edge.node->retained.resize(std::max(edge.node->results, edge.number + 1));
  edge.node->retained[edge.number] = variable;
  variable->retainsGrad = true;
  Py_RETURN_NONE;
}

PyObject* registerHook(PyObject* args, PyObject* kwargs) {
  PyObject* self = selfOf(args);
  PyObject* hook = self ? argumentOf(args, kwargs, 1, "hook") : nullptr;
  if (hook == nullptr) return nullptr;
  const VariablePtr& variable = variableIn(self);
  const Edge edge = edgeOf(*variable);
  if (!edge.node) {
    PyErr_SetString(PyExc_RuntimeError, "cannot register a hook on a tensor that doesn't require gradient");
    return nullptr;
  }
  if (edge.node->leaf) {
    variable->hooks.push_back(Ref::borrow(hook));
    return hookHandle(variable, variable->hooks).release();
  }
  GradNode& node = *edge.node;
  if (node.tensorHooks.empty()) node.tensorHooks.resize(std::max(node.results, edge.number + 1));
  auto& hooks = node.tensorHooks[edge.number];
  hooks.push_back(Ref::borrow(hook));
  return hookHandle(edge.node, hooks).release();
}

PyObject* registerAccumulateHook(PyObject* args, PyObject* kwargs) {
  PyObject* self = selfOf(args);
  PyObject* hook = self ? argumentOf(args, kwargs, 1, "hook") : nullptr;
  if (hook == nullptr) return nullptr;
  const VariablePtr& variable = variableIn(self);
  if (variable->gradFn) {
    PyErr_SetString(PyExc_RuntimeError, "post accumulate grad hooks cannot be registered on non-leaf tensors");
    return nullptr;
  }
  variable->accumulateHooks.push_back(Ref::borrow(hook));
  return hookHandle(variable, variable->accumulateHooks).release();
}

/// _make_subclass(cls, data, require_grad=False): the data under another type.
PyObject* makeSubclass(PyObject*, PyObject* args, PyObject* kwargs) {
  PyObject *type = nullptr, *data = nullptr;
  int wants = 0;
  static const char* names[] = {"cls", "data", "require_grad", nullptr};
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|p", const_cast<char**>(names), &type, &data, &wants))
    return nullptr;
  if (!PyType_Check(type) || !isTensor(data))
    return PyErr_SetString(PyExc_TypeError, "_make_subclass takes a type and a Tensor"), nullptr;
  const VariablePtr variable = makeView(variableIn(data)->tensor, variableIn(data), false);
  variable->requiresGrad = wants != 0;
  return newTensorObject(reinterpret_cast<PyTypeObject*>(type), variable).release();
}
/// as_subclass(cls): the same tensor, history and all, under another type.
PyObject* asSubclass(PyObject* self, PyObject* type) {
  if (!PyType_Check(type)) return PyErr_SetString(PyExc_TypeError, "as_subclass takes a type"), nullptr;
  const CallScope scope;
  auto same = callTorch("torch.ops.aten.alias.default", {tensorOf(self)}, {}, OpMode::Real);
  if (!same) return raise(same.error());
  VariablePtr variable = variableOf(same->tensor());
  if (!variable) variable = makeVariable(same->tensor());
  return newTensorObject(reinterpret_cast<PyTypeObject*>(type), variable).release();
}

constexpr NamedHandler handlers[] = {
    {"requires_grad_", requiresGrad}, {"detach", detach},
    {"detach_", detachInPlace},       {"retain_grad", retainGrad},
    {"register_hook", registerHook},  {"register_post_accumulate_grad_hook", registerAccumulateHook},
};

}  // namespace

std::span<const NamedHandler> autogradMethods() { return handlers; }

PyMethodDef* tensorMethods() {
  static PyMethodDef methods[] = {
      {"_make_subclass", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(makeSubclass)),
       METH_VARARGS | METH_KEYWORDS | METH_STATIC, nullptr},
      {"as_subclass", asSubclass, METH_O, nullptr},
      {nullptr, nullptr, 0, nullptr}};
  return methods;
}

}  // namespace kerf::inline torch_api
