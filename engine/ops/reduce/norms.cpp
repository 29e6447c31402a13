// Norms, and logarithms of sums of exponentials.
#include <cmath>

#include "engine/ops/core/empty_output.h"
#include "engine/ops/core/op_registration.h"
#include "engine/ops/core/type_promotion.h"
#include "engine/ops/kernels/doubles.h"
#include "engine/ops/kernels/element_math.h"
#include "engine/ops/reduce/reduction_arguments.h"

namespace kerf::inline ops {
namespace {

struct PowerOfSize {
  static double apply(double x, double p) { return std::pow(std::abs(x), p); }
};
struct SquareOfSize {
  static double apply(double x, double) { return x * x; }
};
struct SizeOf {
  static double apply(double x, double) { return std::abs(x); }
};
struct NonZero {
  static double apply(double x, double) { return x != 0; }
};
struct LargestStep {
  static double apply(double a, double b) { return element::maximum(a, std::abs(b)); }
};
struct SmallestStep {
  static double apply(double a, double b) { return element::minimum(a, std::abs(b)); }
};

template <class F>
Result<Doubles> mappedSums(const Tensor& self, const ReducedDims& dims, double parameter = 0) {
  const ReduceGeometry geometry(self, dims);
  const Doubles parameters(std::size_t(geometry.keptCount), parameter);
  KERF_TRY(const auto states, (reduceStates<double>(self, dims, MappedSumOp<F>{&parameters})));
  Doubles values;
  for (const auto& state : states) values.push_back(state.value());
  return values;
}

Result<Doubles> norms(const Tensor& self, const ReducedDims& dims, double p) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (p == infinity) return foldedStates<double, LargestStep>(self, dims, 0);
  if (p == -infinity) return foldedStates<double, SmallestStep>(self, dims, infinity);
  if (p == 0) return mappedSums<NonZero>(self, dims);
  if (p == 1) return mappedSums<SizeOf>(self, dims);
  Doubles values;
  if (p == 2) {
    KERF_TRY(values, mappedSums<SquareOfSize>(self, dims));
    for (double& value : values) value = std::sqrt(value);
    return values;
  }
  KERF_TRY(values, mappedSums<PowerOfSize>(self, dims, p));
  for (double& value : values) value = std::pow(value, 1 / p);
  return values;
}

Result<Value> normKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeEmptyOutput(args));
  KERF_TRY(const ReducedDims dims, reducedDimsOf(args));
  KERF_TRY(const Tensor self, inputAs(args, out.dtype()));
  const Value p = argumentOr(args, reductionArgument(args, "ord") ? "ord" : "p", {});
  KERF_TRY(const Doubles values, norms(self, dims, p.isNone() ? 2 : args.number(1)));
  KERF_CHECK(writeValues(values, out));
  return Value(std::move(out));
}

struct ExpShifted {
  static double apply(double x, double shift) { return std::exp(x - shift); }
};
struct MaximumStep {
  static double apply(double a, double b) { return element::maximum(a, b); }
};

Result<Value> logSumExpShape(const BoundArguments& args) {
  KERF_TRY(const ReducedDims dims, reducedDimsOf(args));
  return Value(metaTensor(toFloating(args.tensor(0).dtype()), dims.outSizes));
}

/// 16-bit floats round after every step, as the composition of ops that this is in PyTorch.
template <class T>
struct ExpShiftedIn {
  static double rounded(double x) { return float(T(float(x))); }
  static double apply(double x, double shift) { return rounded(std::exp(rounded(x - shift))); }
};

template <class T>
Result<Doubles> logSumExpIn(const Tensor& self, const ReducedDims& dims, const Doubles& shifts) {
  KERF_TRY(const auto states, (reduceStates<double>(self, dims, MappedSumOp<ExpShiftedIn<T>>{&shifts})));
  const auto r = ExpShiftedIn<T>::rounded;
  Doubles values;
  for (std::size_t i = 0; i < states.size(); ++i) values.push_back(r(std::log(r(states[i].value()))) + shifts[i]);
  return values;
}

Result<Value> logSumExpKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeEmptyOutput(args));
  KERF_TRY(const ReducedDims dims, reducedDimsOf(args));
  const Tensor& self = args.tensor(0);
  KERF_TRY(Doubles shifts, (foldedStates<double, MaximumStep>(self, dims, -std::numeric_limits<double>::infinity())));
  for (double& shift : shifts) shift = std::isinf(shift) ? 0 : shift;
  Doubles values;
  if (self.dtype() == DType::BFloat16 || self.dtype() == DType::Float16) {
    KERF_TRY(values, (self.dtype() == DType::BFloat16 ? logSumExpIn<BFloat16> : logSumExpIn<Half>)(self, dims, shifts));
  } else {
    KERF_TRY(const auto states, (reduceStates<double>(self, dims, MappedSumOp<ExpShifted>{&shifts})));
    for (std::size_t i = 0; i < states.size(); ++i) values.push_back(std::log(states[i].value()) + shifts[i]);
  }
  KERF_CHECK(writeValues(values, out));
  return Value(std::move(out));
}

constexpr OpTrait reduction = OpTrait::Reduction;
constexpr OpRow normRows[] = {
    {"aten::norm.ScalarOpt_dim(Tensor self, Scalar? p, int[1] dim, bool keepdim=False) -> Tensor", reduction, meanShape,
     normKernel},
    {"aten::norm.Scalar(Tensor self, Scalar p=2) -> Tensor", reduction, meanShape, normKernel},
    {"aten::linalg_vector_norm(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False, *, "
     "ScalarType? dtype=None) -> Tensor",
     reduction, meanShape, normKernel},
    {"aten::logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor", reduction, logSumExpShape,
     logSumExpKernel},
};

const OpRegistration normOps({.rows = normRows});

}  // namespace

}  // namespace kerf::inline ops
