// Reductions, scans, sorting and sets. One function per family, each in a file of this folder.
#pragma once

#include "engine/ops/core/decomposition_rows.h"
#include "engine/ops/core/op_facts.h"
#include "engine/ops/core/op_row.h"

namespace kerf::inline ops {

OpRows bitHashOps();
OpRows comparingReductionOps();
OpRows distanceOps();
OpRows extremumOps();
OpRows histogramOps();
OpRows normOps();
OpRows primsReductionOps();
OpRows quantileOps();
OpRows reductionOps();
OpRows renormOps();
OpRows scanOps();
OpRows segmentReduceOps();
OpRows searchOps();
OpRows setOps();
OpRows sortOps();
OpRows uniqueOps();

OpFactRows reductionLowerings();
OpFactRows scanLowerings();
OpFactRows searchLowerings();
OpFactRows reductionDerivatives();
OpFactRows extremumDerivatives();
OpFactRows scanDerivatives();
OpFactRows distanceDerivatives();
OpFactRows countingDerivatives();

// Rows that stand in for those of the same schema when an argument is complex.
OpRows complexReductionRows();
OpFactRows reductionDecompositions();
TablePrograms reductionTablePrograms();

}  // namespace kerf::inline ops
