// Nvrtc: CUDA's run-time compiler, where this machine has it. It needs no GPU.
#pragma once

#include <string>

#include "engine/support/result.h"

namespace kerf::inline codegen_cuda {

struct CompiledSource {
  std::string ptx, cubin;
};

/// The compiler's version ("13.0"). Environment where there is no NVRTC.
Result<std::string> nvrtcVersion();
/// The file that was opened. Environment where there is no NVRTC.
Result<std::string> nvrtcPath();

/// Code for one architecture ("sm_90"). Products and sums are not contracted: rounding is that of the loop IR.
/// Environment where there is no NVRTC; CompileFailed with the compiler's message. Any thread.
Result<CompiledSource> compileSource(const std::string& source, const std::string& architecture);

}  // namespace kerf::inline codegen_cuda
