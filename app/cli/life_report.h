// What `kerf diff --follow` says: the life of a node, stage by stage, down to the line of the output code.
#pragma once

#include <string>

#include "app/cli/context.h"

namespace kerf::cli {

/// node, graph, compile_id, source, stages (graph, stage, nodes), kernels, notes.
Json lifeJson(const NodeLife& life);
/// `all`: every node of a stage, not the first ones.
std::string lifeText(const NodeLife& life, bool all);

}  // namespace kerf::cli
