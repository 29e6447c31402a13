// buildGraphDoc: everything that is shown of one graph, as plain text and indices.
#pragma once

#include "app/workbench/protocol/graphs.h"
#include "engine/ir/graph_module.h"

namespace kerf::workbench {

/// `sourceFile` is where nodes without a file of their own were written.
std::shared_ptr<GraphDoc> buildGraphDoc(const GraphModule& module, const std::string& title,
                                        const std::string& sourceFile);

}  // namespace kerf::workbench
