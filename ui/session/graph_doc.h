// buildGraphDoc: everything that the window shows of one graph, as plain text and indices.
#pragma once

#include "engine/ir/graph_module.h"
#include "ui/session/documents.h"

namespace kerf::ui::inline session {

/// Safe on any thread. `sourceFile` is where nodes without a file of their own were written.
GraphDocPtr buildGraphDoc(const GraphModule& module, const QString& title, const QString& sourceFile = {});

}  // namespace kerf::ui::inline session
