// Layers, losses and optimizer steps. One function per family, each in a file of this folder.
#pragma once

#include "engine/ops/core/decomposition_rows.h"
#include "engine/ops/core/op_facts.h"
#include "engine/ops/core/op_row.h"

namespace kerf::inline ops {

OpRows adaptivePoolingOps();
OpRows attentionOps();
OpRows flashAttentionOps();
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
OpRows marginLossOps();
OpRows normalizationOps();
OpRows paddingOps();
OpRows poolingOps();
OpRows recurrentOps();
OpRows softmaxOps();
OpRows upsampleOps();
OpRows upsampleVecOps();

OpFactRows layerFacts();
OpFactRows layerDecompositions();
OpFactRows batchNormDecompositions();
OpFactRows lossDecompositions();
OpFactRows normDecompositions();
OpFactRows paddingDecompositions();
OpFactRows windowDecompositions();
TablePrograms layerTablePrograms();
TablePrograms windowTablePrograms();

}  // namespace kerf::inline ops
