// The table's families, folder by folder.
#include "engine/ops/composite/families.h"
#include "engine/ops/core/decomposition_tables.h"
#include "engine/ops/distributed/families.h"
#include "engine/ops/fft/families.h"
#include "engine/ops/index/families.h"
#include "engine/ops/linalg/families.h"
#include "engine/ops/nn/families.h"
#include "engine/ops/nn/window_lowering.h"
#include "engine/ops/planted/families.h"
#include "engine/ops/pointwise/families.h"
#include "engine/ops/python/families.h"
#include "engine/ops/quantized/families.h"
#include "engine/ops/random/families.h"
#include "engine/ops/reduce/families.h"

namespace kerf::inline ops {

const std::vector<OpFolder>& opFolders() {
  static const std::vector<OpFolder> folders{
      {"pointwise",
       {activationOps(), specialFunctionOps(), pointwiseBinaryOps(), divisionOps(), castOps(), comparisonOps(),
        complexOps(), creationOps(), foreachOps(), inplaceOps(), overDoublesOps(), pointwiseTernaryOps(),
        pointwiseUnaryOps()}},
      {"index",
       {embeddingOps(), indexOps(), moveOps(), resizeOps(), scatterOps(), sliceScatterOps(), sliceWriteOps(),
        unfoldOps(), copyOps(), viewOps()}},
      {"reduce",
       {bitHashOps(), comparingReductionOps(), distanceOps(), extremumOps(), histogramOps(), normOps(),
        primsReductionOps(), quantileOps(), reductionOps(), renormOps(), scanOps(), segmentReduceOps(), searchOps(),
        setOps(), sortOps(), uniqueOps()}},
      {"nn",
       {adaptivePoolingOps(), attentionOps(), attentionBackwardOps(), flashAttentionOps(), transformerOps(),
        onlineSoftmaxOps(),
        batchNormOps(), convolutionOps(), ctcLossOps(), embeddingBagOps(),
        embeddingBagBackwardOps(), fractionalPoolingOps(), fusedLayerOps(), fusedOptimizerOps(),
        gridSamplerOps(), lossOps(), classLossOps(), marginLossOps(), normalizationOps(), paddingOps(), poolingOps(),
        recurrentOps(), softmaxOps(), upsampleOps(), upsampleVecOps()}},
      {"linalg",
       {linalgComposedOps(), linalgFactorOps(), linalgLuOps(), matmulOps(), outerProductOps(), linalgProductOps(),
        linalgQrOps(), linalgSolveOps(), linalgSpectralOps(), linalgTriangularOps(), pseudoInverseOps(),
        trilinearOps()}},
      {"fft",
       {fftFunctionOps(), signalOps(), fftOps(), windowOps()}},
      {"random",
       {randomChoiceOps(), inductorRandomOps(), randomRejectionOps(), randomOps(), gammaGradientOps()}},
      {"quantized",
       {quantizedDecomposedOps(), fakeQuantizeOps(), onednnLinearOps(), affineQuantizationOps(), fbgemmOps()}},
      {"distributed",
       {collectiveOps(), olderCollectiveOps(), processGroupOps(), fsdpOps()}},
      {"composite",
       {secondNameOps(), contractionOps(), elementMoveOps(), functionOps(), layerOps(), compositeLossOps(),
        numberFormOps(), primOps(), spreadOps(), statisticOps(), reshapeOps()}},
      {"python",
       {pythonOps(), symbolOps()}},
      {"planted",
       {plantedOps()}},
  };
  return folders;
}

std::vector<OpRows> opFamilies() {
  std::vector<OpRows> families;
  for (const OpFolder& folder : opFolders())
    families.insert(families.end(), folder.families.begin(), folder.families.end());
  return families;
}

const char* folderOf(const OpInfo& op) {
  for (const OpFolder& folder : opFolders())
    for (const OpRows& family : folder.families)
      if (op.row >= family.data() && op.row < family.data() + family.size()) return folder.name;
  return "";
}

std::vector<OpFactRows> opFactTables() {
  return {arithmeticLowerings(),  divisionLowerings(),    activationLowerings(),  creationLowerings(),
          moveLowerings(),
          indexLowerings(),       scatterLowerings(),     indexPutLowerings(),    inductorRandomLowerings(),
          embeddingLowerings(),   scanLowerings(),        writeLowerings(),       partLowerings(),
          flatWriteLowerings(),   searchLowerings(),
          pointwiseDerivatives(), functionDerivatives(), specialFunctionDerivatives(), activationDerivatives(),
          activationBackwardDerivatives(), complexDerivatives(), constantDerivatives(), viewDerivatives(),
          moveDerivatives(), indexDerivatives(), scatterDerivatives(), quantizationDerivatives(), numberDerivatives(),
          extremumDerivatives(), scanDerivatives(), distanceDerivatives(), countingDerivatives(),
          pointwiseDecompositions(),
          reductionLowerings(),   reductionDerivatives(), matmulFacts(),
          windowLowerings(),      averageLowerings(),     nearestLowerings(),     resampleLowerings(),
          layerFacts(),           layerDecompositions(),
          choleskyDerivatives(), determinantDerivatives(), leastSquaresDerivatives(), luDerivatives(),
          productDerivatives(), qrDerivatives(), reflectionDerivatives(), solveDerivatives(), spectralDerivatives(),
          svdDerivatives(), triangularDerivatives(), fourierDerivatives(), randomDerivatives(),
          attentionDerivatives(), batchNormDerivatives(), convolutionDerivatives(),
          embeddingBagDerivatives(), entropyDerivatives(), fusedLayerDerivatives(), lossDerivatives(),
          normalizationDerivatives(), poolingDerivatives(), samplingDerivatives(), softmaxDerivatives(),
          attentionDecompositions(), batchNormDecompositions(), lossDecompositions(), normDecompositions(),
          paddingDecompositions(), samplingDecompositions(), windowDecompositions(), activationBackwardDecompositions(),
          arithmeticDecompositions(), creationDecompositions(), rangeDecompositions(), viewDecompositions(),
          scatterDecompositions(), reductionDecompositions(), productDecompositions(), randomDecompositions(),
          plantedLowerings()};
}

std::vector<TablePrograms> tableProgramTables() {
  return {pointwiseTablePrograms(), arithmeticTablePrograms(), creationTablePrograms(), layerTablePrograms(),
          windowTablePrograms(),    viewTablePrograms(),       scatterTablePrograms(),  reductionTablePrograms(),
          productTablePrograms(),   randomTablePrograms(),     batchNormTablePrograms()};
}

std::vector<OpRows> complexFamilies() { return {complexPointwiseRows(), complexMoveRows(), complexReductionRows()}; }

}  // namespace kerf::inline ops
