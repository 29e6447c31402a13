#include "engine/backend/kernels/host_kernels.h"

#include "engine/backend/kernels/kernel_module.h"

namespace kerf::inline backend {

namespace {

Result<KernelCodes> machineCode(const LoweredGraph& graph, const std::shared_ptr<const GraphModule>&,
                                const BackendOptions& options) {
  std::vector<const LoopKernel*> kernels;
  for (const LoweredStep& step : graph.steps)
    if (!step.isExtern) kernels.push_back(&step.kernel);
  const CodegenOptions codegen{options.optimizationLevel, options.keepArtifacts, options.cache};
  KERF_TRY(CompiledKernels compiled, compileKernels(kernels, codegen));
  return KernelCodes{std::move(compiled), {}, nullptr};
}

}  // namespace

Result<std::unique_ptr<LoweredModule>> lowerToHostKernels(std::shared_ptr<const GraphModule> module,
                                                          const BackendOptions& options, std::stop_token stop) {
  BackendOptions own = options;
  own.imagesChannelsLast = true;
  own.serialLoops = true;
  return lowerToKernels(std::move(module), own, machineCode, std::move(stop));
}

}  // namespace kerf::inline backend
