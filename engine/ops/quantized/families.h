// Quantization and its training forms. One function per family, each in a file of this folder.
#pragma once

#include "engine/ops/core/op_facts.h"
#include "engine/ops/core/op_row.h"

namespace kerf::inline ops {

OpRows quantizedDecomposedOps();
OpRows fakeQuantizeOps();
OpRows onednnLinearOps();

OpFactRows quantizationDerivatives();
/// torchao.* and fbgemm.*: shapes only.
OpRows affineQuantizationOps();
OpRows fbgemmOps();

}  // namespace kerf::inline ops
