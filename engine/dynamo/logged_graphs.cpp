#include "engine/dynamo/logged_graphs.h"

#include "engine/dynamo/graph_body.h"
#include "engine/ir/printer.h"
#include "engine/ir/submodules.h"
#include "engine/torch_api/conversions.h"
#include "engine/torch_api/tensor_type.h"

namespace kerf::inline dynamo {
namespace {

/// A detached copy whose gradient flag says what the original's said.
Ref copyOf(PyObject* object) {
  if (!isTensor(object)) return Ref::borrow(object);
  auto copy = tensorOf(object).clonePreservingStrides();
  if (!copy) return {};
  copy->requiresGrad = tensorOf(object).requiresGrad;
  return wrapTensor(*copy);
}

std::int64_t bytesOf(PyObject* object) {
  return isTensor(object) ? tensorOf(object).numel() * std::int64_t(itemSize(tensorOf(object).dtype())) : 0;
}

/// A graph with the bodies that it gets.
GraphModule withBodies(const Graph& graph, const LoggedGraph& logged) {
  GraphModule module;
  module.graph = graph;
  for (const NodeId id : graph.order())
    if (const GraphBody* body = logged.body(graph.node(id))) {
      GraphModule nested = withBodies(body->graph, logged);
      nested.className = body->name;
      static_cast<void>(addSubmodule(module, body->name, {std::make_shared<GraphModule>(std::move(nested)), {}}));
    }
  return module;
}

std::string readableText(const LoggedGraph& logged) {
  PythonCodeOptions options;
  options.annotateValues = options.includeStride = options.includeDevice = options.includeStackTraces = true;
  return printReadable(withBodies(logged.graph, logged), options);
}

PyObject* keep(PyObject*, PyObject* bytes) {
  captureLog().inputBytes = PyLong_AsLongLong(bytes);
  Py_RETURN_NONE;
}

PyObject* graphs(PyObject*, PyObject*) {
  const Ref list = Ref::steal(PyList_New(0));
  for (const LoggedGraph& logged : captureLog().graphs) {
    Ref inputs = Ref::borrow(Py_None);
    if (!logged.inputs.empty()) {
      inputs = Ref::steal(PyList_New(0));
      for (const Ref& input : logged.inputs) PyList_Append(inputs.get(), input.get());
    }
    const Ref name = makeText(logged.name), text = makeText(readableText(logged));
    const Ref entry = Ref::steal(PyTuple_Pack(3, name.get(), text.get(), inputs.get()));
    PyList_Append(list.get(), entry.get());
  }
  return Ref(list).release();
}

}  // namespace

const GraphBody* LoggedGraph::body(const Node& node) const {
  for (const Ref& object : nested)
    if (const GraphBody* made = nestedOf(object.get()); node.op() == Opcode::GetAttr && made->name == node.target())
      return made;
  return nullptr;
}

void keepInputs(const CompiledFrame& frame, LoggedGraph& graph) {
  std::int64_t& room = captureLog().inputBytes;
  std::int64_t bytes = 0;
  for (const FrameInput& input : frame.inputs) bytes += input.proxy ? bytesOf(input.proxy.get()) : 0;
  if (room <= 0 || bytes >= room) return;
  room -= bytes;
  for (const FrameInput& input : frame.inputs) {
    Ref copy = input.proxy ? copyOf(input.proxy.get()) : Ref();
    PyErr_Clear();
    if (!copy) return graph.inputs.clear();
    graph.inputs.push_back(std::move(copy));
  }
}

bool addLoggedGraphs(PyObject* module) {
  static PyMethodDef functions[] = {
      {"keep_inputs", keep, METH_O, nullptr}, {"graphs", graphs, METH_NOARGS, nullptr}, {nullptr, nullptr, 0, nullptr}};
  return PyModule_AddFunctions(module, functions) == 0;
}

}  // namespace kerf::inline dynamo
