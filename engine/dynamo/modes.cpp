#include "engine/dynamo/modes.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "engine/dynamo/modules.h"
#include "engine/dynamo/tracer.h"

namespace kerf::inline dynamo {
namespace {

/// Makes a manager of torch and enters it.
PyObject* enterNew(const char* type, PyObject* args) {
  const Ref torch = Ref::steal(PyImport_ImportModule("torch"));
  const Ref manager = Ref::steal(torch ? PyObject_Call(attributeOf(torch.get(), type).get(), args, nullptr) : nullptr);
  const Ref entered = Ref::steal(manager ? PyObject_CallMethod(manager.get(), "__enter__", nullptr) : nullptr);
  return entered ? Py_NewRef(manager.get()) : nullptr;
}

PyObject* enterAutocast(PyObject* /*self*/, PyObject* args) { return enterNew("autocast", args); }
PyObject* enterInferenceMode(PyObject* /*self*/, PyObject* args) { return enterNew("inference_mode", args); }
PyObject* exitManager(PyObject* /*self*/, PyObject* args) {
  return PyObject_CallMethod(PyTuple_GET_ITEM(args, 0), "__exit__", "OOO", Py_None, Py_None, Py_None);
}

/// What nodes of graphs call.
Ref graphContexts(std::string_view name) {
  static PyMethodDef methods[] = {{"enter_autocast", enterAutocast, METH_VARARGS, nullptr},
                                  {"enter_inference_mode", enterInferenceMode, METH_VARARGS, nullptr},
                                  {"exit_context", exitManager, METH_VARARGS, nullptr}};
  for (PyMethodDef& method : methods)
    if (name == method.ml_name) return Ref::steal(PyCFunction_New(&method, nullptr));
  return {};
}

/// Of the manager's own attributes.
Ref ownOrNone(FrameTracer& tracer, PyObject* manager, const char* name) {
  if (StandIn* standIn = tracer.effects.find(manager))
    if (VariableTracker held = tracer.effects.ownAttribute(*standIn, name)) {
      tracer.realize(held);
      return held.value;
    }
  const NativeScope native;
  Ref held = attributeOf(manager, name);
  return held ? held : Ref::borrow(Py_None);
}

PyObject* callExit(PyObject* /*self*/, PyObject* exit) {
  return PyObject_CallFunctionObjArgs(exit, Py_None, Py_None, Py_None, nullptr);
}

PyObject* callEnter(PyObject* /*self*/, PyObject* exit) {
  if (!PyMethod_Check(exit)) return PyErr_Format(PyExc_TypeError, "a bound __exit__ is expected");
  return PyObject_CallMethod(PyMethod_GET_SELF(exit), "__enter__", nullptr);
}

}  // namespace

TracedModes::~TracedModes() {
  const NativeScope native;
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  for (std::size_t k = m_entered.size(); k-- > 0;)
    if (m_entered[k].real) {
      const Ref done =
          Ref::steal(PyObject_CallMethod(m_entered[k].real.get(), "__exit__", "OOO", Py_None, Py_None, Py_None));
      PyErr_Clear();
    }
  PyErr_Restore(type, value, trace);
}

bool TracedModes::hasAutocast() const {
  return std::ranges::any_of(m_entered, [](const EnteredMode& mode) { return static_cast<bool>(mode.real); });
}

VariableTracker TracedModes::enter(PyObject* manager, bool autocast) {
  Ref args;
  if (autocast) {
    const Ref device = ownOrNone(m_tracer, manager, "device"), dtype = ownOrNone(m_tracer, manager, "fast_dtype"),
              enabled = ownOrNone(m_tracer, manager, "_enabled"),
              cache = ownOrNone(m_tracer, manager, "_cache_enabled");
    args = Ref::steal(PyTuple_Pack(4, device.get(), dtype.get(), enabled.get(), cache.get()));
  } else {
    args = Ref::steal(PyTuple_Pack(1, ownOrNone(m_tracer, manager, "mode").get()));
  }
  const Ref function = graphContexts(autocast ? "enter_autocast" : "enter_inference_mode");
  EnteredMode mode;
  mode.manager = Ref::borrow(manager);
  mode.gradBefore = m_tracer.graph.gradEnabled;
  mode.exitTarget =
      autocast ? "torch.amp.autocast_mode._exit_autocast" : "torch.autograd.grad_mode._exit_inference_mode";
  mode.node = m_tracer.graph.recordOpaque(
      autocast ? "torch.amp.autocast_mode._enter_autocast" : "torch.autograd.grad_mode._enter_inference_mode",
      function.get(), args.get());
  if (autocast) {
    const NativeScope native;
    mode.real = m_tracer.checked(PyObject_Call(function.get(), args.get(), nullptr));
  } else {
    m_tracer.graph.gradEnabled = PyObject_IsTrue(PyTuple_GET_ITEM(args.get(), 0)) != 1;
  }
  m_entered.push_back(std::move(mode));
  return {autocast ? Ref::borrow(manager) : Ref::borrow(Py_None), nullptr, false};
}

void TracedModes::leave(std::size_t index) {
  EnteredMode mode = std::move(m_entered[index]);
  m_entered.erase(m_entered.begin() + static_cast<std::ptrdiff_t>(index));
  const Ref function = graphContexts("exit_context");
  const Ref args = Ref::steal(PyTuple_Pack(1, mode.node.get()));
  m_tracer.graph.recordOpaque(mode.exitTarget, function.get(), args.get());
  m_tracer.graph.gradEnabled = mode.gradBefore;
  if (!mode.real) return;
  const NativeScope native;
  const Ref done = m_tracer.checked(PyObject_CallMethod(mode.real.get(), "__exit__", "OOO", Py_None, Py_None, Py_None));
}

std::optional<VariableTracker> TracedModes::call(PyObject* callable) {
  if (!PyMethod_Check(callable)) return std::nullopt;
  PyObject* manager = PyMethod_GET_SELF(callable);
  const std::string_view type = Py_TYPE(manager)->tp_name;
  if (type.find("autocast") == std::string_view::npos && type.find("inference_mode") == std::string_view::npos)
    return std::nullopt;
  const std::string name = describeCallable(PyMethod_GET_FUNCTION(callable));
  const bool autocast = name.starts_with("torch.amp.autocast_mode.autocast.__e");
  if (!autocast && !name.starts_with("torch.autograd.grad_mode.inference_mode.__e")) return std::nullopt;
  if (name.ends_with("__enter__")) return enter(manager, autocast);
  for (std::size_t k = m_entered.size(); k-- > 0;)
    if (m_entered[k].manager.get() == manager) {
      leave(k);
      return VariableTracker{Ref::borrow(autocast ? Py_False : Py_None), nullptr, false};
    }
  return std::nullopt;
}

void TracedModes::leaveAll() {
  while (!m_entered.empty()) leave(m_entered.size() - 1);
}

bool isRestorableManager(PyObject* manager) {
  static constexpr std::array<std::string_view, 5> names = {"no_grad", "enable_grad", "set_grad_enabled", "autocast",
                                                            "inference_mode"};
  PyTypeObject* type = Py_TYPE(manager);
  const std::string_view full = type->tp_name;
  const std::string_view name = full.substr(full.rfind('.') + 1);
  const Ref module = attributeOf(reinterpret_cast<PyObject*>(type), "__module__");
  return std::ranges::find(names, name) != names.end() && textOf(module.get()).starts_with("torch.");
}

Ref enterAgainFunction() {
  static PyMethodDef method = {"kerf_enter_again", callEnter, METH_O, nullptr};
  static const Ref function = Ref::steal(PyCFunction_New(&method, nullptr));
  return function;
}

Ref leaveFunction() {
  static PyMethodDef method = {"kerf_leave", callExit, METH_O, nullptr};
  static const Ref function = Ref::steal(PyCFunction_New(&method, nullptr));
  return function;
}

}  // namespace kerf::inline dynamo
