// Random tensors. One function per family, each in a file of this folder.
#pragma once

#include "engine/ops/core/op_row.h"

namespace kerf::inline ops {

OpRows randomChoiceOps();
OpRows inductorRandomOps();
OpRows randomRejectionOps();
OpRows randomOps();

}  // namespace kerf::inline ops
