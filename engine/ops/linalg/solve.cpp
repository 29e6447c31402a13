// Linear systems: general, factored, triangular and least squares.
#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/ops/core/op_registration.h"
#include "engine/ops/core/strides.h"
#include "engine/ops/linalg/implicit_programs.h"
#include "engine/ops/linalg/support.h"
#include "engine/tensor/copy.h"

namespace kerf::inline ops {
namespace {

using namespace linalg;

SymInt rowsOf(const Tensor& t) { return t.symSize(t.dim() - 2); }
SymInt columnsOf(const Tensor& t) { return t.symSize(t.dim() - 1); }

Tensor transposed(const Tensor& a) {
  SymSizes sizes = a.symSizes(), strides = a.symStrides();
  std::swap(sizes[sizes.size() - 1], sizes[sizes.size() - 2]);
  std::swap(strides[strides.size() - 1], strides[strides.size() - 2]);
  return a.viewAs(sizes, strides, a.symOffset());
}

Tensor asColumns(const Tensor& vectors) {
  return vectors.viewAs(joined(vectors.symSizes(), {1}), joined(vectors.symStrides(), {1}), vectors.symOffset());
}

/// Whether b's sizes are those of A without the last dimension; where that depends on data they are not.
bool vectorSizesFit(const Tensor& a, const Tensor& b) {
  const SymSizes own = batchSizes(a, 1);
  return std::ranges::equal(own, b.symSizes(), [](SymInt x, SymInt y) { return guardOrFalse(x == y); });
}

/// b counts as a batch of vectors when it is one, or when its shape is that of A without the last dimension.
bool isVectorRhs(const Tensor& a, const Tensor& b) {
  return b.dim() == 1 || (a.dim() - 1 == b.dim() && vectorSizesFit(a, b));
}

void writeInts(const std::vector<int>& values, const Tensor& out) {
  for (std::size_t i = 0; i < values.size(); ++i) out.data<std::int32_t>()[i] = values[i];
}

// solve: result, LU, pivots, info

struct SolvePlan {
  bool vector = false, left = true;
  Tensor b;        ///< with a column dimension
  SymSizes batch;  ///< common
};

Result<SolvePlan> solvePlan(const BoundArguments& args) {
  KERF_CHECK(wantMatrix(args, 0, true));
  const Tensor &a = args.tensor(0), &b = args.tensor(1);
  if (a.dtype() != b.dtype()) return mismatch(args, "A and B must have one dtype");
  SolvePlan plan{isVectorRhs(a, b), args.boolean(args.position("left")), {}, {}};
  if (plan.vector && !plan.left) return mismatch(args, "vector right-hand sides need left=True");
  if (b.dim() < 1 || (b.dim() < 2 && !plan.vector)) return mismatch(args, "B must have at least 1 dimension");
  plan.b = plan.vector ? asColumns(b) : b;
  const SymInt n = rowsOf(a), given = plan.left ? rowsOf(plan.b) : columnsOf(plan.b);
  if (guardOrFalse(given != n))
    return mismatch(args, "incompatible shapes of A and B for the equation {} ([{}] and [{}])",
                    plan.left ? "AX = B" : "XA = B", fmt::join(a.symSizes(), ", "), fmt::join(b.symSizes(), ", "));
  if (!fitsLapack(rowsOf(plan.b), columnsOf(plan.b)))
    return fail(ErrorCode::TooLarge, "{}: argument 'B' is too large for LAPACK", args.opName());
  KERF_TRY(plan.batch, commonBatch(args, batchSizes(a), batchSizes(plan.b)));
  return plan;
}

Result<Value> solveShape(const BoundArguments& args) {
  KERF_TRY(const SolvePlan plan, solvePlan(args));
  const Tensor& a = args.tensor(0);
  const SymInt n = rowsOf(a);
  Tensor result;
  if (plan.vector && plan.batch.empty())
    result = metaTensor(a.dtype(), SymSizes{n});
  else if (plan.vector)  // the batch of vectors counts as one matrix where strides are concerned
    result = columnMajorMeta(a.dtype(), SymSizes(plan.batch.begin(), plan.batch.end() - 1), plan.batch.back(), n);
  else if (plan.left)
    result = columnMajorMeta(a.dtype(), plan.batch, rowsOf(plan.b), columnsOf(plan.b));
  else
    result = metaTensor(a.dtype(), joined(plan.batch, {rowsOf(plan.b), columnsOf(plan.b)}));
  return Value(ValueList{result, columnMajorMeta(a.dtype(), batchSizes(a), n, n),
                         metaTensor(DType::Int32, batchSizes(a, 1)), metaTensor(DType::Int32, batchSizes(a))});
}

std::unexpected<Error> singular(const SymSizes& batch, std::int64_t b) {
  return fail(ErrorCode::RuntimeFailed, "linalg_solve_ex: {}The solver failed because the input matrix is singular.",
              batchPrefix(batch, b));
}

struct Factored {
  Matrices lu;
  std::vector<int> pivots, info;
};

Result<Factored> factor(const Tensor& a) {
  Factored result;
  KERF_TRY(result.lu, matricesOf(a, wideOf(a.dtype())));
  result.pivots.resize(std::size_t(result.lu.batch * result.lu.rows));
  KERF_CHECK(forWide(a.dtype(), [&]<class T>() {
    for (std::int64_t k = 0; k < result.lu.batch; ++k)
      result.info.push_back(lapack::luFactor<T>(result.lu.m(), result.lu.n(), result.lu.at<T>(k),
                                                result.pivots.data() + k * result.lu.rows));
  }));
  return result;
}

/// Index into the batches of `own` for every batch of the broadcast sizes.
std::vector<std::int64_t> broadcastIndex(const Sizes& own, const Sizes& common) {
  std::int64_t count = 1;
  for (std::int64_t size : common) count *= size;
  const Sizes ownStrides = contiguousStrides(own);
  std::vector<std::int64_t> result;
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t rest = i, at = 0;
    for (std::size_t d = common.size(); d-- > 0; rest /= common[d]) {
      if (d + own.size() < common.size()) continue;
      const std::size_t k = d + own.size() - common.size();
      if (own[k] != 1) at += rest % common[d] * ownStrides[k];
    }
    result.push_back(at);
  }
  return result;
}

/// x of op(A) x = b for LU factors of A, over broadcast batches; b is overwritten.
Result<void> solveFactored(const Factored& f, const std::vector<std::int64_t>& which, char trans, const Matrices& b) {
  return forWide(f.lu.data.dtype(), [&]<class T>() {
    for (std::int64_t k = 0; k < b.batch && b.rows * b.columns > 0; ++k) {
      const std::int64_t from = which[std::size_t(k)];
      lapack::luSolve<T>(trans, b.m(), b.n(), f.lu.at<T>(from), f.pivots.data() + from * b.rows, b.at<T>(k));
    }
  });
}

Result<Value> solveKernel(const BoundArguments& args) {
  KERF_TRY(const SolvePlan plan, solvePlan(args));
  KERF_TRY(const std::vector<Tensor> outs, makeOutputs(args));
  const Tensor& a = args.tensor(0);
  KERF_TRY(const Factored f, factor(a));
  const bool check = args.boolean(args.position("check_errors"));
  for (std::size_t k = 0; k < f.info.size() && check; ++k)
    if (f.info[k] > 0) return singular(batchSizes(a), std::int64_t(k));
  const Tensor wanted = expandBatch(plan.b, plan.batch);
  KERF_TRY(const Matrices b, matricesOf(plan.left ? wanted : transposed(wanted), wideOf(a.dtype())));
  const char trans = plan.left ? 'N' : 'T';  // X A = B is A^T X^T = B^T
  KERF_CHECK(solveFactored(f, broadcastIndex(batchSizes(a), plan.batch), trans, b));
  const Tensor out = plan.vector ? asColumns(outs[0]) : plan.left ? outs[0] : transposed(outs[0]);
  KERF_CHECK(store(b, out));
  KERF_CHECK(store(f.lu, outs[1]));
  writeInts(f.pivots, outs[2]);
  writeInts(f.info, outs[3]);
  return tensorList(outs);
}

// lu_solve

Result<Value> luSolveShape(const BoundArguments& args) {
  KERF_CHECK(wantMatrix(args, 0, true));
  KERF_CHECK(wantMatrix(args, 2));
  const Tensor &lu = args.tensor(0), &pivots = args.tensor(1), &b = args.tensor(2);
  const bool left = args.boolean(3);
  if (!checkEqual(pivots.symSizes(), batchSizes(lu, 1))) return mismatch(args, "the pivots do not fit the factors");
  if (b.dtype() != lu.dtype()) return mismatch(args, "LU and B must have one dtype");
  if (guardOrFalse((left ? rowsOf(b) : columnsOf(b)) != rowsOf(lu)))
    return mismatch(args, "the shapes of LU and B do not fit");
  KERF_TRY(const SymSizes batch, commonBatch(args, batchSizes(lu), batchSizes(b)));
  if (left) return Value(columnMajorMeta(b.dtype(), batch, rowsOf(b), columnsOf(b)));
  return Value(metaTensor(b.dtype(), joined(batch, {rowsOf(b), columnsOf(b)})));
}
Result<Value> luSolveKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  const bool left = args.boolean(3), adjoint = args.boolean(4);
  Factored f;
  KERF_TRY(f.lu, matricesOf(args.tensor(0), wideOf(out.dtype())));
  KERF_TRY(f.pivots, pivotsOf(args, args.tensor(1), f.lu.rows, false));
  const Tensor wanted = expandBatch(args.tensor(2), batchSizes(out));
  KERF_TRY(const Matrices b, matricesOf(left ? wanted : transposed(wanted), wideOf(out.dtype())));
  const auto conjugateAll = [&] {  // X A^H = B is conj(A) X^T = B^T: solved with everything conjugated
    if (!left && adjoint && isComplex(out.dtype()))
      for (std::int64_t i = 0; i < b.data.numel(); ++i)
        b.data.data<Complex>()[i] = std::conj(b.data.data<Complex>()[i]);
  };
  conjugateAll();
  const char trans = left ? (adjoint ? 'C' : 'N') : (adjoint ? 'N' : 'T');
  KERF_CHECK(solveFactored(f, broadcastIndex(batchSizes(args.tensor(0)), batchSizes(out)), trans, b));
  conjugateAll();
  KERF_CHECK(store(b, left ? out : transposed(out)));
  return Value(std::move(out));
}

// inverse

Result<Value> inverseShape(const BoundArguments& args) {
  KERF_CHECK(wantMatrix(args, 0, true));
  const Tensor& a = args.tensor(0);
  const Tensor inverse = columnMajorMeta(a.dtype(), batchSizes(a), rowsOf(a), rowsOf(a));
  return Value(ValueList{inverse, metaTensor(DType::Int32, batchSizes(a))});
}
Result<Value> inverseKernel(const BoundArguments& args) {
  KERF_TRY(const std::vector<Tensor> outs, makeOutputs(args));
  const Tensor& out = outs[0];
  KERF_TRY(Factored f, factor(args.tensor(0)));
  for (std::size_t k = 0; k < f.info.size() && args.boolean(1); ++k)
    if (f.info[k] > 0)
      return fail(
          ErrorCode::RuntimeFailed,
          "{}: {}The diagonal element {} is zero, the inversion could not be completed because the input matrix "
          "is singular.",
          args.op->schema.name.substr(6), batchPrefix(batchSizes(out), std::int64_t(k)), f.info[k]);
  KERF_CHECK(forWide(out.dtype(), [&]<class T>() {
    for (std::int64_t k = 0; k < f.lu.batch && f.lu.rows > 0; ++k)
      if (f.info[std::size_t(k)] == 0) lapack::luInvert<T>(f.lu.n(), f.lu.at<T>(k), f.pivots.data() + k * f.lu.rows);
  }));
  KERF_CHECK(store(f.lu, out));
  writeInts(f.info, outs[1]);
  return tensorList(outs);
}

// _linalg_check_errors(info, api_name, is_matrix): fails where LAPACK's info says so

struct InfoMeaning {
  std::string_view function;  ///< part of the name of the function that reports
  std::string_view text;      ///< {} is the info
};
constexpr InfoMeaning infoMeanings[] = {
    {"inv",
     "The diagonal element {} is zero, the inversion could not be completed because the input matrix is "
     "singular."},
    {"solve", "The solver failed because the input matrix is singular."},
    {"cholesky",
     "The factorization could not be completed because the input is not positive-definite (the leading "
     "minor of order {} is not positive-definite)."},
    {"svd",
     "The algorithm failed to converge because the input matrix is ill-conditioned or has too many repeated "
     "singular values (error code: {})."},
    {"eig",
     "The algorithm failed to converge because the input matrix is ill-conditioned or has too many repeated "
     "eigenvalues (error code: {})."},
    {"lu_factor", "U[{0},{0}] is zero and using it on lu_solve would result in a division by zero."},
    {"", "LAPACK reports {}."}};

Result<Value> checkErrorsShape(const BoundArguments& args) {
  if (!isIntegral(args.tensor(0).dtype())) return mismatch(args, "info must hold integers");
  return Value();
}
Result<Value> checkErrors(const BoundArguments& args) {
  KERF_CHECK(checkErrorsShape(args));
  const Tensor& info = args.tensor(0);
  for (std::int64_t b = 0; b < info.numel(); ++b) {
    const std::int64_t code = info.itemAsInt(b);
    if (code == 0) continue;
    const std::string name = args.text(1),
                      prefix = batchPrefix(args.boolean(2) ? SymSizes{} : SymSizes{info.numel()}, b);
    if (code < 0) return fail(ErrorCode::RuntimeFailed, "{}: {}Argument {} has an illegal value.", name, prefix, -code);
    const auto& meaning =
        *std::ranges::find_if(infoMeanings, [&](const InfoMeaning& m) { return name.find(m.function) < name.size(); });
    return fail(ErrorCode::RuntimeFailed, "{}: {}{}", name, prefix, fmt::format(fmt::runtime(meaning.text), code));
  }
  return Value();
}

constexpr OpTrait none = OpTrait::None;
constexpr OpRow linalgSolveRows[] = {
    {"aten::_linalg_check_errors(Tensor info, str api_name, *, bool is_matrix) -> ()", OpTrait::Impure,
     checkErrorsShape, checkErrors},
    {"aten::_linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> (Tensor result, Tensor "
     "LU, Tensor pivots, Tensor info)",
     none, solveShape, solveKernel},
    compositeRow(solveExProgram,
                 "aten::linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> (Tensor "
                 "result, Tensor info)"),
    compositeRow(solveProgram, "aten::linalg_solve(Tensor A, Tensor B, *, bool left=True) -> Tensor"),
    {"aten::linalg_lu_solve(Tensor LU, Tensor pivots, Tensor B, *, bool left=True, bool adjoint=False) -> Tensor", none,
     luSolveShape, luSolveKernel},
    compositeRow(oldLuSolveProgram, "aten::lu_solve(Tensor self, Tensor LU_data, Tensor LU_pivots) -> Tensor"),
    {"aten::linalg_inv_ex(Tensor A, *, bool check_errors=False) -> (Tensor inverse, Tensor info)", none, inverseShape,
     inverseKernel},
    compositeRow(inverseProgram, "aten::linalg_inv(Tensor A) -> Tensor"),
    compositeRow(inverseProgram, "aten::inverse(Tensor self) -> Tensor"),
};

const OpRegistration linalgSolveOps({.rows = linalgSolveRows});

}  // namespace

}  // namespace kerf::inline ops
