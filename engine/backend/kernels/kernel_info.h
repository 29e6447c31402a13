// What users see of a schedule: every kernel with the nodes it computes, its loop IR and its code.
#pragma once

#include "engine/backend/backend.h"
#include "engine/codegen_llvm/kernel_compiler.h"
#include "engine/lower/lowered_graph.h"

namespace kerf::inline backend {

/// Under which names users know a node: its own, or those of the calls of `original` that were written out to it.
std::vector<std::string> knownNames(const Node& node, const Graph& original);

/// Steps in order, then the views that are no step of their own. `original` is the graph before calls were written out,
/// whose nodes users know.
std::vector<KernelInfo> describeKernels(const LoweredGraph& graph, const CompiledKernels& kernels,
                                        const Graph& original, bool keepArtifacts);

}  // namespace kerf::inline backend
