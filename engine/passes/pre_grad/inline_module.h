// Module inlining: calls of nested graphs become their nodes; modules that are known by their repr alone stay calls.
//
//     y = self.block(x, 2)          block: return a * b      →      y = x * 2
#pragma once

#include "engine/passes/pass.h"

namespace kerf::inline passes {

/// Graphs that higher-order ops run stay what they are. Off where one graph is called from many places and would grow:
/// `max_nodes`.
Pass inlineModulePass();

}  // namespace kerf::inline passes
