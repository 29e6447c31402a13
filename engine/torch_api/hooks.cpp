#include "engine/torch_api/hooks.h"

#include "engine/torch_api/conversions.h"

namespace kerf::inline torch_api {
namespace {

/// What a hook gives in place of a gradient; the gradient where it gives None.
Result<Value> called(const Ref& hook, const Value& grad) {
  const Ref argument = objectOf(grad);
  const Ref result = argument ? Ref::steal(PyObject_CallOneArg(hook.get(), argument.get())) : Ref();
  if (!result) return fail(pendingError());
  if (result.get() == Py_None) return grad;
  KERF_TRY(Value changed, valueOf(result.get()));
  keepVariables(changed);
  return changed;
}

Result<void> through(const std::vector<Ref>& hooks, Value& grad) {
  const std::vector<Ref> now = hooks;  // a hook may remove itself
  for (const Ref& hook : now)
    if (hook && grad.isTensor()) {
      KERF_TRY(grad, called(hook, grad));
    }
  return {};
}

Ref tupleOf(const ValueList& values) {
  Ref tuple = Ref::steal(PyTuple_New(Py_ssize_t(values.size())));
  for (std::size_t i = 0; i < values.size(); ++i) {
    Ref item = objectOf(values[i]);
    if (!item) return {};
    PyTuple_SET_ITEM(tuple.get(), Py_ssize_t(i), item.release());
  }
  return tuple;
}

/// What a node's hook gives: gradients in a tuple, or nothing.
Result<void> replaceBy(const Ref& result, ValueList& grads) {
  if (!result) return fail(pendingError());
  if (result.get() == Py_None) return {};
  KERF_TRY(const Value values, valueOf(result.get()));
  keepVariables(values);
  if (values.isTensor() && grads.size() == 1) grads[0] = values;
  if (values.isList())
    for (std::size_t i = 0; i < std::min(grads.size(), values.list().size()); ++i) grads[i] = values.list()[i];
  return {};
}

struct Handle {
  PyObject_HEAD std::shared_ptr<void> keeper;
  std::vector<Ref>* hooks;
  PyObject* hook;
};

PyObject* removeHook(PyObject* self, PyObject*) {
  auto& handle = *reinterpret_cast<Handle*>(self);
  if (handle.keeper)
    for (Ref& hook : *handle.hooks)
      if (hook.get() == handle.hook) {
        hook = Ref();
        break;
      }
  handle.keeper = nullptr;
  Py_RETURN_NONE;
}
PyObject* enterHandle(PyObject* self, PyObject*) { return Py_NewRef(self); }
PyObject* leaveHandle(PyObject* self, PyObject*) { return removeHook(self, nullptr); }
void freeHandle(PyObject* self) {
  auto& handle = *reinterpret_cast<Handle*>(self);
  handle.keeper.~shared_ptr();
  Py_XDECREF(handle.hook);
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

PyTypeObject* handleType() {
  static PyMethodDef methods[] = {{"remove", removeHook, METH_NOARGS, "Takes the hook away."},
                                  {"__enter__", enterHandle, METH_NOARGS, nullptr},
                                  {"__exit__", leaveHandle, METH_VARARGS, nullptr},
                                  {nullptr, nullptr, 0, nullptr}};
  static PyType_Slot slots[] = {
      {Py_tp_dealloc, reinterpret_cast<void*>(freeHandle)}, {Py_tp_methods, methods}, {0, nullptr}};
  static PyType_Spec spec{"torch.utils.hooks.RemovableHandle", sizeof(Handle), 0,
                          Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
  static auto* type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  return type;
}

}  // namespace

Result<void> runTensorHooks(GradNode& node, ValueList& grads) {
  if (node.leaf) return grads.empty() ? Result<void>() : through(node.leaf->hooks, grads[0]);
  for (std::size_t i = 0; i < std::min(grads.size(), node.tensorHooks.size()); ++i)
    KERF_CHECK(through(node.tensorHooks[i], grads[i]));
  return {};
}

Result<ValueList> runPreHooks(GradNode& node, const ValueList& grads) {
  ValueList now = grads;
  const std::vector<Ref> hooks = node.preHooks;
  for (const Ref& hook : hooks) {
    if (!hook) continue;
    const Ref given = tupleOf(now);
    if (!given) return fail(pendingError());
    KERF_CHECK(replaceBy(Ref::steal(PyObject_CallOneArg(hook.get(), given.get())), now));
  }
  return now;
}

Result<void> runPostHooks(GradNode& node, ValueList& next, const ValueList& grads) {
  const std::vector<Ref> hooks = node.hooks;
  for (const Ref& hook : hooks) {
    if (!hook) continue;
    const Ref inputs = tupleOf(next), outputs = inputs ? tupleOf(grads) : Ref();
    if (!outputs) return fail(pendingError());
    KERF_CHECK(
        replaceBy(Ref::steal(PyObject_CallFunctionObjArgs(hook.get(), inputs.get(), outputs.get(), nullptr)), next));
  }
  return {};
}

Result<void> runAccumulateHooks(Variable& leaf) {
  const std::vector<Ref> hooks = leaf.accumulateHooks;
  for (const Ref& hook : hooks) {
    if (!hook) continue;
    const Ref object = objectOf(Value(leaf.tensor));
    const Ref result = object ? Ref::steal(PyObject_CallOneArg(hook.get(), object.get())) : Ref();
    if (!result) return fail(pendingError());
  }
  return {};
}

Ref hookHandle(std::shared_ptr<void> keeper, std::vector<Ref>& hooks) {
  PyTypeObject* type = handleType();
  PyObject* object = type ? type->tp_alloc(type, 0) : nullptr;
  if (object == nullptr) return {};
  auto& handle = *reinterpret_cast<Handle*>(object);
  new (&handle.keeper) std::shared_ptr<void>(std::move(keeper));
  handle.hooks = &hooks;
  handle.hook = Py_XNewRef(hooks.back().get());
  return Ref::steal(object);
}

}  // namespace kerf::inline torch_api
