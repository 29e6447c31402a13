// Autograd as torch._C shows it: run_backward, nodes, Python functions with a backward of their own, the modes.
#include "engine/torch_api/autograd_module.h"

#include "engine/ops/core/autocast.h"
#include "engine/torch_api/backward.h"
#include "engine/torch_api/compiled_backward.h"
#include "engine/torch_api/conversions.h"
#include "engine/torch_api/eager_ops.h"
#include "engine/torch_api/saved_tensors.h"
#include "engine/torch_api/small_types.h"
#include "engine/torch_api/tensor_object.h"

namespace kerf::inline torch_api {
namespace {

/// Variables of a tuple of tensors; false with TypeError for anything else among them.
bool variablesOf(PyObject* sequence, std::vector<VariablePtr>& variables) {
  const Ref items = Ref::steal(PySequence_Fast(sequence, "expected a sequence of tensors"));
  if (!items) return false;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items.get()); ++i) {
    PyObject* object = PySequence_Fast_GET_ITEM(items.get(), i);
    if (!isTensor(object)) {
      PyErr_Format(PyExc_TypeError, "element %zd of tensors is not a Tensor but a %s", i, Py_TYPE(object)->tp_name);
      return false;
    }
    variables.push_back(variableIn(object));
  }
  return true;
}

/// _run_backward(tensors, grad_tensors, retain_graph, create_graph, inputs, allow_unreachable, accumulate_grad)
PyObject* runBackwardFromPython(PyObject*, PyObject* args, PyObject* kwargs) {
  PyObject *tensors = nullptr, *grads = nullptr, *inputs = nullptr;
  int retain = 0, create = 0, allow = 1, accumulate = 1;
  static const char* names[] = {"tensors", "grad_tensors",      "retain_graph",    "create_graph",
                                "inputs",  "allow_unreachable", "accumulate_grad", nullptr};
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOpp|Opp", const_cast<char**>(names), &tensors, &grads, &retain,
                                   &create, &inputs, &allow, &accumulate))
    return nullptr;
  BackwardCall call{.retainGraph = retain != 0,
                    .createGraph = create != 0,
                    .allowUnreachable = allow != 0,
                    .accumulates = accumulate != 0};
  if (!variablesOf(tensors, call.tensors)) return nullptr;
  if (inputs != nullptr && inputs != Py_None && !variablesOf(inputs, call.inputs)) return nullptr;
  auto given = grads == Py_None ? Result<Value>(Value()) : valueOf(grads);
  if (!given) return raise(given.error());
  if (given->isList()) call.grads = given->list();
  const CallScope scope;
  auto results = runBackward(call);
  if (!results) return raise(results.error());
  if (call.accumulates) Py_RETURN_NONE;
  return objectOf(Value(std::move(*results))).release();
}

/// Calls a Python function with gradients and reads those it gives back.
Result<ValueList> callPythonBackward(const Ref& function, std::size_t inputs, const ValueList& grads) {
  const Ref given = objectOf(Value(grads));
  const Ref result = given ? Ref::steal(PyObject_CallObject(function.get(), given.get())) : Ref();
  if (!result) return fail(pendingError());
  KERF_TRY(const Value values, valueOf(result.get()));
  keepVariables(values);
  ValueList flows = values.isList() ? values.list() : ValueList{values};
  if (flows.size() < inputs)
    return fail(ErrorCode::RuntimeFailed, "function returned an incorrect number of gradients (expected {}, got {})",
                inputs, flows.size());
  return flows;
}

bool truthAt(PyObject* flags, std::size_t i) {
  const Ref item = Ref::steal(PySequence_GetItem(flags, Py_ssize_t(i)));
  if (!item) PyErr_Clear();
  return item && PyObject_IsTrue(item.get()) == 1;
}

/// What the program sees of a result is the result with its new history.
void attachResult(Variable& result, const std::shared_ptr<GradNode>& node, std::size_t number, bool isDirty) {
  if (isDirty) ++*result.version;
  result.base = nullptr;
  result.gradFn = node;
  result.outputNumber = number;
}

/// _attach_python_node(name, inputs, outputs, differentiable, dirty, backward, ctx)
PyObject* attachPythonNode(PyObject*, PyObject* args) {
  const char* name = nullptr;
  PyObject *inputs = nullptr, *outputs = nullptr, *differentiable = nullptr, *dirty = nullptr, *backward = nullptr,
           *context = nullptr;
  if (!PyArg_ParseTuple(args, "sOOOOOO", &name, &inputs, &outputs, &differentiable, &dirty, &backward, &context))
    return nullptr;
  std::vector<VariablePtr> from, to;
  if (!variablesOf(inputs, from) || !variablesOf(outputs, to)) return nullptr;
  const auto node = makeNode(name, to.size());
  bool any = false;
  for (const VariablePtr& variable : from) {
    node->edges.push_back(edgeOf(*variable));
    any = any || node->edges.back().node;
  }
  if (!any || !gradModes().grad) Py_RETURN_NONE;
  noteCompiled(*node, false);
  node->context = Ref::borrow(context);
  node->backward = [function = Ref::borrow(backward), count = from.size()](GradNode&, const ValueList& grads,
                                                                           const OpRunner&) {
    return callPythonBackward(function, count, grads);
  };
  for (std::size_t i = 0; i < to.size(); ++i) {
    node->resultMetas.push_back(to[i]->tensor);
    if (truthAt(differentiable, i)) attachResult(*to[i], node, i, truthAt(dirty, i));
  }
  return objectOfNode(node).release();
}

template <bool GradModes::* mode>
PyObject* modeIs(PyObject*, PyObject*) {
  return PyBool_FromLong(gradModes().*mode);
}
template <bool GradModes::* mode>
PyObject* setMode(PyObject*, PyObject* value) {
  const int enabled = PyObject_IsTrue(value);
  if (enabled < 0) return nullptr;
  gradModes().*mode = enabled != 0;
  Py_RETURN_NONE;
}

/// Autocast as switches by device, from which the engine's setting is made.
struct AutocastSwitches {
  bool cpu = false, cuda = false, cached = true;
  DType cpuDtype = DType::BFloat16, cudaDtype = DType::Float16;
  int nesting = 0;
  std::optional<AutocastScope> scope;
};
AutocastSwitches& switches() {
  static auto& instance = *new AutocastSwitches;
  return instance;
}
void applyAutocast() {
  AutocastSwitches& all = switches();
  all.scope.reset();
  if (all.cpu) all.scope.emplace(Autocast{true, "cpu", all.cpuDtype});
  if (all.cuda) all.scope.emplace(Autocast{true, "cuda", all.cudaDtype});
}
bool isCuda(PyObject* device) { return textOf(device) == "cuda"; }

PyObject* autocastEnabled(PyObject*, PyObject* args) {
  PyObject* device = PyTuple_GET_SIZE(args) > 0 ? PyTuple_GET_ITEM(args, 0) : nullptr;
  return PyBool_FromLong(device == nullptr || isCuda(device) ? switches().cuda : switches().cpu);
}
PyObject* setAutocastEnabled(PyObject*, PyObject* args) {
  PyObject *device = nullptr, *value = nullptr;
  if (!PyArg_ParseTuple(args, "OO", &device, &value)) return nullptr;
  (isCuda(device) ? switches().cuda : switches().cpu) = PyObject_IsTrue(value) == 1;
  applyAutocast();
  Py_RETURN_NONE;
}
PyObject* autocastDtype(PyObject*, PyObject* device) {
  return objectOf(isCuda(device) ? switches().cudaDtype : switches().cpuDtype).release();
}
PyObject* setAutocastDtype(PyObject*, PyObject* args) {
  PyObject *device = nullptr, *value = nullptr;
  if (!PyArg_ParseTuple(args, "OO", &device, &value)) return nullptr;
  const auto dtype = dtypeOf(value);
  if (!dtype) return PyErr_SetString(PyExc_TypeError, "set_autocast_dtype takes a dtype"), nullptr;
  (isCuda(device) ? switches().cudaDtype : switches().cpuDtype) = *dtype;
  applyAutocast();
  Py_RETURN_NONE;
}
PyObject* cacheEnabled(PyObject*, PyObject*) { return PyBool_FromLong(switches().cached); }
PyObject* setCacheEnabled(PyObject*, PyObject* value) {
  switches().cached = PyObject_IsTrue(value) == 1;
  Py_RETURN_NONE;
}
template <int step>
PyObject* nest(PyObject*, PyObject*) {
  return PyLong_FromLong(switches().nesting += step);
}
PyObject* nothing(PyObject*, PyObject*) { Py_RETURN_NONE; }

/// Anomaly mode: a backward that gives NaN is an error that names its node.
PyObject* anomalyEnabled(PyObject*, PyObject*) { return PyBool_FromLong(anomalyMode()); }
PyObject* setAnomaly(PyObject*, PyObject* args) {
  PyObject *enabled = nullptr, *checkNan = nullptr;
  if (!PyArg_ParseTuple(args, "O|O", &enabled, &checkNan)) return nullptr;
  anomalyMode() = PyObject_IsTrue(enabled) == 1;
  Py_RETURN_NONE;
}

PyObject* pushSavedHooks(PyObject*, PyObject* args) {
  PyObject *pack = nullptr, *unpack = nullptr;
  if (!PyArg_ParseTuple(args, "OO", &pack, &unpack)) return nullptr;
  savedTensorHooks().push_back({Ref::borrow(pack), Ref::borrow(unpack)});
  Py_RETURN_NONE;
}
PyObject* popSavedHooks(PyObject*, PyObject*) {
  if (!savedTensorHooks().empty()) savedTensorHooks().pop_back();
  Py_RETURN_NONE;
}

}  // namespace

bool addAutograd(PyObject* module) {
  static PyMethodDef functions[] = {
      {"_run_backward", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(runBackwardFromPython)),
       METH_VARARGS | METH_KEYWORDS, nullptr},
      {"_attach_python_node", attachPythonNode, METH_VARARGS, nullptr},
      {"is_grad_enabled", modeIs<&GradModes::grad>, METH_NOARGS, nullptr},
      {"_set_grad_enabled", setMode<&GradModes::grad>, METH_O, nullptr},
      {"is_inference_mode_enabled", modeIs<&GradModes::inference>, METH_NOARGS, nullptr},
      {"_set_inference_mode", setMode<&GradModes::inference>, METH_O, nullptr},
      {"is_autocast_enabled", autocastEnabled, METH_VARARGS, nullptr},
      {"set_autocast_enabled", setAutocastEnabled, METH_VARARGS, nullptr},
      {"get_autocast_dtype", autocastDtype, METH_O, nullptr},
      {"set_autocast_dtype", setAutocastDtype, METH_VARARGS, nullptr},
      {"is_autocast_cache_enabled", cacheEnabled, METH_NOARGS, nullptr},
      {"set_autocast_cache_enabled", setCacheEnabled, METH_O, nullptr},
      {"autocast_increment_nesting", nest<1>, METH_NOARGS, nullptr},
      {"autocast_decrement_nesting", nest<-1>, METH_NOARGS, nullptr},
      {"is_anomaly_enabled", anomalyEnabled, METH_NOARGS, nullptr},
      {"set_anomaly_enabled", setAnomaly, METH_VARARGS, nullptr},
      {"_push_saved_tensors_hooks", pushSavedHooks, METH_VARARGS, nullptr},
      {"_pop_saved_tensors_hooks", popSavedHooks, METH_NOARGS, nullptr},
      {"clear_autocast_cache", nothing, METH_NOARGS, nullptr},
      {nullptr, nullptr, 0, nullptr}};
  return PyModule_AddFunctions(module, functions) == 0;
}

}  // namespace kerf::inline torch_api
