// Element-wise ops, creation and conversion. One function per family, each in a file of this folder.
#pragma once

#include "engine/ops/core/decomposition_rows.h"
#include "engine/ops/core/op_facts.h"
#include "engine/ops/core/op_row.h"

namespace kerf::inline ops {

OpRows activationOps();
OpRows specialFunctionOps();
OpRows pointwiseBinaryOps();
OpRows divisionOps();
OpRows castOps();
OpRows comparisonOps();
OpRows complexOps();
OpRows creationOps();
OpRows foreachOps();
OpRows inplaceOps();
OpRows overDoublesOps();
OpRows pointwiseTernaryOps();
OpRows pointwiseUnaryOps();

OpFactRows arithmeticLowerings();
OpFactRows divisionLowerings();
OpFactRows activationLowerings();
OpFactRows creationLowerings();
OpFactRows pointwiseDerivatives();
OpFactRows functionDerivatives();
OpFactRows specialFunctionDerivatives();
OpFactRows activationDerivatives();
OpFactRows activationBackwardDerivatives();
OpFactRows complexDerivatives();
OpFactRows constantDerivatives();
OpFactRows pointwiseDecompositions();
OpFactRows activationBackwardDecompositions();
OpFactRows arithmeticDecompositions();
OpFactRows creationDecompositions();
OpFactRows rangeDecompositions();
TablePrograms pointwiseTablePrograms();
TablePrograms arithmeticTablePrograms();
TablePrograms creationTablePrograms();

// Rows that stand in for those of the same schema when an argument is complex.
OpRows complexPointwiseRows();

}  // namespace kerf::inline ops
