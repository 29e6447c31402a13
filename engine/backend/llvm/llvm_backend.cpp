#include "engine/backend/llvm/llvm_backend.h"

#include "engine/backend/kernels/host_kernels.h"

namespace kerf::inline backend {

namespace {

class LlvmBackend : public Backend {
 public:
  std::string_view name() const override { return "llvm"; }
  std::string_view description() const override { return "Compiles fused kernels with LLVM."; }
  Result<std::unique_ptr<LoweredModule>> lower(std::shared_ptr<const GraphModule> module, const BackendOptions& options,
                                               std::stop_token stop) const override {
    return lowerToHostKernels(std::move(module), options, std::move(stop));
  }
};

}  // namespace

const Backend& llvmBackend() {
  static const LlvmBackend backend;
  return backend;
}

}  // namespace kerf::inline backend
