// Extern kernels that write straight into planned memory: matrix products on OpenBLAS, convolution on oneDNN.
#pragma once

#include "engine/runtime/program.h"

namespace kerf::inline runtime {

/// Runs an Mm, Addmm, Bmm or Convolution step on its op's positional arguments.
Result<void> runLibraryKernel(const Step& step, const ValueList& args, Tensor& out);
/// The step kind for an op ("aten.addmm.default" → Addmm); Call when there is no library kernel.
StepKind libraryStepKind(std::string_view target);

}  // namespace kerf::inline runtime
