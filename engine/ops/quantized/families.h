// Quantization and its training forms. One function per family, each in a file of this folder.
#pragma once

#include "engine/ops/core/op_row.h"

namespace kerf::inline ops {

OpRows quantizedDecomposedOps();
OpRows fakeQuantizeOps();

}  // namespace kerf::inline ops
