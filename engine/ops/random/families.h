// Random tensors. One function per family, each in a file of this folder.
#pragma once

#include "engine/ops/core/decomposition_rows.h"
#include "engine/ops/core/op_row.h"

namespace kerf::inline ops {

OpRows randomChoiceOps();
OpRows inductorRandomOps();
OpFactRows inductorRandomLowerings();
OpRows randomRejectionOps();
OpRows randomOps();
OpRows gammaGradientOps();
OpFactRows randomDerivatives();
OpFactRows randomDecompositions();
TablePrograms randomTablePrograms();

}  // namespace kerf::inline ops
