// generateKernel(): one loop kernel as CUDA C++.
//
//   before: for i0 < 4096: %0 = load x[i0]; %1 = exp %0; store y[i0] = %1
//   after:  extern "C" __global__ void cuda_fused_exp_0(const float* x, float* y) { for (…) { … expf(…) … } }
#pragma once

#include <string>
#include <vector>

#include "engine/codegen_cuda/kernel_shape.h"
#include "engine/support/result.h"

namespace kerf::inline codegen_cuda {

struct CudaKernel {
  std::string name;    ///< entry point: takes the buffers' addresses, then the parameters as 64-bit integers
  std::string source;  ///< whole: preamble() is on top
  KernelShape shape;
  std::string text() const;  ///< the source without the preamble, for people
};

/// Whether a kernel reads memory at places that data tell.
enum class KernelGuard : std::uint8_t {
  None,
  Indices,  ///< a last parameter is the address of a 64-bit word: the kernel does nothing where it is not 0
};

/// `nodes` are what the kernel computes, and `origins` the node of each expression (it may be shorter): comments name
/// the node that each group of lines belongs to.
/// UnsupportedOp for a type or an operation that has no CUDA form.
Result<CudaKernel> generateKernel(const LoopKernel& kernel, const std::vector<std::string>& nodes,
                                  const std::vector<std::string>& origins = {}, KernelGuard guard = KernelGuard::None,
                                  KernelTarget target = {});

/// "cpp_fused_add_0" → "cuda_fused_add_0", with letters, digits and underscores alone.
std::string cudaName(std::string_view kernelName);

}  // namespace kerf::inline codegen_cuda
