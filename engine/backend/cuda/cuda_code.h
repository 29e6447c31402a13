// CudaCode: the kernels of one graph as CUDA code; equal ones are made once, and kept in the object cache.
#pragma once

#include <filesystem>

#include "engine/backend/backend.h"
#include "engine/backend/cuda/cuda_modules.h"
#include "engine/lower/lowered_graph.h"

namespace kerf::inline backend {

struct CudaStepCode {
  std::string name;  ///< of the step: "cpp_fused_add_0"
  CudaKernel kernel;
  std::vector<bool> writes;                  ///< per buffer
  bool guarded = false;                      ///< KernelGuard::Indices
  std::shared_ptr<const CudaModule> module;  ///< other kernels may be in it
  bool cached = false;
  std::size_t same = 0;  ///< the first step whose code this one shares: itself, where it has its own
};

/// One per generated step, in order. Where `shares`, kernels of one structure have the code of the first of them; else
/// each has its own, with its own names, and a module of its own. Environment where there is no NVRTC, CompileFailed naming the kernel.
Result<std::vector<CudaStepCode>> compileCuda(const LoweredGraph& graph, const std::string& architecture,
                                              const std::filesystem::path& cache, bool shares);

/// The cubin of a source, out of the object cache where it is there.
Result<std::string> compiledCubin(const std::string& source, const std::string& architecture,
                                  const std::filesystem::path& cache);

/// What the device of this machine is ("sm_90"), else KERF_CUDA_ARCH, else sm_90.
std::string targetArchitecture();

}  // namespace kerf::inline backend
