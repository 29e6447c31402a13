// ModuleComparison: two modules, how their nodes belong together, and what differs as text.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/workbench/protocol/difference.h"
#include "engine/diff/graph_diff.h"

namespace kerf::workbench {

struct ModuleComparison {
  GraphModule before, after;
  std::vector<std::pair<std::string, GraphDiff>> diffs;  ///< by path of the nested graph; "" is the module itself
  std::string text;                                      ///< unified diff of the graph texts, nested ones below
  bool same() const;
};
/// `recorded`: what the capture says of the nodes' origins.
ModuleComparison compareModules(const GraphModule& before, const GraphModule& after,
                                const RecordedOrigins& recorded = {});

/// The module's own graph for an empty path, else that of a nested one; an empty graph if there is none.
const Graph& graphAt(const GraphModule& module, const std::string& path);

/// The nodes of both beside each other; pairs of equal ones too.
std::vector<DiffRow> sideBySideRows(const ModuleComparison& comparison);

/// All of it, for people and programs.
GraphDifference differenceOf(const ModuleComparison& comparison);

// lineDiff(): two texts as a unified diff.

/// "" when equal; else lines that begin with ' ', '-' or '+', with "@@" headers and three lines of context.
std::string lineDiff(std::string_view before, std::string_view after);

}  // namespace kerf::workbench
