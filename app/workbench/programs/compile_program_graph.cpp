// Graphs of programs that run under a backend by name.
#include "app/workbench/programs/program_runs.h"
#include "engine/capture/text/capture.h"
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

}  // namespace

Result<std::function<Result<ValueList>(const ValueList&)>> compileProgramGraph(const std::string& text,
                                                                               const std::string& backend) {
  KERF_TRY(CapturedGraph captured, capturedFromReadable(text, GraphOrigin{}));
  KERF_CHECK(captured.ensureLoaded());
  KERF_CHECK(captured.annotateShapes());
  CompileOptions options;
  options.keepArtifacts = false;
  if (backend == "aot_eager") {
    options.backend = "interp";
    options.goal = CompileGoal::Inference;
  }
  auto graph = std::make_shared<ProgramGraph>();
  graph->captured = captured.module;
  KERF_TRY(graph->compiled, compileFx(captured.module, options));
  return [graph](const ValueList& inputs) { return graph->run(inputs); };
}

}  // namespace kerf::workbench
