// Matrix products, factorizations and solvers. One function per family, each in a file of this folder.
#pragma once

#include "engine/ops/core/decomposition_rows.h"
#include "engine/ops/core/op_facts.h"
#include "engine/ops/core/op_row.h"

namespace kerf::inline ops {

OpRows linalgComposedOps();
OpRows linalgFactorOps();
OpRows linalgLuOps();
OpRows matmulOps();
OpRows outerProductOps();
OpRows linalgProductOps();
OpRows linalgQrOps();
OpRows linalgSolveOps();
OpRows linalgSpectralOps();
OpRows linalgTriangularOps();
OpRows pseudoInverseOps();
OpRows trilinearOps();

OpFactRows matmulFacts();
OpFactRows choleskyDerivatives();
OpFactRows determinantDerivatives();
OpFactRows leastSquaresDerivatives();
OpFactRows luDerivatives();
OpFactRows productDerivatives();
OpFactRows qrDerivatives();
OpFactRows reflectionDerivatives();
OpFactRows solveDerivatives();
OpFactRows spectralDerivatives();
OpFactRows svdDerivatives();
OpFactRows triangularDerivatives();
OpFactRows productDecompositions();
TablePrograms productTablePrograms();

}  // namespace kerf::inline ops
