#include "engine/codegen_cuda/kernel_source.h"

#include <algorithm>
#include <cctype>

#include "engine/codegen_cuda/kernel_writer.h"
#include "engine/codegen_cuda/scalar_text.h"

namespace kerf::inline codegen_cuda {

std::string cudaName(std::string_view kernelName) {
  std::string name(kernelName.starts_with("cpp_") ? kernelName.substr(4) : kernelName);
  std::ranges::replace_if(name, [](unsigned char c) { return std::isalnum(c) == 0 && c != '_'; }, '_');
  return "cuda_" + name;
}

std::string CudaKernel::text() const { return source.substr(std::min(source.size(), preamble().size())); }

Result<CudaKernel> generateKernel(const LoopKernel& kernel, const std::vector<std::string>& nodes,
                                  const std::vector<std::string>& origins, KernelGuard guard, KernelTarget target) {
  for (const LoopBuffer& buffer : kernel.buffers)
    if (memoryType(buffer.dtype).empty())
      return fail(ErrorCode::UnsupportedOp, "kernel {}: {} has no CUDA type", kernel.name,
                  dtypeInfo(buffer.dtype).shortCode);
  const auto isCarried = [](const Expr& e) { return e.op == ExprOp::Carry; };
  if (kernel.writesAtPlaces() || std::ranges::any_of(kernel.exprs, isCarried))
    return fail(ErrorCode::UnsupportedOp, "kernel {}: loops that run in order have no CUDA form", kernel.name);
  CudaKernel result;
  result.name = cudaName(kernel.name);
  KernelWriter writer(kernel, result.name, origins, target);
  result.source = std::string(preamble()) + writer.write(nodes, guard == KernelGuard::Indices);
  if (!writer.missing().empty())
    return fail(ErrorCode::UnsupportedOp, "kernel {}: {} has no CUDA form", kernel.name, writer.missing());
  result.shape = writer.shape();
  return result;
}

}  // namespace kerf::inline codegen_cuda
