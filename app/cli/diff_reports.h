// What `kerf diff` prints of captures and of a node.
#pragma once

#include <string>

#include "app/cli/context.h"

namespace kerf::cli {

// What `kerf diff` says of two captures: compilation by compilation, graphs, guards, kernels and figures.

/// same, findings (kind, compile, graph, subject, text, before, after, because, more), compiles (before, after, frame, status_before, status_after, same, graphs, guards, kernels, figures), notes.
Json captureDifferenceJson(const CaptureDifference& difference);
/// `a` and `b` name the captures; `all`: every guard, kernel and figure.
std::string captureDifferenceText(const CaptureDifference& difference, const std::string& a, const std::string& b,
                                  bool all);

// What `kerf diff --follow` says: the life of a node, stage by stage, down to the line of the output code.

/// node, graph, compile_id, source, stages (graph, stage, nodes), kernels, notes.
/// `all`: every node of a stage, not the first ones.
std::string lifeText(const NodeLife& life, bool all);

}  // namespace kerf::cli
