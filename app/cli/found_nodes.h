// kerf show GRAPH --where QUERY: the nodes of a graph that a query describes.
#pragma once

#include <string>

#include "app/cli/context.h"

namespace kerf::cli {

/// A table, or with --json an object. BadUsage for a query that cannot be read, and for one that asks for what only a
/// comparison, a difference or a person knows.
Result<std::string> foundNodes(Context& context, const GraphAddress& address, const std::string& where);

}  // namespace kerf::cli
