// What `kerf diff` says: matched nodes as unified text, side by side, or JSON.
#pragma once

#include <string>

#include "app/cli/context.h"
#include "engine/ir/graph_diff.h"

namespace kerf::cli {

/// The module's own graph for an empty path, else that of a nested one; an empty graph if there is none.
const Graph& graphAt(const GraphModule& module, const std::string& path);

/// Two modules and how their nodes belong together.
struct ModuleComparison {
  GraphModule before, after;
  std::vector<std::pair<std::string, GraphDiff>> diffs;  ///< by path of the nested graph; "" is the module itself
  std::string text;                                      ///< unified diff of the graph texts, nested ones below
  bool same() const;
};
ModuleComparison compareModules(const GraphModule& before, const GraphModule& after);

/// same, removed, added, renamed, moved, changed, meta_changed, text.
Json comparisonJson(const ModuleComparison& comparison);
/// Unified text and a summary.
std::string comparisonText(const ModuleComparison& comparison, const std::string& a, const std::string& b);
/// Two columns of `width` characters together; coloured where `colours`. Equal nodes far from a difference are left
/// out.
std::string sideBySide(const ModuleComparison& comparison, std::size_t width, bool colours);

/// Columns of the terminal on stdout, $COLUMNS, or 160.
std::size_t terminalWidth();
/// Stdout is a terminal and $NO_COLOR is not set.
bool terminalHasColours();

}  // namespace kerf::cli
