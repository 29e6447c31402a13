#include "engine/ir/printer.h"
#include "engine/ir/value_meta.h"
#include "tests/differential/wrongcalls/sized_case.h"
#include "tests/differential/wrongcalls/verdicts.h"

namespace kerf::wrongcalls {

using fuzzgraph::RunResult;

namespace {

/// The graph with the numbers that its symbols have for these inputs.
GraphModule atSizes(const GraphModule& module, const ValueList& inputs) {
  const InputSymbols symbols(module);
  if (!symbols.any()) return module;
  const auto bound = symbols.bind(symbols.numbers(inputs));
  auto numbers = bound ? atNumbers(module, *bound) : Result<GraphModule>(fail(bound.error()));
  return numbers ? std::move(*numbers) : module;
}

/// Compiled as on a first call: its sizes are the example.
Result<std::unique_ptr<CompiledGraph>> compileAt(const GraphModule& module, const ValueList& inputs,
                                                 const std::string& backend) {
  const InputSymbols symbols(module);
  const auto bound = symbols.bind(symbols.numbers(inputs));
  if (!symbols.any() || !bound) return compileBare(module, backend);
  KERF_TRY(const GraphModule example, withExample(module, *bound));
  return compileBare(example, backend);
}

/// Sizes that the annotations rule out are no call of this graph.
bool mayRun(const GraphModule& module, const ValueList& inputs) {
  const InputSymbols symbols(module);
  return !symbols.any() || symbols.bind(symbols.numbers(inputs));
}

std::string sizesOf(const ValueList& inputs) {
  std::string text;
  for (const Value& value : inputs)
    if (value.isTensor()) text += fmt::format(" [{}]", fmt::join(value.tensor().sizes(), ", "));
  return text;
}

}  // namespace

CheckResult checkSizes(const SizedCase& sized, const std::function<void(std::string_view)>& onStep) {
  CheckResult result;
  onStep("compiling");
  auto compiled = compileAt(sized.module, sized.inputs[0], "llvm");
  if (!compiled && compiled.error().code == ErrorCode::UnsupportedOp) return result;  // symbols that no code takes
  for (std::size_t i = 0; i < sized.inputs.size(); ++i) {
    const ValueList& inputs = sized.inputs[i];
    if (!mayRun(sized.module, inputs)) continue;
    onStep("interpreter");
    const GraphModule module = atSizes(sized.module, inputs);
    const auto reference = expectedOf(module, interpret(module, inputs));
    result.refused = result.refused || !reference;
    onStep("llvm");
    const Result<RunResult> given =
        compiled ? runOnCopies(**compiled, inputs) : Result<RunResult>(fail(compiled.error()));
    if (!compiled && i > 0) break;  // the first run says so
    std::string problem = difference("llvm", reference, given, module, inputs);
    if (problem.empty() && !reference && i == 0 && refusedByShapes(module)) {
      onStep("cuda");
      const auto cuda = compileAt(sized.module, inputs, "cuda");
      if (cuda)
        problem = "cuda: accepts what the interpreter refuses: " + reference.error().message;
      else if (!saysTheSame(cuda.error(), reference.error()))
        problem = fmt::format("cuda: other words: {}  ←  {}", cuda.error().text(), reference.error().message);
    }
    result.compiled = result.compiled || compiled.has_value();
    if (!problem.empty()) result.problems.push_back(fmt::format("at{}: {}", sizesOf(inputs), problem));
  }
  if (!result.problems.empty()) result.problems.back() += "\n" + printReadable(sized.module, {});
  return result;
}

}  // namespace kerf::wrongcalls
