#include "engine/ops/rare_rows.h"

namespace kerf {

std::vector<OpRows> rareFamilies() {
  return {adaptivePoolingOps(),
          fractionalPoolingOps(),
          unfoldOps(),
          gridSamplerOps(),
          embeddingBagOps(),
          histogramOps(),
          embeddingBagBackwardOps(),
          distanceOps(),
          segmentReduceOps(),
          resizeOps(),
          rareComposedOps(),
          outerProductOps(),
          aliasOps(),
          windowOps(),
          primsReductionOps(),
          uniqueOps(),
          numberFormOps(),
          everydayCompositeOps(),
          upsampleVecOps(),
          lossRestOps(),
          specialFunctionOps(),
          foreachOps(),
          ctcLossOps(),
          compositeLossOps(),
          compositeTensorOps()};
}

}  // namespace kerf
