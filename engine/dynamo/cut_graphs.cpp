// Bodies of higher-order operators: traced into the graph like everything else, then cut out of it.
#include <algorithm>

#include <fmt/format.h>

#include "engine/dynamo/graph_body.h"
#include "engine/dynamo/tracer.h"
#include "engine/dynamo/unsupported.h"
#include "engine/dynamo/values.h"

namespace kerf::inline dynamo {
namespace {

/// Proxies as they are now: those of the program may come to stand for other nodes.
class ProxyCopies {
 public:
  void collect(PyObject* object) {
    if (object == nullptr) return;
    if (const ProxyState* proxy = proxyOf(object)) {
      if (!values.contains(proxy->node.index)) values[proxy->node.index] = copyOf(*proxy);
    } else if (const SymState* number = symOf(object)) {
      if (!values.contains(number->node.index))
        values[number->node.index] = makeSym({number->number, number->node, {}, {}});
    } else if (PyTuple_Check(object) || PyList_Check(object)) {
      for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(object); ++k) collect(PySequence_Fast_GET_ITEM(object, k));
    } else if (PyDict_Check(object)) {
      PyObject *key = nullptr, *value = nullptr;
      for (Py_ssize_t at = 0; PyDict_Next(object, &at, &key, &value) != 0;) collect(value);
    } else if (PySlice_Check(object)) {
      const auto* slice = reinterpret_cast<PySliceObject*>(object);
      for (PyObject* part : {slice->start, slice->stop, slice->step}) collect(part);
    }
  }
  NodeValues values;

 private:
  static Ref copyOf(const ProxyState& proxy) {
    ProxyState copy;
    copy.fake = proxy.fake;
    copy.node = proxy.node;
    return makeProxy(std::move(copy));
  }
};

NodeId nodeInObject(PyObject* object) {
  if (const ProxyState* proxy = proxyOf(object)) return proxy->node;
  if (const SymState* number = symOf(object)) return number->node;
  return {};
}

void visitNodes(PyObject* object, const std::function<void(NodeId)>& visit) {
  if (const NodeId node = nodeInObject(object); node.valid()) return visit(node);
  if (!PyTuple_Check(object) && !PyList_Check(object)) return;
  for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(object); ++k)
    visitNodes(PySequence_Fast_GET_ITEM(object, k), visit);
}

Ref filled(PyObject* object, const NodeValues& values) {
  Ref made = fillValue(object, values);
  if (made || object == nullptr) return made;
  throw PythonRaised{};
}

}  // namespace

/// Tensors and numbers that are only handed on get nodes.
void OutputGraph::realizeNodes(PyObject* object) {
  if (ProxyState* proxy = proxyOf(object)) {
    m_tracer.noteTensor(object);
    checkOpen(nodeOf(*proxy));
  } else if (SymState* number = symOf(object)) {
    nodeOf(*number);
  } else if (PyTuple_Check(object) || PyList_Check(object)) {
    for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(object); ++k) realizeNodes(PySequence_Fast_GET_ITEM(object, k));
  }
}

std::uint32_t OutputGraph::beginBody() {
  const NodeId mark = m_graph.getAttr("body");
  static_cast<void>(m_graph.eraseNode(mark));
  return mark.index;
}

Ref OutputGraph::bodyInput(const Tensor& fake) {
  const NodeId node = m_graph.getAttr("child");
  noteMeta(node, fake);
  return wrapTensorValue(fake, node);
}

Ref OutputGraph::unbackedNumber(NodeId node) {
  const SymInt number = m_tracer.symbols.env().addUnbacked({});
  Ref made = makeSym({{number, SymKind::Int}, node, {}, {}});
  m_byExpression[m_tracer.symbols.env().expression(number).text()] = made;
  return made;
}

Ref OutputGraph::bodyNumber() { return unbackedNumber(m_graph.getAttr("unbacked_symint")); }

bool OutputGraph::isUnused(NodeId id, const std::unordered_set<std::uint32_t>& outputs) const {
  const Node& node = m_graph.node(id);
  if (!node.users().empty() || outputs.contains(id.index)) return false;
  const bool wholeSize = node.op() == Opcode::CallMethod && node.target() == "size" && node.args().size() == 1;
  return node.target() == "operator.getitem" || isNumber(id) || wholeSize;
}

Ref OutputGraph::cutBody(BodyRange range, PyObject* ownInputs, PyObject* outputs, bool keepNodes) {
  realizeNodes(outputs);
  auto body = std::make_shared<GraphBody>();
  std::unordered_set<std::uint32_t> given, inside, results;
  visitNodes(ownInputs, [&](NodeId node) {
    body->own.push_back(node);
    body->ownNames.push_back(m_graph.node(node).target());
    given.insert(node.index);
  });
  visitNodes(outputs, [&](NodeId node) { results.insert(node.index); });
  std::vector<NodeId> order;
  for (const NodeId id : m_graph.order())
    if (id.index > range.mark && id.index < range.end && m_graph.node(id).op() != Opcode::Placeholder &&
        !given.contains(id.index))
      order.push_back(id);
  for (std::size_t k = order.size(); k-- > 0;)
    if (isUnused(order[k], results)) {
      forget(order[k]);
      order.erase(order.begin() + static_cast<std::ptrdiff_t>(k));
    }
  for (const NodeId id : order) inside.insert(id.index);

  ProxyCopies copies;
  std::erase_if(m_calls, [&](TracedCall& call) {
    if (!inside.contains(call.node.index)) return false;
    copies.collect(call.args.get());
    copies.collect(call.kwargs.get());
    body->calls.push_back(std::move(call));
    return true;
  });
  copies.collect(outputs);
  for (TracedCall& call : body->calls) {
    call.args = filled(call.args.get(), copies.values);
    call.kwargs = filled(call.kwargs.get(), copies.values);
  }
  body->output = filled(outputs, copies.values);

  std::unordered_set<std::uint32_t> lifted;
  const auto lift = [&](NodeId id) {
    if (inside.contains(id.index) || given.contains(id.index) || !lifted.insert(id.index).second) return;
    if (const auto copy = copies.values.find(id.index); copy != copies.values.end())
      body->lifted.push_back(copy->second);
  };
  for (const NodeId id : order) {
    for (const NodeId input : m_graph.node(id).inputs()) lift(input);
    body->nodes.push_back(m_graph.node(id));
  }
  visitNodes(outputs, lift);
  m_closed.insert(inside.begin(), inside.end());
  std::erase_if(m_byExpression,
                [&](const auto& row) { return m_closed.contains(nodeInObject(row.second.get()).index); });
  if (!keepNodes) {
    for (std::size_t k = order.size(); k-- > 0;) static_cast<void>(m_graph.eraseNode(order[k]));
    for (const NodeId id : body->own) {
      m_closed.insert(id.index);
      static_cast<void>(m_graph.eraseNode(id));
    }
  }
  return nestedGraphObject(std::move(body));
}

void OutputGraph::installBody(PyObject* object, const std::string& base, PyObject* operands) {
  GraphBody& body = *nestedOf(object);
  if (!base.empty()) body.name = fmt::format("{}_{}", base, m_bodyNumbers[base]++);
  std::unordered_map<std::uint32_t, NodeId> map;
  const auto add = [&](NodeId id, const std::string& name, const NodeMeta* meta) {
    const NodeId made = body.graph.createNode(Opcode::Placeholder, name, {}, {}, name);
    if (meta != nullptr) body.graph.setMeta(made, *meta);
    map[id.index] = made;
    body.inputs.push_back(id);
  };
  for (std::size_t k = 0; k < body.own.size(); ++k)
    add(body.own[k], k > 0 ? fmt::format("{}_{}", body.ownNames[k], k) : body.ownNames[k], nullptr);
  for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(operands); ++k) {
    const NodeId id = nodeInObject(PyTuple_GET_ITEM(operands, k));
    const bool known = m_graph.contains(id);
    add(id, known ? m_graph.node(id).name() : fmt::format("arg_{}", k), known ? &m_graph.node(id).meta() : nullptr);
  }
  const auto mapped = [&](NodeId id) -> Argument {
    const auto found = map.find(id.index);
    return found == map.end() ? Argument() : Argument(found->second);
  };
  for (const Node& node : body.nodes) {
    ArgumentList args;
    for (const Argument& argument : node.args()) args.push_back(mapNodes(argument, mapped));
    KeywordArguments kwargs;
    for (const auto& [name, argument] : node.kwargs()) kwargs.emplace_back(name, mapNodes(argument, mapped));
    const NodeId made =
        body.graph.createNamed(node.op(), node.target(), std::move(args), std::move(kwargs), node.name());
    body.graph.setMeta(made, node.meta());
    map[node.id().index] = made;
  }
  const std::function<Argument(PyObject*)> outputOf = [&](PyObject* item) -> Argument {
    if (const NodeId id = nodeInObject(item); id.valid()) return mapped(id);
    return plainArgument(item, outputOf);
  };
  body.graph.output(outputOf(body.output.get()));
  if (!base.empty()) m_nested.push_back(Ref::borrow(object));
}

Ref OutputGraph::callHigherOrder(const std::string& target, PyObject* callable, PyObject* args, PyObject* kwargs,
                                 PyObject* results) {
  const Ref whole = recordWhole(target, callable, args, kwargs);
  const Ref getitem = operatorFunction("getitem");
  Ref tuple = Ref::steal(PyTuple_New(PyTuple_GET_SIZE(results)));
  for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(results); ++k) {
    PyObject* example = PyTuple_GET_ITEM(results, k);
    const ProxyState* proxy = proxyOf(example);
    if (proxy == nullptr && symOf(example) == nullptr) {
      PyTuple_SET_ITEM(tuple.get(), k, Py_NewRef(example));
      continue;
    }
    const Ref index = Ref::steal(PyLong_FromSsize_t(k));
    const NodeId node = record(Opcode::CallFunction, "operator.getitem",
                               {{}, {}, getitem, Ref::steal(PyTuple_Pack(2, whole.get(), index.get())), {}});
    if (proxy != nullptr) noteMeta(node, proxy->fake);
    PyTuple_SET_ITEM(tuple.get(), k,
                     (proxy != nullptr ? wrapTensorValue(proxy->fake, node) : unbackedNumber(node)).release());
  }
  return tuple;
}

Ref OutputGraph::recordWhole(const std::string& target, PyObject* callable, PyObject* args, PyObject* kwargs) {
  const NodeId node =
      record(Opcode::CallFunction, target, {{}, {}, Ref::borrow(callable), Ref::borrow(args), Ref::borrow(kwargs)});
  return wrapTensorValue(Tensor(), node);
}

Ref OutputGraph::recordShown(const std::string& target, PyObject* callable, PyObject* args, PyObject* kwargs,
                             PyObject* example) {
  const ProxyState* proxy = example ? proxyOf(example) : nullptr;
  const Tensor fake = proxy ? proxy->fake : Tensor();
  m_hasShown = true;
  const NodeId node =
      record(Opcode::CallFunction, target, {{}, {}, Ref::borrow(callable), Ref::borrow(args), Ref::borrow(kwargs)});
  if (callable == Py_None) m_calls.pop_back();
  if (proxy != nullptr) noteMeta(node, fake);
  return wrapTensorValue(fake, node);
}

void OutputGraph::attachCall(PyObject* proxy, PyObject* callable, PyObject* args) {
  m_calls.push_back({proxyOf(proxy)->node, {}, Ref::borrow(callable), Ref::borrow(args), {}});
}

void OutputGraph::checkOpen(NodeId node) const {
  if (m_closed.contains(node.index))
    unsupported("HigherOrderOperator: Mutating a variable not in the current scope (SideEffects)",
                "This is not supported: a value of the operator's body is used outside of it.", {});
}

}  // namespace kerf::inline dynamo
