#include "engine/dynamo/output_graph.h"

#include <algorithm>

#include "engine/dynamo/drawn_numbers.h"
#include "engine/dynamo/example_values.h"
#include "engine/dynamo/fake_failures.h"
#include "engine/dynamo/graph_body.h"
#include "engine/dynamo/tracer.h"
#include "engine/dynamo/unsupported.h"
#include "engine/dynamo/values.h"
#include "engine/ir/call_values.h"
#include "engine/torch_api/callables.h"
#include "engine/torch_api/eager_ops.h"
#include "engine/torch_api/error_words.h"

namespace kerf::inline dynamo {
namespace {

TensorMeta metaOf(const Tensor& tensor) {
  TensorMeta meta;
  meta.dtype = tensor.dtype();
  for (const SymInt size : tensor.symSizes()) meta.sizes.push_back(dimOf(size));
  for (const SymInt stride : tensor.symStrides()) meta.strides.push_back(dimOf(stride));
  meta.device = tensor.device();
  meta.requiresGrad = tensor.requiresGrad;
  return meta;
}

/// Lower case, as FX's names of placeholders are.
std::string lowered(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

/// x.size() of a whole.
bool isSizeCall(const Node& node) {
  return node.op() == Opcode::CallMethod && node.target() == "size" && node.args().size() == 1;
}

NodeId nodeIn(const Ref& proxy) { return proxyOf(proxy.get())->node; }

/// A method that changes a tensor whose elements share memory: PyTorch finds that when the graph runs.
bool writesShared(const std::string& name, const ValueList& values) {
  if (values.empty() || !values.front().isTensor() || name.size() < 2 || name.back() != '_' ||
      name[name.size() - 2] == '_')
    return false;
  const Tensor& self = values.front().tensor();
  const SymSizes sizes = self.symSizes(), strides = self.symStrides();
  for (std::size_t k = 0; k < sizes.size(); ++k)
    if (!strides[k].isSymbolic() && strides[k].bits() == 0 && !sizes[k].isSymbolic() && sizes[k].bits() > 1)
      return true;
  return false;
}

[[noreturn]] void refuse(const std::string& name, const Error& error) {
  unsupported("Operator without a shape rule", "Kerf cannot derive what `" + name + "` gives: " + error.message, name);
}

}  // namespace

/// Placeholders stand before all calls.
NodeId OutputGraph::placeholder(const std::string& name, NodeMeta meta, FrameInput input) {
  const std::vector<NodeId> before = m_graph.placeholders();
  if (!before.empty()) {
    m_graph.insertAfter(before.back());
  } else if (!m_graph.order().empty()) {
    m_graph.insertBefore(m_graph.order().front());
  }
  input.node = m_graph.createNode(Opcode::Placeholder, name, {}, {}, lowered(name));
  m_graph.insertAtEnd();
  m_graph.setMeta(input.node, std::move(meta));
  m_inputs.push_back(std::move(input));
  return m_inputs.back().node;
}

NodeId OutputGraph::nodeOf(ProxyState& proxy) {
  if (proxy.node.valid()) {
    checkOpen(proxy.node);
    return proxy.node;
  }
  placeSymbols(proxy.fake);
  NodeMeta meta;
  meta.value = {metaOf(proxy.fake)};
  FrameInput input{{}, proxy.source, proxy.real, false, {}, {}};
  for (const SymInt size : proxy.fake.symSizes())
    if (size.isSymbolic())
      for (const std::string& name : m_tracer.symbols.env().expression(size).symbols()) input.sizes.push_back(name);
  proxy.node =
      placeholder(inputNameOf(proxy.source ? proxy.source->name() : "input"), std::move(meta), std::move(input));
  return proxy.node;
}

void OutputGraph::forget(NodeId node) {
  static_cast<void>(m_graph.eraseNode(node));
  std::erase_if(m_calls, [&](const TracedCall& made) { return made.node == node; });
}

Argument OutputGraph::argumentOf(PyObject* object) {
  if (ProxyState* proxy = proxyOf(object)) {
    m_tracer.noteTensor(object);
    return nodeOf(*proxy);
  }
  if (SymState* number = symOf(object)) return nodeOf(*number);
  if (const GraphBody* body = nestedOf(object)) return m_graph.getAttr(body->name);
  const NestedArgument nested;
  return plainArgument(object, [this](PyObject* item) { return argumentOf(item); });
}

ArgumentList OutputGraph::argumentsOf(PyObject* tuple) {
  ArgumentList list;
  for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(tuple); ++k) list.push_back(argumentOf(PyTuple_GET_ITEM(tuple, k)));
  return list;
}

KeywordArguments OutputGraph::keywordsOf(PyObject* dict) {
  KeywordArguments list;
  PyObject* key = nullptr;
  PyObject* value = nullptr;
  for (Py_ssize_t at = 0; dict && PyDict_Next(dict, &at, &key, &value) != 0;)
    list.emplace_back(textOf(key), argumentOf(value));
  return list;
}

void OutputGraph::noteSize(PyObject* size, PyObject* tensor) {
  const Ref args = Ref::steal(PyTuple_Pack(1, tensor));
  const NodeId node = record(Opcode::CallMethod, "size", {{}, "size", {}, args, {}});
  m_sizeNodes[size] = {Ref::borrow(size), wrapTensorValue(Tensor(), node)};
}

/// Arguments as they are now, with nodes where sizes with symbols stand.
Ref OutputGraph::withSizes(PyObject* value) {
  if (value == nullptr) return {};
  const NestedArgument nested;
  if (std::string_view(Py_TYPE(value)->tp_name) == "torch.Size" && holdsSym(value)) {
    if (const auto known = m_sizeNodes.find(value); known != m_sizeNodes.end() && !isClosed(nodeIn(known->second.node)))
      return known->second.node;
    const Ref items = Ref::steal(PySequence_List(value));
    const Ref plain = Ref::steal(PyList_AsTuple(items.get()));
    const Ref made = recordOpaque("torch.Size", reinterpret_cast<PyObject*>(Py_TYPE(value)),
                                  Ref::steal(PyTuple_Pack(1, plain.get())).get());
    m_sizeNodes[value] = {Ref::borrow(value), made};
    return made;
  }
  if (PyTuple_CheckExact(value) && PyTuple_GET_SIZE(value) > 0) {
    Ref copy = Ref::steal(PyTuple_New(PyTuple_GET_SIZE(value)));
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(value); ++k)
      PyTuple_SET_ITEM(copy.get(), k, withSizes(PyTuple_GET_ITEM(value, k)).release());
    return copy;
  }
  if (PyList_CheckExact(value)) {
    // The program may change it after the call.
    Ref copy = Ref::steal(PyList_New(PyList_GET_SIZE(value)));
    for (Py_ssize_t k = 0; k < PyList_GET_SIZE(value); ++k)
      PyList_SET_ITEM(copy.get(), k, withSizes(PyList_GET_ITEM(value, k)).release());
    return copy;
  }
  if (PyDict_CheckExact(value)) {
    Ref copy = Ref::steal(PyDict_New());
    PyObject *key = nullptr, *item = nullptr;
    for (Py_ssize_t at = 0; PyDict_Next(value, &at, &key, &item) != 0;)
      PyDict_SetItem(copy.get(), key, withSizes(item).get());
    return copy;
  }
  return Ref::borrow(value);
}

NodeId OutputGraph::record(Opcode op, const std::string& target, TracedCall call) {
  if (target != "torch.Size") {
    call.args = withSizes(call.args.get());
    call.kwargs = withSizes(call.kwargs.get());
  }
  ArgumentList args = argumentsOf(call.args.get());
  KeywordArguments kwargs = keywordsOf(call.kwargs.get());
  call.node = m_graph.createNode(op, target, std::move(args), std::move(kwargs), {});
  NodeMeta meta;
  meta.sourceFile = file;
  meta.sourceLine = line;
  if (std::vector<std::string> stack = userStack ? userStack() : std::vector<std::string>(); !stack.empty()) {
    meta.stackTrace = "File: " + stack.back();
    stacks[call.node.index] = std::move(stack);
  }
  m_graph.setMeta(call.node, std::move(meta));
  m_calls.push_back(call);
  return call.node;
}

Ref OutputGraph::wrapTensorValue(const Tensor& tensor, NodeId node) {
  ProxyState state;
  state.fake = tensor;
  state.node = node;
  return makeProxy(std::move(state));
}

Ref OutputGraph::wrapList(const ValueList& values, NodeId node, const std::string& name) {
  const Ref whole = wrapTensorValue(Tensor(), node);
  const Ref getitem = operatorFunction("getitem");
  Ref tuple = Ref::steal(PyTuple_New(static_cast<Py_ssize_t>(values.size())));
  for (std::size_t k = 0; k < values.size(); ++k) {
    Ref item;
    if (values[k].isTensor()) {
      const Ref index = Ref::steal(PyLong_FromSize_t(k));
      TracedCall call{{}, {}, getitem, Ref::steal(PyTuple_Pack(2, whole.get(), index.get())), {}};
      item = wrap(values[k], record(Opcode::CallFunction, "operator.getitem", std::move(call)), name);
    } else {
      item = wrap(values[k], node, name);
    }
    PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(k), item.release());
  }
  return namedResult(name, std::move(tuple));
}

void OutputGraph::noteMeta(NodeId node, const Tensor& fake) {
  NodeMeta meta = m_graph.node(node).meta();
  meta.value = {metaOf(fake)};
  m_graph.setMeta(node, std::move(meta));
}

Ref OutputGraph::wrap(const Value& value, NodeId node, const std::string& name) {
  if (value.isTensor()) {
    noteMeta(node, value.tensor());
    Ref made = wrapTensorValue(value.tensor(), node);
    noteUnbacked(value.tensor(), made.get());
    return made;
  }
  if (value.as<SymNumber>() != nullptr || isOnNumbers(name, m_calls.back().args.get()))
    return wrapComputed(value, node);
  if (value.isList()) return wrapList(value.list(), node, name);
  if (value.isNone()) return Ref::borrow(Py_None);
  unsupported("torch.* op returned non-Tensor",
              "torch.* ops that return a non-Tensor cannot be traced into the Dynamo FX graph output", name);
}

Ref OutputGraph::derive(const TracedCall& call, const std::string& name) {
  PyObject* args = call.args.get();
  ValueList values;
  KeywordValues named;
  for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(args); ++k) values.push_back(fakeValueOf(PyTuple_GET_ITEM(args, k)));
  if (call.node.valid()) keepListIndex(m_graph.node(call.node), values);
  PyObject* key = nullptr;
  PyObject* value = nullptr;
  for (Py_ssize_t at = 0; call.kwargs && PyDict_Next(call.kwargs.get(), &at, &key, &value) != 0;)
    named.emplace_back(textOf(key), fakeValueOf(value));
  const GradModeScope mode(gradEnabled);
  refuseLeafWrite(m_tracer, call, name);
  if (m_tracer.modes.hasAutocast()) {
    Result<Value> example = deriveByExample(call);
    if (example) return wrap(*example, call.node, name);
  }
  Result<Value> result =
      callTorch(name == "torch._C._nn.pad" ? "torch.nn.functional.pad" : name, values, named, OpMode::Fake);
  if (!result && result.error().code == ErrorCode::UnsupportedOp) result = deriveByExample(call);
  const bool isShared = !result && result.error().message.find("share memory") != std::string::npos;
  if (isShared && writesShared(name, values)) return wrap(values.front(), call.node, name);
  if (!result && result.error().code != ErrorCode::UnsupportedOp)
    raiseFailure(m_tracer, call, inTorchsWords(result.error(), name, values), !deriveByExample(call));
  if (!result) refuse(name, result.error());
  return wrap(*result, call.node, name);
}

/// A call that raises is no node: the program may catch what it raised.
Ref OutputGraph::deriveLast(const std::string& name, const Ref& args, const Ref& kwargs) {
  TracedCall call = m_calls.back();
  call.args = args;  // with the sizes themselves
  call.kwargs = kwargs;
  try {
    return derive(call, name);
  } catch (const PythonRaised&) {
    static_cast<void>(m_graph.eraseNode(call.node));
    std::erase_if(m_calls, [&](const TracedCall& made) { return made.node == call.node; });
    throw;
  }
}

Ref OutputGraph::callFunction(const std::string& target, PyObject* callable, PyObject* args, PyObject* kwargs) {
  const bool isOperator = target.starts_with("operator.");
  const Ref given = isOperator ? Ref::borrow(args) : withoutDrawn(m_tracer, args);
  const Ref named = isOperator ? Ref::borrow(kwargs) : withoutDrawn(m_tracer, kwargs);
  record(Opcode::CallFunction, target, {{}, {}, Ref::borrow(callable), given, named});
  return deriveLast(target, given, named);
}

Ref OutputGraph::recordOpaque(const std::string& target, PyObject* callable, PyObject* args) {
  const NodeId node = record(Opcode::CallFunction, target, {{}, {}, Ref::borrow(callable), Ref::borrow(args), {}});
  return wrapTensorValue(Tensor(), node);
}

void OutputGraph::recordGetattr(PyObject* tensor, const std::string& name) {
  PyObject* getattr = PyDict_GetItemString(PyEval_GetBuiltins(), "getattr");
  const Ref args = Ref::steal(PyTuple_Pack(2, tensor, makeText(name).get()));
  record(Opcode::CallFunction, "builtins.getattr", {{}, {}, Ref::borrow(getattr), args, {}});
}

Ref OutputGraph::callItem(PyObject* tensor) {
  const Ref args = Ref::steal(PyTuple_Pack(1, tensor));
  record(Opcode::CallMethod, "item", {{}, "item", {}, args, {}});
  return deriveLast("method.item", args, {});
}

Ref OutputGraph::callMethod(const std::string& method, PyObject* args, PyObject* kwargs) {
  const Ref given = withoutDrawn(m_tracer, args), named = withoutDrawn(m_tracer, kwargs);
  record(Opcode::CallMethod, method, {{}, method, {}, given, named});
  return deriveLast("method." + method, given, named);
}

/// _set_grad_enabled(False) and (True) right behind each other say nothing.
void OutputGraph::dropGradModePairs() {
  const auto isMode = [&](std::size_t k) {
    return m_graph.node(m_calls[k].node).target() == "torch._C._set_grad_enabled";
  };
  for (std::size_t k = 0; k + 1 < m_calls.size();) {
    if (!isMode(k) || !isMode(k + 1)) {
      ++k;
      continue;
    }
    for (const std::size_t at : {k, k + 1}) static_cast<void>(m_graph.eraseNode(m_calls[at].node));
    m_calls.erase(m_calls.begin() + static_cast<std::ptrdiff_t>(k),
                  m_calls.begin() + static_cast<std::ptrdiff_t>(k) + 2);
    k = k > 0 ? k - 1 : 0;
  }
}

/// Items of results that nobody asked for, and numbers that nothing uses.
void OutputGraph::dropUnusedItems() {
  for (std::size_t k = m_calls.size(); k-- > 0;) {
    const Node& node = m_graph.node(m_calls[k].node);
    const bool droppable = node.target() == "operator.getitem" || isNumber(m_calls[k].node) || isSizeCall(node);
    if (!droppable || !node.users().empty()) continue;
    static_cast<void>(m_graph.eraseNode(m_calls[k].node));
    m_calls.erase(m_calls.begin() + static_cast<std::ptrdiff_t>(k));
  }
}

/// Whether a number's symbol, or what a guard made of it, is a size of an input that is used. A tensor whose sizes are
/// the same symbol has one placeholder for them.
bool OutputGraph::isBound(const FrameInput& input, const std::unordered_set<std::string>& sizes,
                          std::unordered_set<std::string>& bound) const {
  if (input.symbol.empty()) return false;
  const std::string of = input.source->base() ? input.source->base()->name() : input.source->name();
  bool needed = false;
  for (const std::string& name : m_tracer.symbols.resolvedSymbols(input.symbol))
    if (bound.insert(of + " " + name).second && sizes.contains(name)) needed = true;
  return needed;
}

void OutputGraph::finish(const std::vector<NodeId>& outputs) {
  dropGradModePairs();
  ArgumentList list;
  for (const NodeId node : outputs) list.emplace_back(node);
  m_graph.output(Argument::tuple(std::move(list)));
  dropUnusedItems();
  std::unordered_set<std::string> sizes;
  for (const FrameInput& input : m_inputs)
    if (!m_graph.node(input.node).users().empty())
      for (const std::string& name : input.sizes)
        // A symbol that a guard fixed is none any more.
        for (const std::string& left : m_tracer.symbols.resolvedSymbols(name)) sizes.insert(left);
  std::vector<FrameInput> used;
  std::unordered_set<std::string> bound;
  for (FrameInput& input : m_inputs) {
    const bool isNeeded = isBound(input, sizes, bound);
    if (!m_graph.node(input.node).users().empty() || isNeeded) {
      used.push_back(std::move(input));
      continue;
    }
    static_cast<void>(m_graph.eraseNode(input.node));
  }
  m_inputs = std::move(used);
}

}  // namespace kerf::inline dynamo
