// Eigenvalues and singular values.
#include "engine/ops/core/op_registration.h"
#include "engine/ops/linalg/implicit_programs.h"
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

std::unexpected<Error> notConverged(const BoundArguments& args, const SymSizes& batch, std::int64_t b, int info) {
  return fail(ErrorCode::RuntimeFailed,
              "{}: {}The algorithm failed to converge because the input matrix is ill-conditioned or has too many "
              "repeated values (error code: {}).",
              args.op->schema.name.substr(6), batchPrefix(batch, b), info);
}

/// PyTorch names the function that people call: "linalg.svd" of "aten::_linalg_svd" and "aten::linalg_svdvals".
std::string publicName(std::string_view name) {
  name.remove_prefix(std::string_view("aten::").size());
  if (name.starts_with('_')) name.remove_prefix(1);
  if (name.ends_with("svdvals")) name.remove_suffix(std::string_view("vals").size());
  if (!name.starts_with("linalg_")) return std::string(name);
  return fmt::format("linalg.{}", name.substr(std::string_view("linalg_").size()));
}

Result<Matrices> finiteMatrices(const BoundArguments& args, DType wide) {
  KERF_TRY(Matrices a, matricesOf(args.tensor(0), wide));
  if (!allFinite(a))
    return fail(ErrorCode::RuntimeFailed,
                "{}: The algorithm failed to converge because the input matrix contained "
                "non-finite values.",
                publicName(args.op->schema.name));
  return a;
}

/// One output or several, as the schema says.
Value outputs(const BoundArguments& args, ValueList outs) {
  return args.op->schema.returns.size() == 1 ? outs[0] : Value(std::move(outs));
}
Result<std::vector<Tensor>> allocateAll(const Value& metas) {
  std::vector<Tensor> outs;
  for (const Value& meta : metas.isList() ? metas.list() : ValueList{metas}) {
    KERF_TRY(Tensor out, allocate(meta.tensor()));
    outs.push_back(std::move(out));
  }
  return outs;
}
Value returned(const std::vector<Tensor>& outs) { return outs.size() == 1 ? Value(outs[0]) : tensorList(outs); }

// Symmetric: values, vectors

bool vectorsWanted(const BoundArguments& args) {
  return args.op->schema.name == "aten::_linalg_eigh" && args.boolean(2);
}

Result<Value> eighShape(const BoundArguments& args) {
  KERF_CHECK(wantMatrix(args, 0, true));
  const std::string half = args.text(1);
  if (half != "L" && half != "U" && half != "l" && half != "u")
    return mismatch(args, "expected UPLO argument to be 'L' or 'U', but got {}", half);
  const Tensor& a = args.tensor(0);
  const SymInt n = rowsOf(a);
  return outputs(args, {metaTensor(realOf(a.dtype()), joined(batchSizes(a), {n})),
                        vectorsWanted(args) ? columnMajorMeta(a.dtype(), batchSizes(a), n, n) : emptyMeta(a.dtype())});
}
Result<Value> eighKernel(const BoundArguments& args) {
  KERF_TRY(const Value metas, eighShape(args));
  KERF_TRY(const std::vector<Tensor> outs, allocateAll(metas));
  const DType wide = wideOf(args.tensor(0).dtype());
  KERF_TRY(const Matrices a, finiteMatrices(args, wide));
  KERF_TRY(const Matrices values, zeroMatrices(DType::Float64, a.batch, a.rows, 1));
  const char half = args.text(1) == "U" || args.text(1) == "u" ? 'U' : 'L';
  int info = 0;
  std::int64_t failed = 0;
  KERF_CHECK(forWide(wide, [&]<class T>() {
    for (std::int64_t b = 0; b < a.batch && a.rows > 0 && info == 0; ++b, ++failed)
      info = lapack::eigenSymmetric<T>(vectorsWanted(args), half, a.n(), a.at<T>(b), values.at<double>(b));
  }));
  if (info != 0) return notConverged(args, batchSizes(args.tensor(0)), failed - 1, info);
  KERF_CHECK(store(values, asColumns(outs[0])));
  if (vectorsWanted(args)) KERF_CHECK(store(a, outs[1]));
  return returned(outs);
}

// General: complex values, vectors

Result<Value> eigShape(const BoundArguments& args) {
  KERF_CHECK(wantMatrix(args, 0, true));
  const Tensor& a = args.tensor(0);
  const SymInt n = rowsOf(a);
  const DType dtype = complexOf(a.dtype());
  return outputs(args, {metaTensor(dtype, joined(batchSizes(a), {n})), columnMajorMeta(dtype, batchSizes(a), n, n)});
}
Result<Value> eigKernel(const BoundArguments& args) {
  KERF_TRY(const Value metas, eigShape(args));
  KERF_TRY(const std::vector<Tensor> outs, allocateAll(metas));
  const DType wide = wideOf(args.tensor(0).dtype());
  KERF_TRY(const Matrices a, finiteMatrices(args, wide));
  KERF_TRY(const Matrices values, zeroMatrices(DType::Complex128, a.batch, a.rows, 1));
  KERF_TRY(const Matrices vectors, zeroMatrices(DType::Complex128, outs.size() > 1 ? a.batch : 0, a.rows, a.rows));
  int info = 0;
  std::int64_t failed = 0;
  KERF_CHECK(forWide(wide, [&]<class T>() {
    for (std::int64_t b = 0; b < a.batch && a.rows > 0 && info == 0; ++b, ++failed)
      info = lapack::eigenGeneral<T>(a.n(), a.at<T>(b), values.at<Complex>(b),
                                     outs.size() > 1 ? vectors.at<Complex>(b) : nullptr);
  }));
  if (info != 0) return notConverged(args, batchSizes(args.tensor(0)), failed - 1, info);
  KERF_CHECK(store(values, asColumns(outs[0])));
  if (outs.size() > 1) KERF_CHECK(store(vectors, outs[1]));
  return returned(outs);
}

// Singular values: U, S, Vh

struct SvdPlan {
  bool full = false, vectors = true, onlyValues = false, asV = false;
};

SvdPlan svdPlan(const BoundArguments& args) {
  const std::string& name = args.op->schema.name;
  if (name == "aten::linalg_svdvals") return {false, false, true, false};
  if (name == "aten::svd") return {!args.boolean(1), args.boolean(2), false, true};
  return {args.boolean(1), args.boolean(2), false, false};
}

Result<Value> svdShape(const BoundArguments& args) {
  KERF_CHECK(wantMatrix(args, 0));
  const Tensor& a = args.tensor(0);
  const SvdPlan plan = svdPlan(args);
  const SymInt m = rowsOf(a), n = columnsOf(a), k = symMin(m, n);
  const SymSizes batch = batchSizes(a);
  const Tensor values = metaTensor(realOf(a.dtype()), joined(batch, {k}));
  if (plan.onlyValues) return Value(values);
  if (!plan.vectors && !plan.asV) return Value(ValueList{emptyMeta(a.dtype()), values, emptyMeta(a.dtype())});
  const SymInt left = plan.full ? m : k, right = plan.full ? n : k;
  if (!fitsLapack(m, left) || !fitsLapack(n, right))
    return fail(ErrorCode::TooLarge, "{}: the vectors are too large for LAPACK", args.opName());
  if (plan.asV)  // V is the conjugate transpose of a column-major matrix
    return Value(ValueList{columnMajorMeta(a.dtype(), batch, m, left), values,
                           metaTensor(a.dtype(), joined(batch, {n, right}))});
  return Value(
      ValueList{columnMajorMeta(a.dtype(), batch, m, left), values, columnMajorMeta(a.dtype(), batch, right, n)});
}

/// vh becomes its conjugate transpose.
Result<Matrices> adjoint(const Matrices& vh) {
  KERF_TRY(const Matrices v, zeroMatrices(vh.data.dtype(), vh.batch, vh.columns, vh.rows));
  KERF_CHECK(forWide(vh.data.dtype(), [&]<class T>() {
    for (std::int64_t b = 0; b < vh.batch; ++b)
      for (std::int64_t j = 0; j < vh.columns; ++j)
        for (std::int64_t i = 0; i < vh.rows; ++i)
          v.at<T>(b)[i * vh.columns + j] = conjugate(vh.at<T>(b)[j * vh.rows + i]);
  }));
  return v;
}

template <class T>
void identity(T* a, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) a[i * n + i] = T(1);
}

Result<Value> svdKernel(const BoundArguments& args) {
  KERF_TRY(const Value metas, svdShape(args));
  KERF_TRY(const std::vector<Tensor> outs, allocateAll(metas));
  const SvdPlan plan = svdPlan(args);
  const DType wide = wideOf(args.tensor(0).dtype());
  KERF_TRY(const Matrices a, finiteMatrices(args, wide));
  const std::int64_t k = std::min(a.rows, a.columns);
  const std::int64_t left = plan.full ? a.rows : k, right = plan.full ? a.columns : k;
  KERF_TRY(const Matrices values, zeroMatrices(DType::Float64, a.batch, k, 1));
  KERF_TRY(const Matrices u, zeroMatrices(wide, plan.vectors ? a.batch : 0, a.rows, left));
  KERF_TRY(const Matrices vh, zeroMatrices(wide, plan.vectors ? a.batch : 0, right, a.columns));
  const char job = !plan.vectors ? 'N' : plan.full ? 'A' : 'S';
  int info = 0;
  std::int64_t failed = 0;
  KERF_CHECK(forWide(wide, [&]<class T>() {
    for (std::int64_t b = 0; b < a.batch && info == 0; ++b, ++failed) {
      T* const uData = plan.vectors ? u.at<T>(b) : nullptr;
      T* const vData = plan.vectors ? vh.at<T>(b) : nullptr;
      if (k > 0)
        info = lapack::singularValues<T>(job, a.m(), a.n(), a.at<T>(b), values.at<double>(b), uData, vData);
      else if (plan.vectors && plan.full)
        identity(uData, a.rows), identity(vData, a.columns);
    }
  }));
  if (info != 0) return notConverged(args, batchSizes(args.tensor(0)), failed - 1, info);
  KERF_CHECK(store(values, asColumns(outs[plan.onlyValues ? 0 : 1])));
  if (plan.onlyValues || !plan.vectors) return returned(outs);
  KERF_CHECK(store(u, outs[0]));
  if (plan.asV) {
    KERF_TRY(const Matrices v, adjoint(vh));
    KERF_CHECK(store(v, outs[2]));
  } else {
    KERF_CHECK(store(vh, outs[2]));
  }
  return returned(outs);
}

constexpr OpTrait none = OpTrait::None;
constexpr OpRow linalgSpectralRows[] = {
    {"aten::_linalg_eigh(Tensor A, str UPLO='L', bool compute_v=True) -> (Tensor eigenvalues, Tensor eigenvectors)",
     none, eighShape, eighKernel},
    compositeRow(eighProgram,
                 "aten::linalg_eigh(Tensor self, str UPLO='L') -> (Tensor eigenvalues, Tensor eigenvectors)"),
    {"aten::linalg_eigvalsh(Tensor self, str UPLO='L') -> Tensor", none, eighShape, eighKernel, nullptr, nullptr,
     eigvalshProgram},
    {"aten::linalg_eig(Tensor self) -> (Tensor eigenvalues, Tensor eigenvectors)", none, eigShape, eigKernel},
    {"aten::linalg_eigvals(Tensor self) -> Tensor", none, eigShape, eigKernel, nullptr, nullptr, eigvalsProgram},
    {"aten::_linalg_eigvals(Tensor self) -> Tensor", none, eigShape, eigKernel},
    {"aten::_linalg_svd(Tensor A, bool full_matrices=False, bool compute_uv=True, *, str? driver=None) -> (Tensor U, "
     "Tensor S, Tensor Vh)",
     none, svdShape, svdKernel},
    compositeRow(svdProgram,
                 "aten::linalg_svd(Tensor A, bool full_matrices=True, *, str? driver=None) -> (Tensor U, Tensor S, "
                 "Tensor Vh)"),
    {"aten::linalg_svdvals(Tensor A, *, str? driver=None) -> Tensor", none, svdShape, svdKernel, nullptr, nullptr,
     svdvalsProgram},
    {"aten::svd(Tensor self, bool some=True, bool compute_uv=True) -> (Tensor U, Tensor S, Tensor V)", none, svdShape,
     svdKernel, nullptr, nullptr, oldSvdProgram},
};

const OpRegistration linalgSpectralOps({.rows = linalgSpectralRows});

}  // namespace

}  // namespace kerf::inline ops
