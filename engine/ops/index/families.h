// Views, copies and moves of elements, reading and writing by index. One function per family, each in a file of this
// folder.
#pragma once

#include "engine/ops/core/decomposition_rows.h"
#include "engine/ops/core/op_facts.h"
#include "engine/ops/core/op_row.h"

namespace kerf::inline ops {

OpRows embeddingOps();
OpRows indexOps();
OpRows moveOps();
OpRows resizeOps();
OpRows scatterOps();
OpRows sliceScatterOps();
OpRows sliceWriteOps();
OpRows unfoldOps();
OpRows copyOps();
OpRows viewOps();

// Rows that stand in for those of the same schema when an argument is complex.
OpRows complexMoveRows();

OpFactRows moveLowerings();
OpFactRows indexLowerings();
OpFactRows scatterLowerings();
OpFactRows indexPutLowerings();
OpFactRows embeddingLowerings();
OpFactRows writeLowerings();
OpFactRows partLowerings();
OpFactRows flatWriteLowerings();
OpFactRows viewDerivatives();
OpFactRows moveDerivatives();
OpFactRows indexDerivatives();
OpFactRows scatterDerivatives();
OpFactRows viewDecompositions();
OpFactRows scatterDecompositions();
TablePrograms viewTablePrograms();
TablePrograms scatterTablePrograms();

}  // namespace kerf::inline ops
