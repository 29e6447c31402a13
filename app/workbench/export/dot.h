// Graphviz: a graph as dot text, and drawn by the `dot` program in a child process.
#pragma once

#include <chrono>
#include <stop_token>
#include <string>

#include "engine/ir/graph_module.h"
#include "engine/support/result.h"

namespace kerf::workbench {

/// Nodes coloured by what they are; labels carry name, op and shape.
std::string dotText(const Graph& graph, const std::string& title);
/// `format` is "svg" or "png". Environment when Graphviz is missing, fails or is too slow.
Result<std::string> renderDot(const std::string& dot, const std::string& format, std::chrono::milliseconds timeout,
                              std::stop_token stop);

}  // namespace kerf::workbench
