// A graph as text: PyTorch's own forms, Graphviz, JSON.
#pragma once

#include "app/workbench/captures/graph_source.h"

namespace kerf::workbench {

/// The graph in one of RenderRequest's forms. BadUsage for another, and for a signature that the graph does not have.
Result<std::string> renderGraph(const CapturedGraph& graph, const std::string& format, const Job& job);

}  // namespace kerf::workbench
