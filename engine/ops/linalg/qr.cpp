// Householder QR and products with its orthogonal factor.
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

Result<Value> geqrfShape(const BoundArguments& args) {
  KERF_CHECK(wantMatrix(args, 0));
  const Tensor& self = args.tensor(0);
  const SymSizes batch = batchSizes(self);
  return Value(ValueList{columnMajorMeta(self.dtype(), batch, rowsOf(self), columnsOf(self)),
                         metaTensor(self.dtype(), joined(batch, {symMin(rowsOf(self), columnsOf(self))}))});
}

struct QrParts {
  Matrices a, tau;  ///< tau as [k, 1] matrices
};

Result<QrParts> qrFactors(const Tensor& self) {
  QrParts parts;
  KERF_TRY(parts.a, matricesOf(self, wideOf(self.dtype())));
  KERF_TRY(parts.tau, zeroMatrices(wideOf(self.dtype()), parts.a.batch, std::min(parts.a.rows, parts.a.columns), 1));
  KERF_CHECK(forWide(self.dtype(), [&]<class T>() {
    for (std::int64_t b = 0; b < parts.a.batch; ++b)
      lapack::qrFactor<T>(parts.a.m(), parts.a.n(), parts.a.at<T>(b), parts.tau.at<T>(b));
  }));
  return parts;
}

/// A vector per batch seen as a matrix of one column.
Tensor asColumns(const Tensor& vectors) {
  return vectors.viewAs(joined(vectors.symSizes(), {1}), joined(vectors.symStrides(), {1}), vectors.symOffset());
}

Result<Value> geqrfKernel(const BoundArguments& args) {
  KERF_TRY(const std::vector<Tensor> outs, makeOutputs(args));
  KERF_TRY(const QrParts parts, qrFactors(args.tensor(0)));
  KERF_CHECK(store(parts.a, outs[0]));
  KERF_CHECK(store(parts.tau, asColumns(outs[1])));
  return tensorList(outs);
}

// linalg_qr

Result<Value> qrShape(const BoundArguments& args) {
  KERF_CHECK(wantMatrix(args, 0));
  const Tensor& self = args.tensor(0);
  const std::string mode = args.text(1);
  if (mode != "reduced" && mode != "complete" && mode != "r")
    return mismatch(args, "mode must be 'reduced', 'complete' or 'r', got '{}'", mode);
  const SymInt m = rowsOf(self), n = columnsOf(self), k = mode == "complete" ? m : symMin(m, n);
  const SymSizes batch = batchSizes(self);
  if (!fitsLapack(m, k)) return fail(ErrorCode::TooLarge, "{}: Q is too large for LAPACK", args.opName());
  return Value(ValueList{mode == "r" ? emptyMeta(self.dtype()) : columnMajorMeta(self.dtype(), batch, m, k),
                         columnMajorMeta(self.dtype(), batch, k, n)});
}
Result<Value> qrKernel(const BoundArguments& args) {
  KERF_TRY(const std::vector<Tensor> outs, makeOutputs(args));
  KERF_TRY(const QrParts parts, qrFactors(args.tensor(0)));
  const Matrices& a = parts.a;
  const std::int64_t k = rowsOf(outs[1]), reflectors = parts.tau.rows;
  KERF_TRY(const Matrices r, zeroMatrices(a.data.dtype(), a.batch, k, a.columns));
  KERF_TRY(const Matrices q, zeroMatrices(a.data.dtype(), outs[0].dim() > 1 ? a.batch : 0, a.rows, k));
  KERF_CHECK(forWide(a.data.dtype(), [&]<class T>() {
    for (std::int64_t b = 0; b < a.batch; ++b) {
      for (std::int64_t j = 0; j < a.columns; ++j)
        for (std::int64_t i = 0; i <= j && i < k && i < a.rows; ++i) r.at<T>(b)[j * k + i] = a.at<T>(b)[j * a.rows + i];
      if (q.batch == 0) continue;
      std::copy_n(a.at<T>(b), a.rows * std::min(k, a.columns), q.at<T>(b));
      lapack::qrForm<T>(q.m(), q.n(), int(reflectors), q.at<T>(b), parts.tau.at<T>(b));
    }
  }));
  if (outs[0].dim() > 1) KERF_CHECK(store(q, outs[0]));
  KERF_CHECK(store(r, outs[1]));
  return tensorList(outs);
}

// Products with Q

Result<Value> householderShape(const BoundArguments& args) {
  KERF_CHECK(wantMatrix(args, 0));
  const Tensor &a = args.tensor(0), &tau = args.tensor(1);
  if (guardOrFalse(rowsOf(a) < columnsOf(a)))
    return mismatch(args, "the input must have at least as many rows as columns");
  if (tau.dim() != a.dim() - 1 || !checkEqual(batchSizes(tau, 1), batchSizes(a)) ||
      guardOrFalse(tau.symSizes().back() > columnsOf(a)))
    return mismatch(args, "tau of shape [{}] does not fit the input", fmt::join(tau.symSizes(), ", "));
  if (tau.dtype() != a.dtype()) return mismatch(args, "tau must have the dtype of the input");
  return Value(columnMajorMeta(a.dtype(), batchSizes(a), rowsOf(a), columnsOf(a)));
}
Result<Value> householderKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  KERF_TRY(const Matrices a, matricesOf(args.tensor(0), wideOf(out.dtype())));
  KERF_TRY(const Matrices tau, matricesOf(asColumns(args.tensor(1)), wideOf(out.dtype())));
  KERF_CHECK(forWide(out.dtype(), [&]<class T>() {
    for (std::int64_t b = 0; b < a.batch && a.columns > 0; ++b)
      lapack::qrForm<T>(a.m(), a.n(), tau.m(), a.at<T>(b), tau.at<T>(b));
  }));
  KERF_CHECK(store(a, out));
  return Value(std::move(out));
}

Result<Value> ormqrShape(const BoundArguments& args) {
  KERF_CHECK(wantMatrix(args, 0));
  KERF_CHECK(wantMatrix(args, 2));
  const Tensor &a = args.tensor(0), &tau = args.tensor(1), &c = args.tensor(2);
  const bool left = args.boolean(3);
  if (tau.dim() != a.dim() - 1 || !checkEqual(batchSizes(tau, 1), batchSizes(a)) ||
      !checkEqual(batchSizes(a), batchSizes(c)))
    return mismatch(args, "the batch dimensions of input, tau and other must be equal");
  const SymInt order = left ? rowsOf(c) : columnsOf(c);
  if (guardOrFalse(order != rowsOf(a)))
    return mismatch(args, "other.shape[{}] must be equal to input.shape[-2]", left ? -2 : -1);
  if (guardOrFalse(tau.symSizes().back() > order) || guardOrFalse(tau.symSizes().back() > columnsOf(a)))
    return mismatch(args, "tau has {} reflectors, more than fit", tau.symSizes().back());
  if (tau.dtype() != a.dtype() || c.dtype() != a.dtype()) return mismatch(args, "all tensors must have one dtype");
  return Value(columnMajorMeta(c.dtype(), batchSizes(c), rowsOf(c), columnsOf(c)));
}
Result<Value> ormqrKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  const DType wide = wideOf(out.dtype());
  KERF_TRY(const Matrices a, matricesOf(args.tensor(0), wide));
  KERF_TRY(const Matrices tau, matricesOf(asColumns(args.tensor(1)), wide));
  KERF_TRY(const Matrices c, matricesOf(args.tensor(2), wide));
  const char side = args.boolean(3) ? 'L' : 'R';
  const char trans = args.boolean(4) ? (isComplex(wide) ? 'C' : 'T') : 'N';
  KERF_CHECK(forWide(wide, [&]<class T>() {
    for (std::int64_t b = 0; b < c.batch && c.rows * c.columns > 0; ++b)
      lapack::qrApply<T>(side, trans, c.m(), c.n(), tau.m(), a.at<T>(b), tau.at<T>(b), c.at<T>(b));
  }));
  KERF_CHECK(store(c, out));
  return Value(std::move(out));
}

constexpr OpTrait none = OpTrait::None;
constexpr OpRow linalgQrRows[] = {
    {"aten::geqrf(Tensor self) -> (Tensor a, Tensor tau)", none, geqrfShape, geqrfKernel},
    {"aten::linalg_qr(Tensor A, str mode='reduced') -> (Tensor Q, Tensor R)", none, qrShape, qrKernel},
    compositeRow(oldQrProgram, "aten::qr(Tensor self, bool some=True) -> (Tensor Q, Tensor R)"),
    {"aten::linalg_householder_product(Tensor input, Tensor tau) -> Tensor", none, householderShape, householderKernel},
    compositeRow(orgqrProgram, "aten::orgqr(Tensor self, Tensor input2) -> Tensor"),
    {"aten::ormqr(Tensor self, Tensor input2, Tensor input3, bool left=True, bool transpose=False) -> Tensor", none,
     ormqrShape, ormqrKernel},
};

const OpRegistration linalgQrOps({.rows = linalgQrRows});

}  // namespace

}  // namespace kerf::inline ops
