// LU factors and what follows from them: unpacking, solving, inverses and determinants.
#include <cmath>

#include "engine/ops/core/op_registration.h"
#include "engine/ops/core/strides.h"
#include "engine/ops/linalg/implicit_programs.h"
#include "engine/ops/linalg/support.h"
#include "engine/tensor/copy.h"

namespace kerf::inline ops {
namespace {

using namespace linalg;

struct LuParts {
  Matrices lu;
  std::vector<int> pivots, info;
};

/// Gaussian elimination without row exchanges, for pivot=False.
template <class T>
int eliminate(std::int64_t m, std::int64_t n, T* a) {
  int info = 0;
  for (std::int64_t k = 0; k < std::min(m, n); ++k) {
    const T pivot = a[k * m + k];
    if (pivot == T(0) && info == 0) info = int(k + 1);
    for (std::int64_t i = k + 1; i < m; ++i) a[k * m + i] /= pivot;
    for (std::int64_t j = k + 1; j < n; ++j)
      for (std::int64_t i = k + 1; i < m; ++i) a[j * m + i] -= a[k * m + i] * a[j * m + k];
  }
  return info;
}

Result<LuParts> luFactors(const Tensor& self, bool pivot = true) {
  LuParts parts;
  KERF_TRY(parts.lu, matricesOf(self, wideOf(self.dtype())));
  const Matrices& lu = parts.lu;
  const auto count = std::size_t(std::min(lu.rows, lu.columns));
  parts.pivots.resize(count * std::size_t(lu.batch));
  for (std::size_t i = 0; i < parts.pivots.size(); ++i) parts.pivots[i] = int(i % count) + 1;
  KERF_CHECK(forWide(self.dtype(), [&]<class T>() {
    for (std::int64_t b = 0; b < lu.batch; ++b)
      parts.info.push_back(
          pivot ? lapack::luFactor<T>(lu.m(), lu.n(), lu.at<T>(b), parts.pivots.data() + std::size_t(b) * count)
                : eliminate<T>(lu.rows, lu.columns, lu.at<T>(b)));
  }));
  return parts;
}

void writeInts(const std::vector<int>& values, const Tensor& out) {
  for (std::size_t i = 0; i < values.size(); ++i) out.data<std::int32_t>()[i] = values[i];
}

/// LU, pivots and info.
Result<Value> luFactorShape(const BoundArguments& args) {
  KERF_CHECK(wantMatrix(args, 0));
  const Tensor& self = args.tensor(0);
  const SymInt m = self.symSize(self.dim() - 2), n = self.symSize(self.dim() - 1);
  const SymSizes batch = batchSizes(self);
  return Value(ValueList{columnMajorMeta(self.dtype(), batch, m, n),
                         metaTensor(DType::Int32, joined(batch, {symMin(m, n)})), metaTensor(DType::Int32, batch)});
}
Result<Value> luFactorKernel(const BoundArguments& args) {
  KERF_TRY(const std::vector<Tensor> outs, makeOutputs(args));
  const bool check = args.boolean(2);
  KERF_TRY(const LuParts parts, luFactors(args.tensor(0), args.boolean(1)));
  for (std::size_t b = 0; b < parts.info.size(); ++b)
    if (check && parts.info[b] > 0)
      return fail(ErrorCode::RuntimeFailed,
                  "{}: {}U[{},{}] is zero and using it on lu_solve would result in a division "
                  "by zero",
                  args.opName(), batchPrefix(batchSizes(args.tensor(0)), std::int64_t(b)), parts.info[b],
                  parts.info[b]);
  KERF_CHECK(store(parts.lu, outs[0]));
  writeInts(parts.pivots, outs[1]);
  writeInts(parts.info, outs[2]);
  return tensorList(outs);
}

// P, L, U

ValueList plu(DType dtype, const SymSizes& batch, SymInt m, SymInt n, bool data, bool pivots) {
  const SymInt k = symMin(m, n);
  const auto part = [&](bool wanted, SymInt rows, SymInt columns) {
    return wanted ? metaTensor(dtype, joined(batch, {rows, columns})) : emptyMeta(dtype);
  };
  return {part(pivots, m, m), part(data, m, k), part(data, k, n)};
}

Result<void> writePlu(const BoundArguments& args, const Matrices& lu, const std::vector<int>& pivots,
                      const std::vector<Tensor>& outs) {
  const std::int64_t m = lu.rows, n = lu.columns, k = std::min(m, n);
  const bool data = outs[1].dim() > 1, order = outs[0].dim() > 1;
  KERF_TRY(const Matrices p, zeroMatrices(lu.data.dtype(), order ? lu.batch : 0, m, m));
  KERF_TRY(const Matrices l, zeroMatrices(lu.data.dtype(), data ? lu.batch : 0, m, k));
  KERF_TRY(const Matrices u, zeroMatrices(lu.data.dtype(), data ? lu.batch : 0, k, n));
  KERF_CHECK(forWide(lu.data.dtype(), [&]<class T>() {
    for (std::int64_t b = 0; b < lu.batch; ++b) {
      const T* a = lu.at<T>(b);
      for (std::int64_t j = 0; data && j < n; ++j)
        for (std::int64_t i = 0; i < m; ++i) {
          if (i > j && j < k) l.at<T>(b)[j * m + i] = a[j * m + i];
          if (i <= j && i < k) u.at<T>(b)[j * k + i] = a[j * m + i];
        }
      for (std::int64_t i = 0; data && i < k; ++i) l.at<T>(b)[i * m + i] = T(1);
      auto rows = std::vector<std::int64_t>(std::size_t(m));
      for (std::int64_t i = 0; i < m; ++i) rows[std::size_t(i)] = i;
      for (std::int64_t i = 0; order && i < k; ++i)
        std::swap(rows[std::size_t(i)], rows[std::size_t(pivots[std::size_t(b * k + i)] - 1)]);
      for (std::int64_t i = 0; order && i < m; ++i) p.at<T>(b)[i * m + rows[std::size_t(i)]] = T(1);
    }
  }));
  (void)args;
  if (order) KERF_CHECK(store(p, outs[0]));
  if (data) KERF_CHECK(store(l, outs[1]));
  if (data) KERF_CHECK(store(u, outs[2]));
  return {};
}

Result<Value> luUnpackShape(const BoundArguments& args) {
  KERF_CHECK(wantMatrix(args, 0));
  const Tensor& lu = args.tensor(0);
  const SymInt m = lu.symSize(lu.dim() - 2), n = lu.symSize(lu.dim() - 1);
  if (args.boolean(3)) {
    if (args.tensor(1).dtype() != DType::Int32) return mismatch(args, "LU_pivots must be torch.int32");
    if (!checkEqual(args.tensor(1).symSizes(), joined(batchSizes(lu), {symMin(m, n)})))
      return mismatch(args, "LU_pivots must have shape [{}]", fmt::join(joined(batchSizes(lu), {symMin(m, n)}), ", "));
  }
  if (!fitsLapack(m, m)) return fail(ErrorCode::TooLarge, "{}: P is too large", args.opName());
  return Value(plu(lu.dtype(), batchSizes(lu), m, n, args.boolean(2), args.boolean(3)));
}
Result<Value> luUnpackKernel(const BoundArguments& args) {
  KERF_TRY(const std::vector<Tensor> outs, makeOutputs(args));
  std::vector<int> pivots;
  if (args.boolean(3)) {
    KERF_TRY(pivots, pivotsOf(args, args.tensor(1), args.tensor(0).size(args.tensor(0).dim() - 2), false));
  }
  KERF_TRY(const Matrices lu, matricesOf(args.tensor(0), wideOf(args.tensor(0).dtype())));
  KERF_CHECK(writePlu(args, lu, pivots, outs));
  return tensorList(outs);
}

Result<Value> luShape(const BoundArguments& args) {
  KERF_CHECK(wantMatrix(args, 0));
  const Tensor& self = args.tensor(0);
  const SymInt m = self.symSize(self.dim() - 2);
  if (!fitsLapack(m, m)) return fail(ErrorCode::TooLarge, "{}: P is too large", args.opName());
  return Value(plu(self.dtype(), batchSizes(self), self.symSize(self.dim() - 2), self.symSize(self.dim() - 1), true,
                   args.boolean(1)));
}
Result<Value> luKernel(const BoundArguments& args) {
  KERF_TRY(const std::vector<Tensor> outs, makeOutputs(args));
  KERF_TRY(const LuParts parts, luFactors(args.tensor(0), args.boolean(1)));
  KERF_CHECK(writePlu(args, parts.lu, parts.pivots, outs));
  return tensorList(outs);
}

// Determinants

/// PyTorch factors the transpose of a row-major real matrix: no copy is needed to make it column-major.
bool factorsTransposed(const Tensor& a) { return a.isContiguous() && !isComplex(a.dtype()); }

Tensor transposed(const Tensor& a) {
  SymSizes sizes = a.symSizes(), strides = a.symStrides();
  std::swap(sizes[sizes.size() - 1], sizes[sizes.size() - 2]);
  std::swap(strides[strides.size() - 1], strides[strides.size() - 2]);
  return a.viewAs(sizes, strides, a.symOffset());
}

struct Determinant {
  Complex sign = 1;
  double logarithm = 0;
};

Determinant determinantOf(const LuParts& parts, std::int64_t b) {
  const Matrices& lu = parts.lu;
  Determinant result;
  for (std::int64_t i = 0; i < lu.rows; ++i) {
    const std::int64_t at = i * lu.rows + i;
    const Complex value = isComplex(lu.data.dtype()) ? lu.at<Complex>(b)[at] : Complex(lu.at<double>(b)[at]);
    const double size = std::abs(value);
    result.sign *= size == 0 ? Complex(0) : value / size;
    if (parts.pivots[std::size_t(b * lu.rows + i)] != i + 1) result.sign = -result.sign;
    result.logarithm += std::log(size);
  }
  return result;
}

Complex productOf(const LuParts& parts, std::int64_t b) {
  const Matrices& lu = parts.lu;
  Complex result = 1;
  for (std::int64_t i = 0; i < lu.rows; ++i) {
    const std::int64_t at = i * lu.rows + i;
    result *= isComplex(lu.data.dtype()) ? lu.at<Complex>(b)[at] : Complex(lu.at<double>(b)[at]);
    if (parts.pivots[std::size_t(b * lu.rows + i)] != i + 1) result = -result;
  }
  return result;
}

/// [det] or [sign, logabsdet], then LU and pivots.
Result<Value> determinantShape(const BoundArguments& args) {
  KERF_CHECK(wantMatrix(args, 0, true));
  const Tensor& a = args.tensor(0);
  const bool logarithm = args.op->schema.name == "aten::_linalg_slogdet";
  const SymInt n = a.symSize(a.dim() - 1);
  const SymSizes batch = batchSizes(a);
  ValueList outs{metaTensor(a.dtype(), batch)};
  if (logarithm) outs.emplace_back(metaTensor(realOf(a.dtype()), batch));
  outs.emplace_back(columnMajorMeta(a.dtype(), batch, n, n));
  outs.emplace_back(metaTensor(DType::Int32, joined(batch, {n})));
  return Value(std::move(outs));
}

Result<void> writeComplex(const std::vector<Complex>& values, const Tensor& out) {
  KERF_TRY(Tensor wide, Tensor::zeros(DType::Complex128, out.sizes()));
  std::ranges::copy(values, wide.data<Complex>());
  return copyElements(wide, out);
}

Result<Value> determinantKernel(const BoundArguments& args) {
  KERF_TRY(const std::vector<Tensor> outs, makeOutputs(args));
  const Tensor& a = args.tensor(0);
  KERF_TRY(const LuParts parts, luFactors(factorsTransposed(a) ? transposed(a) : a));
  const bool logarithm = outs.size() == 4;
  std::vector<Complex> first, second;
  for (std::int64_t b = 0; b < parts.lu.batch; ++b) {
    const Determinant d = determinantOf(parts, b);
    first.push_back(logarithm ? d.sign : productOf(parts, b));
    second.push_back(d.logarithm);
  }
  KERF_CHECK(writeComplex(first, outs[0]));
  if (logarithm) KERF_CHECK(writeComplex(second, outs[1]));
  KERF_CHECK(store(parts.lu, outs[outs.size() - 2]));
  writeInts(parts.pivots, outs.back());
  return tensorList(outs);
}

constexpr OpTrait none = OpTrait::None;
constexpr OpRow linalgLuRows[] = {
    {"aten::linalg_lu_factor_ex(Tensor A, *, bool pivot=True, bool check_errors=False) -> (Tensor LU, Tensor pivots, "
     "Tensor info)",
     none, luFactorShape, luFactorKernel},
    compositeRow(luFactorProgram, "aten::linalg_lu_factor(Tensor A, *, bool pivot=True) -> (Tensor LU, Tensor pivots)"),
    compositeRow(luWithInfoProgram,
                 "aten::_lu_with_info(Tensor self, bool pivot=True, bool check_errors=True) -> (Tensor LU, Tensor "
                 "pivots, Tensor info)"),
    {"aten::linalg_lu(Tensor A, *, bool pivot=True) -> (Tensor P, Tensor L, Tensor U)", none, luShape, luKernel},
    {"aten::lu_unpack(Tensor LU_data, Tensor LU_pivots, bool unpack_data=True, bool unpack_pivots=True) -> (Tensor P, "
     "Tensor L, Tensor U)",
     none, luUnpackShape, luUnpackKernel},
    {"aten::_linalg_det(Tensor A) -> (Tensor result, Tensor LU, Tensor pivots)", none, determinantShape,
     determinantKernel},
    compositeRow(determinantProgram, "aten::linalg_det(Tensor A) -> Tensor"),
    compositeRow(determinantProgram, "aten::det(Tensor self) -> Tensor"),
    {"aten::_linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet, Tensor LU, Tensor pivots)", none,
     determinantShape, determinantKernel},
    compositeRow(logDeterminantProgram, "aten::linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet)"),
    compositeRow(logDeterminantProgram, "aten::slogdet(Tensor self) -> (Tensor sign, Tensor logabsdet)"),
};

const OpRegistration linalgLuOps({.rows = linalgLuRows});

}  // namespace

}  // namespace kerf::inline ops
