#include "engine/dynamo/logged_graphs.h"

#include "engine/dynamo/compile_function.h"
#include "engine/dynamo/graph_body.h"
#include "engine/dynamo/graph_compiler.h"
#include "engine/ir/printer.h"
#include "engine/ir/submodules.h"
#include "engine/torch_api/conversions.h"
#include "engine/torch_api/placed_tensors.h"
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
  if (!logged.exported.empty()) return logged.exported;
  PythonCodeOptions options;
  options.annotateValues = options.includeStride = options.includeDevice = options.includeStackTraces = true;
  return printReadable(withBodies(logged.graph, logged), options);
}

PyObject* keep(PyObject*, PyObject* bytes) {
  captureLog().inputBytes = PyLong_AsLongLong(bytes);
  captureLog().isDetailed = true;
  Py_RETURN_NONE;
}

/// "name", "name_2", "name_3" …
std::string nextName(const std::string& name, std::size_t taken) {
  return taken == 0 ? name : name + "_" + std::to_string(taken + 1);
}

/// exported(name, text, inputs): what torch.export made. It counts for no graph that torch.compile made.
PyObject* noteExported(PyObject*, PyObject* args) {
  const char *name = nullptr, *text = nullptr;
  PyObject* inputs = nullptr;
  if (PyArg_ParseTuple(args, "ssO!", &name, &text, &PyList_Type, &inputs) == 0) return nullptr;
  CaptureLog& log = captureLog();
  LoggedGraph made;
  made.name = nextName(name, log.exported.size());
  made.exported = text;
  std::int64_t bytes = 0;
  for (Py_ssize_t k = 0; k < PyList_GET_SIZE(inputs); ++k) bytes += bytesOf(PyList_GET_ITEM(inputs, k));
  for (Py_ssize_t k = 0; bytes < log.inputBytes && k < PyList_GET_SIZE(inputs); ++k) {
    made.inputs.push_back(copyOf(PyList_GET_ITEM(inputs, k)));
    if (!made.inputs.back()) return nullptr;
  }
  log.inputBytes -= made.inputs.empty() ? 0 : bytes;
  log.exported.push_back(std::move(made));
  Py_RETURN_NONE;
}

/// The log as it was when torch.export began to trace.
CaptureLog& logBefore() {
  static CaptureLog log;
  return log;
}

/// apart(begins): what is traced between apart(True) and apart(False) leaves nothing in the log.
PyObject* logApart(PyObject*, PyObject* begins) {
  CaptureLog& log = captureLog();
  if (begins == Py_True) {
    logBefore() = std::exchange(log, {});
    log.inputBytes = 0;
  } else {
    log = std::exchange(logBefore(), {});
  }
  Py_RETURN_NONE;
}

/// export_graph(request): JSON of exportGraph.
PyObject* exportRequest(PyObject*, PyObject* request) {
  const auto made = exportGraph(textOf(request));
  if (!made) return raise(made.error());
  return makeText(*made).release();
}

PyObject* graphs(PyObject*, PyObject*) {
  const Ref list = Ref::steal(PyList_New(0));
  std::vector<const LoggedGraph*> all;
  for (const auto* of : {&captureLog().graphs, &captureLog().exported})
    for (const LoggedGraph& logged : *of) all.push_back(&logged);
  for (const LoggedGraph* each : all) {
    const LoggedGraph& logged = *each;
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
    const bool isPart = copy && isTensor(copy.get()) && isPlaced(tensorOf(copy.get()));
    if (!copy || isPart) return graph.inputs.clear();
    graph.inputs.push_back(std::move(copy));
  }
}

bool addLoggedGraphs(PyObject* module) {
  static PyMethodDef functions[] = {{"keep_inputs", keep, METH_O, nullptr},
                                    {"graphs", graphs, METH_NOARGS, nullptr},
                                    {"exported", noteExported, METH_VARARGS, nullptr},
                                    {"apart", logApart, METH_O, nullptr},
                                    {"export_graph", exportRequest, METH_O, nullptr},
                                    {"compile_graph", compileGraphText, METH_VARARGS, nullptr},
                                    {nullptr, nullptr, 0, nullptr}};
  return PyModule_AddFunctions(module, functions) == 0;
}

}  // namespace kerf::inline dynamo
