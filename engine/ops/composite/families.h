// Composite ops: programs over other rows. One function per family, each in a file of this folder.
#pragma once

#include "engine/ops/core/op_row.h"

namespace kerf::inline ops {

OpRows secondNameOps();
OpRows contractionOps();
OpRows functionOps();
OpRows elementMoveOps();
OpRows layerOps();
OpRows compositeLossOps();
OpRows numberFormOps();
OpRows primOps();
OpRows spreadOps();
OpRows statisticOps();
OpRows reshapeOps();

}  // namespace kerf::inline ops
