// Functions of torch: which ones go into the graph, which are known while tracing, which break it.
#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_set>

#include "engine/dynamo/subclass_calls.h"
#include "engine/dynamo/tensor_calls.h"
#include "engine/dynamo/tracer.h"
#include "engine/dynamo/values.h"
#include "engine/torch_api/callables.h"

namespace kerf::inline dynamo {
namespace {

/// Modules whose Python functions are nodes, as they are.
const std::unordered_set<std::string> kGraphModules = {"torch.nn.functional", "torch.functional", "torch.special",
                                                       "torch.linalg", "torch.fft"};

/// Functions that answer from types and modes alone: they run at once.
const std::unordered_set<std::string_view> kConstantFunctions = {"get_default_dtype",
                                                                 "promote_types",
                                                                 "result_type",
                                                                 "device",
                                                                 "is_grad_enabled",
                                                                 "get_num_threads",
                                                                 "typename",
                                                                 "is_autocast_enabled",
                                                                 "get_autocast_dtype",
                                                                 "_get_default_device",
                                                                 "iinfo",
                                                                 "finfo",
                                                                 "broadcast_shapes",
                                                                 "_has_torch_function",
                                                                 "is_anomaly_enabled",
                                                                 "is_autocast_cache_enabled",
                                                                 "_get_tracing_state",
                                                                 "_len_torch_function_stack"};

const std::unordered_set<std::string_view> kDynamicShapes = {
    "nonzero", "unique", "masked_select", "unique_consecutive", "argwhere", "_unique2"};

std::string lastPart(const std::string& name) { return name.substr(name.rfind('.') + 1); }

bool holdsTensor(PyObject* object) {
  if (proxyOf(object) != nullptr) return true;
  if (!PyTuple_Check(object) && !PyList_Check(object)) return false;
  for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(object); ++k)
    if (holdsTensor(PySequence_Fast_GET_ITEM(object, k))) return true;
  return false;
}

Ref setGradEnabled(FrameTracer& tracer, const std::string& name, PyObject* callable, PyObject* args) {
  const bool enabled = PyObject_IsTrue(PyTuple_GET_ITEM(args, 0)) == 1;
  if (enabled == tracer.graph.gradEnabled) return Ref::borrow(Py_None);
  tracer.graph.record(Opcode::CallFunction, name, {{}, {}, Ref::borrow(callable), Ref::borrow(args), {}});
  tracer.graph.gradEnabled = enabled;
  return Ref::borrow(Py_None);
}

std::string ofModule(PyObject* callable) {
  const std::string module = textOf(attributeOf(callable, "__module__").get());
  if (!module.starts_with("torch._C")) return {};
  return module + "." + textOf(attributeOf(callable, "__name__").get());
}

}  // namespace

std::string graphFunctionName(PyObject* callable) {
  if (PyType_Check(callable) || PyMethod_Check(callable)) return {};
  if (PyFunction_Check(callable)) {
    const std::string module = textOf(attributeOf(callable, "__module__").get());
    if (!kGraphModules.contains(module)) return {};
    const std::string own = textOf(attributeOf(callable, "__name__").get());
    if (own.starts_with("_") || own == "handle_torch_function") return {};
    // A builtin in PyTorch.
    if (own == "pad" && module == "torch.nn.functional") return "torch._C._nn.pad";
    if (own == "threshold" && module == "torch.nn.functional") return "torch.threshold";
    if (own == "rms_norm" && module == "torch.nn.functional") return "torch.rms_norm";
    return module + "." + own;
  }
  std::string name = callableOf(callable);
  if (!name.empty()) return name;
  return PyCFunction_Check(callable) ? ofModule(callable) : std::string();
}

Ref traceTorchFunction(FrameTracer& tracer, const std::string& name, PyObject* callable, PyObject* args,
                       PyObject* kwargs) {
  const std::string last = lastPart(name);
  if (std::optional<Ref> answer = askSubclasses(tracer, callable, args, kwargs)) return *std::move(answer);
  const bool method = name.starts_with("torch.Tensor.") || name.starts_with("torch._C.TensorBase.");
  if (method && PyTuple_GET_SIZE(args) > 0 && proxyOf(PyTuple_GET_ITEM(args, 0)) != nullptr) {
    const Ref rest = Ref::steal(PyTuple_GetSlice(args, 1, PyTuple_GET_SIZE(args)));
    return tensorMethod(tracer, PyTuple_GET_ITEM(args, 0), last, rest.get(), kwargs);
  }
  if (last == "is_inference_mode_enabled")
    unsupported("Encountered torch.is_inference_mode_enabled during tracing",
                "torch.is_inference_mode_enabled() is not supported", {}, {});
  if (last.starts_with("_has_torch_function")) return Ref::borrow(Py_False);
  if (name.starts_with("torch._C.") && callableOf(callable).empty() && !PyFunction_Check(callable) &&
      last != "_set_grad_enabled" && last != "is_grad_enabled" && last != "_log_api_usage_once" &&
      !kConstantFunctions.contains(last))
    unsupported("Unsupported function call", "Dynamo cannot trace what changes the state of torch.", name);
  if (last == "_set_grad_enabled") return setGradEnabled(tracer, "torch._C._set_grad_enabled", callable, args);
  if (last == "is_grad_enabled") return Ref::borrow(tracer.graph.gradEnabled ? Py_True : Py_False);
  if (kConstantFunctions.contains(last) && !holdsTensor(args)) {
    const NativeScope native;
    return tracer.checked(PyObject_Call(callable, args, kwargs));
  }
  static const std::array<std::string_view, 3> answered = {"is_floating_point", "is_complex", "numel"};
  if (std::ranges::find(answered, last) != answered.end() && PyTuple_GET_SIZE(args) == 1 &&
      proxyOf(PyTuple_GET_ITEM(args, 0)) != nullptr)
    return tensorMethod(tracer, PyTuple_GET_ITEM(args, 0), last, Ref::steal(PyTuple_New(0)).get(), nullptr);
  if ((kDynamicShapes.contains(last) || (last == "where" && PyTuple_GET_SIZE(args) == 1)) && !capturesDynamicShapes())
    unsupported("Dynamic shape operator", "Operator `" + last + "`'s output shape depends on input Tensor data.", name,
                {"Enable tracing of dynamic shape operators with "
                 "`torch._dynamo.config.capture_dynamic_output_shape_ops = True`"});
  if (last == "is_same_size" || last == "can_cast")
    unsupported("torch.* op returned non-Tensor",
                "torch.* ops that return a non-Tensor cannot be traced into the Dynamo FX graph output",
                "example_value type: bool; op: call_function; target: " + name);
  if (last == "is_inference_mode_enabled")
    unsupported("Encountered torch.is_inference_mode_enabled during tracing",
                "torch.is_inference_mode_enabled() is not supported", {}, {});
  static const std::array<std::string_view, 4> decided = {"equal", "allclose", "is_nonzero", "local_scalar"};
  if (std::ranges::find(decided, last) != decided.end())
    unsupported("Data dependent operator",
                "Operator `" + last +
                    "` has a non-Tensor output whose value is dependent on "
                    "the data of Tensor inputs.",
                name, {"Use tensor operations instead."});
  return tracer.graph.callFunction(name, callable, args, kwargs);
}

}  // namespace kerf::inline dynamo
