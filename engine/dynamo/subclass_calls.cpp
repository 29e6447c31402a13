#include "engine/dynamo/subclass_calls.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/dynamo/instruction_translator.h"
#include "engine/torch_api/tensor_type.h"
#include "engine/torch_api/torch_function.h"

namespace kerf::inline dynamo {
namespace {

PyTypeObject* classOf(const ProxyState& proxy) { return reinterpret_cast<PyTypeObject*>(proxy.pythonClass.get()); }

/// Tensors whose classes answer, one of each class, subclasses before their bases.
void collect(PyObject* object, std::vector<PyTypeObject*>& found, int depth) {
  if ((PyTuple_CheckExact(object) || PyList_CheckExact(object)) && depth < 2) {
    for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(object); ++k)
      collect(PySequence_Fast_GET_ITEM(object, k), found, depth + 1);
    return;
  }
  const ProxyState* proxy = proxyOf(object);
  if (proxy == nullptr || !answersCalls(*proxy)) return;
  PyTypeObject* type = classOf(*proxy);
  if (std::ranges::find(found, type) != found.end()) return;
  found.insert(std::ranges::find_if(found, [&](PyTypeObject* other) { return PyType_IsSubtype(type, other) != 0; }),
               type);
}

std::vector<PyTypeObject*> classesOf(PyObject* args, PyObject* kwargs) {
  std::vector<PyTypeObject*> found;
  for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(args); ++k) collect(PyTuple_GET_ITEM(args, k), found, 0);
  PyObject *key = nullptr, *value = nullptr;
  for (Py_ssize_t at = 0; kwargs != nullptr && PyDict_Next(kwargs, &at, &key, &value) != 0;) collect(value, found, 0);
  return found;
}

/// The method of torch.Tensor behind operator.NAME, and that for a tensor on the right of a number.
struct OperatorMethods {
  const char* left;
  const char* right;
};
const std::unordered_map<std::string_view, OperatorMethods> kOperators = {
    {"add", {"__add__", "__radd__"}},           {"sub", {"__sub__", "__rsub__"}},
    {"mul", {"__mul__", "__rmul__"}},           {"matmul", {"__matmul__", "__rmatmul__"}},
    {"truediv", {"__truediv__", "__rdiv__"}},   {"floordiv", {"__floordiv__", "__rfloordiv__"}},
    {"mod", {"__mod__", "__rmod__"}},           {"pow", {"__pow__", "__rpow__"}},
    {"lshift", {"__lshift__", "__rlshift__"}},  {"rshift", {"__rshift__", "__rrshift__"}},
    {"and_", {"__and__", "__rand__"}},          {"or_", {"__or__", "__ror__"}},
    {"xor", {"__xor__", "__rxor__"}},           {"ipow", {"__ipow__", "__ipow__"}},
    {"iand", {"__iand__", "__iand__"}},         {"ior", {"__ior__", "__ior__"}},
    {"ixor", {"__ixor__", "__ixor__"}},         {"ifloordiv", {"__ifloordiv__", "__ifloordiv__"}},
    {"imatmul", {"__imatmul__", "__imatmul__"}}};

Ref methodOfTensor(const std::string& name) {
  return attributeOf(reinterpret_cast<PyObject*>(tensorClass()), publicMethodName(name).c_str());
}

}  // namespace

bool answersCalls(const ProxyState& proxy) {
  if (!proxy.pythonClass || classOf(proxy) == tensorClass()) return false;
  PyObject* found = _PyType_Lookup(classOf(proxy), makeText("__torch_function__").get());
  return found != nullptr && !isDisabledTorchFunction(found);
}

std::optional<Ref> askSubclasses(FrameTracer& tracer, PyObject* function, PyObject* args, PyObject* kwargs) {
  if (tracer.overrideLevel < 0) return std::nullopt;
  const std::vector<PyTypeObject*> classes = classesOf(args, kwargs);
  if (classes.empty()) return std::nullopt;
  const Ref types = Ref::steal(PyTuple_New(std::ssize(classes)));
  for (std::size_t k = 0; k < classes.size(); ++k)
    PyTuple_SET_ITEM(types.get(), Py_ssize_t(k), Py_NewRef(reinterpret_cast<PyObject*>(classes[k])));
  const Ref named = kwargs ? Ref::borrow(kwargs) : Ref::steal(PyDict_New());
  for (PyTypeObject* type : classes) {
    const VariableTracker method{
        tracer.checked(PyObject_GetAttrString(reinterpret_cast<PyObject*>(type), "__torch_function__")), nullptr,
        false};
    const Ref all = Ref::steal(PyTuple_Pack(4, function, types.get(), args, named.get()));
    Ref answer = tracer.translator->callWith(method, all.get(), nullptr, {}).value;
    if (answer.get() != Py_NotImplemented) return answer;
  }
  PyErr_Format(PyExc_TypeError, "no implementation found for '%S' on types that implement __torch_function__: %S",
               function, types.get());
  throw PythonRaised{};
}

std::optional<Ref> askSubclassesOperator(FrameTracer& tracer, const std::string& name, PyObject* args) {
  if (tracer.overrideLevel < 0 || classesOf(args, nullptr).empty()) return std::nullopt;
  const auto row = kOperators.find(name);
  const bool swapped = PyTuple_GET_SIZE(args) == 2 && proxyOf(PyTuple_GET_ITEM(args, 0)) == nullptr;
  const std::string method = row == kOperators.end() ? "__" + name + "__"
                             : swapped               ? row->second.right
                                                     : row->second.left;
  const Ref function = methodOfTensor(method);
  if (!function) return std::nullopt;
  const Ref operands =
      swapped ? Ref::steal(PyTuple_Pack(2, PyTuple_GET_ITEM(args, 1), PyTuple_GET_ITEM(args, 0))) : Ref::borrow(args);
  return askSubclasses(tracer, function.get(), operands.get(), nullptr);
}

std::optional<Ref> askSubclassesMethod(FrameTracer& tracer, const std::string& name, PyObject* self, PyObject* args,
                                       PyObject* kwargs) {
  const ProxyState* proxy = proxyOf(self);
  if (tracer.overrideLevel < 0 || proxy == nullptr) return std::nullopt;
  const Ref first = Ref::steal(PyTuple_Pack(1, self));
  const Ref all = Ref::steal(PySequence_Concat(first.get(), args));
  if (classesOf(all.get(), kwargs).empty()) return std::nullopt;
  const Ref function = methodOfTensor(name);
  return function ? askSubclasses(tracer, function.get(), all.get(), kwargs) : std::nullopt;
}

}  // namespace kerf::inline dynamo
