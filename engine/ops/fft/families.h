// Fourier transforms, windows and what is built on them. One function per family, each in a file of this folder.
#pragma once

#include "engine/ops/core/op_facts.h"
#include "engine/ops/core/op_row.h"

namespace kerf::inline ops {

OpRows fftFunctionOps();
OpRows signalOps();
OpRows fftOps();
OpRows windowOps();

OpFactRows fourierDerivatives();

}  // namespace kerf::inline ops
