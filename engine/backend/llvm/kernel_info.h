// What users see of a schedule: every kernel with the nodes it computes, its loop IR and its code.
#pragma once

#include "engine/backend/backend.h"
#include "engine/codegen_llvm/kernel_compiler.h"
#include "engine/lower/lowered_graph.h"

namespace kerf::inline backend {

/// Steps in order, then the views that are no step of their own.
std::vector<KernelInfo> describeKernels(const LoweredGraph& graph, const CompiledKernels& kernels, bool keepArtifacts);

}  // namespace kerf::inline backend
