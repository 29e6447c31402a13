#include "engine/dynamo/trace_functions.h"

#include <algorithm>

#include "engine/dynamo/graph_body.h"
#include "engine/dynamo/tracer.h"
#include "engine/dynamo/unsupported.h"
#include "engine/torch_api/conversions.h"

namespace kerf::inline dynamo {
namespace {

PyObject* traceModule = nullptr;

Tensor freshFake(const Tensor& like, const SymSizes& sizes) {
  SymSizes strides(sizes.size(), SymInt(1));
  for (std::size_t k = sizes.size(); k-- > 1;) strides[k - 1] = strides[k] * sizes[k];
  Tensor fake(nullptr, like.dtype(), sizes, strides, 0);
  fake.setDevice(like.device());
  fake.requiresGrad = like.requiresGrad;
  fake.isLeaf = !fake.requiresGrad;
  return fake;
}

/// A tensor without one of its dimensions; the whole of it where that is None.
Tensor sliceOf(const Tensor& fake, PyObject* dim) {
  if (dim == Py_None) return freshFake(fake, fake.symSizes());
  SymSizes sizes = fake.symSizes();
  const long place = PyLong_AsLong(dim), rank = long(sizes.size());
  if (rank == 0 || place < -rank || place >= rank) {
    PyErr_SetString(PyExc_IndexError, "Dimension out of range");
    throw PythonRaised{};
  }
  sizes.erase(sizes.begin() + (place < 0 ? place + rank : place));
  return freshFake(fake, sizes);
}

template <class Body>
PyObject* whileTracing(Body body) {
  FrameTracer* tracer = FrameTracer::active();
  if (tracer == nullptr) return PyErr_Format(PyExc_RuntimeError, "nothing is traced");
  try {
    return body(*tracer).release();
  } catch (const PythonRaised&) {
    return nullptr;
  } catch (...) {
    return tracer->keepException();
  }
}

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

/// input(like, dim=None): a tensor of the body, as `like`, or as one of its slices.
PyObject* input(PyObject*, PyObject* args) {
  PyObject *like = nullptr, *dim = Py_None;
  if (PyArg_ParseTuple(args, "O|O", &like, &dim) == 0) return nullptr;
  return whileTracing([&](FrameTracer& tracer) {
    tracer.noteTensor(like);
    const ProxyState* proxy = proxyOf(like);
    if (proxy == nullptr) unsupported("Unsupported operand", "A tensor is expected.");
    Tensor fake = sliceOf(proxy->fake, dim);
    return tracer.graph.bodyInput(fake);
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

NodeId nodeOfValue(PyObject* object) {
  if (const ProxyState* proxy = proxyOf(object)) return proxy->node;
  if (const SymState* number = symOf(object)) return number->node;
  return {};
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

/// call(target, function, args, kwargs, results): results as a tuple of tensors.
PyObject* call(PyObject*, PyObject* args) {
  const char* target = nullptr;
  PyObject *function = nullptr, *given = nullptr, *named = nullptr, *results = nullptr;
  if (PyArg_ParseTuple(args, "sOO!OO!", &target, &function, &PyTuple_Type, &given, &named, &PyTuple_Type, &results) ==
      0)
    return nullptr;
  return whileTracing([&](FrameTracer& tracer) {
    PyObject* kwargs = named == Py_None || PyDict_GET_SIZE(named) == 0 ? nullptr : named;
    return tracer.graph.callHigherOrder(target, function, given, kwargs, results);
  });
}

/// node(target, function, args, like=None, dim=None): one node, which gives a tensor as `like`, or nothing.
PyObject* node(PyObject*, PyObject* args) {
  const char* target = nullptr;
  PyObject *function = nullptr, *given = nullptr, *like = Py_None, *dim = Py_None, *named = Py_None;
  if (PyArg_ParseTuple(args, "sOO!|OOO", &target, &function, &PyTuple_Type, &given, &like, &dim, &named) == 0)
    return nullptr;
  return whileTracing([&](FrameTracer& tracer) {
    if (like != Py_None) tracer.noteTensor(like);
    PyObject* kwargs = named == Py_None ? nullptr : named;
    Ref made = tracer.graph.recordShown(target, function, given, kwargs, like);
    ProxyState* state = proxyOf(made.get());
    if (like != Py_None && dim != Py_None) state->fake = sliceOf(state->fake, dim);
    return made;
  });
}

/// repoint(olds, news): tensors that a body made stand for what the operator gives from now on.
PyObject* repoint(PyObject*, PyObject* args) {
  PyObject *olds = nullptr, *news = nullptr;
  if (PyArg_ParseTuple(args, "O!O!", &PyTuple_Type, &olds, &PyTuple_Type, &news) == 0) return nullptr;
  return whileTracing([&](FrameTracer& tracer) {
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(olds); ++k) {
      ProxyState* before = proxyOf(PyTuple_GET_ITEM(olds, k));
      const ProxyState* now = proxyOf(PyTuple_GET_ITEM(news, k));
      if (before == nullptr || now == nullptr || !tracer.graph.isClosed(before->node)) continue;
      before->node = now->node;
      before->fake = now->fake;
    }
    return Ref::borrow(Py_None);
  });
}

/// requires_grad(tensor, flag): what a tensor of the trace says of itself.
PyObject* requiresGrad(PyObject*, PyObject* args) {
  PyObject* tensor = nullptr;
  int flag = 0;
  if (PyArg_ParseTuple(args, "Op", &tensor, &flag) == 0) return nullptr;
  ProxyState* proxy = proxyOf(tensor);
  if (proxy == nullptr) Py_RETURN_NONE;
  proxy->fake.requiresGrad = flag != 0 && (isFloating(proxy->fake.dtype()) || isComplex(proxy->fake.dtype()));
  proxy->fake.isLeaf = !proxy->fake.requiresGrad;
  Py_RETURN_NONE;
}

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

/// attach(proxy, function, args): what a shown node runs.
PyObject* attach(PyObject*, PyObject* args) {
  PyObject *proxy = nullptr, *function = nullptr, *given = nullptr;
  if (PyArg_ParseTuple(args, "OOO!", &proxy, &function, &PyTuple_Type, &given) == 0) return nullptr;
  return whileTracing([&](FrameTracer& tracer) {
    tracer.graph.attachCall(proxy, function, given);
    return Ref::borrow(Py_None);
  });
}

/// same(a, b): whether two tensors of the trace are one value of the graph.
PyObject* same(PyObject*, PyObject* args) {
  PyObject *a = nullptr, *b = nullptr;
  if (PyArg_ParseTuple(args, "OO", &a, &b) == 0) return nullptr;
  const NodeId node = nodeOfValue(a);
  return PyBool_FromLong(a == b || (node.valid() && node == nodeOfValue(b)) ? 1 : 0);
}

/// is_made(tensor): whether the trace knows the object as a tensor or number of its own.
PyObject* isProxy(PyObject*, PyObject* object) {
  return PyBool_FromLong(proxyOf(object) != nullptr || symOf(object) != nullptr ? 1 : 0);
}

PyObject* stop(PyObject*, PyObject* args) {
  const char *type = nullptr, *explanation = nullptr;
  if (PyArg_ParseTuple(args, "ss", &type, &explanation) == 0) return nullptr;
  return whileTracing([&](FrameTracer&) -> Ref {
    unsupported(type, explanation);
    return {};
  });
}

/// types(tensors): their classes are looked at, as torch.utils._pytree does.
PyObject* noteTypes(PyObject*, PyObject* tensors) {
  return whileTracing([&](FrameTracer& tracer) {
    for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(tensors); ++k) {
      const ProxyState* proxy = proxyOf(PySequence_Fast_GET_ITEM(tensors, k));
      if (proxy == nullptr || !proxy->source || !proxy->real) continue;
      tracer.addGuard(typeGuard(proxy->real.get(), proxy->source));
      tracer.addGuard(
          constantGuard(reinterpret_cast<PyObject*>(Py_TYPE(proxy->real.get())), Source::type(proxy->source)));
    }
    return Ref::borrow(Py_None);
  });
}

/// realize(values): tensors in them become inputs of the graph now.
PyObject* realizeValues(PyObject*, PyObject* values) {
  return whileTracing([&](FrameTracer& tracer) {
    tracer.realizeDeep(values);
    tracer.graph.realizeNodes(values);
    return Ref::borrow(Py_None);
  });
}

/// stacked(tensor, count): an example of `count` such tensors along a new first dimension; no value of the graph.
PyObject* stacked(PyObject*, PyObject* args) {
  PyObject* like = nullptr;
  Py_ssize_t count = 0, dim = 0;
  if (PyArg_ParseTuple(args, "On|n", &like, &count, &dim) == 0) return nullptr;
  return whileTracing([&](FrameTracer&) {
    const ProxyState* proxy = proxyOf(like);
    if (proxy == nullptr) unsupported("Unsupported operand", "A tensor is expected.");
    ProxyState state;
    SymSizes sizes = proxy->fake.symSizes();
    const auto rank = static_cast<Py_ssize_t>(sizes.size());
    if (dim < -rank - 1 || dim > rank) unsupported("Unsupported operand", "A dimension is out of range.");
    sizes.insert(sizes.begin() + (dim < 0 ? dim + rank + 1 : dim), SymInt(count));
    state.fake = freshFake(proxy->fake, sizes);
    state.node = proxy->node;
    return makeProxy(std::move(state));
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
  static PyMethodDef methods[] = {{"begin", begin, METH_NOARGS, nullptr},
                                  {"input", input, METH_VARARGS, nullptr},
                                  {"cut", cut, METH_VARARGS, nullptr},
                                  {"lifted", lifted, METH_O, nullptr},
                                  {"merged", merged, METH_O, nullptr},
                                  {"install", install, METH_VARARGS, nullptr},
                                  {"call", call, METH_VARARGS, nullptr},
                                  {"node", node, METH_VARARGS, nullptr},
                                  {"repoint", repoint, METH_VARARGS, nullptr},
                                  {"requires_grad", requiresGrad, METH_VARARGS, nullptr},
                                  {"same", same, METH_VARARGS, nullptr},
                                  {"is_proxy", isProxy, METH_O, nullptr},
                                  {"realize", realizeValues, METH_O, nullptr},
                                  {"level", level, METH_O, nullptr},
                                  {"gradients", gradients, METH_O, nullptr},
                                  {"attach", attach, METH_VARARGS, nullptr},
                                  {"stop", stop, METH_VARARGS, nullptr},
                                  {"stacked", stacked, METH_VARARGS, nullptr},
                                  {"reorder", reorder, METH_VARARGS, nullptr},
                                  {"types", noteTypes, METH_O, nullptr},
                                  {nullptr, nullptr, 0, nullptr}};
  static PyModuleDef definition = {
      PyModuleDef_HEAD_INIT, "torch._C._dynamo_trace", nullptr, -1, methods, nullptr, nullptr, nullptr, nullptr};
  traceModule = PyModule_Create(&definition);
  return traceModule;
}

bool isTraceFunction(PyObject* callable) {
  return traceModule != nullptr && PyCFunction_Check(callable) && PyCFunction_GET_SELF(callable) == traceModule;
}

std::optional<TracedInstead> tracedInstead(PyObject* callable) {
  const bool bound = PyMethod_Check(callable);
  PyObject* function = bound ? PyMethod_GET_FUNCTION(callable) : callable;
  if (!PyFunction_Check(function)) return std::nullopt;
  const std::string module = textOf(PyFunction_GET_MODULE(function));
  if (!module.starts_with("torch.")) return std::nullopt;
  PyObject* row = rowOf(function);
  if (row == nullptr) return std::nullopt;
  return TracedInstead{Ref::borrow(PyTuple_GET_ITEM(row, 0)), bound ? Ref::borrow(PyMethod_GET_SELF(callable)) : Ref(),
                       PyTuple_GET_ITEM(row, 1) == Py_True};
}

}  // namespace kerf::inline dynamo
