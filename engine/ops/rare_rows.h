// Families of ops that few graphs use; each function is in the file of its family, rareFamilies() lists them.
#pragma once

#include "engine/ops/op_row.h"

namespace kerf {

OpRows adaptivePoolingOps();
OpRows fractionalPoolingOps();
OpRows unfoldOps();
OpRows gridSamplerOps();
OpRows embeddingBagOps();
OpRows embeddingBagBackwardOps();
OpRows histogramOps();
OpRows distanceOps();
OpRows segmentReduceOps();
OpRows resizeOps();
OpRows rareComposedOps();
OpRows outerProductOps();
OpRows aliasOps();
OpRows windowOps();
OpRows primsReductionOps();
OpRows uniqueOps();
OpRows numberFormOps();
OpRows everydayCompositeOps();
OpRows upsampleVecOps();
OpRows lossRestOps();
OpRows specialFunctionOps();
OpRows foreachOps();
OpRows ctcLossOps();
OpRows compositeLossOps();
OpRows compositeTensorOps();

/// All of the above.
std::vector<OpRows> rareFamilies();

}  // namespace kerf
