// Reductions to sums, means, variances, products, truth values.
#include <cmath>

#include "engine/mathlib/exact_sums.h"
#include "engine/ops/core/empty_output.h"
#include "engine/ops/core/op_registration.h"
#include "engine/ops/core/type_promotion.h"
#include "engine/ops/kernels/doubles.h"
#include "engine/ops/kernels/element_math.h"
#include "engine/ops/reduce/reduction_arguments.h"

namespace kerf::inline ops {
namespace {

using Integers = std::vector<std::int64_t>;

// Dtype rules

DType sumType(const BoundArguments& args) {
  const DType own = args.tensor(0).dtype();
  return dtypeArgumentOf(args).value_or(isIntegral(own) ? DType::Int64 : own);
}

DType truthType(const BoundArguments& args) {
  return args.tensor(0).dtype() == DType::UInt8 ? DType::UInt8 : DType::Bool;
}

// Shape rules

Result<Value> sumShape(const BoundArguments& args) {
  KERF_TRY(const ReducedDims dims, reducedDimsOf(args));
  return Value(metaTensor(sumType(args), dims.outSizes));
}
Result<Value> truthShape(const BoundArguments& args) {
  KERF_TRY(const ReducedDims dims, reducedDimsOf(args, EmptyDims::None));
  return Value(metaTensor(truthType(args), dims.outSizes));
}
Result<Value> countShape(const BoundArguments& args) {
  KERF_TRY(const ReducedDims dims, reducedDimsOf(args));
  return Value(metaTensor(DType::Int64, dims.outSizes));
}
Result<Value> twoShape(const BoundArguments& args) {
  KERF_TRY(const Value one, meanShape(args));
  return Value(ValueList{one, one});
}

// Kernels

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
  KERF_TRY(const ReducedDims dims, reducedDimsOf(args));
  KERF_TRY(const Tensor self, inputAs(args, out.dtype()));
  if (isIntegral(out.dtype())) {
    KERF_TRY(const Integers values, (foldedStates<std::int64_t, AddStep>(self, dims, 0)));
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
  KERF_TRY(const ReducedDims dims, reducedDimsOf(args));
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
  KERF_TRY(const ReducedDims dims, reducedDimsOf(args));
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
  KERF_TRY(const ReducedDims dims, reducedDimsOf(args, empty));
  KERF_TRY(const Tensor self, inputAs(args, out.dtype()));
  const bool integers = isIntegral(self.dtype()) && isIntegral(out.dtype());
  if (integers) {
    KERF_TRY(const Integers values, (foldedStates<std::int64_t, Step>(self, dims, start)));
    KERF_CHECK(writeValues(values, out));
  } else {
    KERF_TRY(const Doubles values, (foldedStates<double, Step>(self, dims, start)));
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
  KERF_TRY(const ReducedDims dims, reducedDimsOf(args));
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
  KERF_TRY(const ReducedDims dims, reducedDimsOf(args));
  KERF_TRY(Moments moments, momentsOf(args, dims));
  if (spread == Spread::Deviation)
    for (double& value : moments.variances) value = std::sqrt(value);
  KERF_CHECK(writeValues(moments.variances, out));
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
};

const OpRegistration reductionOps({.rows = reductionRows});

}  // namespace

}  // namespace kerf::inline ops
