#include "engine/ops/math_families.h"

namespace kerf {

std::vector<OpRows> mathFamilies() {
  return {complexOps(),
          fftOps(),
          fftFunctionOps(),
          linalgFactorOps(),
          linalgLuOps(),
          linalgQrOps(),
          linalgSolveOps(),
          linalgTriangularOps(),
          linalgSpectralOps(),
          linalgComposedOps(),
          linalgProductOps(),
          randomChoiceOps(),
          randomRejectionOps(),
          signalOps(),
          quantileOps(),
          flashAttentionOps(),
          quantizedDecomposedOps(),
          fakeQuantizeOps(),
          fusedOptimizerOps(),
          recurrentOps(),
          fusedLayerOps(),
          inductorRandomOps()};
}

}  // namespace kerf
