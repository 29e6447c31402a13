#include "app/graph_server/compiled_text.h"

#include "engine/capture/text/capture.h"

namespace kerf::graph_server {

namespace {

void flatten(const Value& value, ValueList& out) {
  if (!value.isList()) return out.push_back(value);
  for (const Value& item : value.list()) flatten(item, out);
}

/// How many values the output node gives.
std::size_t outputCount(const GraphModule& module) {
  const NodeId output = module.graph.outputNode();
  if (!output.valid() || module.graph.node(output).args().empty()) return 0;
  const auto* items = module.graph.node(output).args().front().asList();
  return items != nullptr ? items->items.size() : 1;
}

}  // namespace

Result<std::unique_ptr<CompiledText>> CompiledText::compile(std::string_view text, std::string_view backend) {
  KERF_TRY(CapturedGraph captured, capturedFromReadable(text, GraphOrigin{}));
  KERF_CHECK(captured.ensureLoaded());
  KERF_CHECK(captured.annotateShapes());
  CompileOptions options;
  options.backend = backend;
  options.keepArtifacts = false;
  KERF_TRY(auto graph, compileFx(captured.module, options));
  const std::size_t outputs = outputCount(captured.module);
  return std::unique_ptr<CompiledText>(new CompiledText(std::move(graph), outputs));
}

Result<ValueList> CompiledText::call(const ValueList& inputs) {
  KERF_TRY(const Value result, m_graph->run(inputs));
  ValueList outputs;
  flatten(result, outputs);
  if (outputs.size() != m_outputs)
    return fail(ErrorCode::Internal, "{} outputs where {} were told", outputs.size(), m_outputs);
  return outputs;
}

}  // namespace kerf::graph_server
