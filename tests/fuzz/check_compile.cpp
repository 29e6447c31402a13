#include <algorithm>

#include "engine/accuracy/same_two_models.h"
#include "engine/capture/common/capture.h"
#include "engine/capture/inputs/generated_inputs.h"
#include "engine/capture/text/capture.h"
#include "engine/ir/interpreter.h"
#include "engine/mathlib/math_threads.h"
#include "engine/ops/core/op_registry.h"
#include "engine/pipeline/compile_fx.h"
#include "engine/support/thread_pool.h"
#include "tests/fuzz/checks.h"

namespace kerf::fuzz {
namespace {

constexpr ImportLimits limits{
    .fileBytes = 1 << 16, .lineBytes = 1 << 14, .nesting = 30, .nodes = 200, .tensorBytes = 1 << 16};
constexpr std::size_t maxGraphs = 4;
constexpr std::int64_t maxElements = 4096;  // of any value
constexpr std::int64_t maxNumber = 512;     // among the arguments: sizes, paddings, repetitions
constexpr std::int64_t maxNodesRun = 500;   // loops of higher-order ops

/// Whether the argument, and what is in it, asks for no more than a run may take.
bool isModest(const Argument& argument) {
  if (const auto* number = argument.as<std::int64_t>()) return std::abs(*number) <= maxNumber;
  if (const auto* sym = argument.as<SymExpr>()) return sym->hint && std::abs(*sym->hint) <= maxNumber;
  if (const auto* items = argument.asList()) return std::ranges::all_of(items->items, isModest);
  if (const auto* items = argument.asSlice()) return std::ranges::all_of(items->items, isModest);
  return true;
}

/// Whether the elements that the tensor's memory spans are few; sizes must be known.
bool isModest(const TensorMeta& meta) {
  const auto sizes = meta.concreteSizes(), strides = meta.concreteStrides();
  if (!sizes || !strides) return false;
  std::int64_t extent = 1;
  for (std::size_t i = 0; i < sizes->size(); ++i) {
    if (std::abs((*sizes)[i]) > maxElements || std::abs((*strides)[i]) > maxElements) return false;
    extent += std::max<std::int64_t>((*sizes)[i] - 1, 0) * std::abs((*strides)[i]);
  }
  return extent <= maxElements && checkedNumel(*sizes).value_or(maxElements + 1) <= maxElements;
}

bool isModest(const ValueMeta& meta) {
  if (const TensorMeta* tensor = meta.tensor()) return isModest(*tensor);
  if (const SymMeta* sym = meta.sym()) return isModest(Argument(sym->expr));
  if (const auto* items = meta.list())
    return std::ranges::all_of(*items, [](const auto& item) { return isModest(item); });
  return false;
}

bool isModest(const Graph& graph) {
  return std::ranges::all_of(graph.order(), [&](NodeId id) {
    const Node& node = graph.node(id);
    const bool small = std::ranges::all_of(node.args(), [](const Argument& item) { return isModest(item); }) &&
                       std::ranges::all_of(node.kwargs(), [](const auto& item) { return isModest(item.second); });
    return small && (node.op() != Opcode::CallFunction || isModest(node.meta().value));
  });
}

void requireMessage(const Error& error) { require(!error.message.empty(), "an error without a message", ""); }

/// Both sides must agree on what they return, apart from the numbers.
void requireAlike(const Value& reference, const Value& compiled, const std::string& graph) {
  require(reference.variant().index() == compiled.variant().index(), "the compiled graph returns another kind", graph);
  if (reference.isTensor()) {
    const Tensor &a = reference.tensor(), &b = compiled.tensor();
    require(a.dtype() == b.dtype() && a.sizes() == b.sizes(), "the compiled graph returns another shape", graph);
  }
  if (!reference.isList()) return;
  require(reference.list().size() == compiled.list().size(), "the compiled graph returns another number", graph);
  for (std::size_t i = 0; i < reference.list().size(); ++i)
    requireAlike(reference.list()[i], compiled.list()[i], graph);
}

/// Gives symbols without a value one.
LoadOptions withSymbols(CapturedGraph& graph) {
  constexpr std::int64_t size = 3;
  LoadOptions options;
  for (const SymExpr& symbol : graph.symbols())
    if (!symbol.hint) options.symbols.emplace(symbol.text, size);
  if (graph.inputs.empty()) bindAnnotations(graph.module, options.symbols);
  return options;
}

/// Whether the graph ran compiled.
bool compileAndRun(const CapturedGraph& graph, const LoadOptions& options, const std::string& text) {
  const auto inputs = graph.loadInputs(options, nullptr);
  if (!inputs) return requireMessage(inputs.error()), false;
  Interpreter interpreter(graph.module, referenceOps());
  interpreter.limits = {.nodes = maxNodesRun, .depth = 4};
  const auto reference = interpreter.run(*cloneInputs(*inputs, false));
  const auto compiled = compileFx(graph.module, {.optimizationLevel = 1, .keepArtifacts = true});
  if (!reference) requireMessage(reference.error());
  if (!compiled) return requireMessage(compiled.error()), false;
  if (!reference) return false;
  const auto result = (*compiled)->run(*cloneInputs(*inputs, false));
  if (!result) return requireMessage(result.error()), false;
  requireAlike(*reference, *result, text);
  return true;
}

Result<Capture> importAny(std::string_view text) {
  if (text.find("load_args") != std::string_view::npos) return importRepro(text, {}, limits);
  return importGraphText(text, "pasted.txt", limits);
}

}  // namespace

bool checkCompile(std::string_view text) {
  setThreadCount(1);
  setMathThreads(1);
  auto capture = importAny(text);
  if (!capture) return requireMessage(capture.error()), false;
  bool ran = false;
  for (std::size_t i = 0; i < std::min(capture->graphs.size(), maxGraphs); ++i) {
    CapturedGraph& graph = capture->graphs[i];
    const LoadOptions options = withSymbols(graph);
    if (!graph.annotateShapes() || !isModest(graph.module.graph)) continue;
    ran = compileAndRun(graph, options, std::string(text)) || ran;
  }
  return ran;
}

}  // namespace kerf::fuzz
