#include "app/workbench/graphs/graph_doc.h"

#include <charconv>
#include <string_view>

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

void nameInputModules(GraphDoc& doc, GraphSource& source) {
  std::vector<std::string> outer;
  bool looked = false;
  for (const NodeId id : source.graph().module.graph.order()) {
    const Node& node = source.graph().module.graph.node(id);
    const int at = node.op() == Opcode::Placeholder ? doc.find(node.name()) : -1;
    if (at < 0) continue;
    auto& path = doc.nodes[std::size_t(at)].modulePath;
    if (path.empty()) path = moduleOfInput(node.target());
    const int index = inputIndex(node.meta().description);
    if (!path.empty() || index < 0) continue;
    if (auto* dynamo = looked ? nullptr : dynamoGraph(source); dynamo != nullptr)
      outer = placeholderNames(dynamo->module.graph);
    looked = true;
    if (index < int(outer.size())) path = moduleOfInput(outer[std::size_t(index)]);
  }
}

}  // namespace kerf::workbench
