#include "engine/dynamo/trace_functions.h"

#include <span>
#include <vector>

#include "engine/dynamo/traced_slot.h"
#include "engine/dynamo/unsupported.h"

namespace kerf::inline dynamo {
namespace {

PyObject* traceModule = nullptr;

/// level(change): how deep transforms of torch.func nest now. gradients(change): those of grad alone.
PyObject* level(PyObject*, PyObject* change) {
  return whileTracing([&](FrameTracer& tracer) {
    tracer.transformLevel += int(PyLong_AsLong(change));
    return Ref::steal(PyLong_FromLong(tracer.transformLevel));
  });
}

PyObject* gradients(PyObject*, PyObject* change) {
  return whileTracing([&](FrameTracer& tracer) {
    tracer.gradientLevels += int(PyLong_AsLong(change));
    return Ref::steal(PyLong_FromLong(tracer.gradientLevels));
  });
}

PyObject* stop(PyObject*, PyObject* args) {
  const char *type = nullptr, *explanation = nullptr;
  if (PyArg_ParseTuple(args, "ss", &type, &explanation) == 0) return nullptr;
  return whileTracing([&](FrameTracer&) -> Ref {
    unsupported(type, explanation);
    return {};
  });
}

/// duals(change): how deep jvp nests now.
PyObject* duals(PyObject*, PyObject* change) {
  return whileTracing([&](FrameTracer& tracer) {
    tracer.dualLevels += int(PyLong_AsLong(change));
    return Ref::steal(PyLong_FromLong(tracer.dualLevels));
  });
}

/// overrides(change): below 0, subclasses of Tensor take no calls over.
PyObject* overrides(PyObject*, PyObject* change) {
  return whileTracing([&](FrameTracer& tracer) {
    tracer.overrideLevel += int(PyLong_AsLong(change));
    return Ref::steal(PyLong_FromLong(tracer.overrideLevel));
  });
}

/// as_class(tensor, cls): a tensor of the trace as one of a subclass.
PyObject* asClass(PyObject*, PyObject* args) {
  PyObject *tensor = nullptr, *type = nullptr;
  if (PyArg_ParseTuple(args, "OO!", &tensor, &PyType_Type, &type) == 0) return nullptr;
  return whileTracing([&](FrameTracer& tracer) {
    tracer.noteTensor(tensor);
    const ProxyState* proxy = proxyOf(tensor);
    if (proxy == nullptr) unsupported("Unsupported operand", "A tensor is expected.");
    ProxyState made;
    made.fake = proxy->fake;
    made.node = proxy->node;
    made.pythonClass = Ref::borrow(type);
    made.isRecast = true;
    return makeProxy(std::move(made));
  });
}

/// What torch._dynamo._higher_order says of a function: (stand-in, whether a break in it is an error).
PyObject* rowOf(PyObject* function) {
  static Ref table;
  if (!table) {
    const NativeScope native;
    const Ref module = Ref::steal(PyImport_ImportModule("torch._dynamo._higher_order"));
    table = module ? attributeOf(module.get(), "TRACED_INSTEAD") : Ref();
    if (!table || !PyDict_Check(table.get())) throw PythonRaised{};
  }
  PyObject* row = PyDict_GetItemWithError(table.get(), function);
  if (row == nullptr) PyErr_Clear();
  return row;
}

}  // namespace

PyObject* makeTraceModule() {
  static const std::vector<PyMethodDef> own = {{"level", level, METH_O, nullptr},
                                               {"gradients", gradients, METH_O, nullptr},
                                               {"duals", duals, METH_O, nullptr},
                                               {"overrides", overrides, METH_O, nullptr},
                                               {"as_class", asClass, METH_VARARGS, nullptr},
                                               {"stop", stop, METH_VARARGS, nullptr}};
  static std::vector<PyMethodDef> methods = own;
  if (methods.size() == own.size()) {
    for (const std::span<const PyMethodDef> more : {bodyFunctions(), nodeFunctions()})
      methods.insert(methods.end(), more.begin(), more.end());
    methods.push_back({nullptr, nullptr, 0, nullptr});
  }
  static PyModuleDef definition = {
      PyModuleDef_HEAD_INIT, "torch._C._dynamo_trace", nullptr, -1, methods.data(), nullptr, nullptr, nullptr, nullptr};
  traceModule = PyModule_Create(&definition);
  return traceModule;
}

bool isTraceFunction(PyObject* callable) {
  return traceModule != nullptr && PyCFunction_Check(callable) && PyCFunction_GET_SELF(callable) == traceModule;
}

std::optional<TracedInstead> tracedInstead(PyObject* callable) {
  bool bound = PyMethod_Check(callable);
  PyObject* function = bound ? PyMethod_GET_FUNCTION(callable) : callable;
  PyObject* self = bound ? PyMethod_GET_SELF(callable) : nullptr;
  if (!bound && !PyFunction_Check(callable) && !PyType_Check(callable)) {
    // An object that is called by a method of its class.
    function = _PyType_Lookup(Py_TYPE(callable), makeText("__call__").get());
    if (function == nullptr || !PyFunction_Check(function)) return std::nullopt;
    self = callable;
    bound = true;
  }
  if (!PyFunction_Check(function) && !PyType_Check(function)) return std::nullopt;
  const std::string module = PyFunction_Check(function) ? textOf(PyFunction_GET_MODULE(function))
                                                        : textOf(attributeOf(function, "__module__").get());
  if (module != "torch" && !module.starts_with("torch.")) return std::nullopt;
  PyObject* row = rowOf(function);
  if (row == nullptr) return std::nullopt;
  return TracedInstead{Ref::borrow(PyTuple_GET_ITEM(row, 0)), bound ? Ref::borrow(self) : Ref(),
                       PyTuple_GET_ITEM(row, 1) == Py_True};
}

}  // namespace kerf::inline dynamo
