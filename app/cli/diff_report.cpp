#include "app/cli/diff_report.h"

#include <algorithm>

#include "app/cli/line_diff.h"
#include "app/cli/text_table.h"
#include "engine/ir/printer.h"

namespace kerf::cli {

namespace {

/// A node's call without its users, which change whenever any user does.
std::string callText(const Graph& graph, const Node& node) {
  std::vector<std::string> arguments;
  for (const auto& argument : node.args())
    arguments.push_back(printArgument(graph, argument, ArgumentStyle::GraphText));
  for (const auto& [name, value] : node.kwargs())
    arguments.push_back(name + " = " + printArgument(graph, value, ArgumentStyle::GraphText));
  return fmt::format("{}[{}]({})", opcodeName(node.op()), node.target(), fmt::join(arguments, ", "));
}

std::string metaText(const Node& node) { return printAnnotation(node.meta(), true, true); }

/// "relu", or "true_graph_0/relu" inside a nested graph.
std::string fullName(const std::string& path, const Node& node) {
  return path.empty() ? node.name() : path + "/" + node.name();
}

struct Lists {
  Json removed = Json::array(), added = Json::array(), renamed = Json::array(), moved = Json::array(),
       changed = Json::array(), metaChanged = Json::array();
};

void collectPair(Lists& lists, const std::string& path, const Graph& a, const Graph& b, const NodeDelta& delta) {
  const auto& before = a.node(delta.before);
  const auto& after = b.node(delta.after);
  const auto name = fullName(path, after);
  if (delta.renamed) lists.renamed.push_back({{"before", fullName(path, before)}, {"after", name}});
  if (delta.moved) lists.moved.push_back(name);
  if (delta.callChanged)
    lists.changed.push_back({{"name", name}, {"before", callText(a, before)}, {"after", callText(b, after)}});
  if (delta.metaChanged)
    lists.metaChanged.push_back({{"name", name}, {"before", metaText(before)}, {"after", metaText(after)}});
}

Lists collect(const ModuleComparison& comparison) {
  Lists lists;
  for (const auto& [path, diff] : comparison.diffs) {
    const auto& a = graphAt(comparison.before, path);
    const auto& b = graphAt(comparison.after, path);
    for (const auto& delta : diff.nodes) {
      if (delta.removed())
        lists.removed.push_back(fullName(path, a.node(delta.before)));
      else if (delta.added())
        lists.added.push_back(fullName(path, b.node(delta.after)));
      else
        collectPair(lists, path, a, b, delta);
    }
  }
  return lists;
}

std::string summary(const Lists& lists) {
  return fmt::format("{} removed, {} added, {} renamed, {} moved, {} changed, {} with another shape or dtype\n",
                     counted(std::ssize(lists.removed), "node"), lists.added.size(), lists.renamed.size(),
                     lists.moved.size(), lists.changed.size(), lists.metaChanged.size());
}

std::string unifiedText(const ModuleComparison& comparison) {
  std::string text;
  for (const auto& [path, diff] : comparison.diffs) {
    auto part =
        lineDiff(printGraphText(graphAt(comparison.before, path)), printGraphText(graphAt(comparison.after, path)));
    if (!part.empty() && !path.empty()) text += fmt::format("# {}\n", path);
    text += part;
  }
  return text;
}

}  // namespace

const Graph& graphAt(const GraphModule& module, const std::string& path) {
  static const Graph empty;
  if (path.empty()) return module.graph;
  // Paths of nested modules may hold dots themselves, so every prefix is tried.
  if (const auto* whole = module.submodule(path); whole != nullptr && whole->graph) return whole->graph->graph;
  for (auto dot = path.find('.'); dot != std::string::npos; dot = path.find('.', dot + 1)) {
    const auto* outer = module.submodule(path.substr(0, dot));
    if (outer != nullptr && outer->graph) return graphAt(*outer->graph, path.substr(dot + 1));
  }
  return empty;
}

bool ModuleComparison::same() const {
  return text.empty() && std::ranges::all_of(diffs, [](const auto& entry) { return entry.second.same(); });
}

ModuleComparison compareModules(const GraphModule& before, const GraphModule& after) {
  ModuleComparison comparison{before, after, diffModules(before, after), {}};
  comparison.text = unifiedText(comparison);
  return comparison;
}

Json comparisonJson(const ModuleComparison& comparison) {
  auto lists = collect(comparison);
  return {{"same", comparison.same()},
          {"removed", std::move(lists.removed)},
          {"added", std::move(lists.added)},
          {"renamed", std::move(lists.renamed)},
          {"moved", std::move(lists.moved)},
          {"changed", std::move(lists.changed)},
          {"meta_changed", std::move(lists.metaChanged)},
          {"text", comparison.text}};
}

std::string comparisonText(const ModuleComparison& comparison, const std::string& a, const std::string& b) {
  if (comparison.same()) return "the graphs are the same\n";
  const auto lists = collect(comparison);
  auto text = fmt::format("--- {}\n+++ {}\n{}", a, b, comparison.text);
  for (const auto& pair : lists.renamed)
    text += fmt::format("renamed {} to {}\n", pair["before"].get<std::string>(), pair["after"].get<std::string>());
  for (const auto& name : lists.moved) text += fmt::format("moved {}\n", name.get<std::string>());
  for (const auto& node : lists.metaChanged) {
    text += fmt::format("{} was {}, is {}\n", node["name"].get<std::string>(), node["before"].get<std::string>(),
                        node["after"].get<std::string>());
  }
  return text + summary(lists);
}

}  // namespace kerf::cli
