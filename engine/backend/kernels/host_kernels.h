// lowerToHostKernels(): a graph as kernels in machine code for this processor.
#pragma once

#include "engine/backend/backend.h"

namespace kerf::inline backend {

/// LLVM compiles the fused kernels. UnsupportedOp and BadInput as Backend::lower.
Result<std::unique_ptr<LoweredModule>> lowerToHostKernels(std::shared_ptr<const GraphModule> module,
                                                          const BackendOptions& options, std::stop_token stop);

}  // namespace kerf::inline backend
