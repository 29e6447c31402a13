#include "app/workbench/captures/exported_programs.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include <nlohmann/json.hpp>

#include "engine/capture/text/capture.h"
#include "engine/process/temporary_folder.h"
#include "engine/support/read_json.h"

namespace kerf::workbench {

namespace {

using nlohmann::json;

bool haveSameNodes(const Graph& a, const Graph& b) {
  return std::ranges::equal(
      a.order(), b.order(), {}, [&](NodeId id) { return a.node(id).name(); },
      [&](NodeId id) { return b.node(id).name(); });
}

void takeAnnotations(const Graph& printed, Graph& graph) {
  const std::vector<NodeId> order(graph.order().begin(), graph.order().end());
  for (std::size_t i = 0; i < order.size(); ++i)
    graph.setValueMeta(order[i], printed.node(printed.order()[i]).meta().value);
}

/// Nested graphs have their annotations too.
void takeNestedAnnotations(const GraphModule& printed, GraphModule& module) {
  for (auto& [path, submodule] : module.submodules.edit()) {
    const Submodule* told = printed.submodule(path);
    if (told == nullptr || !told->graph || !submodule.graph ||
        !haveSameNodes(submodule.graph->graph, told->graph->graph))
      continue;
    GraphModule inner = *submodule.graph;
    takeAnnotations(told->graph->graph, inner.graph);
    takeNestedAnnotations(*told->graph, inner);
    submodule.graph = std::make_shared<const GraphModule>(std::move(inner));
  }
}

std::vector<std::string> textsOf(const std::vector<Dim>& dims, const Sizes& numbers) {
  std::vector<std::string> texts;
  if (dims.size() != numbers.size() || std::ranges::all_of(dims, [](const Dim& each) { return each.text.empty(); }))
    return texts;
  for (std::size_t d = 0; d < dims.size(); ++d)
    texts.push_back(dims[d].text.empty() ? std::to_string(numbers[d]) : dims[d].text);
  return texts;
}

/// An input whose sizes are symbols has them in place of the example's numbers.
void nameSizes(const TensorMeta* meta, GraphInput& input) {
  if (meta == nullptr || input.kind != GraphInput::Kind::Tensor) return;
  input.sizeTexts = textsOf(meta->sizes, input.sizes);
  if (!input.sizeTexts.empty()) input.strideTexts = textsOf(meta->strides, input.strides);
}

}  // namespace

Result<std::string> programLogText(Store& store, std::int64_t captureId) {
  KERF_TRY(const auto folder, TemporaryFolder::create());
  KERF_TRY(const std::filesystem::path path, store.materializeFiles(captureId, folder.path()));
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) return fail(ErrorCode::Environment, "{} cannot be read", path.string());
  return std::move(text).str();
}

Result<std::map<std::string, std::string>> exportedTexts(Store& store, const CaptureRow& capture) {
  std::map<std::string, std::string> texts;
  if (capture.kind != "program" || capture.fileCount == 0) return texts;
  const auto log = programLogText(store, capture.id);  // without it the graphs are still there
  const json whole = log ? readJson<json>(*log) : json();
  const json captured = whole.is_object() ? whole.value("captured", json()) : json();
  const json made = captured.is_object() ? captured.value("exported", json()) : json();
  for (const json& one : made.is_array() ? made : json::array()) {
    if (!one.is_object() || !one.contains("name") || !one.contains("text")) continue;
    if (one["name"].is_string() && one["text"].is_string())
      texts.emplace(one["name"].get<std::string>(), one["text"].get<std::string>());
  }
  return texts;
}

void applyExported(const std::string& text, CapturedGraph& graph) {
  if (graph.pending) return;
  auto printed = capturedFromReadable(text, graph.origin);
  if (!printed || !printed->signature || !haveSameNodes(graph.module.graph, printed->module.graph)) return;
  takeAnnotations(printed->module.graph, graph.module.graph);
  takeNestedAnnotations(printed->module, graph.module);
  graph.module.symbolRanges = printed->module.symbolRanges;
  graph.signature = std::move(printed->signature);
  const auto placeholders = graph.module.graph.placeholders();
  for (std::size_t i = 0; i < placeholders.size() && i < graph.inputs.size(); ++i)
    nameSizes(graph.module.graph.node(placeholders[i]).meta().value.tensor(), graph.inputs[i]);
}

}  // namespace kerf::workbench
