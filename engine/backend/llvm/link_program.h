// linkProgram: joins a lowered graph with its machine code into what the runtime executes.
#pragma once

#include "engine/codegen_llvm/kernel_compiler.h"
#include "engine/lower/lowered_graph.h"
#include "engine/runtime/program.h"

namespace kerf::inline backend {

/// `kernels` has one entry per generated step of `graph`, in order.
Result<std::shared_ptr<const Program>> linkProgram(const LoweredGraph& graph, const CompiledKernels& kernels,
                                                   std::shared_ptr<const GraphModule> module);

}  // namespace kerf::inline backend
