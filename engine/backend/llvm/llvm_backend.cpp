#include "engine/backend/llvm/llvm_backend.h"

#include "engine/backend/llvm/kernel_module.h"

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

class LlvmBackend : public Backend {
 public:
  std::string_view name() const override { return "llvm"; }
  std::string_view description() const override { return "Compiles fused kernels with LLVM."; }
  Result<std::unique_ptr<LoweredModule>> lower(std::shared_ptr<const GraphModule> module, const BackendOptions& options,
                                               std::stop_token stop) const override {
    BackendOptions own = options;
    own.imagesChannelsLast = true;
    own.serialLoops = true;
    return lowerToKernels(std::move(module), own, machineCode, std::move(stop));
  }
};

}  // namespace

const Backend& llvmBackend() {
  static const LlvmBackend backend;
  return backend;
}

}  // namespace kerf::inline backend
