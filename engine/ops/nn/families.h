// Layers, losses and optimizer steps. One function per family, each in a file of this folder.
#pragma once

#include "engine/ops/core/decomposition_rows.h"
#include "engine/ops/core/op_facts.h"
#include "engine/ops/core/op_row.h"

namespace kerf::inline ops {

OpRows adaptivePoolingOps();
OpRows attentionOps();
OpRows attentionBackwardOps();
OpRows onlineSoftmaxOps();
OpRows flashAttentionOps();
OpRows transformerOps();
OpRows batchNormOps();
OpRows convolutionOps();
OpRows ctcLossOps();
OpRows embeddingBagOps();
OpRows embeddingBagBackwardOps();
OpRows fractionalPoolingOps();
OpRows fusedLayerOps();
OpRows fusedOptimizerOps();
OpRows gridSamplerOps();
OpRows lossOps();
OpRows classLossOps();
OpRows marginLossOps();
OpRows normalizationOps();
OpRows paddingOps();
OpRows poolingOps();
OpRows recurrentOps();
OpRows softmaxOps();
OpRows upsampleOps();
OpRows upsampleVecOps();

OpFactRows layerFacts();
OpFactRows attentionDerivatives();
OpFactRows batchNormDerivatives();
OpFactRows convolutionDerivatives();
OpFactRows embeddingBagDerivatives();
OpFactRows entropyDerivatives();
OpFactRows fusedLayerDerivatives();
OpFactRows lossDerivatives();
OpFactRows normalizationDerivatives();
OpFactRows poolingDerivatives();
OpFactRows samplingDerivatives();
OpFactRows softmaxDerivatives();
OpFactRows layerDecompositions();
OpFactRows attentionDecompositions();
OpFactRows batchNormDecompositions();
OpFactRows lossDecompositions();
OpFactRows normDecompositions();
OpFactRows paddingDecompositions();
OpFactRows samplingDecompositions();
OpFactRows windowDecompositions();
TablePrograms layerTablePrograms();
TablePrograms batchNormTablePrograms();
TablePrograms windowTablePrograms();

}  // namespace kerf::inline ops
