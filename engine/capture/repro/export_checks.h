// What of a graph may not be exported, found before anything is written, so that the message can name the node.
#pragma once

#include "engine/capture/audit/allowed_calls.h"
#include "engine/ir/graph_module.h"

namespace kerf::inline capture {

/// BadInput naming the first node that calls what no table has, or mentions it as an argument; also in nested graphs.
/// `used`, if given, gets the targets of `extra` that are called.
Result<void> checkCalls(const GraphModule& module, const ExtraCalls& extra, ExtraCalls* used = nullptr);

/// BadInput naming the first node that is called as what Python code of graphs is written with ("torch", "device").
Result<void> checkNames(const GraphModule& module);

/// The annotations that are not understood, as "x: __import__('os')"; nested graphs with their paths in front.
std::vector<std::string> unreadTypes(const GraphModule& module);
/// The module without them, and without descriptions that would not stay comments.
GraphModule withoutUnreadTexts(GraphModule module);

}  // namespace kerf::inline capture
