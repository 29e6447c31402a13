// The compiler behind the backends by name: who runs programs may set one; without, graphs run op by op.
#pragma once

#include <functional>
#include <string>

#include "engine/dynamo/compiled_frame.h"
#include "engine/dynamo/graph_to_compile.h"

namespace kerf::inline dynamo {

/// Makes a runner of a graph.
using GraphCompiler = std::function<Result<GraphRunner>(const GraphToCompile& graph)>;
/// `compilesByName`: also what torch.compile gets by the name of a backend, not only what compile_fx gets.
void setGraphCompiler(GraphCompiler compiler, bool compilesByName);
/// The compiler's runner. UnsupportedOp where none is set.
Result<GraphRunner> compileText(const GraphToCompile& graph);

/// Makes ATen calls of a graph for torch.export: JSON in and out, which torch/export/_dynamic.py writes and reads.
using GraphExporter = std::function<Result<std::string>(const std::string& request)>;
void setGraphExporter(GraphExporter exporter);
/// UnsupportedOp where none is set.
Result<std::string> exportGraph(const std::string& request);

/// The frame's graph, compiled. UnsupportedOp for what stays with the interpreter: gradients, random numbers, graphs that
/// write into their inputs.
Result<GraphRunner> compileGraph(const std::string& backend, const Graph& graph, const CompiledFrame& frame);

/// Runs it. False with a Python exception set.
bool runCompiledGraph(const CompiledFrame& frame, NodeValues& values);

}  // namespace kerf::inline dynamo
