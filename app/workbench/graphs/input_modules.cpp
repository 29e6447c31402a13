#include "app/workbench/graphs/graph_doc.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <unordered_map>

namespace kerf::workbench {

namespace {

constexpr std::string_view moduleMark = "_modules_";

std::vector<std::string> placeholderNames(const Graph& graph) {
  std::vector<std::string> names;
  for (const NodeId id : graph.order())
    if (const Node& node = graph.node(id); node.op() == Opcode::Placeholder) names.push_back(node.target());
  return names;
}

/// The graph that Dynamo handed to AOTAutograd in the compilation that the source's graph belongs to; null if it was
/// not recorded.
CapturedGraph* dynamoGraph(GraphSource& source) {
  const auto& own = source.graph().origin;
  for (auto& graph : source.capture.graphs)
    if (graph.origin.stage == "dynamo_output_graph" && graph.origin.compileId == own.compileId)
      return graph.ensureLoaded() ? &graph : nullptr;
  return nullptr;
}

/// 3 of "PlainAOTInput(idx=3)"; -1 for other texts.
int inputIndex(std::string_view description) {
  constexpr std::string_view mark = "PlainAOTInput(idx=";
  const auto at = description.find(mark);
  if (at == std::string_view::npos) return -1;
  int index = -1;
  const auto digits = description.substr(at + mark.size());
  std::from_chars(digits.data(), digits.data() + digits.size(), index);
  return index;
}

}  // namespace

std::string moduleOfInput(const std::string& name) {
  std::string path;
  auto at = name.find(moduleMark);
  while (at != std::string::npos) {
    const auto begin = at + moduleMark.size();
    at = name.find(moduleMark, begin);
    auto part = name.substr(begin, at == std::string::npos ? at : at - begin);
    if (at == std::string::npos) part = part.substr(0, std::min(part.find("_parameters_"), part.find("_buffers_")));
    if (!part.empty()) path += (path.empty() ? "" : ".") + part;
  }
  return path;
}

namespace {

using ModulesByName = std::unordered_map<std::string, std::string>;

/// Paths of the modules whose inputs a graph has, by placeholder; AOTAutograd's graphs say which of Dynamo's each is.
ModulesByName modulesOf(const Graph& graph, const std::vector<std::string>& outer) {
  ModulesByName modules;
  for (const NodeId id : graph.placeholders()) {
    const Node& node = graph.node(id);
    auto path = moduleOfInput(node.target());
    const int index = inputIndex(node.meta().description);
    if (path.empty() && index >= 0 && index < int(outer.size())) path = moduleOfInput(outer[std::size_t(index)]);
    if (!path.empty()) modules.emplace(node.name(), std::move(path));
  }
  return modules;
}

/// The same of the first graph of the compilation that says it: later stages keep the names of their inputs ("primals_3"),
/// but not what those are.
ModulesByName modulesOfEarlierStage(GraphSource& source, const std::vector<std::string>& outer) {
  static constexpr std::string_view stages[] = {"aot_joint_graph", "aot_inference_graph", "aot_forward_graph"};
  const auto& own = source.graph().origin;
  for (auto& graph : source.capture.graphs) {
    const auto& origin = graph.origin;
    const bool says = std::ranges::find(stages, origin.stage) != std::end(stages);
    if (!says || origin.compileId != own.compileId || origin.rank != own.rank || !graph.ensureLoaded()) continue;
    if (auto modules = modulesOf(graph.module.graph, outer); !modules.empty()) return modules;
  }
  return {};
}

}  // namespace

void nameInputModules(GraphDoc& doc, GraphSource& source) {
  const Graph& graph = source.graph().module.graph;
  std::vector<std::string> outer;
  if (auto* dynamo = dynamoGraph(source); dynamo != nullptr) outer = placeholderNames(dynamo->module.graph);
  auto modules = modulesOf(graph, outer);
  if (modules.empty() && !outer.empty()) modules = modulesOfEarlierStage(source, outer);
  for (const NodeId id : graph.placeholders()) {
    const auto found = modules.find(graph.node(id).name());
    const int at = found == modules.end() ? -1 : doc.find(found->first);
    if (at >= 0 && doc.nodes[std::size_t(at)].modulePath.empty()) doc.nodes[std::size_t(at)].modulePath = found->second;
  }
}

}  // namespace kerf::workbench
