// The table's families, folder by folder.
#include "engine/ops/composite/families.h"
#include "engine/ops/fft/families.h"
#include "engine/ops/index/families.h"
#include "engine/ops/linalg/families.h"
#include "engine/ops/nn/families.h"
#include "engine/ops/planted/families.h"
#include "engine/ops/pointwise/families.h"
#include "engine/ops/python/families.h"
#include "engine/ops/quantized/families.h"
#include "engine/ops/random/families.h"
#include "engine/ops/reduce/families.h"

namespace kerf::inline ops {

std::vector<OpRows> opFamilies() {
  return {activationOps(),
          specialFunctionOps(),
          pointwiseBinaryOps(),
          divisionOps(),
          castOps(),
          comparisonOps(),
          complexOps(),
          creationOps(),
          foreachOps(),
          inplaceOps(),
          overDoublesOps(),
          pointwiseTernaryOps(),
          pointwiseUnaryOps(),
          indexOps(),
          moveOps(),
          resizeOps(),
          scatterOps(),
          sliceScatterOps(),
          unfoldOps(),
          copyOps(),
          viewOps(),
          bitHashOps(),
          comparingReductionOps(),
          distanceOps(),
          extremumOps(),
          histogramOps(),
          primsReductionOps(),
          quantileOps(),
          reductionOps(),
          renormOps(),
          scanOps(),
          segmentReduceOps(),
          setOps(),
          sortOps(),
          uniqueOps(),
          adaptivePoolingOps(),
          attentionOps(),
          flashAttentionOps(),
          batchNormOps(),
          convolutionOps(),
          ctcLossOps(),
          embeddingBagOps(),
          embeddingBagBackwardOps(),
          fractionalPoolingOps(),
          fusedLayerOps(),
          fusedOptimizerOps(),
          gridSamplerOps(),
          lossOps(),
          marginLossOps(),
          normalizationOps(),
          paddingOps(),
          poolingOps(),
          recurrentOps(),
          softmaxOps(),
          upsampleOps(),
          upsampleVecOps(),
          linalgComposedOps(),
          linalgFactorOps(),
          linalgLuOps(),
          matmulOps(),
          outerProductOps(),
          linalgProductOps(),
          linalgQrOps(),
          linalgSolveOps(),
          linalgSpectralOps(),
          linalgTriangularOps(),
          trilinearOps(),
          fftFunctionOps(),
          signalOps(),
          fftOps(),
          windowOps(),
          randomChoiceOps(),
          inductorRandomOps(),
          randomRejectionOps(),
          randomOps(),
          quantizedDecomposedOps(),
          fakeQuantizeOps(),
          secondNameOps(),
          contractionOps(),
          elementMoveOps(),
          functionOps(),
          layerOps(),
          compositeLossOps(),
          numberFormOps(),
          spreadOps(),
          statisticOps(),
          reshapeOps(),
          pythonOps(),
          symbolOps(),
          plantedOps()};
}

std::vector<OpFactRows> opFactTables() {
  return {arithmeticLowerings(),  activationLowerings(),  creationLowerings(),
          pointwiseDerivatives(), indexDerivatives(),     pointwiseDecompositions(),
          reductionLowerings(),   reductionDerivatives(), matmulFacts(),
          layerFacts(),           layerDecompositions(),  plantedLowerings()};
}

std::vector<OpRows> complexFamilies() { return {complexPointwiseRows(), complexMoveRows(), complexReductionRows()}; }

}  // namespace kerf::inline ops
