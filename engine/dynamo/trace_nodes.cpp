// Tensors and nodes that Python stand-ins for functions of torch make.
#include <algorithm>
#include <span>
#include <unordered_set>

#include "engine/dynamo/graph_body.h"
#include "engine/dynamo/trace_functions.h"
#include "engine/dynamo/traced_slot.h"
#include "engine/dynamo/unsupported.h"
#include "engine/torch_api/conversions.h"

namespace kerf::inline dynamo {
namespace {

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

/// number(): an int of the body.
PyObject* number(PyObject*, PyObject*) {
  return whileTracing([](FrameTracer& tracer) { return tracer.graph.bodyNumber(); });
}

/// check(target, function, args, conditions): a node that raises when the graph runs; what follows takes the conditions for
/// true.
PyObject* check(PyObject*, PyObject* args) {
  const char* target = nullptr;
  PyObject *function = nullptr, *given = nullptr, *conditions = nullptr;
  if (PyArg_ParseTuple(args, "sOO!O!", &target, &function, &PyTuple_Type, &given, &PyTuple_Type, &conditions) == 0)
    return nullptr;
  return whileTracing([&](FrameTracer& tracer) {
    tracer.graph.record(Opcode::CallFunction, target, {{}, {}, Ref::borrow(function), Ref::borrow(given), {}});
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(conditions); ++k)
      if (const SymState* state = symOf(PyTuple_GET_ITEM(conditions, k)))
        tracer.symbols.assume(tracer.symbols.expression(state->number));
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

/// alike(a, b): whether two tensors of the trace have one dtype and the same sizes. Asking records nothing: they may be of
/// a body that is cut already.
PyObject* alike(PyObject*, PyObject* args) {
  PyObject *a = nullptr, *b = nullptr;
  if (PyArg_ParseTuple(args, "OO", &a, &b) == 0) return nullptr;
  return whileTracing([&](FrameTracer& tracer) {
    const ProxyState *left = proxyOf(a), *right = proxyOf(b);
    if (left == nullptr || right == nullptr) unsupported("Unsupported operand", "Tensors are expected.");
    ShapeEnv& env = tracer.symbols.env();
    const auto isSame = [&](SymInt x, SymInt y) {
      return env.text(env.resolved(x)) == std::string(env.text(env.resolved(y)));
    };
    const SymSizes sizes = left->fake.symSizes(), others = right->fake.symSizes();
    const bool areSame = left->fake.dtype() == right->fake.dtype() && std::ranges::equal(sizes, others, isSame);
    return Ref::borrow(areSame ? Py_True : Py_False);
  });
}

/// Whether one of some values is what a node depends on.
bool dependsOn(const Graph& graph, NodeId from, const std::vector<NodeId>& wanted) {
  std::vector<NodeId> todo = {from};
  std::unordered_set<std::uint32_t> seen;
  while (!todo.empty()) {
    const NodeId at = todo.back();
    todo.pop_back();
    if (!at.valid() || !seen.insert(at.index).second) continue;
    if (std::ranges::find(wanted, at) != wanted.end()) return true;
    for (const NodeId input : graph.node(at).inputs()) todo.push_back(input);
  }
  return false;
}

/// depends(tensor, others): whether the graph computes a tensor from one of others.
PyObject* depends(PyObject*, PyObject* args) {
  PyObject *tensor = nullptr, *others = nullptr;
  if (PyArg_ParseTuple(args, "OO!", &tensor, &PyTuple_Type, &others) == 0) return nullptr;
  return whileTracing([&](FrameTracer& tracer) {
    std::vector<NodeId> wanted;
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(others); ++k)
      wanted.push_back(nodeOfValue(PyTuple_GET_ITEM(others, k)));
    return Ref::borrow(dependsOn(tracer.graph.graph(), nodeOfValue(tensor), wanted) ? Py_True : Py_False);
  });
}

/// is_made(tensor): whether the trace knows the object as a tensor or number of its own.
PyObject* isProxy(PyObject*, PyObject* object) {
  return PyBool_FromLong(proxyOf(object) != nullptr || symOf(object) != nullptr ? 1 : 0);
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
  PyObject *like = nullptr, *count = nullptr;
  Py_ssize_t dim = 0;
  if (PyArg_ParseTuple(args, "OO|n", &like, &count, &dim) == 0) return nullptr;
  return whileTracing([&](FrameTracer&) {
    const ProxyState* proxy = proxyOf(like);
    const SymState* symbol = symOf(count);
    if (proxy == nullptr || (symbol == nullptr && !PyLong_Check(count)))
      unsupported("Unsupported operand", "A tensor and a number are expected.");
    const SymInt rows = symbol != nullptr ? symbol->number.value : SymInt(PyLong_AsLongLong(count));
    ProxyState state;
    SymSizes sizes = proxy->fake.symSizes();
    const auto rank = static_cast<Py_ssize_t>(sizes.size());
    if (dim < -rank - 1 || dim > rank) unsupported("Unsupported operand", "A dimension is out of range.");
    sizes.insert(sizes.begin() + (dim < 0 ? dim + rank + 1 : dim), rows);
    state.fake = freshFake(proxy->fake, sizes);
    state.node = proxy->node;
    return makeProxy(std::move(state));
  });
}

/// While it lives, operators of the program give results without computing them, where the program says how.
class ShapesOnlyScope {
 public:
  ShapesOnlyScope() { set(Py_True); }
  ~ShapesOnlyScope() { set(Py_False); }
  ShapesOnlyScope(const ShapesOnlyScope&) = delete;
  ShapesOnlyScope& operator=(const ShapesOnlyScope&) = delete;

 private:
  static void set(PyObject* value) {
    PyObject* module = PyDict_GetItemString(PyImport_GetModuleDict(), "torch._ops");
    if (module != nullptr) PyDict_SetItemString(PyModule_GetDict(module), "shapes_only", value);
  }
};

/// (name in graphs, object) of an operator of the program; none of those of torch.
Ref nodeOfOperator(FrameTracer& tracer, PyObject* op) {
  const NativeScope native;
  const StandIn* standIn = tracer.effects.find(op);
  const Ref module = Ref::steal(PyImport_ImportModule("torch._ops"));
  Ref row = Ref::steal(module ? PyObject_CallMethod(module.get(), "node_of", "O", standIn ? standIn->real.get() : op)
                              : nullptr);
  if (!row) throw PythonRaised{};
  return row;
}

/// op(operator, args, kwargs): the node of an operator of the program; NotImplemented for those of torch.
PyObject* callOperator(PyObject*, PyObject* given) {
  PyObject *op = nullptr, *args = nullptr, *kwargs = nullptr;
  if (PyArg_ParseTuple(given, "OO!O!", &op, &PyTuple_Type, &args, &PyDict_Type, &kwargs) == 0) return nullptr;
  return whileTracing([&](FrameTracer& tracer) {
    const Ref row = nodeOfOperator(tracer, op);
    if (row.get() == Py_None) return Ref::borrow(Py_NotImplemented);
    tracer.realizeDeep(args);
    tracer.realizeDeep(kwargs);
    const ShapesOnlyScope shapes;
    return tracer.graph.callFunction(textOf(PyTuple_GET_ITEM(row.get(), 0)), PyTuple_GET_ITEM(row.get(), 1), args,
                                     PyDict_GET_SIZE(kwargs) > 0 ? kwargs : nullptr);
  });
}

PyMethodDef table[] = {
    {"types", noteTypes, METH_O, nullptr},       {"op", callOperator, METH_VARARGS, nullptr},
    {"input", input, METH_VARARGS, nullptr},     {"call", call, METH_VARARGS, nullptr},
    {"node", node, METH_VARARGS, nullptr},       {"repoint", repoint, METH_VARARGS, nullptr},
    {"attach", attach, METH_VARARGS, nullptr},   {"requires_grad", requiresGrad, METH_VARARGS, nullptr},
    {"alike", alike, METH_VARARGS, nullptr},     {"same", same, METH_VARARGS, nullptr},
    {"is_proxy", isProxy, METH_O, nullptr},      {"realize", realizeValues, METH_O, nullptr},
    {"stacked", stacked, METH_VARARGS, nullptr}, {"depends", depends, METH_VARARGS, nullptr},
    {"number", number, METH_NOARGS, nullptr},    {"check", check, METH_VARARGS, nullptr}};

}  // namespace

NodeId nodeOfValue(PyObject* object) {
  if (const ProxyState* proxy = proxyOf(object)) return proxy->node;
  if (const SymState* number = symOf(object)) return number->node;
  return {};
}

std::span<const PyMethodDef> nodeFunctions() { return table; }

}  // namespace kerf::inline dynamo
