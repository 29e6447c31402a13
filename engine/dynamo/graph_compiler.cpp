#include "engine/dynamo/graph_compiler.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "engine/ir/printer.h"
#include "engine/torch_api/conversions.h"
#include "engine/torch_api/eager_ops.h"
#include "engine/torch_api/placed_tensors.h"
#include "engine/torch_api/tensor_type.h"

namespace kerf::inline dynamo {
namespace {

GraphCompiler& theCompiler() {
  static GraphCompiler compiler;
  return compiler;
}

bool& compilesNames() {
  static bool does = false;
  return does;
}

GraphExporter& theExporter() {
  static GraphExporter exporter;
  return exporter;
}

std::string lastPart(const std::string& target) { return target.substr(target.rfind('.') + 1); }

/// `add_`, `__iadd__`, `setitem`.
bool writesInto(const std::string& target) {
  const std::string name = lastPart(target);
  return (name.ends_with("_") && !name.ends_with("__")) || name == "setitem" || name.starts_with("__i");
}

bool drawsNumbers(const std::string& target) {
  static constexpr std::array<std::string_view, 9> parts = {
      "rand", "dropout", "bernoulli", "normal", "multinomial", "uniform", "exponential", "rrelu", "poisson"};
  const std::string name = lastPart(target);
  return std::ranges::any_of(parts, [&](std::string_view part) { return name.find(part) != std::string::npos; }) &&
         !name.ends_with("_norm");
}

std::string readable(const Graph& graph) {
  PythonCodeOptions options;
  options.annotateValues = options.includeStride = options.includeDevice = true;
  GraphModule module;
  module.graph = graph;
  return printReadable(module, options);
}

Result<void> mayCompile(const Graph& graph, const CompiledFrame& frame) {
  for (const NodeId id : graph.order()) {
    const Opcode op = graph.node(id).op();
    if (op != Opcode::CallFunction && op != Opcode::CallMethod) continue;
    const std::string target = graph.node(id).target();
    if (writesInto(target)) return fail(ErrorCode::UnsupportedOp, "{} writes into its input", target);
    if (drawsNumbers(target)) return fail(ErrorCode::UnsupportedOp, "{} draws random numbers", target);
  }
  for (const FrameInput& input : frame.inputs)
    if (!input.proxy || !isTensor(input.proxy.get())) return fail(ErrorCode::UnsupportedOp, "an input is a symbol");
  return {};
}

bool needsGradient(const ValueList& inputs) {
  return gradModes().grad && std::ranges::any_of(inputs, [](const Value& value) {
           return value.isTensor() && value.tensor().requiresGrad;
         });
}

}  // namespace

void setGraphCompiler(GraphCompiler compiler, bool compilesByName) {
  theCompiler() = std::move(compiler);
  compilesNames() = compilesByName;
}

Result<GraphRunner> compileText(const GraphToCompile& graph) {
  if (!theCompiler()) return fail(ErrorCode::UnsupportedOp, "no compiler is there");
  return theCompiler()(graph);
}

void setGraphExporter(GraphExporter exporter) { theExporter() = std::move(exporter); }

Result<std::string> exportGraph(const std::string& request) {
  if (!theExporter()) return fail(ErrorCode::UnsupportedOp, "torch.export has no dynamic sizes here");
  return theExporter()(request);
}

Result<GraphRunner> compileGraph(const std::string& backend, const Graph& graph, const CompiledFrame& frame) {
  if (!compilesNames()) return fail(ErrorCode::UnsupportedOp, "no compiler is there");
  KERF_CHECK(mayCompile(graph, frame));
  return compileText({readable(graph), backend});
}

bool runCompiledGraph(const CompiledFrame& frame, NodeValues& values) {
  ValueList inputs;
  for (const FrameInput& input : frame.inputs) {
    PyObject* held = values[input.node.index].get();
    if (!isTensor(held)) return replay(frame.calls, values);
    inputs.emplace_back(tensorOf(held));
  }
  if (needsGradient(inputs) || anyPlaced(inputs, {})) return replay(frame.calls, values);
  auto outputs = frame.runner(inputs);
  if (!outputs) return PyErr_Format(PyExc_RuntimeError, "%s", outputs.error().text().c_str()), false;
  if (outputs->size() != frame.outputs.size())
    return PyErr_Format(PyExc_RuntimeError, "the compiled graph gave %zu values; it has %zu outputs", outputs->size(),
                        frame.outputs.size()),
           false;
  for (std::size_t k = 0; k < outputs->size(); ++k) {
    const Value& output = (*outputs)[k];
    if (!output.isTensor()) return replay(frame.calls, values);
    values[frame.outputs[k].index] = wrapTensor(output.tensor());
  }
  return true;
}

}  // namespace kerf::inline dynamo
