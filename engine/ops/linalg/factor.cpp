// Factorizations: Cholesky, LU, L D L^T and QR, with the strides and phase conventions of LAPACK as PyTorch shows them.
#include "engine/ops/core/op_registration.h"
#include "engine/ops/core/strides.h"
#include "engine/ops/linalg/implicit_programs.h"
#include "engine/ops/linalg/support.h"
#include "engine/tensor/copy.h"

namespace kerf::inline ops {
namespace {

using namespace linalg;

Result<void> writeInts(const std::vector<int>& values, const Tensor& out) {
  for (std::size_t i = 0; i < values.size(); ++i) out.data<std::int32_t>()[i] = values[i];
  return {};
}

/// Sets what lies outside of the wanted triangle of every matrix to zero.
template <class T>
void keepTriangle(T* a, std::int64_t rows, std::int64_t columns, bool upper) {
  for (std::int64_t j = 0; j < columns; ++j)
    for (std::int64_t i = 0; i < rows; ++i)
      if (upper ? i > j : i < j) a[j * rows + i] = T(0);
}

// Cholesky

std::unexpected<Error> notPositive(const SymSizes& batch, std::int64_t b, int minor, std::string_view op) {
  return fail(ErrorCode::RuntimeFailed,
              "{}: {}The factorization could not be completed because the input is not positive-definite (the leading "
              "minor of order {} is not positive-definite).",
              op, batchPrefix(batch, b), minor);
}

struct CholeskyParts {
  Matrices factor;
  std::vector<int> info;
};

Result<CholeskyParts> choleskyFactors(const Tensor& self, bool upper) {
  CholeskyParts parts;
  KERF_TRY(parts.factor, matricesOf(self, wideOf(self.dtype())));
  KERF_CHECK(forWide(self.dtype(), [&]<class T>() {
    for (std::int64_t b = 0; b < parts.factor.batch; ++b) {
      T* a = parts.factor.at<T>(b);
      parts.info.push_back(lapack::choleskyFactor<T>(upper ? 'U' : 'L', parts.factor.n(), a));
      keepTriangle(a, parts.factor.rows, parts.factor.columns, upper);
    }
  }));
  return parts;
}

Result<Value> choleskyExShape(const BoundArguments& args) {
  KERF_CHECK(wantMatrix(args, 0, true));
  const Tensor& self = args.tensor(0);
  const SymInt n = self.symSize(self.dim() - 1);
  return Value(
      ValueList{columnMajorMeta(self.dtype(), batchSizes(self), n, n), metaTensor(DType::Int32, batchSizes(self))});
}
Result<Value> choleskyExKernel(const BoundArguments& args) {
  KERF_TRY(const std::vector<Tensor> outs, makeOutputs(args));
  const Tensor& self = args.tensor(0);
  KERF_TRY(const CholeskyParts parts, choleskyFactors(self, args.boolean(1)));
  for (std::size_t b = 0; b < parts.info.size() && args.boolean(2); ++b)
    if (parts.info[b] != 0) return notPositive(batchSizes(self), std::int64_t(b), parts.info[b], "linalg.cholesky_ex");
  KERF_CHECK(store(parts.factor, outs[0]));
  KERF_CHECK(writeInts(parts.info, outs[1]));
  return tensorList(outs);
}

Result<Value> squareShape(const BoundArguments& args) {
  KERF_CHECK(wantMatrix(args, 0, true));
  const Tensor& self = args.tensor(0);
  const SymInt n = self.symSize(self.dim() - 1);
  return Value(columnMajorMeta(self.dtype(), batchSizes(self), n, n));
}
Result<Value> choleskyKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  KERF_TRY(const CholeskyParts parts, choleskyFactors(args.tensor(0), args.boolean(1)));
  for (std::size_t b = 0; b < parts.info.size(); ++b)
    if (parts.info[b] != 0)
      return notPositive(batchSizes(out), std::int64_t(b), parts.info[b], args.op->schema.name.substr(6));
  KERF_CHECK(store(parts.factor, out));
  return Value(std::move(out));
}

Result<Value> choleskyInverseKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  KERF_TRY(const Matrices a, matricesOf(args.tensor(0), wideOf(out.dtype())));
  const bool upper = args.boolean(1);
  int info = 0;
  KERF_CHECK(forWide(out.dtype(), [&]<class T>() {
    for (std::int64_t b = 0; b < a.batch && info == 0; ++b) {
      T* x = a.at<T>(b);
      info = lapack::choleskyInvert<T>(upper ? 'U' : 'L', a.n(), x);
      for (std::int64_t j = 0; j < a.columns; ++j)
        for (std::int64_t i = j + 1; i < a.rows; ++i) {
          if (upper)
            x[j * a.rows + i] = conjugate(x[i * a.rows + j]);
          else
            x[i * a.rows + j] = conjugate(x[j * a.rows + i]);
        }
    }
  }));
  if (info != 0)
    return fail(ErrorCode::RuntimeFailed, "{}: the diagonal element {} is zero, the inverse could not be completed",
                args.opName(), info);
  KERF_CHECK(store(a, out));
  return Value(std::move(out));
}

Result<Value> choleskySolveShape(const BoundArguments& args) {
  KERF_CHECK(wantMatrix(args, 0));
  KERF_CHECK(wantMatrix(args, 1, true));
  const Tensor &b = args.tensor(0), &a = args.tensor(1);
  if (a.dtype() != b.dtype()) return mismatch(args, "both matrices must have one dtype");
  const SymInt n = a.symSize(a.dim() - 1);
  if (guardOrFalse(b.symSize(b.dim() - 2) != n))
    return mismatch(args,
                    "incompatible matrix sizes: each A matrix is {} by {} but each b "
                    "matrix has {} rows",
                    n, n, b.symSize(b.dim() - 2));
  KERF_TRY(const SymSizes batch, commonBatch(args, batchSizes(b), batchSizes(a)));
  return Value(columnMajorMeta(b.dtype(), batch, n, b.symSize(b.dim() - 1)));
}
Result<Value> choleskySolveKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  const Sizes batch = batchSizes(out);
  KERF_TRY(const Matrices b, matricesOf(expandBatch(args.tensor(0), batch), wideOf(out.dtype())));
  KERF_TRY(const Matrices a, matricesOf(expandBatch(args.tensor(1), batch), wideOf(out.dtype())));
  KERF_CHECK(forWide(out.dtype(), [&]<class T>() {
    for (std::int64_t k = 0; k < a.batch; ++k)
      lapack::choleskySolve<T>(args.boolean(2) ? 'U' : 'L', a.n(), b.n(), a.at<T>(k), b.at<T>(k));
  }));
  KERF_CHECK(store(b, out));
  return Value(std::move(out));
}

// L D L^T

Result<Value> ldlShape(const BoundArguments& args) {
  KERF_CHECK(wantMatrix(args, 0, true));
  const Tensor& self = args.tensor(0);
  const SymInt n = self.symSize(self.dim() - 1);
  const SymSizes batch = batchSizes(self);
  return Value(ValueList{columnMajorMeta(self.dtype(), batch, n, n), metaTensor(DType::Int32, joined(batch, {n})),
                         metaTensor(DType::Int32, batch)});
}
Result<Value> ldlKernel(const BoundArguments& args) {
  KERF_TRY(const std::vector<Tensor> outs, makeOutputs(args));
  const DType dtype = outs[0].dtype();
  KERF_TRY(const Matrices a, matricesOf(args.tensor(0), wideOf(dtype)));
  const bool check = args.boolean(2);
  for (std::int64_t b = 0; b < a.batch; ++b) {
    int info = 0;  // also of matrices without elements, which LAPACK refuses
    KERF_CHECK(forWide(dtype, [&]<class T>() {
      if (a.rows == 0) return;
      info = lapack::ldlFactor<T>(args.boolean(1), 'L', a.n(), a.at<T>(b), outs[1].data<std::int32_t>() + b * a.rows);
      keepTriangle(a.at<T>(b), a.rows, a.columns, false);
    }));
    if (check && info > 0)
      return fail(ErrorCode::RuntimeFailed, "{}: {}The diagonal element {} of D is zero", args.opName(),
                  batchPrefix(batchSizes(args.tensor(0)), b), info);
    outs[2].data<std::int32_t>()[b] = info;
  }
  KERF_CHECK(store(a, outs[0]));
  return tensorList(outs);
}

Result<Value> ldlSolveShape(const BoundArguments& args) {
  KERF_CHECK(wantMatrix(args, 0, true));
  KERF_CHECK(wantMatrix(args, 2));
  const Tensor &a = args.tensor(0), &b = args.tensor(2);
  const SymInt n = a.symSize(a.dim() - 1);
  if (guardOrFalse(b.symSize(b.dim() - 2) != n) || !checkEqual(args.tensor(1).symSizes(), joined(batchSizes(a), {n})))
    return mismatch(args, "the shapes of LD, pivots and B do not fit");
  KERF_TRY(const SymSizes batch, commonBatch(args, batchSizes(b), batchSizes(a)));
  return Value(columnMajorMeta(b.dtype(), batch, n, b.symSize(b.dim() - 1)));
}
Result<Value> ldlSolveKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  const Sizes batch = batchSizes(out);
  const Tensor& pivotTensor = args.tensor(1);
  const std::int64_t n = args.tensor(0).size(args.tensor(0).dim() - 1);
  const Tensor column =
      pivotTensor.viewAs(joined(pivotTensor.sizes(), {1}), joined(pivotTensor.strides(), {1}), pivotTensor.offset());
  KERF_TRY(const std::vector<int> pivots, pivotsOf(args, expandBatch(column, batch), n, true));
  KERF_TRY(const Matrices a, matricesOf(expandBatch(args.tensor(0), batch), wideOf(out.dtype())));
  KERF_TRY(const Matrices b, matricesOf(expandBatch(args.tensor(2), batch), wideOf(out.dtype())));
  for (std::size_t i = 0; i + 1 < pivots.size(); ++i)  // negative pivots come in equal pairs
    if (pivots[i] < 0 && (i + 1) % std::size_t(n) != 0 && pivots[i + 1] == pivots[i])
      ++i;
    else if (pivots[i] < 0)
      return mismatch(args, "negative pivots must come in pairs");
  if (!pivots.empty() && pivots.back() < 0 && (pivots.size() < 2 || pivots[pivots.size() - 2] != pivots.back()))
    return mismatch(args, "negative pivots must come in pairs");
  KERF_CHECK(forWide(out.dtype(), [&]<class T>() {
    for (std::int64_t k = 0; k < a.batch; ++k)
      lapack::ldlSolve<T>(args.boolean(3), 'L', a.n(), b.n(), a.at<T>(k), pivots.data() + k * n, b.at<T>(k));
  }));
  KERF_CHECK(store(b, out));
  return Value(std::move(out));
}

constexpr OpTrait none = OpTrait::None;
constexpr OpRow linalgFactorRows[] = {
    {"aten::linalg_cholesky_ex(Tensor self, *, bool upper=False, bool check_errors=False) -> (Tensor L, Tensor info)",
     none, choleskyExShape, choleskyExKernel},
    compositeRow(choleskyProgram, "aten::linalg_cholesky(Tensor self, *, bool upper=False) -> Tensor"),
    {"aten::cholesky(Tensor self, bool upper=False) -> Tensor", none, squareShape, choleskyKernel},
    {"aten::cholesky_inverse(Tensor self, bool upper=False) -> Tensor", none, squareShape, choleskyInverseKernel},
    {"aten::cholesky_solve(Tensor self, Tensor input2, bool upper=False) -> Tensor", none, choleskySolveShape,
     choleskySolveKernel},
    {"aten::_cholesky_solve_helper(Tensor self, Tensor A, bool upper) -> Tensor", none, choleskySolveShape,
     choleskySolveKernel},
    {"aten::linalg_ldl_factor_ex(Tensor self, *, bool hermitian=False, bool check_errors=False) -> (Tensor LD, Tensor "
     "pivots, Tensor info)",
     none, ldlShape, ldlKernel},
    compositeRow(ldlFactorProgram,
                 "aten::linalg_ldl_factor(Tensor self, *, bool hermitian=False) -> (Tensor LD, Tensor pivots)"),
    {"aten::linalg_ldl_solve(Tensor LD, Tensor pivots, Tensor B, *, bool hermitian=False) -> Tensor", none,
     ldlSolveShape, ldlSolveKernel},
};

const OpRegistration linalgFactorOps({.rows = linalgFactorRows});

}  // namespace

}  // namespace kerf::inline ops
