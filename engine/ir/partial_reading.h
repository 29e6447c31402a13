// What the readers of damaged text share: placeholders for unknown names, and an output for a missing one.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "engine/ir/graph.h"
#include "engine/ir/parser.h"

namespace kerf::inline ir {

/// Names that may become placeholders: beyond it the text is no graph.
inline constexpr std::size_t mostInventedInputs = 4'000;

/// A placeholder behind the others for a name that nothing defines. TooLarge beyond mostInventedInputs.
Result<NodeId> inventPlaceholder(Graph& graph, std::string_view name, PartialReading& partial, int line);

/// Ends the graph with what nothing uses as its output, as `partial` then says; a graph that computes nothing stays
/// without one. `endLine`: the last line read. `freed` are values that the text drops itself, which were not returned:
/// they are left out, unless there is nothing else.
void returnUnused(Graph& graph, int endLine, PartialReading& partial, const std::set<std::string>& freed = {});

}  // namespace kerf::inline ir
