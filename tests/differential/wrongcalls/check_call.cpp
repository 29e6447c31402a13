#include "tests/differential/wrongcalls/check_call.h"

#include "engine/support/out_of_memory.h"
#include "tests/differential/wrongcalls/verdicts.h"

namespace kerf::wrongcalls {

using fuzzgraph::RunResult;

namespace {

struct CallChecker {
  const CaseGraph& graph;
  const CheckOptions& options;
  const std::function<void(std::string_view)>& onStep;
  CheckResult result{};

  void step(std::string_view name) const {
    if (onStep) onStep(name);
  }

  void compare(const std::string& backend, const Result<RunResult>& reference) {
    step(backend);
    auto compiled = compileBare(graph.module, backend);
    const Result<RunResult> given =
        compiled ? runOnCopies(**compiled, graph.inputs) : Result<RunResult>(fail(compiled.error()));
    if (std::string problem = difference(backend, reference, given, graph.module, graph.inputs); !problem.empty())
      result.problems.push_back(std::move(problem));
  }

  void check() {
    step("interpreter");
    const auto reference = expectedOf(graph.module, interpret(graph.module, graph.inputs));
    result.refused = !reference;
    if (reference) {
      if (!options.compilesAccepted) return;
      result.compiled = true;
      return compare("llvm", reference);
    }
    result.refusal = reference.error().message;
    compare("llvm", reference);
    step("shapes");
    if (refusedByShapes(graph.module)) compare("cuda", reference);
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
  const CaseGraph graph = graphOf(call, Surroundings::Alone);
  const auto result = interpret(graph.module, graph.inputs);
  return result ? std::string() : result.error().message;
}

}  // namespace kerf::wrongcalls
