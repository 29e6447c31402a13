#include "engine/backend/cuda/cuda_backend.h"

#include <algorithm>
#include <chrono>
#include <future>

#include "engine/backend/cuda/cuda_device.h"
#include "engine/backend/cuda/devices.h"
#include "engine/backend/cuda/driver.h"
#include "engine/backend/kernels/kernel_module.h"
#include "engine/ops/core/op_registry.h"
#include "engine/support/log.h"

namespace kerf::inline backend {

namespace {

/// Nodes that may write into what they are given.
std::unordered_set<std::uint32_t> mutatingNodes(const Graph& graph) {
  std::unordered_set<std::uint32_t> result;
  for (const NodeId id : graph.order()) {
    const OpInfo* op = findOp(graph.node(id));
    const auto writes = [](const SchemaArgument& argument) { return argument.alias.find('!') != std::string::npos; };
    if (op == nullptr || std::ranges::any_of(op->schema.arguments, writes)) result.insert(id.index);
  }
  return result;
}

using Clock = std::chrono::steady_clock;

double milliseconds(Clock::duration time) { return std::chrono::duration<double, std::milli>(time).count(); }

Result<KernelCodes> cudaCode(const LoweredGraph& graph, const std::shared_ptr<const GraphModule>& module,
                             const BackendOptions& options) {
  const auto start = Clock::now();
  // Opens the thread's device while its kernels are compiled: each takes some tenths of a second.
  const auto opening = std::async(std::launch::async, [number = DeviceChoice::current()] {
    const DeviceChoice device(number);
    (void)CudaDriver::get();  // who needs it asks again, and is told why there is none
  });
  KERF_TRY(auto codes, compileCuda(graph, targetArchitecture(), options.cache, !options.keepArtifacts));
  const auto compiled = Clock::now();
  KernelCodes result;
  result.kernels.kernels.resize(codes.size());
  for (std::size_t c = 0; c < codes.size(); ++c) {
    const CudaStepCode& code = codes[c];
    result.kernels.objects += code.same == c;
    result.kernels.cachedObjects += code.cached;
    if (!options.keepArtifacts) continue;
    auto& texts = result.texts[code.name];
    texts.push_back({"cuda", code.kernel.text()});
    texts.push_back({"ptx", code.module->ptx});
    texts.push_back({"cubin", code.module->cubin});
  }
  opening.wait();
  const auto opened = Clock::now();
  const auto device = std::make_shared<CudaDevice>(std::move(codes), mutatingNodes(module->graph), options.cache);
  const auto warm = device->warmUp();
  if (!warm && warm.error().code != ErrorCode::Environment) return fail(Error(warm.error()));
  logAt(LogCategory::Compile, LogLevel::Debug,
        "CUDA: {} kernels compiled ({} cached) in {:.1f} ms; {:.1f} ms more until the device was open; loaded in "
        "{:.1f} ms",
        result.kernels.objects, result.kernels.cachedObjects, milliseconds(compiled - start),
        milliseconds(opened - compiled), milliseconds(Clock::now() - opened));
  result.device = device;
  return result;
}

class CudaBackend : public Backend {
 public:
  std::string_view name() const override { return "cuda"; }
  std::string_view description() const override { return "Compiles fused kernels with NVRTC and runs them on a GPU."; }
  bool isDevice() const override { return true; }
  Result<void> canRun() const override { return CudaDriver::installed(); }
  Result<std::unique_ptr<LoweredModule>> lower(std::shared_ptr<const GraphModule> module, const BackendOptions& options,
                                               std::stop_token stop) const override {
    return lowerToKernels(std::move(module), options, cudaCode, std::move(stop));
  }
};

}  // namespace

const Backend& cudaBackend() {
  static const CudaBackend backend;
  return backend;
}

}  // namespace kerf::inline backend
