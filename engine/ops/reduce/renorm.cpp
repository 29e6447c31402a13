// renorm: slices along a dimension shrink to a largest norm.
#include <cmath>

#include "engine/ops/core/op_registration.h"
#include "engine/ops/kernels/complex_values.h"
#include "engine/ops/kernels/doubles.h"
#include "engine/ops/kernels/planes.h"

namespace kerf::inline ops {
namespace {

// renorm(self, p, dim, maxnorm): slices along `dim` whose p-norm is larger than maxnorm shrink to it

Result<Value> renormShape(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  if (isIntegral(self.dtype())) return mismatch(args, "argument 'self' must be floating point or complex");
  if (self.dim() < 2) return mismatch(args, "expects at least 2 dimensions, got {}", self.dim());
  KERF_CHECK(wrapDim(args, args.integer(2), self.dim()));
  if (!(args.number(1) > 0)) return mismatch(args, "argument 'p' must be positive, got {}", args.number(1));
  if (!(args.number(3) >= 0)) return mismatch(args, "argument 'maxnorm' must not be negative, got {}", args.number(3));
  return Value(metaTensor(self.dtype(), self.symSizes()));
}

Result<Value> renormKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  const Tensor& self = args.tensor(0);
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(2), self.dim()));
  KERF_TRY(Complexes values, complexesOf(self));
  const double p = args.number(1), limit = args.number(3);
  std::int64_t inner = 1;
  for (std::int64_t d = dim + 1; d < self.dim(); ++d) inner *= self.size(d);
  const auto sliceOf = [&](std::size_t i) { return i / std::size_t(inner) % std::size_t(self.size(dim)); };
  Doubles norms(std::size_t(self.size(dim)), 0.0);
  for (std::size_t i = 0; i < values.size(); ++i) {
    double& norm = norms[sliceOf(i)];
    const double x = std::abs(values[i]);
    norm = std::isinf(p) ? (std::isnan(norm) || norm > x ? norm : x) : norm + (p == 2 ? x * x : std::pow(x, p));
  }
  for (double& norm : norms) {
    if (!std::isinf(p)) norm = p == 2 ? std::sqrt(norm) : std::pow(norm, 1 / p);
    norm = norm > limit ? roundedTo(partOf(self.dtype()), limit / (norm + 1e-7)) : 1.0;
  }
  for (std::size_t i = 0; i < values.size(); ++i) values[i] *= norms[sliceOf(i)];
  KERF_CHECK(writeComplexes(values, out));
  return Value(std::move(out));
}

constexpr OpRow renormRows[] = {
    {"aten::renorm(Tensor self, Scalar p, int dim, Scalar maxnorm) -> Tensor", OpTrait::None, renormShape,
     renormKernel},
};

const OpRegistration renormOps({.rows = renormRows});

}  // namespace

}  // namespace kerf::inline ops
