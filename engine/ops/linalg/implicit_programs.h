// Names of torch.linalg that PyTorch has as programs over an op with more results (CompositeImplicitAutograd).
// eigvals, eigvalsh, svdvals and svd keep kernels of their own: without a gradient PyTorch computes no vectors, which may change
// the last digits; their programs compute them.
#pragma once

#include "engine/ops/core/composite.h"

namespace kerf::inline ops::linalg {

/// det, linalg_det.
Result<Value> determinantProgram(const BoundArguments& args, const OpRunner& run);
/// slogdet, linalg_slogdet.
Result<Value> logDeterminantProgram(const BoundArguments& args, const OpRunner& run);
/// inverse, linalg_inv.
Result<Value> inverseProgram(const BoundArguments& args, const OpRunner& run);
/// linalg_solve, linalg_solve_ex.
Result<Value> solveProgram(const BoundArguments& args, const OpRunner& run);
Result<Value> solveExProgram(const BoundArguments& args, const OpRunner& run);
/// lu_solve(B, LU, pivots).
Result<Value> oldLuSolveProgram(const BoundArguments& args, const OpRunner& run);
/// linalg_lu_factor, _lu_with_info.
Result<Value> luFactorProgram(const BoundArguments& args, const OpRunner& run);
Result<Value> luWithInfoProgram(const BoundArguments& args, const OpRunner& run);
/// linalg_cholesky.
Result<Value> choleskyProgram(const BoundArguments& args, const OpRunner& run);
/// linalg_ldl_factor.
Result<Value> ldlFactorProgram(const BoundArguments& args, const OpRunner& run);
/// linalg_eigh, linalg_eigvalsh, linalg_eigvals.
Result<Value> eighProgram(const BoundArguments& args, const OpRunner& run);
Result<Value> eigvalshProgram(const BoundArguments& args, const OpRunner& run);
Result<Value> eigvalsProgram(const BoundArguments& args, const OpRunner& run);
/// linalg_svd, linalg_svdvals, svd.
Result<Value> svdProgram(const BoundArguments& args, const OpRunner& run);
Result<Value> svdvalsProgram(const BoundArguments& args, const OpRunner& run);
Result<Value> oldSvdProgram(const BoundArguments& args, const OpRunner& run);
/// qr, orgqr, matrix_exp.
Result<Value> oldQrProgram(const BoundArguments& args, const OpRunner& run);
Result<Value> orgqrProgram(const BoundArguments& args, const OpRunner& run);
Result<Value> exponentialProgram(const BoundArguments& args, const OpRunner& run);

}  // namespace kerf::inline ops::linalg
