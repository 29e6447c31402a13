// Triangular systems and least squares.
#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/ops/core/op_registration.h"
#include "engine/ops/kernels/data_sizes.h"
#include "engine/ops/linalg/support.h"
#include "engine/tensor/copy.h"

namespace kerf::inline ops {
namespace {

using namespace linalg;

SymInt rowsOf(const Tensor& t) { return t.symSize(t.dim() - 2); }
SymInt columnsOf(const Tensor& t) { return t.symSize(t.dim() - 1); }

Tensor asColumns(const Tensor& vectors) {
  return vectors.viewAs(joined(vectors.symSizes(), {1}), joined(vectors.symStrides(), {1}), vectors.symOffset());
}

Result<SymSizes> triangularBatch(const BoundArguments& args, const Tensor& a, const Tensor& b, bool left) {
  if (a.dtype() != b.dtype()) return mismatch(args, "both matrices must have one dtype");
  const SymInt given = left ? rowsOf(b) : columnsOf(b);
  if (guardOrFalse(given != rowsOf(a)))
    return mismatch(args, "incompatible shapes [{}] and [{}]", fmt::join(a.symSizes(), ", "),
                    fmt::join(b.symSizes(), ", "));
  return commonBatch(args, batchSizes(a), batchSizes(b));
}

Result<void> solveTriangles(const Matrices& a, const Matrices& b, char side, char uplo, char trans, bool unit) {
  return forWide(a.data.dtype(), [&]<class T>() {
    for (std::int64_t k = 0; k < b.batch; ++k)
      lapack::triangularSolve<T>(side, uplo, trans, unit, b.m(), b.n(), a.at<T>(k), b.at<T>(k));
  });
}

Result<Value> solveTriangularShape(const BoundArguments& args) {
  KERF_CHECK(wantMatrix(args, 0, true));
  KERF_CHECK(wantMatrix(args, 1));
  const Tensor &a = args.tensor(0), &b = args.tensor(1);
  KERF_TRY(const SymSizes batch, triangularBatch(args, a, b, args.boolean(3)));
  return Value(columnMajorMeta(b.dtype(), batch, rowsOf(b), columnsOf(b)));
}
Result<Value> solveTriangularKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  const Sizes batch = batchSizes(out);
  KERF_TRY(const Matrices a, matricesOf(expandBatch(args.tensor(0), batch), wideOf(out.dtype())));
  KERF_TRY(const Matrices b, matricesOf(expandBatch(args.tensor(1), batch), wideOf(out.dtype())));
  KERF_CHECK(solveTriangles(a, b, args.boolean(3) ? 'L' : 'R', args.boolean(2) ? 'U' : 'L', 'N', args.boolean(4)));
  KERF_CHECK(store(b, out));
  return Value(std::move(out));
}

/// triangular_solve(b, A): solution and a copy of A, both broadcast.
Result<Value> oldTriangularShape(const BoundArguments& args) {
  KERF_CHECK(wantMatrix(args, 0));
  KERF_CHECK(wantMatrix(args, 1, true));
  const Tensor &b = args.tensor(0), &a = args.tensor(1);
  KERF_TRY(const SymSizes batch, triangularBatch(args, a, b, true));
  return Value(ValueList{columnMajorMeta(b.dtype(), batch, rowsOf(b), columnsOf(b)),
                         columnMajorMeta(a.dtype(), batch, rowsOf(a), rowsOf(a))});
}
Result<Value> oldTriangularKernel(const BoundArguments& args) {
  KERF_TRY(const std::vector<Tensor> outs, makeOutputs(args));
  const Sizes batch = batchSizes(outs[0]);
  KERF_TRY(const Matrices b, matricesOf(expandBatch(args.tensor(0), batch), wideOf(outs[0].dtype())));
  KERF_TRY(const Matrices a, matricesOf(expandBatch(args.tensor(1), batch), wideOf(outs[0].dtype())));
  KERF_CHECK(solveTriangles(a, b, 'L', args.boolean(2) ? 'U' : 'L', args.boolean(3) ? 'T' : 'N', args.boolean(4)));
  KERF_CHECK(store(b, outs[0]));
  KERF_CHECK(store(a, outs[1]));
  return tensorList(outs);
}

// Least squares

struct LeastSquaresPlan {
  lapack::LeastSquares driver = lapack::LeastSquares::QrPivoted;
  bool vector = false;
  Tensor b;
  SymSizes batch;
  SymInt m = 0, n = 0, rhs = 0;
  bool hasRank() const { return driver != lapack::LeastSquares::Qr; }
  bool hasValues() const { return driver == lapack::LeastSquares::Svd || driver == lapack::LeastSquares::SvdDivided; }
  bool hasResiduals() const { return guardOrFalse(m > n) && driver != lapack::LeastSquares::QrPivoted; }
};

Result<LeastSquaresPlan> leastSquaresPlan(const BoundArguments& args) {
  KERF_CHECK(wantMatrix(args, 0));
  const Tensor &a = args.tensor(0), &b = args.tensor(1);
  LeastSquaresPlan plan;
  static constexpr std::string_view names[] = {"gels", "gelsy", "gelss", "gelsd"};
  const std::string driver = args.none(3) ? "gelsy" : args.text(3);
  const auto found = std::ranges::find(names, driver);
  if (found == std::end(names))
    return mismatch(args, "argument 'driver' should be one of gels, gelsy, gelsd, gelss, got '{}'", driver);
  plan.driver = static_cast<lapack::LeastSquares>(found - std::begin(names));
  if (a.dtype() != b.dtype()) return mismatch(args, "both tensors must have one dtype");
  plan.vector = b.dim() == 1 ||
                (a.dim() - 1 == b.dim() && std::ranges::equal(batchSizes(a, 1), b.symSizes(),
                                                              [](SymInt x, SymInt y) { return guardOrFalse(x == y); }));
  if (b.dim() < 1 || (b.dim() < 2 && !plan.vector)) return mismatch(args, "argument 'b' has too few dimensions");
  plan.b = plan.vector ? asColumns(b) : b;
  plan.m = rowsOf(a), plan.n = columnsOf(a), plan.rhs = columnsOf(plan.b);
  if (guardOrFalse(rowsOf(plan.b) != plan.m)) return mismatch(args, "input.size(-2) should match other.size(-2)");
  KERF_TRY(plan.batch, commonBatch(args, batchSizes(a), batchSizes(plan.b)));
  return plan;
}

SymSizes residualSizes(const LeastSquaresPlan& plan) {
  if (!plan.hasResiduals()) return {0};
  return plan.vector ? plan.batch : joined(plan.batch, {plan.rhs});
}

/// Where the rank is found, there are no residuals unless it is full.
Result<SymSizes> residualSizesByRank(const BoundArguments& args, const LeastSquaresPlan& plan) {
  if (!plan.hasResiduals() || !plan.hasRank()) return residualSizes(plan);
  const SymSizes sizes = residualSizes(plan);
  if (sizes.size() != 1)  // [0] instead: not even the number of dimensions is known
    return fail(ErrorCode::UnsupportedOp, "{}: the shape depends on values", args.opName());
  KERF_TRY(const SymInt count, sizeFromData(args, sizes[0]));
  return SymSizes{count};
}

Value leastSquaresMetas(const BoundArguments& args, const LeastSquaresPlan& plan, const SymSizes& residuals) {
  const DType dtype = args.tensor(0).dtype();
  const SymInt tall = symMax(1, symMax(plan.m, plan.n));
  SymSizes sizes = joined(plan.batch, {plan.n, plan.rhs}),
           strides = contiguousStrides(joined(plan.batch, {tall, plan.rhs}));
  strides[strides.size() - 2] = 1;
  strides[strides.size() - 1] = tall;
  if (plan.vector) sizes.pop_back(), strides.pop_back();
  return Value(ValueList{metaTensor(dtype, sizes, strides), metaTensor(realOf(dtype), residuals),
                         plan.hasRank() ? metaTensor(DType::Int64, plan.batch) : emptyMeta(DType::Int64),
                         plan.hasValues() ? metaTensor(realOf(dtype), joined(plan.batch, {symMin(plan.m, plan.n)}))
                                          : emptyMeta(realOf(dtype))});
}

Result<Value> leastSquaresShape(const BoundArguments& args) {
  KERF_TRY(const LeastSquaresPlan plan, leastSquaresPlan(args));
  KERF_TRY(const SymSizes residuals, residualSizesByRank(args, plan));
  return leastSquaresMetas(args, plan, residuals);
}

double epsilonOf(DType dtype) {
  return realOf(dtype) == DType::Float64 ? std::numeric_limits<double>::epsilon()
                                         : double(std::numeric_limits<float>::epsilon());
}

/// Right-hand sides with room for n rows.
Result<Matrices> paddedRhs(const LeastSquaresPlan& plan, DType wide) {
  KERF_TRY(const Matrices b, matricesOf(expandBatch(plan.b, plan.batch), wide));
  if (plan.m >= plan.n) return b;
  KERF_TRY(const Matrices tall, zeroMatrices(wide, b.batch, plan.n, plan.rhs));
  KERF_CHECK(
      copyElements(b.data.viewAs({b.batch, b.columns, b.rows}, contiguousStrides(Sizes{b.batch, b.columns, b.rows}), 0),
                   tall.data.viewAs({b.batch, b.columns, b.rows}, {plan.n * plan.rhs, plan.n, 1}, 0)));
  return tall;
}

Result<Value> leastSquaresKernel(const BoundArguments& args) {
  KERF_TRY(const LeastSquaresPlan plan, leastSquaresPlan(args));
  std::vector<Tensor> outs;
  const Value metas = leastSquaresMetas(args, plan, residualSizes(plan));
  for (const Value& meta : metas.list()) {
    KERF_TRY(Tensor out, allocate(meta.tensor()));
    outs.push_back(std::move(out));
  }
  const DType dtype = args.tensor(0).dtype();
  const std::int64_t m = plan.m, n = plan.n, rhs = plan.rhs, k = std::min(m, n);
  KERF_TRY(const Matrices a, matricesOf(expandBatch(args.tensor(0), plan.batch), wideOf(dtype)));
  KERF_TRY(const Matrices b, paddedRhs(plan, wideOf(dtype)));
  if (!allFinite(a) || !allFinite(b))
    return fail(ErrorCode::RuntimeFailed, "{}: the inputs contain non-finite values", args.opName());
  const double rcond = args.numberIf(2).value_or(epsilonOf(dtype) * double(std::max(m, n)));
  std::vector<double> values(std::size_t(std::max<std::int64_t>(1, k)));
  bool full = true;
  KERF_TRY(Matrices residuals, zeroMatrices(DType::Float64, b.batch, rhs, 1));
  KERF_TRY(Matrices singular, zeroMatrices(DType::Float64, b.batch, k, 1));
  KERF_CHECK(forWide(dtype, [&]<class T>() {
    for (std::int64_t i = 0; i < b.batch && k > 0 && rhs > 0; ++i) {
      int rank = int(k);
      lapack::leastSquares<T>(plan.driver, a.m(), a.n(), b.n(), a.at<T>(i), b.at<T>(i), rcond, rank, values.data());
      if (plan.hasRank()) outs[2].data<std::int64_t>()[i] = rank;
      full &= rank == n;
      std::copy_n(values.begin(), plan.hasValues() ? k : 0, singular.at<double>(i));
      for (std::int64_t j = 0; j < rhs && plan.hasResiduals(); ++j)
        for (std::int64_t r = n; r < m; ++r) residuals.at<double>(i)[j] += std::norm(b.at<T>(i)[j * b.rows + r]);
    }
  }));
  const Tensor solution = plan.vector ? asColumns(outs[0]) : outs[0];
  Sizes sizes = solution.sizes(), from = contiguousStrides(joined(plan.batch, {b.columns, b.rows}));
  std::swap(from[from.size() - 1], from[from.size() - 2]);
  KERF_CHECK(copyElements(b.data.viewAs(sizes, from, 0), solution));
  if (plan.hasResiduals() && !full)
    outs[1] = *Tensor::zeros(realOf(dtype), {0});
  else if (plan.hasResiduals())
    KERF_CHECK(store(residuals, plan.vector ? asColumns(asColumns(outs[1])) : asColumns(outs[1])));
  if (plan.hasValues()) KERF_CHECK(store(singular, asColumns(outs[3])));
  return tensorList(outs);
}

constexpr OpTrait none = OpTrait::None;
constexpr OpRow linalgTriangularRows[] = {
    {"aten::linalg_solve_triangular(Tensor self, Tensor B, *, bool upper, bool left=True, bool unitriangular=False) -> "
     "Tensor",
     none, solveTriangularShape, solveTriangularKernel},
    {"aten::triangular_solve(Tensor self, Tensor A, bool upper=True, bool transpose=False, bool unitriangular=False) "
     "-> "
     "(Tensor solution, Tensor cloned_coefficient)",
     none, oldTriangularShape, oldTriangularKernel},
    {"aten::linalg_lstsq(Tensor self, Tensor b, float? rcond=None, *, str? driver=None) -> (Tensor solution, Tensor "
     "residuals, Tensor rank, Tensor singular_values)",
     OpTrait::DataDependent, leastSquaresShape, leastSquaresKernel},
};

const OpRegistration linalgTriangularOps({.rows = linalgTriangularRows});

}  // namespace

}  // namespace kerf::inline ops
