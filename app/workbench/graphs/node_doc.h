// nodeDoc: what is shown of one node.
#pragma once

#include "app/workbench/protocol/graphs.h"
#include "engine/ir/graph_module.h"

namespace kerf::workbench {

/// All but the places of other nodes: inputs, users and the line of code.
NodeDoc nodeDoc(const Graph& graph, const Node& node, const std::string& sourceFile);

/// "f32[2, 3]", "Sym(s0)", "(f32[2], i64[])"; empty if unknown.
std::string shapeText(const ValueMeta& value);

}  // namespace kerf::workbench
