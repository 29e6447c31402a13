#include "app/workbench/graphs/graph_doc.h"

#include <fmt/ranges.h>

#include "app/workbench/protocol/query_text.h"

namespace kerf::workbench {

namespace {

const GraphModule* moduleAt(const GraphModule& module, const std::string& path) {
  const auto* child = module.submodule(path);
  return child == nullptr ? nullptr : child->graph.get();
}

std::string namesIn(const GraphModule& module) {
  std::vector<std::string> names;
  for (const auto& [name, child] : module.submodules)
    if (child.graph) names.push_back(name);
  return names.empty() ? "it has none" : fmt::format("it has {}", fmt::join(names, ", "));
}

}  // namespace

Result<const GraphModule*> nestedGraph(const GraphModule& module, const std::string& path) {
  const auto* here = &module;
  for (const auto& name : splitAt(path, "/")) {
    const auto* next = moduleAt(*here, name);
    if (next == nullptr) return fail(ErrorCode::NotFound, "there is no nested graph {}: {}", name, namesIn(*here));
    here = next;
  }
  return here;
}

void findBodies(GraphDoc& doc, const GraphModule& module) {
  for (auto& node : doc.nodes) {
    const bool names = node.opcode == "get_attr" || node.opcode == "call_module";
    if (names && moduleAt(module, node.target) != nullptr) node.bodies.push_back(node.target);
  }
  for (auto& node : doc.nodes) {
    if (node.opcode != "call_function") continue;
    for (const int input : node.inputs) {
      const auto& given = doc.nodes[std::size_t(input)];
      if (given.opcode == "get_attr") node.bodies.insert(node.bodies.end(), given.bodies.begin(), given.bodies.end());
    }
  }
}

}  // namespace kerf::workbench
