#include "engine/dynamo/drawn_numbers.h"

#include <algorithm>
#include <array>
#include <string>

#include "engine/dynamo/tracer.h"
#include "engine/dynamo/values.h"
#include "engine/ir/python_operators.h"

namespace kerf::inline dynamo {
namespace {

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
  state.item = tracer.graph.callItem(drawn);
  return state.item;
}

/// The values of a dict, or the items of a list or tuple; itself where none was drawn.
Ref dictWithoutDrawn(FrameTracer& tracer, PyObject* dict) {
  const NestedArgument nested;
  Ref made;
  PyObject *key = nullptr, *value = nullptr;
  for (Py_ssize_t at = 0; PyDict_Next(dict, &at, &key, &value) != 0;) {
    const Ref plain = withoutDrawn(tracer, value);
    if (plain.get() == value) continue;
    if (!made) made = Ref::steal(PyDict_Copy(dict));
    PyDict_SetItem(made.get(), key, plain.get());
  }
  return made ? made : Ref::borrow(dict);
}

Ref sequenceWithoutDrawn(FrameTracer& tracer, PyObject* sequence) {
  const NestedArgument nested;
  Ref made;
  for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(sequence); ++k) {
    PyObject* item = PySequence_Fast_GET_ITEM(sequence, k);
    const Ref plain = withoutDrawn(tracer, item);
    if (plain.get() == item) continue;
    if (!made) made = Ref::steal(PySequence_List(sequence));
    PyList_SetItem(made.get(), k, Py_NewRef(plain.get()));
  }
  if (!made) return Ref::borrow(sequence);
  return PyTuple_CheckExact(sequence) ? Ref::steal(PyList_AsTuple(made.get())) : made;
}

}  // namespace

bool isDrawnNumber(PyObject* object) {
  const ProxyState* proxy = proxyOf(object);
  return proxy != nullptr && proxy->isNumber;
}

std::string_view operatorOnLeft(std::string_view name, PyObject* left) {
  return isNumberOf(left) ? plainOperator(name) : name;
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
  if (PyDict_CheckExact(args)) return dictWithoutDrawn(tracer, args);
  if (PyTuple_CheckExact(args) || PyList_CheckExact(args)) return sequenceWithoutDrawn(tracer, args);
  return Ref::borrow(args);
}

}  // namespace kerf::inline dynamo
