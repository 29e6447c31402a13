#include "tests/differential/wrongcalls/verdicts.h"

#include "engine/ir/interpreter.h"
#include "engine/ops/core/op_registry.h"
#include "engine/ops/random/state.h"
#include "engine/support/out_of_memory.h"
#include "engine/symbolic/shape_env.h"
#include "tests/differential/wrongcalls/call_case.h"

namespace kerf::wrongcalls {

using fuzzgraph::RunResult;

namespace {

std::string essenceOf(const Error& error) {
  std::string_view text = error.message;
  for (std::size_t colon = text.find(": "); colon != text.npos; colon = text.find(": ")) {
    const std::string_view op = text.substr(0, colon);
    if (op.find(' ') != op.npos || op.find('.') == op.npos) break;
    text.remove_prefix(colon + 2);
  }
  return std::string(text);
}

bool holdsHalfComplex(const Value& value) {
  if (value.isTensor()) return value.tensor().dtype() == DType::Complex32;
  return value.isList() && std::ranges::any_of(value.list(), holdsHalfComplex);
}

}  // namespace

Result<RunResult> interpret(const GraphModule& module, const ValueList& inputs) {
  return withinMemory([&]() -> Result<RunResult> {
    const RandomScope random;
    RunResult result{{}, guardedCopies(inputs)};
    KERF_TRY(result.outputs, Interpreter(module, referenceOps()).run(result.inputs));
    return result;
  });
}

Result<std::unique_ptr<CompiledGraph>> compileBare(const GraphModule& module, const std::string& backend) {
  return withinMemory([&] {
    const RandomScope random;
    CompileOptions options;
    options.backend = backend;
    options.optimizationLevel = 0;
    options.keepArtifacts = false;
    return compileFx(module, options);
  });
}

Result<RunResult> runOnCopies(CompiledGraph& graph, const ValueList& inputs) {
  return withinMemory([&]() -> Result<RunResult> {
    const RandomScope random;
    RunResult result{{}, guardedCopies(inputs)};
    KERF_TRY(result.outputs, graph.run(result.inputs));
    return result;
  });
}

std::optional<Error> refusedByShapes(GraphModule module) {
  ShapeEnv env;
  auto shaped = propagateShapes(module, env);
  return shaped ? std::nullopt : std::optional(std::move(shaped.error()));
}

Result<RunResult> expectedOf(const GraphModule& module, Result<RunResult> reference) {
  if (reference) return reference;
  auto byShapes = refusedByShapes(module);
  if (!byShapes || byShapes->code == ErrorCode::UnsupportedOp) return reference;
  if (byShapes->node == reference.error().node) return reference;
  return fail(std::move(*byShapes));
}

bool saysTheSame(const Error& given, const Error& expected) {
  return given.code == ErrorCode::TooLarge || expected.code == ErrorCode::UnsupportedOp ||
         essenceOf(given) == essenceOf(expected);
}

std::string difference(const std::string& backend, const Result<RunResult>& reference, const Result<RunResult>& given,
                       const GraphModule& module, const ValueList& inputs) {
  if (!reference && given)
    return fmt::format("{}: accepts what the interpreter refuses: {}", backend, reference.error().message);
  if (!reference) {
    if (saysTheSame(given.error(), reference.error())) return {};
    return fmt::format("{}: other words: {}  ←  {}", backend, given.error().text(), reference.error().message);
  }
  if (!given) return fmt::format("{}: refuses what the interpreter takes: {}", backend, given.error().text());
  if (holdsHalfComplex(reference->outputs)) return {};  // nothing compares them
  auto differs = fuzzgraph::disagreement(*reference, *given, {});
  if (differs && differs->kind == "values") {
    const auto wide = fuzzgraph::interpreted(module, inputs, true);
    if (wide) differs = fuzzgraph::disagreement(*reference, *given, *wide);
  }
  return differs ? fmt::format("{}: {}: {}", backend, differs->kind, differs->what) : std::string();
}

}  // namespace kerf::wrongcalls
