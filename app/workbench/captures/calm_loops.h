// Loops that end for the values that a program has, and not for those that are made up.
#pragma once

#include "app/workbench/captures/graph_source.h"

namespace kerf::workbench {

/// Where a while_loop of the graph does not end with the inputs that were made up, or ends without a finite number,
/// these are made gentler: floats smaller, square matrices with a heavy diagonal. The first that end well stay, and a
/// warning says so; where none do, all stays as it is. Tries the graph in child processes.
Result<void> calmLoops(RunnableGraph& graph, const Job& job);

}  // namespace kerf::workbench
