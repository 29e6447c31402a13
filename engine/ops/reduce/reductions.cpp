// Reductions to sums, means, variances, norms, products, truth values.
#include <cmath>

#include "engine/mathlib/exact_sums.h"
#include "engine/ops/core/empty_output.h"
#include "engine/ops/core/op_row.h"
#include "engine/ops/core/type_promotion.h"
#include "engine/ops/pointwise/element_math.h"
#include "engine/ops/reduce/engine.h"

namespace kerf::inline ops {
namespace {

using Doubles = std::vector<double>;
using Integers = std::vector<std::int64_t>;

const SchemaArgument* find(const BoundArguments& args, std::string_view name) {
  for (const SchemaArgument& argument : args.op->schema.arguments)
    if (argument.name == name) return &argument;
  return nullptr;
}

Value argumentOr(const BoundArguments& args, std::string_view name, Value otherwise) {
  return find(args, name) ? args.values[args.position(name)] : otherwise;
}

bool keepdim(const BoundArguments& args) {
  const Value value = argumentOr(args, "keepdim", false);
  return value.as<bool>() && *value.as<bool>();
}

Result<ReducedDims> dimsOf(const BoundArguments& args, EmptyDims empty = EmptyDims::All) {
  return reducedDims(args, args.tensor(0), argumentOr(args, "dim", {}), keepdim(args), empty);
}

std::optional<DType> dtypeArgument(const BoundArguments& args) {
  const Value value = argumentOr(args, "dtype", {});
  return value.as<DType>() ? std::optional(*value.as<DType>()) : std::nullopt;
}

// Dtype rules

DType sumType(const BoundArguments& args) {
  const DType own = args.tensor(0).dtype();
  return dtypeArgument(args).value_or(isIntegral(own) ? DType::Int64 : own);
}

Result<DType> meanType(const BoundArguments& args) {
  const DType dtype = dtypeArgument(args).value_or(args.tensor(0).dtype());
  if (!isFloating(dtype))
    return mismatch(args, "needs a floating point input or dtype, got {}", dtypeInfo(dtype).torchName);
  return dtype;
}

DType truthType(const BoundArguments& args) {
  return args.tensor(0).dtype() == DType::UInt8 ? DType::UInt8 : DType::Bool;
}

// Shape rules

Result<Value> sumShape(const BoundArguments& args) {
  KERF_TRY(const ReducedDims dims, dimsOf(args));
  return Value(metaTensor(sumType(args), dims.outSizes));
}
Result<Value> meanShape(const BoundArguments& args) {
  KERF_TRY(const ReducedDims dims, dimsOf(args));
  KERF_TRY(const DType dtype, meanType(args));
  return Value(metaTensor(dtype, dims.outSizes));
}
Result<Value> truthShape(const BoundArguments& args) {
  KERF_TRY(const ReducedDims dims, dimsOf(args, EmptyDims::None));
  return Value(metaTensor(truthType(args), dims.outSizes));
}
Result<Value> countShape(const BoundArguments& args) {
  KERF_TRY(const ReducedDims dims, dimsOf(args));
  return Value(metaTensor(DType::Int64, dims.outSizes));
}
Result<Value> twoShape(const BoundArguments& args) {
  KERF_TRY(const Value one, meanShape(args));
  return Value(ValueList{one, one});
}

// Kernels

/// The input, rounded to the result type first where that is what torch does (dtype= given).
Result<Tensor> inputAs(const BoundArguments& args, DType dtype) {
  const Tensor& self = args.tensor(0);
  if (self.dtype() == dtype || !dtypeArgument(args)) return self;
  return self.to(dtype);
}

/// Sums divided by `divisor`, each rounded once to `dtype`.
Result<Doubles> exactSums(const Tensor& self, const ReducedDims& dims, DType dtype, std::int64_t divisor) {
  const LoadFunction load = loadFunction(self.dtype(), ComputeType::Double);
  if (!load) return fail(ErrorCode::UnsupportedOp, "no exact sum of {}", dtypeInfo(self.dtype()).torchName);
  const ReduceGeometry geometry(self, dims);
  const auto offsets = geometry.keptOffsets();
  const StridedLoop<1> walk(geometry.goneSizes, {geometry.goneStrides});
  const std::int64_t step = walk.innerStrides()[0], size = itemSize(self.dtype());
  Doubles result(offsets.size());
  parallelFor(geometry.keptCount, std::max<std::int64_t>(1, 1024 / std::max<std::int64_t>(1, geometry.goneCount)),
              [&](std::int64_t begin, std::int64_t end) {
                double buffer[detail::reduceChunk];
                for (std::int64_t k = begin; k < end; ++k) {
                  SuperAccumulator sum;
                  const auto* base =
                      self.data<std::byte>() + self.offset() * (size - 1) + offsets[std::size_t(k)] * size;
                  walk.forRows([&](const auto& at, std::int64_t count) {
                    for (std::int64_t i = 0; i < count; i += detail::reduceChunk) {
                      const std::int64_t length = std::min(detail::reduceChunk, count - i);
                      load(base + (at[0] + i * step) * size, step, buffer, length);
                      sum.add(buffer, length);
                    }
                  });
                  result[std::size_t(k)] = sum.value(formatOf(dtype), divisor);
                }
              });
  return result;
}

Result<Doubles> sums(const Tensor& self, const ReducedDims& dims) {
  KERF_TRY(const auto states, (reduceStates<double>(self, dims, SumOp{})));
  Doubles result;
  result.reserve(states.size());
  for (const ExactSum& state : states) result.push_back(state.value());
  return result;
}

template <class V, class F>
Result<std::vector<V>> folded(const Tensor& self, const ReducedDims& dims, V start) {
  return reduceStates<V>(self, dims, FoldOp<V, F>{start});
}

struct AddStep {
  static std::int64_t apply(std::int64_t a, std::int64_t b) { return element::add(a, b); }
};
struct MulStep {
  template <class T>
  static T apply(T a, T b) {
    return element::mul(a, b);
  }
};
struct AnyStep {
  template <class T>
  static T apply(T a, T b) {
    return T(a != 0 || b != 0);
  }
};
struct AllStep {
  template <class T>
  static T apply(T a, T b) {
    return T(a != 0 && b != 0);
  }
};
struct CountStep {
  template <class T>
  static T apply(T a, T b) {
    return a + T(b != 0);
  }
  template <class T>
  static T merge(T a, T b) {
    return a + b;
  }
};

Result<Value> sumKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeEmptyOutput(args));
  KERF_TRY(const ReducedDims dims, dimsOf(args));
  KERF_TRY(const Tensor self, inputAs(args, out.dtype()));
  if (isIntegral(out.dtype())) {
    KERF_TRY(const Integers values, (folded<std::int64_t, AddStep>(self, dims, 0)));
    KERF_CHECK(writeValues(values, out));
  } else {
    KERF_TRY(const Doubles values, ExactSums::wanted() ? exactSums(self, dims, out.dtype(), 1) : sums(self, dims));
    KERF_CHECK(writeValues(values, out));
  }
  return Value(std::move(out));
}

struct NonNan {
  static double apply(double x, double) { return std::isnan(x) ? 0 : x; }
};
Result<Value> nansumKernel(const BoundArguments& args) {
  if (isIntegral(args.tensor(0).dtype())) return sumKernel(args);
  KERF_TRY(Tensor out, makeEmptyOutput(args));
  KERF_TRY(const ReducedDims dims, dimsOf(args));
  KERF_TRY(const Tensor self, inputAs(args, out.dtype()));
  KERF_TRY(const auto states, (reduceStates<double>(self, dims, MappedSumOp<NonNan>{})));
  Doubles values;
  for (const auto& state : states) values.push_back(state.value());
  KERF_CHECK(writeValues(values, out));
  return Value(std::move(out));
}

double countOf(const Tensor& self, const ReducedDims& dims) { return double(ReduceGeometry(self, dims).goneCount); }

Result<Value> meanKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeEmptyOutput(args));
  KERF_TRY(const ReducedDims dims, dimsOf(args));
  KERF_TRY(const Tensor self, inputAs(args, out.dtype()));
  const std::int64_t count = ReduceGeometry(self, dims).goneCount;
  const bool exact = ExactSums::wanted() && count > 0;
  KERF_TRY(Doubles values, exact ? exactSums(self, dims, out.dtype(), count) : sums(self, dims));
  if (!exact)
    for (double& value : values) value /= double(count);
  KERF_CHECK(writeValues(values, out));
  return Value(std::move(out));
}

template <class Step, int start>
Result<Value> foldKernel(const BoundArguments& args, EmptyDims empty) {
  KERF_TRY(Tensor out, makeEmptyOutput(args));
  KERF_TRY(const ReducedDims dims, dimsOf(args, empty));
  KERF_TRY(const Tensor self, inputAs(args, out.dtype()));
  const bool integers = isIntegral(self.dtype()) && isIntegral(out.dtype());
  if (integers) {
    KERF_TRY(const Integers values, (folded<std::int64_t, Step>(self, dims, start)));
    KERF_CHECK(writeValues(values, out));
  } else {
    KERF_TRY(const Doubles values, (folded<double, Step>(self, dims, start)));
    KERF_CHECK(writeValues(values, out));
  }
  return Value(std::move(out));
}
Result<Value> prodKernel(const BoundArguments& args) { return foldKernel<MulStep, 1>(args, EmptyDims::All); }
Result<Value> countKernel(const BoundArguments& args) { return foldKernel<CountStep, 0>(args, EmptyDims::All); }
Result<Value> anyKernel(const BoundArguments& args) { return foldKernel<AnyStep, 0>(args, EmptyDims::None); }
Result<Value> allKernel(const BoundArguments& args) { return foldKernel<AllStep, 1>(args, EmptyDims::None); }

struct SquaredDeviation {
  static double apply(double x, double mean) { return (x - mean) * (x - mean); }
};

struct Moments {
  Doubles means, variances;
};

/// Two passes: means first, then squared deviations over (count - correction).
Result<Moments> momentsOf(const BoundArguments& args, const ReducedDims& dims) {
  const Tensor& self = args.tensor(0);
  const double count = countOf(self, dims);
  const Value given = argumentOr(args, "correction", {});
  const double correction = given.isNone() ? 1 : args.number(args.position("correction"));
  Moments moments;
  KERF_TRY(moments.means, sums(self, dims));
  for (double& mean : moments.means) mean /= count;
  KERF_TRY(const auto states, (reduceStates<double>(self, dims, MappedSumOp<SquaredDeviation>{&moments.means})));
  for (const auto& state : states) moments.variances.push_back(state.value() / std::max(0.0, count - correction));
  return moments;
}

enum class Spread { Variance, Deviation };

template <Spread spread>
Result<Value> spreadMeanKernel(const BoundArguments& args) {
  KERF_TRY(const std::vector<Tensor> outs, makeEmptyOutputs(args));
  KERF_TRY(const ReducedDims dims, dimsOf(args));
  KERF_TRY(Moments moments, momentsOf(args, dims));
  if (spread == Spread::Deviation)
    for (double& value : moments.variances) value = std::sqrt(value);
  KERF_CHECK(writeValues(moments.variances, outs[0]));
  KERF_CHECK(writeValues(moments.means, outs[1]));
  return tensorList(outs);
}

template <Spread spread>
Result<Value> spreadKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeEmptyOutput(args));
  KERF_TRY(const ReducedDims dims, dimsOf(args));
  KERF_TRY(Moments moments, momentsOf(args, dims));
  if (spread == Spread::Deviation)
    for (double& value : moments.variances) value = std::sqrt(value);
  KERF_CHECK(writeValues(moments.variances, out));
  return Value(std::move(out));
}

// Norms

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
  if (p == infinity) return folded<double, LargestStep>(self, dims, 0);
  if (p == -infinity) return folded<double, SmallestStep>(self, dims, infinity);
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
  KERF_TRY(const ReducedDims dims, dimsOf(args));
  KERF_TRY(const Tensor self, inputAs(args, out.dtype()));
  const Value p = argumentOr(args, find(args, "ord") ? "ord" : "p", {});
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
  KERF_TRY(const ReducedDims dims, dimsOf(args));
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
  KERF_TRY(const ReducedDims dims, dimsOf(args));
  const Tensor& self = args.tensor(0);
  KERF_TRY(Doubles shifts, (folded<double, MaximumStep>(self, dims, -std::numeric_limits<double>::infinity())));
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
constexpr OpRow reductionRows[] = {
    {"aten::sum(Tensor self, *, ScalarType? dtype=None) -> Tensor", reduction, sumShape, sumKernel},
    {"aten::sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
     reduction, sumShape, sumKernel},
    {"aten::nansum(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor", reduction,
     sumShape, nansumKernel},
    {"aten::prod(Tensor self, *, ScalarType? dtype=None) -> Tensor", reduction, sumShape, prodKernel},
    {"aten::prod.dim_int(Tensor self, int dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor", reduction,
     sumShape, prodKernel},
    {"aten::mean(Tensor self, *, ScalarType? dtype=None) -> Tensor", reduction, meanShape, meanKernel},
    {"aten::mean.dim(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor", reduction,
     meanShape, meanKernel},
    {"aten::any(Tensor self) -> Tensor", reduction, truthShape, anyKernel},
    {"aten::any.dim(Tensor self, int dim, bool keepdim=False) -> Tensor", reduction, truthShape, anyKernel},
    {"aten::any.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor", reduction, truthShape, anyKernel},
    {"aten::all(Tensor self) -> Tensor", reduction, truthShape, allKernel},
    {"aten::all.dim(Tensor self, int dim, bool keepdim=False) -> Tensor", reduction, truthShape, allKernel},
    {"aten::all.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor", reduction, truthShape, allKernel},
    {"aten::count_nonzero(Tensor self, int? dim=None) -> Tensor", reduction, countShape, countKernel},
    {"aten::count_nonzero.dim_IntList(Tensor self, int[] dim) -> Tensor", reduction, countShape, countKernel},
    {"aten::var.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> Tensor",
     reduction, meanShape, spreadKernel<Spread::Variance>},
    {"aten::std.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> Tensor",
     reduction, meanShape, spreadKernel<Spread::Deviation>},
    {"aten::var_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> "
     "(Tensor, Tensor)",
     reduction, twoShape, spreadMeanKernel<Spread::Variance>},
    {"aten::std_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> "
     "(Tensor, Tensor)",
     reduction, twoShape, spreadMeanKernel<Spread::Deviation>},
    {"aten::norm.ScalarOpt_dim(Tensor self, Scalar? p, int[1] dim, bool keepdim=False) -> Tensor", reduction, meanShape,
     normKernel},
    {"aten::norm.Scalar(Tensor self, Scalar p=2) -> Tensor", reduction, meanShape, normKernel},
    {"aten::linalg_vector_norm(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False, *, "
     "ScalarType? dtype=None) -> Tensor",
     reduction, meanShape, normKernel},
    {"aten::logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor", reduction, logSumExpShape,
     logSumExpKernel},
};

}  // namespace

OpRows reductionOps() { return reductionRows; }

}  // namespace kerf::inline ops
