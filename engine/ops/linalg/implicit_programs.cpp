#include "engine/ops/linalg/implicit_programs.h"

namespace kerf::inline ops::linalg {
namespace {

using Args = const BoundArguments&;
using Run = const OpRunner&;

/// Results `kept` of a call; a single one as it is.
Result<Value> resultsOf(Run run, OpId op, const ValueList& args, std::initializer_list<std::size_t> kept,
                        const KeywordValues& kwargs = {}) {
  KERF_TRY(const Value all, run.value(op, args, kwargs));
  ValueList results;
  for (const std::size_t k : kept) results.push_back(all.list()[k]);
  return results.size() == 1 ? results[0] : Value(std::move(results));
}

/// As resultsOf; result `info` tells of LAPACK's errors first.
Result<Value> checkedResults(Args args, Run run, OpId op, const ValueList& values, std::size_t info, const char* api,
                             std::initializer_list<std::size_t> kept, const KeywordValues& kwargs = {}) {
  KERF_TRY(const Value all, run.value(op, values, kwargs));
  const bool isMatrix = args.tensor(0).dim() == 2;
  KERF_CHECK(run.value("aten._linalg_check_errors.default"_op, {all.list()[info], std::string(api)},
                       {{"is_matrix", Value(isMatrix)}}));
  ValueList results;
  for (const std::size_t k : kept) results.push_back(all.list()[k]);
  return results.size() == 1 ? results[0] : Value(std::move(results));
}

const Value yes(true), no(false);

}  // namespace

Result<Value> determinantProgram(Args args, Run run) {
  return resultsOf(run, "aten._linalg_det.default"_op, {args.values[0]}, {0});
}
Result<Value> logDeterminantProgram(Args args, Run run) {
  return resultsOf(run, "aten._linalg_slogdet.default"_op, {args.values[0]}, {0, 1});
}
Result<Value> inverseProgram(Args args, Run run) {
  return checkedResults(args, run, "aten.linalg_inv_ex.default"_op, {args.values[0]}, 1, "linalg.inv", {0});
}
Result<Value> solveProgram(Args args, Run run) {
  return checkedResults(args, run, "aten._linalg_solve_ex.default"_op, {args.values[0], args.values[1]}, 3,
                        "torch.linalg.solve", {0}, {{"left", args.values[2]}});
}
Result<Value> solveExProgram(Args args, Run run) {
  return resultsOf(run, "aten._linalg_solve_ex.default"_op, {args.values[0], args.values[1]}, {0, 3},
                   {{"left", args.values[2]}, {"check_errors", args.values[3]}});
}
Result<Value> oldLuSolveProgram(Args args, Run run) {
  return run.value("aten.linalg_lu_solve.default"_op, {args.values[1], args.values[2], args.values[0]});
}
Result<Value> luFactorProgram(Args args, Run run) {
  return checkedResults(args, run, "aten.linalg_lu_factor_ex.default"_op, {args.values[0]}, 2, "torch.linalg.lu_factor",
                        {0, 1}, {{"pivot", args.values[1]}});
}
Result<Value> luWithInfoProgram(Args args, Run run) {
  return run.value("aten.linalg_lu_factor_ex.default"_op, {args.values[0]}, {{"pivot", args.values[1]}});
}
Result<Value> choleskyProgram(Args args, Run run) {
  return checkedResults(args, run, "aten.linalg_cholesky_ex.default"_op, {args.values[0]}, 1, "linalg.cholesky", {0},
                        {{"upper", args.values[1]}});
}
Result<Value> ldlFactorProgram(Args args, Run run) {
  return checkedResults(args, run, "aten.linalg_ldl_factor_ex.default"_op, {args.values[0]}, 2,
                        "torch.linalg.ldl_factor", {0, 1}, {{"hermitian", args.values[1]}});
}
Result<Value> eighProgram(Args args, Run run) {
  return run.value("aten._linalg_eigh.default"_op, {args.values[0], args.values[1], yes});
}
/// With the vectors, which the gradient needs.
Result<Value> eigvalshProgram(Args args, Run run) {
  return resultsOf(run, "aten._linalg_eigh.default"_op, {args.values[0], args.values[1], yes}, {0});
}
Result<Value> eigvalsProgram(Args args, Run run) {
  return resultsOf(run, "aten.linalg_eig.default"_op, {args.values[0]}, {0});
}
Result<Value> svdProgram(Args args, Run run) {
  return run.value("aten._linalg_svd.default"_op, {args.values[0], args.values[1], yes}, {{"driver", args.values[2]}});
}
Result<Value> svdvalsProgram(Args args, Run run) {
  return resultsOf(run, "aten._linalg_svd.default"_op, {args.values[0], no, yes}, {1}, {{"driver", args.values[1]}});
}
/// svd(self, some, compute_uv) → (U, S, V); zeros for vectors that are not wanted.
Result<Value> oldSvdProgram(Args args, Run run) {
  const Value full(!args.boolean(1));
  KERF_TRY(const Value all, run.value("aten._linalg_svd.default"_op, {args.values[0], full, yes}));
  const bool isComplex = kerf::isComplex(args.tensor(0).dtype());
  KERF_TRY(Tensor v, run("aten.transpose.int"_op, {all.list()[2], std::int64_t{-2}, std::int64_t{-1}}));
  if (isComplex) {
    KERF_TRY(v, run("aten._conj.default"_op, {v}));
  }
  if (args.boolean(2)) return Value(ValueList{all.list()[0], all.list()[1], v});
  KERF_TRY(Tensor noU, run("aten.zeros_like.default"_op, {all.list()[0]}));
  KERF_TRY(Tensor noV, run("aten.zeros_like.default"_op, {v}));
  return Value(ValueList{noU, all.list()[1], noV});
}
Result<Value> oldQrProgram(Args args, Run run) {
  return run.value("aten.linalg_qr.default"_op,
                   {args.values[0], std::string(args.boolean(1) ? "reduced" : "complete")});
}
Result<Value> orgqrProgram(Args args, Run run) {
  return run.value("aten.linalg_householder_product.default"_op, args.values);
}
Result<Value> exponentialProgram(Args args, Run run) {
  return run.value("aten.linalg_matrix_exp.default"_op, args.values);
}

}  // namespace kerf::inline ops::linalg
