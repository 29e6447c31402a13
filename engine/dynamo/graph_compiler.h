// The compiler behind the backends by name: who runs programs may set one; without, graphs run op by op.
#pragma once

#include <functional>
#include <string>

#include "engine/dynamo/compiled_frame.h"
#include "engine/support/result.h"
#include "engine/tensor/value.h"

namespace kerf::inline dynamo {

/// Makes a runner of a graph as print_readable writes it. `backend`: "aot_eager" or "inductor".
using GraphCompiler = std::function<Result<GraphRunner>(const std::string& text, const std::string& backend)>;
void setGraphCompiler(GraphCompiler compiler);

/// The frame's graph, compiled. UnsupportedOp for what stays with the interpreter: gradients, random numbers, graphs that
/// write into their inputs.
Result<GraphRunner> compileGraph(const std::string& backend, const Graph& graph, const CompiledFrame& frame);

/// Runs it. False with a Python exception set.
bool runCompiledGraph(const CompiledFrame& frame, NodeValues& values);

}  // namespace kerf::inline dynamo
