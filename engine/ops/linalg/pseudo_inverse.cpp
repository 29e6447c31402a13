// Pseudo-inverses and ranks.
#include <limits>

#include "engine/ops/core/composite.h"
#include "engine/ops/core/op_registration.h"
#include "engine/ops/core/strides.h"
#include "engine/ops/linalg/support.h"

namespace kerf::inline ops {
namespace {

using namespace linalg;

SymInt rowsOf(const Tensor& t) { return t.symSize(t.dim() - 2); }
SymInt columnsOf(const Tensor& t) { return t.symSize(t.dim() - 1); }

Result<Tensor> swapLast(const OpRunner& run, const Tensor& a) {
  return run("aten.transpose.int"_op, {a, std::int64_t{-2}, std::int64_t{-1}});
}
Result<Tensor> adjoint(const OpRunner& run, const Tensor& a) {
  KERF_TRY(const Tensor turned, swapLast(run, a));
  return isComplex(a.dtype()) ? run("aten._conj_physical.default"_op, {turned}) : Result<Tensor>(turned);
}

/// Matrix product over broadcast batches, as at::matmul for two matrices.
Result<Tensor> product(const OpRunner& run, const Tensor& a, const Tensor& b) {
  if (a.dim() == 2 && b.dim() == 2) return run("aten.mm.default"_op, {a, b});
  KERF_TRY(const SymSizes batch, broadcastSizes(batchSizes(a), batchSizes(b)));
  const SymInt count = symProduct(batch);
  const auto flat = [&](const Tensor& t) -> Result<Tensor> {
    KERF_TRY(const Tensor wide, run("aten.expand.default"_op, {t, intList(joined(batch, {rowsOf(t), columnsOf(t)}))}));
    return run("aten.reshape.default"_op, {wide, intList({count, rowsOf(t), columnsOf(t)})});
  };
  KERF_TRY(const Tensor left, flat(a));
  KERF_TRY(const Tensor right, flat(b));
  KERF_TRY(const Tensor out, run("aten.bmm.default"_op, {left, right}));
  return run("aten.view.default"_op, {out, intList(joined(batch, {rowsOf(a), columnsOf(b)}))});
}

// Singular values count above max(atol, rtol * largest)

double epsilonOf(DType dtype) {
  return realOf(dtype) == DType::Float64 ? std::numeric_limits<double>::epsilon()
                                         : double(std::numeric_limits<float>::epsilon());
}

/// The tolerance arguments as numbers or tensors: (self, atol?, rtol?, hermitian) or (self, rcond, hermitian).
struct Tolerances {
  Value absolute, relative;
  bool hermitian = false;
};
/// A multiple of a size: a symbolic float where the size is symbolic.
Result<Value> scaledSize(const OpRunner& run, double factor, SymInt size) {
  if (!size.isSymbolic()) return Value(factor * double(size.bits()));
  KERF_TRY(const Value real, run.value("torch.sym_float", {size}));
  return run.value("operator.mul", {factor, real});
}

Result<Tolerances> tolerancesOf(const BoundArguments& args, const OpRunner& run) {
  const auto at = [&](std::string_view name) -> Value {
    for (std::size_t i = 0; i < args.values.size(); ++i)
      if (args.op->schema.arguments[i].name == name) return args.values[i];
    return {};
  };
  Tolerances t{at("atol"), at("rtol"), args.boolean(args.position("hermitian"))};
  if (args.op->schema.arguments.size() > 1 && args.op->schema.arguments[1].name == "rcond") t.relative = args.values[1];
  if (args.op->schema.arguments.size() > 1 && args.op->schema.arguments[1].name == "tol") {
    t.absolute = args.values[1];
    t.relative = Value(0.0);
  }
  const bool absoluteGiven = t.absolute.isTensor() || (t.absolute.as<double>() && *t.absolute.as<double>() > 0);
  if (t.relative.isNone()) {
    const Tensor& a = args.tensor(0);
    t.relative = Value(0.0);
    if (!absoluteGiven) {
      KERF_TRY(t.relative, scaledSize(run, epsilonOf(a.dtype()), symMax(rowsOf(a), columnsOf(a))));
    }
  }
  if (t.absolute.isNone()) t.absolute = Value(0.0);
  return t;
}

/// Per batch and singular value: whether it counts. `values` are absolute values, [batch…, k].
Result<Tensor> significant(const OpRunner& run, const Tensor& values, const Tolerances& t) {
  KERF_TRY(const Tensor largest, run("aten.amax.default"_op, {values, intList({-1}), true}));
  const auto column = [&](const Value& v) -> Result<Value> {
    if (!v.isTensor()) return v;
    KERF_TRY(const Tensor wide, run("aten.unsqueeze.default"_op, {v, std::int64_t{-1}}));
    return Value(wide);
  };
  KERF_TRY(const Value relative, column(t.relative));
  KERF_TRY(const Value absolute, column(t.absolute));
  KERF_TRY(const Tensor scaled, run("aten.mul.Tensor"_op, {largest, relative}));
  KERF_TRY(const Tensor absoluteLike, run("aten.full_like.default"_op, {scaled, 0.0}));
  KERF_TRY(const Tensor floor, run("aten.add.Tensor"_op, {absoluteLike, absolute}));
  KERF_TRY(const Tensor limit, run("aten.maximum.default"_op, {scaled, floor}));
  return run("aten.gt.Tensor"_op, {values, limit});
}

/// 1 / value where its absolute value counts, else 0: [batch…, 1, k], to scale columns with.
Result<Tensor> inverses(const OpRunner& run, const Tensor& values, const Tensor& absolute, const Tolerances& t) {
  KERF_TRY(const Tensor counts, significant(run, absolute, t));
  KERF_TRY(const Tensor inverse, run("aten.reciprocal.default"_op, {values}));
  KERF_TRY(const Tensor zero, run("aten.zeros_like.default"_op, {values}));
  KERF_TRY(const Tensor kept, run("aten.where.self"_op, {counts, inverse, zero}));
  return run("aten.unsqueeze.default"_op, {kept, std::int64_t{-2}});
}

/// Through the eigenvalues of the lower triangle, as it may be all that a caller filled in.
Result<Value> hermitianPinv(const OpRunner& run, const Tensor& a, const Tolerances& t) {
  KERF_TRY(const Value eigh, run.value("aten._linalg_eigh.default"_op, {a}));
  const Tensor &values = eigh.list()[0].tensor(), &vectors = eigh.list()[1].tensor();
  KERF_TRY(const Tensor absolute, run("aten.abs.default"_op, {values}));
  KERF_TRY(const Tensor scale, inverses(run, values, absolute, t));
  KERF_TRY(const Tensor left, run("aten.mul.Tensor"_op, {vectors, scale}));
  KERF_TRY(const Tensor right, adjoint(run, vectors));
  KERF_TRY(Tensor result, product(run, left, right));
  return Value(std::move(result));
}

Result<Value> pinv(const BoundArguments& args, const OpRunner& run) {
  KERF_CHECK(wantMatrix(args, 0));
  const Tensor& a = args.tensor(0);
  KERF_TRY(const Tolerances t, tolerancesOf(args, run));
  if (guardOrFalse(a.symNumel() == 0)) {
    SymSizes sizes = a.symSizes();
    std::swap(sizes[sizes.size() - 1], sizes[sizes.size() - 2]);
    KERF_TRY(Tensor empty, run("aten.zeros.default"_op, {intList(sizes)}, {{"dtype", a.dtype()}}));
    return Value(std::move(empty));
  }
  if (t.hermitian) return hermitianPinv(run, a, t);
  KERF_TRY(const Value svd, run.value("aten._linalg_svd.default"_op, {a, false, true}));
  const Tensor &u = svd.list()[0].tensor(), &s = svd.list()[1].tensor(), &vh = svd.list()[2].tensor();
  KERF_TRY(const Tensor scale, inverses(run, s, s, t));
  KERF_TRY(const Tensor v, adjoint(run, vh));
  KERF_TRY(const Tensor left, run("aten.mul.Tensor"_op, {v, scale}));
  KERF_TRY(const Tensor right, adjoint(run, u));
  KERF_TRY(Tensor result, product(run, left, right));
  return Value(std::move(result));
}

/// A tolerance as a tensor.
Result<Value> asTensor(const OpRunner& run, const Value& tolerance) {
  if (tolerance.isTensor()) return tolerance;
  KERF_TRY(const Tensor zero, run("aten.zeros.default"_op, {intList({})}, {{"dtype", DType::Float64}}));
  return run.value("aten.add.Tensor"_op, {zero, tolerance});
}
/// The other forms, by the one that has a gradient.
Result<Value> pinvForm(const BoundArguments& args, const OpRunner& run) {
  KERF_CHECK(wantMatrix(args, 0));
  KERF_TRY(const Tolerances t, tolerancesOf(args, run));
  KERF_TRY(const Value absolute, asTensor(run, t.absolute));
  KERF_TRY(const Value relative, asTensor(run, t.relative));
  return run.value("aten.linalg_pinv.atol_rtol_tensor"_op, {args.values[0]},
                   {{"atol", absolute}, {"rtol", relative}, {"hermitian", Value(t.hermitian)}});
}
Result<Value> pinvShape(const BoundArguments& args) { return pinv(args, OpRunner(shapeOps())); }
Result<Value> pinvKernel(const BoundArguments& args) { return pinv(args, OpRunner(referenceOps())); }

Result<Value> matrixRank(const BoundArguments& args, const OpRunner& run) {
  KERF_CHECK(wantMatrix(args, 0));
  KERF_TRY(const Tolerances t, tolerancesOf(args, run));
  if (guardOrFalse(args.tensor(0).symNumel() == 0)) {
    KERF_TRY(Tensor none,
             run("aten.zeros.default"_op, {intList(batchSizes(args.tensor(0)))}, {{"dtype", DType::Int64}}));
    return Value(std::move(none));
  }
  KERF_TRY(Tensor s,
           run(t.hermitian ? "aten.linalg_eigvalsh.default"_op : "aten.linalg_svdvals.default"_op, {args.values[0]}));
  if (t.hermitian) {
    KERF_TRY(s, run("aten.abs.default"_op, {s}));
  }
  KERF_TRY(const Tensor counts, significant(run, s, t));
  KERF_TRY(Tensor rank, run("aten.sum.dim_IntList"_op, {counts, intList({-1})}));
  return Value(std::move(rank));
}

constexpr OpRow pseudoInverseRows[] = {
    compositeRow(pinvForm, "aten::linalg_pinv(Tensor self, float rcond, bool hermitian=False) -> Tensor"),
    compositeRow(pinvForm, "aten::linalg_pinv.rcond_tensor(Tensor self, Tensor rcond, bool hermitian=False) -> Tensor"),
    {"aten::linalg_pinv.atol_rtol_tensor(Tensor self, *, Tensor? atol=None, Tensor? rtol=None, bool hermitian=False) "
     "-> Tensor",
     OpTrait::None, pinvShape, pinvKernel},
    compositeRow(pinvForm,
                 "aten::linalg_pinv.atol_rtol_float(Tensor self, *, float? atol=None, float? rtol=None, bool "
                 "hermitian=False) -> Tensor"),
    compositeRow(pinvForm, "aten::pinverse(Tensor self, float rcond=1e-15) -> Tensor"),
    compositeRow(matrixRank, "aten::linalg_matrix_rank(Tensor self, float tol, bool hermitian=False) -> Tensor"),
    compositeRow(matrixRank,
                 "aten::linalg_matrix_rank.tol_tensor(Tensor input, Tensor tol, bool hermitian=False) -> Tensor"),
    compositeRow(matrixRank,
                 "aten::linalg_matrix_rank.atol_rtol_tensor(Tensor input, *, Tensor? atol=None, Tensor? rtol=None, "
                 "bool hermitian=False) -> Tensor"),
    compositeRow(matrixRank,
                 "aten::linalg_matrix_rank.atol_rtol_float(Tensor self, *, float? atol=None, float? rtol=None, bool "
                 "hermitian=False) -> Tensor"),
};

const OpRegistration pseudoInverseOps({.rows = pseudoInverseRows});

}  // namespace

}  // namespace kerf::inline ops
