// Graphs of programs that run under a backend by name.
#include <algorithm>
#include <set>

#include "app/workbench/programs/inductor_settings.h"
#include "app/workbench/programs/program_runs.h"
#include "engine/capture/text/capture.h"
#include "engine/ops/core/memory_writes.h"
#include "engine/pipeline/compile_fx.h"

namespace kerf::workbench {

namespace {

void flatten(const Value& value, ValueList& out) {
  if (!value.isList()) return out.push_back(value);
  for (const Value& item : value.list()) flatten(item, out);
}

/// One graph with its code; the captured form gives AOTAutograd's inputs.
struct ProgramGraph {
  GraphModule captured;
  std::unique_ptr<CompiledGraph> compiled;

  Result<ValueList> run(const ValueList& inputs) {
    ValueList given = inputs;
    if (const AotGraph* traced = compiled->traced()) {
      KERF_TRY(given, tracedInputs(captured, traced->metadata, inputs));
    }
    KERF_TRY(const Value result, compiled->run(given));
    ValueList outputs;
    flatten(result, outputs);
    return outputs;
  }
};

/// The nodes that may look at memory of an input.
std::set<std::uint32_t> viewsOfInputs(const Graph& graph) {
  std::set<std::uint32_t> views;
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (node.op() == Opcode::Placeholder) views.insert(id.index);
    forEachMemoryUse(node, [&](const Argument& argument, bool, bool shares) {
      forEachNode(argument, [&](NodeId used) {
        if (shares && views.contains(used.index)) views.insert(id.index);
      });
    });
  }
  return views;
}

/// UnsupportedOp for a graph whose run is seen in another way than by new results: it writes into inputs, gives their
/// memory, or draws random numbers.
Result<void> keepsToItself(const GraphModule& module) {
  const MemoryWrites writes = memoryWrites(module);
  if (std::ranges::any_of(writes.placeholders, [](auto answer) { return answer != MemoryWrites::Answer::No; }))
    return fail(ErrorCode::UnsupportedOp, "the graph writes into its inputs");
  for (const NodeId id : module.graph.order()) {
    const OpInfo* op = module.graph.node(id).op() == Opcode::CallFunction ? findOp(module.graph.node(id)) : nullptr;
    if (op != nullptr && has(op->traits, OpTrait::Random))
      return fail(ErrorCode::UnsupportedOp, "{} draws random numbers", module.graph.node(id).target());
  }
  const std::set<std::uint32_t> views = viewsOfInputs(module.graph);
  bool isSeen = false;
  for (const Argument& output : module.graph.node(module.graph.outputNode()).args())
    forEachNode(output, [&](NodeId node) { isSeen = isSeen || views.contains(node.index); });
  if (isSeen) return fail(ErrorCode::UnsupportedOp, "an output is memory of an input");
  return {};
}

}  // namespace

Result<GraphRunner> compileProgramGraph(const GraphToCompile& graph) {
  KERF_TRY(CapturedGraph captured, capturedFromReadable(graph.text, GraphOrigin{}));
  KERF_CHECK(captured.ensureLoaded());
  KERF_CHECK(captured.annotateShapes());
  CompileOptions options;
  if (!graph.settings.empty()) {
    KERF_CHECK(keepsToItself(captured.module));
    KERF_TRY(options, inductorOptions(graph.settings));
  }
  options.keepArtifacts = false;
  if (graph.backend == "aot_eager") {
    options.backend = "interp";
    options.goal = CompileGoal::Inference;
  }
  auto made = std::make_shared<ProgramGraph>();
  made->captured = captured.module;
  KERF_TRY(made->compiled, compileFx(captured.module, options));
  return [made](const ValueList& inputs) { return made->run(inputs); };
}

}  // namespace kerf::workbench
