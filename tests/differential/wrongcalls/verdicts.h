// What the interpreter and compiled code say to a graph, and whether it is the same.
#pragma once

#include "engine/backend/input_symbols.h"
#include "engine/pipeline/compile_fx.h"
#include "tests/differential/fuzzgraph/checks.h"

namespace kerf::wrongcalls {

/// On copies of the inputs, behind which nobody may read or write.
Result<fuzzgraph::RunResult> interpret(const GraphModule& module, const ValueList& inputs);
/// Compiled as the attacks compile: without optimization, as fast as that goes.
Result<std::unique_ptr<CompiledGraph>> compileBare(const GraphModule& module, const std::string& backend);
Result<fuzzgraph::RunResult> runOnCopies(CompiledGraph& graph, const ValueList& inputs);

/// What the rules of shapes and dtypes alone refuse.
std::optional<Error> refusedByShapes(GraphModule module);
/// What every backend has to say: the interpreter's result; of a graph with two wrong calls, what the shape rules refuse,
/// which are asked about the whole graph before anything runs.
Result<fuzzgraph::RunResult> expectedOf(const GraphModule& module, Result<fuzzgraph::RunResult> reference);
/// Whether a backend's refusal has the interpreter's words, whatever program of the op says them. Compiled code has its
/// buffers before any call runs, so that it may lack memory first. What has no kernel at all is refused by its shape rule,
/// if that comes first.
bool saysTheSame(const Error& given, const Error& expected);
/// "llvm: other words: …"; empty where `given` is as it must be after `reference`. Values that round in another way are
/// judged beside the graph's results in fp64.
std::string difference(const std::string& backend, const Result<fuzzgraph::RunResult>& reference,
                       const Result<fuzzgraph::RunResult>& given, const GraphModule& module, const ValueList& inputs);

}  // namespace kerf::wrongcalls
