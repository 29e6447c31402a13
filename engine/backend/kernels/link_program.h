// linkProgram: joins a lowered graph with its machine code into what the runtime executes.
#pragma once

#include "engine/backend/kernels/symbolic_program.h"
#include "engine/codegen_llvm/kernel_compiler.h"
#include "engine/lower/lowered_graph.h"
#include "engine/runtime/program.h"

namespace kerf::inline backend {

struct LinkedProgram {
  ProgramLayout layout;  ///< at the example's sizes
  ProgramSizes sizes;    ///< in the scope of a ShapeEnv: what depends on symbols
};

/// `kernels` has one entry per generated step of `graph`, in order. `original` is the graph before calls were written
/// out: errors name its nodes.
Result<LinkedProgram> linkProgram(const LoweredGraph& graph, const CompiledKernels& kernels,
                                  std::shared_ptr<const GraphModule> module, const Graph& original);

}  // namespace kerf::inline backend
