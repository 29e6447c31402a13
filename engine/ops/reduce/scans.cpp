// Running sums, products and extrema along one dimension.
#include <cmath>

#include "engine/ops/core/op_registration.h"
#include "engine/ops/core/type_promotion.h"
#include "engine/ops/kernels/element_math.h"
#include "engine/ops/kernels/lines.h"

namespace kerf::inline ops {
namespace {

DType scanType(const BoundArguments& args) {
  const DType own = args.tensor(0).dtype();
  return args.dtypeIf(2).value_or(isIntegral(own) ? DType::Int64 : own);
}

Result<void> checkDim(const BoundArguments& args) {
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(1), args.tensor(0).dim()));
  (void)dim;
  return {};
}

Result<Value> scanShape(const BoundArguments& args) {
  KERF_CHECK(checkDim(args));
  return Value(metaTensor(scanType(args), args.tensor(0).symSizes()));
}

/// body(line of V) in place; input read as V, output written from V.
template <class V, class Body>
Result<void> scanLines(const BoundArguments& args, const Tensor& self, const Tensor& out, Body&& body) {
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(1), out.dim()));
  const Lines target(out, dim);
  return forLines<V>(self, dim, [&](std::int64_t line, std::vector<V>& values) {
    body(values);
    target.write(line, values.data());
  });
}

template <class Accumulate>
Result<Value> scanKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  KERF_TRY(const Tensor self, args.tensor(0).to(out.dtype()));
  const auto run = [](auto& values) {
    for (std::size_t i = 1; i < values.size(); ++i) values[i] = Accumulate::apply(values[i - 1], values[i]);
  };
  if (isIntegral(out.dtype()))
    KERF_CHECK(scanLines<std::int64_t>(args, self, out, run));
  else
    KERF_CHECK(scanLines<double>(args, self, out, run));
  return Value(std::move(out));
}

struct Sum {
  template <class T>
  static T apply(T a, T b) {
    return element::add(a, b);
  }
};
struct Product {
  template <class T>
  static T apply(T a, T b) {
    return element::mul(a, b);
  }
};

Result<Value> logScanShape(const BoundArguments& args) {
  KERF_CHECK(checkDim(args));
  return Value(metaTensor(toFloating(args.tensor(0).dtype()), args.tensor(0).symSizes()));
}

double logAddExp(double a, double b) {
  const double larger = element::maximum(a, b);
  if (std::isnan(larger) || std::isinf(larger)) return larger;
  return larger + std::log1p(std::exp(std::min(a, b) - larger));
}

Result<Value> logScanKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  KERF_CHECK(scanLines<double>(args, args.tensor(0), out, [](std::vector<double>& values) {
    for (std::size_t i = 1; i < values.size(); ++i) values[i] = logAddExp(values[i - 1], values[i]);
  }));
  return Value(std::move(out));
}

Result<Value> extremumScanShape(const BoundArguments& args) {
  KERF_CHECK(checkDim(args));
  const Tensor& self = args.tensor(0);
  return Value(ValueList{metaTensor(self.dtype(), self.symSizes()), metaTensor(DType::Int64, self.symSizes())});
}

/// The latest of equal extrema counts; a NaN stays once seen.
template <class V, bool largest>
Result<void> extremumScan(const BoundArguments& args, const std::vector<Tensor>& outs) {
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(1), outs[0].dim()));
  const Lines values(outs[0], dim), positions(outs[1], dim);
  return forLines<V>(args.tensor(0), dim, [&](std::int64_t line, std::vector<V>& x) {
    std::vector<std::int64_t> where(x.size(), 0);
    for (std::size_t i = 1; i < x.size(); ++i) {
      const bool better =
          element::isNan(x[i]) || (!element::isNan(x[i - 1]) && (largest ? x[i] >= x[i - 1] : x[i] <= x[i - 1]));
      where[i] = better ? std::int64_t(i) : where[i - 1];
      if (!better) x[i] = x[i - 1];
    }
    values.write(line, x.data());
    positions.write(line, where.data());
  });
}

template <bool largest>
Result<Value> extremumScanKernel(const BoundArguments& args) {
  KERF_TRY(const std::vector<Tensor> outs, makeOutputs(args));
  KERF_CHECK(inOrderOf(outs[0].dtype(), [&]<class V>(V) { return extremumScan<V, largest>(args, outs); }));
  return tensorList(outs);
}

constexpr OpTrait none = OpTrait::None;
constexpr OpRow scanRows[] = {
    {"aten::cumsum(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor", none, scanShape, scanKernel<Sum>},
    {"aten::cumprod(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor", none, scanShape, scanKernel<Product>},
    {"aten::logcumsumexp(Tensor self, int dim) -> Tensor", none, logScanShape, logScanKernel},
    {"aten::cummax(Tensor self, int dim) -> (Tensor values, Tensor indices)", none, extremumScanShape,
     extremumScanKernel<true>},
    {"aten::cummin(Tensor self, int dim) -> (Tensor values, Tensor indices)", none, extremumScanShape,
     extremumScanKernel<false>},
};

const OpRegistration scanOps({.rows = scanRows});

}  // namespace

}  // namespace kerf::inline ops
