// Powers and exponentials of matrices.
#include <algorithm>
#include <cmath>

#include "engine/ops/core/composite.h"
#include "engine/ops/core/op_registration.h"
#include "engine/ops/core/strides.h"
#include "engine/ops/linalg/implicit_programs.h"
#include "engine/ops/linalg/support.h"

namespace kerf::inline ops {
namespace {

using namespace linalg;

SymInt rowsOf(const Tensor& t) { return t.symSize(t.dim() - 2); }
SymInt columnsOf(const Tensor& t) { return t.symSize(t.dim() - 1); }

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

Result<Tensor> identityLike(const OpRunner& run, const Tensor& a) {
  KERF_TRY(const Tensor eye, run("aten.eye.default"_op, {rowsOf(a)}, {{"dtype", a.dtype()}}));
  KERF_TRY(const Tensor wide, run("aten.expand.default"_op, {eye, intList(a.symSizes())}));
  return run("aten.clone.default"_op, {wide}, {{"memory_format", MemoryFormat::Contiguous}});
}

// linalg_matrix_power: by squaring

Result<Value> matrixPower(const BoundArguments& args, const OpRunner& run) {
  KERF_CHECK(wantMatrix(args, 0, true));
  std::int64_t n = args.integer(1);
  Tensor base = args.tensor(0);
  if (n == 0) {
    KERF_TRY(Tensor eye, identityLike(run, base));
    return Value(std::move(eye));
  }
  if (n < 0) {
    KERF_TRY(const Value inverse, run.value("aten.linalg_inv_ex.default"_op, {base}, {{"check_errors", true}}));
    base = inverse.list()[0].tensor();
  }
  auto exponent = n < 0 ? 0 - std::uint64_t(n) : std::uint64_t(n);
  if (exponent == 1) {
    KERF_TRY(Tensor copy, run("aten.clone.default"_op, {base}));
    return Value(std::move(copy));
  }
  std::optional<Tensor> result;
  for (; exponent > 0; exponent >>= 1) {
    if (exponent & 1) {
      if (result) {
        KERF_TRY(Tensor next, product(run, *result, base));
        result = std::move(next);
      } else {
        result = base;
      }
    }
    if (exponent > 1) {
      KERF_TRY(base, product(run, base, base));
    }
  }
  return Value(*result);
}

// linalg_matrix_exp: scaling and squaring with the [13/13] Padé approximant (Higham 2005)

Result<Value> expShape(const BoundArguments& args) {
  KERF_CHECK(wantMatrix(args, 0, true));
  return Value(metaTensor(args.tensor(0).dtype(), args.tensor(0).symSizes()));
}

template <class T>
std::vector<T> times(const std::vector<T>& a, const std::vector<T>& b, std::size_t n) {
  std::vector<T> c(n * n);
  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t k = 0; k < n; ++k)
      for (std::size_t i = 0; i < n; ++i) c[j * n + i] += a[k * n + i] * b[j * n + k];
  return c;
}

template <class T>
void exponential(T* a, std::size_t n) {
  static constexpr double c[] = {64764752532480000,
                                 32382376266240000,
                                 7771770303897600,
                                 1187353796428800,
                                 129060195264000,
                                 10559470521600,
                                 670442572800,
                                 33522128640,
                                 1323241920,
                                 40840800,
                                 960960,
                                 16380,
                                 182,
                                 1};
  double norm = 0;
  for (std::size_t j = 0; j < n; ++j) {
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += std::abs(a[j * n + i]);
    norm = std::isnan(sum) ? sum : std::max(norm, sum);
  }
  if (!std::isfinite(norm)) {
    std::fill(a, a + n * n, T(std::nan("")));
    return;
  }
  const int squarings = norm > 5.37 ? std::max(0, int(std::ceil(std::log2(norm / 5.37)))) : 0;
  const std::size_t count = n * n;
  std::vector<T> x(a, a + count);
  for (T& value : x) value *= std::ldexp(1.0, -squarings);
  const auto x2 = times(x, x, n), x4 = times(x2, x2, n), x6 = times(x4, x2, n);
  std::vector<T> odd(count), even(count), lower(count), evenLow(count);
  for (std::size_t i = 0; i < count; ++i) {
    odd[i] = c[13] * x6[i] + c[11] * x4[i] + c[9] * x2[i];
    even[i] = c[12] * x6[i] + c[10] * x4[i] + c[8] * x2[i];
    lower[i] = c[7] * x6[i] + c[5] * x4[i] + c[3] * x2[i];
    evenLow[i] = c[6] * x6[i] + c[4] * x4[i] + c[2] * x2[i];
  }
  odd = times(x6, odd, n);
  even = times(x6, even, n);
  for (std::size_t i = 0; i < count; ++i) {
    const bool diagonal = i / n == i % n;
    odd[i] += lower[i] + (diagonal ? T(c[1]) : T(0));
    even[i] += evenLow[i] + (diagonal ? T(c[0]) : T(0));
  }
  odd = times(x, odd, n);
  std::vector<T> denominator(count), numerator(count);
  for (std::size_t i = 0; i < count; ++i) numerator[i] = even[i] + odd[i], denominator[i] = even[i] - odd[i];
  std::vector<int> pivots(n);
  lapack::luFactor<T>(int(n), int(n), denominator.data(), pivots.data());
  lapack::luSolve<T>('N', int(n), int(n), denominator.data(), pivots.data(), numerator.data());
  for (int i = 0; i < squarings; ++i) numerator = times(numerator, numerator, n);
  std::ranges::copy(numerator, a);
}

Result<Value> expKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  KERF_TRY(const Matrices a, matricesOf(args.tensor(0), wideOf(out.dtype())));
  KERF_CHECK(forWide(out.dtype(), [&]<class T>() {
    for (std::int64_t b = 0; b < a.batch && a.rows > 0; ++b) exponential(a.at<T>(b), std::size_t(a.rows));
  }));
  KERF_CHECK(store(a, out));
  return Value(std::move(out));
}

constexpr OpRow linalgComposedRows[] = {
    compositeRow(matrixPower, "aten::linalg_matrix_power(Tensor self, int n) -> Tensor"),
    compositeRow(matrixPower, "aten::matrix_power(Tensor self, int n) -> Tensor"),
    {"aten::linalg_matrix_exp(Tensor self) -> Tensor", OpTrait::None, expShape, expKernel},
    compositeRow(exponentialProgram, "aten::matrix_exp(Tensor self) -> Tensor"),
};

const OpRegistration linalgComposedOps({.rows = linalgComposedRows});

}  // namespace

}  // namespace kerf::inline ops
