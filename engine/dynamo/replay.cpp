// Running a recorded graph again, call by call.
#include "engine/dynamo/output_graph.h"

namespace kerf::inline dynamo {
namespace {

/// Arguments with the values of this run where proxies stand.
class Filler {
 public:
  explicit Filler(const NodeValues& values) : m_values(values) {}

  Ref fill(PyObject* object) const {
    if (object == nullptr) return {};
    if (const ProxyState* proxy = proxyOf(object)) {
      const auto found = m_values.find(proxy->node.index);
      if (found != m_values.end()) return found->second;
      PyErr_SetString(PyExc_RuntimeError, "a node of the graph runs before its input");
      return {};
    }
    if (const SymState* number = symOf(object)) {
      const auto found = m_values.find(number->node.index);
      if (found != m_values.end()) return found->second;
      PyErr_SetString(PyExc_RuntimeError, "a number of the graph is used before it is computed");
      return {};
    }
    if (PyTuple_Check(object) || PyList_CheckExact(object)) return fillSequence(object);
    if (PyDict_CheckExact(object)) return fillDict(object);
    if (PySlice_Check(object)) return fillSlice(object);
    return Ref::borrow(object);
  }

 private:
  Ref fillSequence(PyObject* object) const {
    const Py_ssize_t size = PySequence_Fast_GET_SIZE(object);
    Ref made = Ref::steal(PyTuple_Check(object) ? PyTuple_New(size) : PyList_New(size));
    for (Py_ssize_t k = 0; made && k < size; ++k) {
      PyObject* item = fill(PySequence_Fast_GET_ITEM(object, k)).release();
      if (item == nullptr) return {};
      if (PyTuple_CheckExact(made.get()))
        PyTuple_SET_ITEM(made.get(), k, item);
      else
        PyList_SET_ITEM(made.get(), k, item);
    }
    return made;
  }

  Ref fillDict(PyObject* object) const {
    Ref made = Ref::steal(PyDict_New());
    PyObject *key = nullptr, *value = nullptr;
    for (Py_ssize_t at = 0; PyDict_Next(object, &at, &key, &value) != 0;) {
      const Ref item = fill(value);
      if (!item || PyDict_SetItem(made.get(), key, item.get()) < 0) return {};
    }
    return made;
  }

  Ref fillSlice(PyObject* object) const {
    const auto* slice = reinterpret_cast<PySliceObject*>(object);
    const Ref start = fill(slice->start);
    const Ref stop = fill(slice->stop);
    const Ref step = fill(slice->step);
    return start && stop && step ? Ref::steal(PySlice_New(start.get(), stop.get(), step.get())) : Ref();
  }

  const NodeValues& m_values;
};

Ref runCall(const TracedCall& call, const Filler& filler) {
  const Ref args = filler.fill(call.args.get());
  const Ref kwargs = filler.fill(call.kwargs.get());
  if (!args || (call.kwargs && !kwargs)) return {};
  if (call.callable) return Ref::steal(PyObject_Call(call.callable.get(), args.get(), kwargs.get()));
  const Ref method = Ref::steal(PyObject_GetAttrString(PyTuple_GET_ITEM(args.get(), 0), call.method.c_str()));
  const Ref rest = Ref::steal(PyTuple_GetSlice(args.get(), 1, PyTuple_GET_SIZE(args.get())));
  return method && rest ? Ref::steal(PyObject_Call(method.get(), rest.get(), kwargs.get())) : Ref();
}

}  // namespace

Ref fillValue(PyObject* object, const NodeValues& values) { return Filler(values).fill(object); }

FilledCall fillCall(const TracedCall& call, const NodeValues& values) {
  const Filler filler(values);
  return {filler.fill(call.args.get()), filler.fill(call.kwargs.get())};
}

Ref replayCall(const TracedCall& call, const NodeValues& values) { return runCall(call, Filler(values)); }

bool replay(const std::vector<TracedCall>& calls, NodeValues& values) {
  const Filler filler(values);
  for (const TracedCall& call : calls) {
    Ref result = runCall(call, filler);
    if (!result) return false;
    values[call.node.index] = std::move(result);
  }
  return true;
}

}  // namespace kerf::inline dynamo
