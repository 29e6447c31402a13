// Nested graphs: the bodies that higher-order ops and modules call, and how to find one.
#pragma once

#include <string>

#include "app/workbench/protocol/graphs.h"
#include "engine/ir/graph_module.h"

namespace kerf::workbench {

/// The graph that lies below `module` by the paths between the slashes ("body_graph_0/true_graph_0"); the module itself
/// where `path` is empty. NotFound with what there is.
Result<const GraphModule*> nestedGraph(const GraphModule& module, const std::string& path);

/// Fills NodeDoc::bodies: of get_attr and call_module nodes their own graph, of calls those that they are given.
void findBodies(GraphDoc& doc, const GraphModule& module);

}  // namespace kerf::workbench
