#include "app/workbench/captures/exported_programs.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include <nlohmann/json.hpp>

#include "engine/capture/text/capture.h"
#include "engine/process/temporary_folder.h"

namespace kerf::workbench {

namespace {

using nlohmann::json;

bool haveSameNodes(const Graph& a, const Graph& b) {
  return std::ranges::equal(
      a.order(), b.order(), {}, [&](NodeId id) { return a.node(id).name(); },
      [&](NodeId id) { return b.node(id).name(); });
}

/// Stored nodes know their lines in the program, which the printed ones do not.
void keepLines(const Graph& stored, Graph& graph) {
  const auto order = stored.order();
  for (std::size_t i = 0; i < order.size(); ++i) {
    NodeMeta meta = stored.node(order[i]).meta();
    meta.value = graph.node(graph.order()[i]).meta().value;
    graph.setMeta(graph.order()[i], std::move(meta));
  }
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

std::map<std::string, std::string> exportedTexts(const std::string& log) {
  std::map<std::string, std::string> texts;
  const json whole = json::parse(log, nullptr, false);
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
  auto printed = capturedFromReadable(text, graph.origin);
  if (!printed || !printed->signature || graph.pending) return;
  if (!haveSameNodes(graph.module.graph, printed->module.graph)) return;
  GraphModule module = graph.module;
  module.graph = printed->module.graph;
  keepLines(graph.module.graph, module.graph);
  module.symbolRanges = printed->module.symbolRanges;
  graph.module = std::move(module);
  graph.signature = std::move(printed->signature);
}

}  // namespace kerf::workbench
