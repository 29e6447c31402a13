// lowerToKernels(): a graph as fused kernels and library calls, the same for every processor; what makes machine code
// of the kernels is a parameter.
#pragma once

#include <functional>
#include <map>

#include "engine/backend/backend.h"
#include "engine/codegen_llvm/kernel_compiler.h"
#include "engine/lower/lowered_graph.h"
#include "engine/runtime/step_device.h"

namespace kerf::inline backend {

/// Code for the generated steps of a graph, in order.
struct KernelCodes {
  CompiledKernels kernels;                               ///< without an address where `device` runs them
  std::map<std::string, std::vector<KernelText>> texts;  ///< by kernel, beside LLVM's
  std::shared_ptr<StepDevice> device;                    ///< null: the steps run here
};
using MakeCode = std::function<Result<KernelCodes>(const LoweredGraph&, const std::shared_ptr<const GraphModule>&,
                                                   const BackendOptions&)>;

/// UnsupportedOp and BadInput as Backend::lower.
Result<std::unique_ptr<LoweredModule>> lowerToKernels(std::shared_ptr<const GraphModule> module,
                                                      const BackendOptions& options, MakeCode makeCode,
                                                      std::stop_token stop);

}  // namespace kerf::inline backend
