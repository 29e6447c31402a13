#include "engine/dynamo/drawn_numbers.h"

#include <algorithm>
#include <array>
#include <string>

#include "engine/dynamo/tracer.h"
#include "engine/dynamo/values.h"

namespace kerf::inline dynamo {
namespace {

struct InPlaceOperator {
  std::string_view name, plain;
};
constexpr std::array<InPlaceOperator, 13> kInPlaceOperators = {{{"iadd", "add"},
                                                                {"isub", "sub"},
                                                                {"imul", "mul"},
                                                                {"itruediv", "truediv"},
                                                                {"ifloordiv", "floordiv"},
                                                                {"imod", "mod"},
                                                                {"ipow", "pow"},
                                                                {"iand", "and_"},
                                                                {"ior", "or_"},
                                                                {"ixor", "xor"},
                                                                {"ilshift", "lshift"},
                                                                {"irshift", "rshift"},
                                                                {"imatmul", "matmul"}}};

/// Operators of a tensor and a number, which may be a tensor without dimensions instead.
constexpr std::array<std::string_view, 16> kMixedOperators = {
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and_", "or_", "xor", "lt", "le", "gt", "ge", "eq", "ne"};

bool isNumberOf(PyObject* object) {
  return PyLong_Check(object) || PyFloat_Check(object) || PyComplex_Check(object) || symOf(object) != nullptr ||
         isDrawnNumber(object);
}

/// Whether a drawn number leaves the dtype of a tensor's operators alone, as a Python number does.
bool takesDrawn(const Tensor& tensor, bool anyFloat) {
  return tensor.dim() > 0 && (!anyFloat || isFloating(tensor.dtype()) || isComplex(tensor.dtype()));
}

bool staysTensor(std::string_view name, PyObject* args) {
  if (std::ranges::find(kMixedOperators, name) == kMixedOperators.end()) return false;
  bool anyFloat = false, anyTensor = false;
  for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(args); ++k)
    if (isDrawnNumber(PyTuple_GET_ITEM(args, k)))
      anyFloat = anyFloat || isFloating(proxyOf(PyTuple_GET_ITEM(args, k))->fake.dtype());
  for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(args); ++k) {
    const ProxyState* proxy = proxyOf(PyTuple_GET_ITEM(args, k));
    if (proxy == nullptr || proxy->isNumber) continue;
    if (!takesDrawn(proxy->fake, anyFloat)) return false;
    anyTensor = true;
  }
  return anyTensor;
}

Ref itemOf(FrameTracer& tracer, PyObject* drawn) {
  ProxyState& state = *proxyOf(drawn);
  const SymState* known = symOf(state.item.get());
  if (known != nullptr && !tracer.graph.isClosed(known->node)) return state.item;
  state.item = tracer.graph.callMethod("item", Ref::steal(PyTuple_Pack(1, drawn)).get(), nullptr);
  return state.item;
}

}  // namespace

bool isDrawnNumber(PyObject* object) {
  const ProxyState* proxy = proxyOf(object);
  return proxy != nullptr && proxy->isNumber;
}

std::string_view operatorOnLeft(std::string_view name, PyObject* left) {
  const auto* row = std::ranges::find(kInPlaceOperators, name, &InPlaceOperator::name);
  return row == kInPlaceOperators.end() || !isNumberOf(left) ? name : row->plain;
}

std::optional<Ref> computeOnDrawn(FrameTracer& tracer, std::string_view name, PyObject* args) {
  bool anyDrawn = false;
  for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(args); ++k)
    anyDrawn = anyDrawn || isDrawnNumber(PyTuple_GET_ITEM(args, k));
  if (!anyDrawn || staysTensor(name, args)) return std::nullopt;
  const Ref plain = withoutDrawn(tracer, args);
  return tracer.checked(PyObject_CallObject(operatorFunction(std::string(name).c_str()).get(), plain.get()));
}

Ref withoutDrawn(FrameTracer& tracer, PyObject* args) {
  if (args == nullptr || tracer.randomCalls.empty()) return Ref::borrow(args);
  if (isDrawnNumber(args)) return itemOf(tracer, args);
  if (PyDict_CheckExact(args)) {
    Ref made = Ref::steal(PyDict_New());
    PyObject *key = nullptr, *value = nullptr;
    for (Py_ssize_t at = 0; PyDict_Next(args, &at, &key, &value) != 0;)
      PyDict_SetItem(made.get(), key, withoutDrawn(tracer, value).get());
    return made;
  }
  if (!PyTuple_CheckExact(args) && !PyList_CheckExact(args)) return Ref::borrow(args);
  const Ref list = Ref::steal(PyList_New(0));
  for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(args); ++k)
    PyList_Append(list.get(), withoutDrawn(tracer, PySequence_Fast_GET_ITEM(args, k)).get());
  return PyTuple_CheckExact(args) ? Ref::steal(PyList_AsTuple(list.get())) : list;
}

}  // namespace kerf::inline dynamo
