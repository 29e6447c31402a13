#include "engine/dynamo/fake_failures.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/dynamo/break_ids.h"
#include "engine/dynamo/capture_log.h"
#include "engine/dynamo/output_graph.h"
#include "engine/dynamo/tensor_proxy.h"
#include "engine/dynamo/tracer.h"
#include "engine/python/reference.h"
#include "engine/torch_api/tensor_type.h"

namespace kerf::inline dynamo {
namespace {

bool truthOf(PyObject* object, const char* attribute) {
  const Ref value = Ref::steal(PyObject_GetAttrString(object, attribute));
  PyErr_Clear();
  return value.get() == Py_True;
}

std::string sizesText(const Tensor& tensor) {
  std::vector<std::string> sizes;
  for (const SymInt size : tensor.symSizes()) sizes.push_back(fmt::format("{}", size));
  return fmt::format("({}{})", fmt::join(sizes, ", "), sizes.size() == 1 ? "," : "");
}

std::string fakeText(const ProxyState& proxy) {
  std::string text = "FakeTensor(..., size=" + sizesText(proxy.fake);
  if (proxy.fake.dtype() != DType::Float32) text += fmt::format(", dtype={}", dtypeInfo(proxy.fake.dtype()).torchName);
  const bool isLeaf = proxy.real && isTensor(proxy.real.get()) && truthOf(proxy.real.get(), "is_leaf");
  if (isLeaf && truthOf(proxy.real.get(), "requires_grad")) text += ", requires_grad=True";
  text += ")";
  const bool isParameter =
      proxy.pythonClass &&
      std::string_view(reinterpret_cast<PyTypeObject*>(proxy.pythonClass.get())->tp_name) == "Parameter";
  return isParameter ? "Parameter(" + text + ")" : text;
}

std::string shown(PyObject* value);

std::string shownItems(PyObject* tuple) {
  std::vector<std::string> items;
  for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(tuple); ++k) items.push_back(shown(PyTuple_GET_ITEM(tuple, k)));
  return fmt::format("{}{}", fmt::join(items, ", "), items.size() == 1 ? "," : "");
}

std::string shown(PyObject* value) {
  if (const ProxyState* proxy = proxyOf(value)) return fakeText(*proxy);
  if (PyTuple_CheckExact(value)) return "(" + shownItems(value) + ")";
  if (PyList_CheckExact(value)) {
    std::vector<std::string> items;
    for (Py_ssize_t k = 0; k < PyList_GET_SIZE(value); ++k) items.push_back(shown(PyList_GET_ITEM(value, k)));
    return fmt::format("[{}]", fmt::join(items, ", "));
  }
  if (PyDict_CheckExact(value)) {
    std::vector<std::string> items;
    PyObject *key = nullptr, *item = nullptr;
    for (Py_ssize_t at = 0; PyDict_Next(value, &at, &key, &item) != 0;)
      items.push_back(shown(key) + ": " + shown(item));
    return fmt::format("{{{}}}", fmt::join(items, ", "));
  }
  const Ref text = Ref::steal(PyObject_Repr(value));
  PyErr_Clear();
  return text ? textOf(text.get()) : std::string("...");
}

/// What TorchRuntimeError says of a failure, kept with the operator's own exception.
constexpr const char* kWords = "_torch_runtime_error";

std::string failureText(const TracedCall& call, PyObject* exception, const std::vector<std::string>& stack) {
  static constexpr const char* kType = "RuntimeError when making fake tensor call";
  const std::string called =
      call.callable ? "call_function " + shown(call.callable.get()) : "call_method " + call.method;
  const std::string explanation =
      fmt::format("Dynamo failed to run FX node with fake tensors: {}(*{}, **{}): got {}", called,
                  shown(call.args.get()), call.kwargs ? shown(call.kwargs.get()) : std::string("{}"), shown(exception));
  const std::vector<std::string> hints = {
      "Your code may result in an error when running in eager. Please double check that your code doesn't contain a "
      "similar error when actually running eager/uncompiled. You can do this by removing the `torch.compile` call, or "
      "by using `torch.compiler.set_stance(\"force_eager\")`. "};
  return reasonText(kType, explanation, hints, {}) + breakPage(kType) + userCode(stack);
}

bool isLeafWithGradient(PyObject* object) {
  const ProxyState* proxy = proxyOf(object);
  return proxy != nullptr && proxy->real && isTensor(proxy->real.get()) &&
         truthOf(proxy->real.get(), "requires_grad") && truthOf(proxy->real.get(), "is_leaf");
}

/// `add_`, `operator.iadd`, `operator.setitem`; not what changes no data.
bool writesData(const std::string& name) {
  static constexpr std::array<std::string_view, 5> kNoData = {"requires_grad_", "detach_", "retain_grad_",
                                                              "share_memory_", "rename_"};
  static constexpr std::array<std::string_view, 14> kInplace = {"setitem",   "iadd", "isub",    "imul",    "itruediv",
                                                                "ifloordiv", "imod", "ipow",    "imatmul", "iand",
                                                                "ior",       "ixor", "ilshift", "irshift"};
  const std::string last = name.substr(name.rfind('.') + 1);
  if (name.starts_with("operator.")) return std::ranges::find(kInplace, last) != kInplace.end();
  return last.size() > 1 && last.back() == '_' && last[last.size() - 2] != '_' &&
         std::ranges::find(kNoData, last) == kNoData.end();
}

/// The line of a file that the interpreter knows; empty for others.
std::string lineOfFile(const std::string& file, int line) {
  const Ref module = Ref::steal(PyImport_ImportModule("linecache"));
  const Ref text = module ? Ref::steal(PyObject_CallMethod(module.get(), "getline", "si", file.c_str(), line)) : Ref();
  const Ref stripped = text ? Ref::steal(PyObject_CallMethod(text.get(), "strip", nullptr)) : Ref();
  PyErr_Clear();
  return stripped ? textOf(stripped.get()) : std::string();
}

}  // namespace

void raiseFailure(const FrameTracer& tracer, const TracedCall& call, const Error& error, bool failsOnData) {
  raise(error);
  const bool isOfArguments =
      PyErr_ExceptionMatches(PyExc_TypeError) || PyErr_ExceptionMatches(PyExc_NotImplementedError);
  if (!failsOnData || isOfArguments) throw PythonRaised{};
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  {
    const NativeScope native;
    const Ref words = makeText(failureText(call, value, tracer.userStack()));
    if (!words || PyObject_SetAttrString(value, kWords, words.get()) < 0) PyErr_Clear();
  }
  PyErr_Restore(type, value, trace);
  throw PythonRaised{};
}

void refuseLeafWrite(const FrameTracer& tracer, const TracedCall& call, const std::string& name) {
  PyObject* args = call.args.get();
  if (!tracer.graph.gradEnabled || PyTuple_GET_SIZE(args) == 0 || !writesData(name) ||
      !isLeafWithGradient(PyTuple_GET_ITEM(args, 0)))
    return;
  const bool ofView = name == "operator.setitem" && proxyOf(PyTuple_GET_ITEM(args, 1)) == nullptr;
  raiseFailure(tracer, call,
               Error(ErrorCode::RuntimeFailed,
                     fmt::format("a {}leaf Variable that requires grad is being used in an in-place operation.",
                                 ofView ? "view of a " : "")),
               true);
}

bool isFailurePending() {
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  const bool isFailure = value != nullptr && attributeOf(value, kWords);
  PyErr_Restore(type, value, trace);
  return isFailure;
}

bool raiseForFailure() {
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  const Ref words = value != nullptr ? Ref::steal(PyObject_GetAttrString(value, kWords)) : Ref();
  const Ref module = Ref::steal(PyImport_ImportModule("torch._dynamo.exc"));
  const Ref error = module ? Ref::steal(PyObject_GetAttrString(module.get(), "TorchRuntimeError")) : Ref();
  PyErr_Clear();
  if (!words || !error) {
    PyErr_Restore(type, value, trace);
    return false;
  }
  const Ref owners[] = {Ref::steal(type), Ref::steal(value), Ref::steal(trace)};
  PyErr_SetObject(error.get(), words.get());
  return true;
}

std::string userCode(const std::vector<std::string>& stack) {
  if (stack.empty()) return {};
  const NativeScope native;
  std::string text = "\n\nfrom user code:\n ";
  for (const std::string& place : stack) {
    const std::size_t in = place.rfind(" in "), colon = place.rfind(':', in);
    if (in == std::string::npos || colon == std::string::npos) continue;
    const std::string file = place.substr(0, colon), number = place.substr(colon + 1, in - colon - 1);
    text += fmt::format("  File \"{}\", line {}, in {}\n", file, number, place.substr(in + 4));
    if (const std::string line = lineOfFile(file, std::atoi(number.c_str())); !line.empty())
      text += "    " + line + "\n";
  }
  return text +
         "\nSet TORCHDYNAMO_VERBOSE=1 for the internal stack trace (please do this especially if you're reporting a "
         "bug "
         "to PyTorch). For even more developer context, set TORCH_LOGS=\"+dynamo\"\n";
}

std::string breakPage(const std::string& type) {
  std::string id(breakId(type));
  if (id.empty()) return {};
  std::ranges::transform(id, id.begin(), [](unsigned char c) { return char(std::tolower(c)); });
  return "\n\n For more details about this graph break, please visit: "
         "https://meta-pytorch.github.io/compile-graph-break-site/gb/" +
         id + ".html";
}

}  // namespace kerf::inline dynamo
