#include "engine/dynamo/call_backend.h"

#include <functional>

#include "engine/dynamo/graph_body.h"
#include "engine/dynamo/tracer.h"
#include "engine/torch_api/small_types.h"

namespace kerf::inline dynamo {
namespace {

Ref textOrNone(const std::string& text) { return text.empty() ? Ref::borrow(Py_None) : makeText(text); }

/// ([sizes], dtype, device, requires_grad) of what a node gives; None where that is no tensor.
Ref shapeOf(const Node& node) {
  const TensorMeta* found = node.meta().value.tensor();
  if (found == nullptr) return Ref::borrow(Py_None);
  const TensorMeta& meta = *found;
  const Ref sizes = Ref::steal(PyList_New(0));
  for (const Dim& size : meta.sizes) {
    const bool known = !size.text.empty() && size.text.find_first_not_of("-0123456789") == std::string::npos;
    const Ref item = known ? Ref::steal(PyLong_FromString(size.text.c_str(), nullptr, 10)) : makeText(size.text);
    PyList_Append(sizes.get(), item.get());
  }
  const Ref dtype = objectOf(meta.dtype);
  return Ref::steal(PyTuple_Pack(3, sizes.get(), dtype.get(), meta.requiresGrad ? Py_True : Py_False));
}

using NodeLookup = std::function<const Node&(NodeId)>;

/// Makes the nodes, one call of torch.fx's builder each.
class ModuleMaker {
 public:
  ModuleMaker(Ref builder, NodeLookup nodes) : m_builder(std::move(builder)), m_lookup(std::move(nodes)) {}

  bool addInput(NodeId id, const Node& node, PyObject* example) {
    const Ref shape = shapeOf(node);
    return keep(id, Ref::steal(PyObject_CallMethod(m_builder.get(), "placeholder", "ssOO", node.name().c_str(),
                                                   node.target().c_str(), shape.get(), example)));
  }

  bool addCall(const TracedCall& call) {
    const Node& node = m_lookup(call.node);
    const FilledCall filled = fillCall(call, m_nodes);
    if (!filled.args || (call.kwargs && !filled.kwargs)) return false;
    const Ref target = call.callable ? call.callable : makeText(call.method);
    const Ref kwargs = filled.kwargs ? filled.kwargs : Ref::steal(PyDict_New());
    const Ref shape = shapeOf(node);
    const Ref file = textOrNone(node.meta().sourceFile);
    return keep(call.node, Ref::steal(PyObject_CallMethod(m_builder.get(), "call", "sOOOOOi", node.name().c_str(),
                                                          target.get(), filled.args.get(), kwargs.get(), shape.get(),
                                                          file.get(), int(node.meta().sourceLine))));
  }

  Ref finish(PyObject* backend, const std::vector<NodeId>& outputs, const std::string& name) {
    const Ref list = Ref::steal(PyList_New(0));
    for (const NodeId node : outputs) PyList_Append(list.get(), m_nodes[node.index].get());
    return Ref::steal(PyObject_CallMethod(m_builder.get(), "compile", "OOs", backend, list.get(), name.c_str()));
  }

  Ref finishNested(PyObject* output) {
    const Ref filled = fillValue(output, m_nodes);
    return filled ? Ref::steal(PyObject_CallMethod(m_builder.get(), "finish", "(O)", filled.get())) : Ref();
  }

 private:
  bool keep(NodeId id, Ref node) {
    if (!node) return false;
    m_nodes[id.index] = std::move(node);
    return true;
  }

  Ref m_builder;
  NodeLookup m_lookup;
  NodeValues m_nodes;
};

}  // namespace

Ref callBackend(PyObject* backend, const Graph& graph, const CompiledFrame& frame) {
  const NativeScope native;
  const Ref module = Ref::steal(PyImport_ImportModule("torch.fx._of_dynamo"));
  Ref builder = module ? Ref::steal(PyObject_CallMethod(module.get(), "Builder", nullptr)) : Ref();
  if (!builder) return {};
  ModuleMaker maker(std::move(builder), [&](NodeId id) -> const Node& { return graph.node(id); });
  for (const FrameInput& input : frame.inputs) {
    // A symbol's example is its number.
    const InputSymbol* symbol = input.proxy ? nullptr : FrameTracer::active()->symbols.find(input.symbol);
    PyObject* example = symbol != nullptr ? symbol->number.get() : input.proxy ? input.proxy.get() : Py_None;
    if (!maker.addInput(input.node, graph.node(input.node), example)) return {};
  }
  for (const TracedCall& call : frame.calls)
    if (!maker.addCall(call)) return {};
  return maker.finish(backend, frame.outputs, frame.graphName);
}

Ref buildNested(PyObject* builder, const GraphBody& body) {
  const NativeScope native;
  std::unordered_map<std::uint32_t, const Node*> nodes;
  for (const Node& node : body.nodes) nodes[node.id().index] = &node;
  ModuleMaker maker(Ref::borrow(builder), [&](NodeId id) -> const Node& { return *nodes.at(id.index); });
  const std::vector<NodeId> placeholders = body.graph.placeholders();
  for (std::size_t k = 0; k < placeholders.size(); ++k)
    if (!maker.addInput(body.inputs[k], body.graph.node(placeholders[k]), Py_None)) return {};
  for (const TracedCall& call : body.calls)
    if (!maker.addCall(call)) return {};
  return maker.finishNested(body.output.get());
}

bool runBackendCall(const CompiledFrame& frame, NodeValues& values) {
  const NativeScope native;
  const Ref args = Ref::steal(PyTuple_New(Py_ssize_t(frame.inputs.size())));
  for (std::size_t k = 0; k < frame.inputs.size(); ++k)
    PyTuple_SET_ITEM(args.get(), Py_ssize_t(k), Ref(values[frame.inputs[k].node.index]).release());
  const Ref result = Ref::steal(PyObject_CallObject(frame.backendCall.get(), args.get()));
  const Ref items = result ? Ref::steal(PySequence_Fast(result.get(), "a backend's function gives a list")) : Ref();
  if (!items) return false;
  if (std::size_t(PySequence_Fast_GET_SIZE(items.get())) != frame.outputs.size())
    return PyErr_Format(PyExc_RuntimeError, "the backend's function gave %zd values; the graph has %zu outputs",
                        PySequence_Fast_GET_SIZE(items.get()), frame.outputs.size()),
           false;
  for (std::size_t k = 0; k < frame.outputs.size(); ++k)
    values[frame.outputs[k].index] = Ref::borrow(PySequence_Fast_GET_ITEM(items.get(), Py_ssize_t(k)));
  return true;
}

}  // namespace kerf::inline dynamo
