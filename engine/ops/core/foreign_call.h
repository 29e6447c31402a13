// Calls of known ops in a form that the table's schema does not have: of another release, or with what a library adds.
#pragma once

#include <optional>
#include <string>

#include "engine/ir/graph_module.h"
#include "engine/support/result.h"

namespace kerf::inline ops {

/// What the schema of the node's op has no place for ("takes at most 5 positional arguments, got 7", "has no argument
/// '_extra_args'"); nothing for calls of other nodes, of ops without a row, and for calls that fit.
std::optional<std::string> foreignCall(const Node& node);

/// ShapeMismatch, at the first of the graph's own nodes that foreignCall() says something of: passes would fold such a
/// call, but nothing can run it.
Result<void> checkSchemas(const GraphModule& module);

/// UnsupportedOp, at the first of the graph's own nodes that calls an operator without a kernel: what running the graph
/// would end with, before any value is made.
Result<void> checkKernels(const GraphModule& module);

}  // namespace kerf::inline ops
