#include "app/workbench/graphs/module_comparison.h"

#include <algorithm>

#include "engine/ir/printer.h"

namespace kerf::workbench {

namespace {

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

DiffRow::Kind kindOf(const NodeDelta& delta) {
  if (delta.rewritten()) return DiffRow::Kind::Rewritten;
  if (delta.removed()) return DiffRow::Kind::Removed;
  if (delta.added()) return DiffRow::Kind::Added;
  if (delta.callChanged || delta.metaChanged || delta.given) return DiffRow::Kind::Changed;
  return delta.renamed || delta.moved ? DiffRow::Kind::Renamed : DiffRow::Kind::Same;
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

ModuleComparison compareModules(const GraphModule& before, const GraphModule& after, const RecordedOrigins& recorded) {
  ModuleComparison comparison{before, after, diffModules(before, after, recorded), {}};
  comparison.text = unifiedText(comparison);
  return comparison;
}

std::vector<DiffRow> sideBySideRows(const ModuleComparison& comparison) {
  std::vector<DiffRow> rows;
  for (const auto& [path, diff] : comparison.diffs) {
    if (diff.same()) continue;
    const auto& before = graphAt(comparison.before, path);
    const auto& after = graphAt(comparison.after, path);
    for (const auto& delta : diff.nodes)
      rows.push_back({kindOf(delta), path, printNode(before, delta.before), printNode(after, delta.after)});
  }
  return rows;
}

}  // namespace kerf::workbench
