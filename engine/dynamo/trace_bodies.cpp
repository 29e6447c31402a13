// Bodies of functions that take functions: begun, cut out of the graph, given names.
#include <algorithm>
#include <span>

#include "engine/dynamo/graph_body.h"
#include "engine/dynamo/trace_functions.h"
#include "engine/dynamo/traced_slot.h"
#include "engine/dynamo/unsupported.h"

namespace kerf::inline dynamo {
namespace {

/// What compiled code would have to change by now.
std::vector<std::vector<PyObject*>> changesSoFar(FrameTracer& tracer) {
  std::vector<std::vector<PyObject*>> found;
  for (const Effect& effect : tracer.effects.changes()) {
    std::vector<PyObject*> row = {effect.target.get(), effect.value.get()};
    const bool list = effect.value && PyList_Check(effect.value.get());
    for (Py_ssize_t k = 0; list && k < PyList_GET_SIZE(effect.value.get()); ++k)
      row.push_back(PyList_GET_ITEM(effect.value.get(), k));
    PyObject *key = nullptr, *value = nullptr;
    for (Py_ssize_t at = 0;
         effect.value && PyDict_Check(effect.value.get()) && PyDict_Next(effect.value.get(), &at, &key, &value) != 0;)
      row.push_back(value);
    found.push_back(std::move(row));
  }
  return found;
}

std::vector<std::vector<std::vector<PyObject*>>>& openBodies() {
  static std::vector<std::vector<std::vector<PyObject*>>> stack;
  return stack;
}

/// begin(): a number that cut() takes.
PyObject* begin(PyObject*, PyObject*) {
  return whileTracing([](FrameTracer& tracer) {
    openBodies().push_back(changesSoFar(tracer));
    return Ref::steal(PyLong_FromUnsignedLong(tracer.graph.beginBody()));
  });
}

/// cut(mark, own, outputs, keep=False, may_change=False): a body.
PyObject* cut(PyObject*, PyObject* args) {
  PyObject *mark = nullptr, *own = nullptr, *outputs = nullptr, *end = Py_None;
  int keep = 0, mayChange = 0;
  if (PyArg_ParseTuple(args, "OOO|ppO", &mark, &own, &outputs, &keep, &mayChange, &end) == 0) return nullptr;
  return whileTracing([&](FrameTracer& tracer) {
    BodyRange range{std::uint32_t(PyLong_AsUnsignedLong(mark)), UINT32_MAX};
    if (end != Py_None) {
      range.end = std::uint32_t(PyLong_AsUnsignedLong(end));
      openBodies().pop_back();
    }
    const auto before = std::move(openBodies().back());
    openBodies().pop_back();
    if (mayChange == 0 && changesSoFar(tracer) != before)
      unsupported("HigherOrderOperator: Mutating a variable not in the current scope (SideEffects)",
                  "This is not supported.", {});
    return tracer.graph.cutBody(range, own, outputs, keep != 0);
  });
}

/// lifted(body): tensors and numbers that it takes from around it.
PyObject* lifted(PyObject*, PyObject* body) {
  const GraphBody* nested = nestedOf(body);
  if (nested == nullptr) return PyErr_Format(PyExc_TypeError, "a body is expected");
  Ref tuple = Ref::steal(PyTuple_New(Py_ssize_t(nested->lifted.size())));
  for (std::size_t k = 0; k < nested->lifted.size(); ++k)
    PyTuple_SET_ITEM(tuple.get(), Py_ssize_t(k), Py_NewRef(nested->lifted[k].get()));
  return tuple.release();
}

/// merged(bodies): what several bodies take: first what all take, then what is one's own, each by name.
PyObject* merged(PyObject*, PyObject* bodies) {
  return whileTracing([&](FrameTracer& tracer) {
    const Py_ssize_t count = PyTuple_GET_SIZE(bodies);
    std::vector<std::pair<Ref, int>> all;  // and how many take it
    std::vector<Ref> order;
    const auto find = [&](PyObject* value) {
      return std::ranges::find_if(all,
                                  [&](const auto& row) { return nodeOfValue(row.first.get()) == nodeOfValue(value); });
    };
    for (Py_ssize_t k = 0; k < count; ++k)
      for (const Ref& value : nestedOf(PyTuple_GET_ITEM(bodies, k))->lifted) {
        const auto known = find(value.get());
        if (known == all.end())
          all.emplace_back(value, 1);
        else
          ++known->second;
      }
    const auto byName = [&](std::vector<Ref> block) {
      std::ranges::stable_sort(
          block, {}, [&](const Ref& value) { return tracer.graph.graph().node(nodeOfValue(value.get())).name(); });
      order.insert(order.end(), block.begin(), block.end());
    };
    std::vector<Ref> shared;
    for (const auto& [value, users] : all)
      if (users == count) shared.push_back(value);
    byName(shared);
    for (Py_ssize_t k = 0; k < count; ++k) {
      std::vector<Ref> block;
      for (const Ref& value : nestedOf(PyTuple_GET_ITEM(bodies, k))->lifted) {
        const auto known = find(value.get());
        if (known->second == count || known->second < 0) continue;
        known->second = -1;
        block.push_back(value);
      }
      byName(block);
    }
    Ref tuple = Ref::steal(PyTuple_New(Py_ssize_t(order.size())));
    for (std::size_t k = 0; k < order.size(); ++k) PyTuple_SET_ITEM(tuple.get(), Py_ssize_t(k), order[k].release());
    return tuple;
  });
}

/// install(body, base, operands)
PyObject* install(PyObject*, PyObject* args) {
  PyObject *body = nullptr, *operands = nullptr;
  const char* base = nullptr;
  if (PyArg_ParseTuple(args, "OsO!", &body, &base, &PyTuple_Type, &operands) == 0) return nullptr;
  return whileTracing([&](FrameTracer& tracer) {
    tracer.graph.installBody(body, base, operands);
    return Ref::borrow(Py_None);
  });
}

/// reorder(body, places): the body gives its outputs at these places, None where a place is negative.
PyObject* reorder(PyObject*, PyObject* args) {
  PyObject *body = nullptr, *places = nullptr;
  if (PyArg_ParseTuple(args, "OO!", &body, &PyTuple_Type, &places) == 0) return nullptr;
  GraphBody* nested = nestedOf(body);
  if (nested == nullptr) return PyErr_Format(PyExc_TypeError, "a body is expected");
  Ref tuple = Ref::steal(PyTuple_New(PyTuple_GET_SIZE(places)));
  for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(places); ++k) {
    const Py_ssize_t place = PyLong_AsSsize_t(PyTuple_GET_ITEM(places, k));
    const bool known = place >= 0 && place < PyTuple_GET_SIZE(nested->output.get());
    PyTuple_SET_ITEM(tuple.get(), k, Py_NewRef(known ? PyTuple_GET_ITEM(nested->output.get(), place) : Py_None));
  }
  nested->output = std::move(tuple);
  Py_RETURN_NONE;
}

PyMethodDef table[] = {{"begin", begin, METH_NOARGS, nullptr},      {"cut", cut, METH_VARARGS, nullptr},
                       {"lifted", lifted, METH_O, nullptr},         {"merged", merged, METH_O, nullptr},
                       {"install", install, METH_VARARGS, nullptr}, {"reorder", reorder, METH_VARARGS, nullptr}};

}  // namespace

std::span<const PyMethodDef> bodyFunctions() { return table; }

}  // namespace kerf::inline dynamo
