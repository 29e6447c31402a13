// OpRow: one line of an op family's table, and the list of all families. A new op is a new line in one of them.
#pragma once

#include <span>
#include <vector>

#include "engine/ops/op_registry.h"

namespace kerf {

struct PointwiseSpec;

struct OpRow {
  const char* schema;  ///< ATen schema text
  OpTrait traits = OpTrait::None;
  ShapeRule shape = nullptr;
  Kernel kernel = nullptr;
  const PointwiseSpec* pointwise = nullptr;  ///< element function of pointwise rows
  const char* base = nullptr;                ///< qualified name of the functional op that an in-place or _copy row runs
};

using OpRows = std::span<const OpRow>;

// One function per family, each in the file of the same name.
OpRows pointwiseUnaryOps();
OpRows pointwiseBinaryOps();
OpRows pointwiseTernaryOps();
OpRows activationOps();
OpRows comparisonOps();
OpRows castOps();
OpRows creationOps();
OpRows viewOps();
OpRows shapeOps();
OpRows reductionOps();
OpRows extremumOps();
OpRows scanOps();
OpRows softmaxOps();
OpRows indexOps();
OpRows scatterOps();
OpRows sliceScatterOps();
OpRows sortOps();
OpRows matmulOps();
OpRows convolutionOps();
OpRows normalizationOps();
OpRows batchNormOps();
OpRows attentionOps();
OpRows randomOps();
OpRows lossOps();
OpRows paddingOps();
OpRows upsampleOps();
OpRows setOps();
OpRows composedOps();
OpRows poolingOps();
OpRows inplaceOps();
OpRows copyOps();
OpRows pythonOps();

/// All of the above.
std::vector<OpRows> opFamilies();

}  // namespace kerf
