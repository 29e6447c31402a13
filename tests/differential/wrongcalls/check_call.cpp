#include "tests/differential/wrongcalls/check_call.h"

#include "engine/ir/interpreter.h"
#include "engine/ops/core/op_registry.h"
#include "engine/ops/random/state.h"
#include "engine/pipeline/compile_fx.h"
#include "engine/support/out_of_memory.h"
#include "engine/symbolic/shape_env.h"
#include "tests/differential/fuzzgraph/checks.h"

namespace kerf::wrongcalls {

using fuzzgraph::RunResult;

namespace {

Result<RunResult> interpret(const CaseGraph& graph) {
  return withinMemory([&]() -> Result<RunResult> {
    const RandomScope random;
    RunResult result{{}, guardedCopies(graph.inputs)};
    KERF_TRY(result.outputs, Interpreter(graph.module, referenceOps()).run(result.inputs));
    return result;
  });
}

Result<RunResult> compileAndRun(const CaseGraph& graph, const std::string& backend) {
  return withinMemory([&]() -> Result<RunResult> {
    const RandomScope random;
    CompileOptions options;
    options.backend = backend;
    options.optimizationLevel = 0;
    options.keepArtifacts = false;
    KERF_TRY(const auto compiled, compileFx(graph.module, options));
    RunResult result{{}, guardedCopies(graph.inputs)};
    KERF_TRY(result.outputs, compiled->run(result.inputs));
    return result;
  });
}

/// Whether shapes and dtypes alone are refused.
bool isRefusedByShapes(GraphModule module) {
  ShapeEnv env;
  return !propagateShapes(module, env);
}

/// The words of a refusal, whatever program of the op says them.
std::string essenceOf(const Error& error) {
  std::string_view text = error.message;
  for (std::size_t colon = text.find(": "); colon != text.npos; colon = text.find(": ")) {
    const std::string_view op = text.substr(0, colon);
    if (op.find(' ') != op.npos || op.find('.') == op.npos) break;
    text.remove_prefix(colon + 2);
  }
  return std::string(text);
}

/// Compiled code has its buffers before any call runs, so that it may lack memory first. What has no kernel at all is
/// refused by its shape rule, if that comes first.
bool saysTheSame(const Error& given, const Error& expected) {
  return given.code == ErrorCode::TooLarge || expected.code == ErrorCode::UnsupportedOp ||
         essenceOf(given) == essenceOf(expected);
}

bool holdsHalfComplex(const Value& value) {
  if (value.isTensor()) return value.tensor().dtype() == DType::Complex32;
  return value.isList() && std::ranges::any_of(value.list(), holdsHalfComplex);
}

struct CallChecker {
  const CaseGraph& graph;
  const CheckOptions& options;
  const std::function<void(std::string_view)>& onStep;
  CheckResult result{};

  void step(std::string_view name) const {
    if (onStep) onStep(name);
  }

  void expectRefused(const std::string& backend, const Error& expected) {
    step(backend);
    const auto given = compileAndRun(graph, backend);
    if (given) {
      result.problems.push_back(fmt::format("{}: accepts what the interpreter refuses: {}", backend, expected.message));
      return;
    }
    if (!saysTheSame(given.error(), expected))
      result.problems.push_back(
          fmt::format("{}: other words: {}  ←  {}", backend, given.error().text(), expected.message));
  }

  void expectAlike(const std::string& backend, const RunResult& reference) {
    step(backend);
    result.compiled = true;
    const auto given = compileAndRun(graph, backend);
    if (!given) {
      result.problems.push_back(
          fmt::format("{}: refuses what the interpreter takes: {}", backend, given.error().text()));
      return;
    }
    if (holdsHalfComplex(reference.outputs)) return;  // nothing compares them
    if (const auto differs = fuzzgraph::disagreement(reference, *given, {}))
      result.problems.push_back(fmt::format("{}: {}: {}", backend, differs->kind, differs->what));
  }

  void check() {
    step("interpreter");
    const auto reference = interpret(graph);
    result.refused = !reference;
    if (reference) {
      if (options.compilesAccepted) expectAlike("llvm", *reference);
      return;
    }
    result.refusal = reference.error().message;
    expectRefused("llvm", reference.error());
    step("shapes");
    if (isRefusedByShapes(graph.module)) expectRefused("cuda", reference.error());
  }
};

}  // namespace

CheckResult checkCall(const CallCase& call, const CheckOptions& options,
                      const std::function<void(std::string_view)>& onStep) {
  const auto result = withinMemory([&]() -> Result<CheckResult> {
    const CaseGraph graph = graphOf(call, options.surroundings, options.annotation);
    CallChecker checker{graph, options, onStep};
    checker.check();
    return std::move(checker.result);
  });
  return result ? *result : CheckResult{.problems = {"no error of the call: " + result.error().text()}};
}

std::string refusalOf(const CallCase& call) {
  const auto result = interpret(graphOf(call, Surroundings::Alone));
  return result ? std::string() : result.error().message;
}

}  // namespace kerf::wrongcalls
