// A picture of what memory budgets cost: saved bytes and operations computed again, each over the budget.
#pragma once

#include <string>
#include <vector>

#include "app/workbench/protocol/partition.h"

namespace kerf::cli {

/// SVG of two plots above each other, with the budget below both. `title` is the graph's name; `points` are in
/// ascending order of their budgets.
std::string paretoPlot(const std::vector<workbench::PartitionDoc>& points, const std::string& title);

/// "6.9 kB", "1.25 M": three digits and a decimal prefix.
std::string shortNumber(double number, const std::string& unit = "");

}  // namespace kerf::cli
