// Families of mathematical ops beyond the core: complex numbers, FFT, linear algebra, random numbers, quantization,
// fused.
#pragma once

#include "engine/ops/op_row.h"

namespace kerf {

// One function per family, each in the file of the same name.
OpRows complexOps();
OpRows fftOps();
OpRows fftFunctionOps();
OpRows linalgFactorOps();
OpRows linalgLuOps();
OpRows linalgQrOps();
OpRows linalgSolveOps();
OpRows linalgTriangularOps();
OpRows linalgSpectralOps();
OpRows linalgComposedOps();
OpRows linalgProductOps();
OpRows randomChoiceOps();
OpRows randomRejectionOps();
OpRows signalOps();
OpRows quantileOps();
OpRows inductorRandomOps();
OpRows flashAttentionOps();
OpRows quantizedDecomposedOps();
OpRows fakeQuantizeOps();
OpRows fusedOptimizerOps();
OpRows recurrentOps();
OpRows fusedLayerOps();

/// All of the above.
std::vector<OpRows> mathFamilies();

}  // namespace kerf
