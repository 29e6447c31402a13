// Reductions and scans of complex tensors, in complex double.
#include <cmath>

#include "engine/ops/core/complex_rows.h"
#include "engine/ops/core/op_registration.h"
#include "engine/ops/core/strides.h"
#include "engine/ops/kernels/complex_values.h"
#include "engine/ops/kernels/reduction_engine.h"

namespace kerf::inline ops {
namespace {

std::optional<std::size_t> find(const BoundArguments& args, std::string_view name) {
  for (std::size_t i = 0; i < args.values.size(); ++i)
    if (args.op->schema.arguments[i].name == name) return i;
  return {};
}

Result<ReducedDims> dimsOf(const BoundArguments& args) {
  const auto dim = find(args, "dim"), keep = find(args, "keepdim");
  return reducedDims(args, args.tensor(0), dim ? args.values[*dim] : Value(), keep && args.boolean(*keep));
}

DType computeOf(const BoundArguments& args) {
  const auto at = find(args, "dtype");
  return at ? args.dtypeIf(*at).value_or(args.tensor(0).dtype()) : args.tensor(0).dtype();
}

/// The elements of every result, grouped.
struct Groups {
  Complexes values;
  std::vector<std::int64_t> kept, gone;  ///< flat offsets in the contiguous copy
};

Result<Groups> groupsOf(const BoundArguments& args) {
  KERF_TRY(const ReducedDims dims, dimsOf(args));
  Groups groups;
  KERF_TRY(groups.values, complexesOf(args.tensor(0)));
  const Tensor flat = metaTensor(DType::Complex128, args.tensor(0).sizes());
  groups.kept = ReduceGeometry(flat, dims).keptOffsets();
  ReducedDims opposite = dims;
  opposite.reduced.flip();
  groups.gone = ReduceGeometry(flat, opposite).keptOffsets();
  return groups;
}

template <class F>
Result<Value> reduce(const BoundArguments& args, F&& f) {
  KERF_TRY(Tensor out, makeOutput(args));
  KERF_TRY(const Groups groups, groupsOf(args));
  Complexes result, line(groups.gone.size());
  for (std::int64_t kept : groups.kept) {
    for (std::size_t i = 0; i < groups.gone.size(); ++i) line[i] = groups.values[std::size_t(kept + groups.gone[i])];
    result.push_back(f(line));
  }
  if (out.numel() == 0) result.clear();
  KERF_CHECK(writeComplexes(result, out));
  return Value(std::move(out));
}

enum class Out : std::uint8_t { Same, Part, Bool, Int64 };
template <Out kind>
Result<Value> shapeOf(const BoundArguments& args) {
  KERF_TRY(const ReducedDims dims, dimsOf(args));
  const DType dtype = kind == Out::Same   ? computeOf(args)
                      : kind == Out::Part ? partOf(computeOf(args))
                      : kind == Out::Bool ? DType::Bool
                                          : DType::Int64;
  return Value(metaTensor(dtype, dims.outSizes));
}

Z sumOf(const Complexes& line) {
  ExactSum re, im;
  for (Z z : line) re.add(z.real()), im.add(z.imag());
  return {re.value(), im.value()};
}

Result<Value> sumKernel(const BoundArguments& args) { return reduce(args, sumOf); }
Result<Value> meanKernel(const BoundArguments& args) {
  return reduce(args, [](const Complexes& line) { return sumOf(line) / double(line.size()); });
}
Result<Value> productKernel(const BoundArguments& args) {
  return reduce(args, [](const Complexes& line) {
    Z product = 1;
    for (Z z : line) product = multiply(product, z);
    return product;
  });
}
Result<Value> anyKernel(const BoundArguments& args) {
  return reduce(
      args, [](const Complexes& line) { return Z(std::ranges::any_of(line, [](Z z) { return z != Z(0); }) ? 1 : 0); });
}
Result<Value> allKernel(const BoundArguments& args) {
  return reduce(
      args, [](const Complexes& line) { return Z(std::ranges::all_of(line, [](Z z) { return z != Z(0); }) ? 1 : 0); });
}
Result<Value> countKernel(const BoundArguments& args) {
  return reduce(args, [](const Complexes& line) {
    return Z(double(std::ranges::count_if(line, [](Z z) { return z != Z(0); })));
  });
}

/// (Σ|z|^p)^(1/p), with the limits 0, ±inf.
double normOf(const Complexes& line, double p) {
  double result = p == -INFINITY ? INFINITY : 0;
  ExactSum sum;
  for (Z z : line) {
    const double size = std::abs(z);
    if (p == INFINITY)
      result = std::isnan(size) || std::isnan(result) ? NAN : std::max(result, size);
    else if (p == -INFINITY)
      result = std::isnan(size) || std::isnan(result) ? NAN : std::min(result, size);
    else
      sum.add(p == 0 ? size != 0 : p == 2 ? size * size : std::pow(size, p));
  }
  if (std::isinf(p)) return result;
  return p == 0 ? sum.value() : p == 2 ? std::sqrt(sum.value()) : std::pow(sum.value(), 1 / p);
}
Result<Value> normKernel(const BoundArguments& args) {
  const double p = args.numberIf(1).value_or(2);
  return reduce(args, [p](const Complexes& line) { return Z(normOf(line, p)); });
}

/// Σ|z - mean|² / (n - correction), and its root.
double varianceOf(const Complexes& line, double correction) {
  const Z mean = sumOf(line) / double(line.size());
  ExactSum sum;
  for (Z z : line) sum.add(std::norm(z - mean));
  return sum.value() / std::max(0.0, double(line.size()) - correction);
}
template <bool root>
Result<Value> varianceKernel(const BoundArguments& args) {
  const double correction = args.numberIf(args.position("correction")).value_or(1);
  return reduce(args, [=](const Complexes& line) {
    const double variance = varianceOf(line, correction);
    return Z(root ? std::sqrt(variance) : variance);
  });
}

// Scans

Result<Value> scanShape(const BoundArguments& args) {
  KERF_CHECK(wrapDim(args, args.integer(1), args.tensor(0).dim()));
  const Tensor& self = args.tensor(0);
  return Value(metaTensor(computeOf(args), self.symSizes(), elementwiseStrides(std::span(&self, 1), self.symSizes())));
}
template <bool product>
Result<Value> scanKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  KERF_TRY(Complexes values, complexesOf(args.tensor(0)));
  KERF_TRY(const std::int64_t dim, wrapDim(args, args.integer(1), out.dim()));
  const Sizes strides = contiguousStrides(out.sizes());
  const std::int64_t step = out.dim() == 0 ? 1 : strides[std::size_t(dim)], length = out.dim() == 0 ? 1 : out.size(dim);
  for (std::int64_t i = 0; i < out.numel(); ++i) {
    if (i / step % length == 0) continue;
    Z& here = values[std::size_t(i)];
    const Z before = values[std::size_t(i - step)];
    here = product ? multiply(before, here) : before + here;
  }
  KERF_CHECK(writeComplexes(values, out));
  return Value(std::move(out));
}

Result<Value> vdotShape(const BoundArguments& args) {
  if (args.tensor(0).dim() != 1 || !checkEqual(args.tensor(0).symSizes(), args.tensor(1).symSizes()))
    return mismatch(args, "needs two vectors of one length");
  if (args.tensor(0).dtype() != args.tensor(1).dtype()) return mismatch(args, "both vectors must have one dtype");
  return Value(metaTensor(args.tensor(0).dtype(), Sizes{}));
}
template <bool conjugated>
Result<Value> vdotKernel(const BoundArguments& args) {
  KERF_TRY(Tensor out, makeOutput(args));
  KERF_TRY(const Complexes a, complexesOf(args.tensor(0)));
  KERF_TRY(const Complexes b, complexesOf(args.tensor(1)));
  Complexes products;
  for (std::size_t i = 0; i < a.size(); ++i) products.push_back(multiply(conjugated ? std::conj(a[i]) : a[i], b[i]));
  KERF_CHECK(writeComplexes({sumOf(products)}, out));
  return Value(std::move(out));
}

constexpr OpTrait reduction = OpTrait::Reduction;
constexpr OpRow complexReductionRowsTable[] = {
    {"aten::sum(Tensor self)", reduction, shapeOf<Out::Same>, sumKernel},
    {"aten::sum.dim_IntList(Tensor self)", reduction, shapeOf<Out::Same>, sumKernel},
    {"aten::mean(Tensor self)", reduction, shapeOf<Out::Same>, meanKernel},
    {"aten::mean.dim(Tensor self)", reduction, shapeOf<Out::Same>, meanKernel},
    {"aten::prod(Tensor self)", reduction, shapeOf<Out::Same>, productKernel},
    {"aten::prod.dim_int(Tensor self)", reduction, shapeOf<Out::Same>, productKernel},
    {"aten::any(Tensor self)", reduction, shapeOf<Out::Bool>, anyKernel},
    {"aten::any.dim(Tensor self)", reduction, shapeOf<Out::Bool>, anyKernel},
    {"aten::any.dims(Tensor self)", reduction, shapeOf<Out::Bool>, anyKernel},
    {"aten::all(Tensor self)", reduction, shapeOf<Out::Bool>, allKernel},
    {"aten::all.dim(Tensor self)", reduction, shapeOf<Out::Bool>, allKernel},
    {"aten::all.dims(Tensor self)", reduction, shapeOf<Out::Bool>, allKernel},
    {"aten::count_nonzero(Tensor self)", reduction, shapeOf<Out::Int64>, countKernel},
    {"aten::count_nonzero.dim_IntList(Tensor self)", reduction, shapeOf<Out::Int64>, countKernel},
    {"aten::linalg_vector_norm(Tensor self)", reduction, shapeOf<Out::Part>, normKernel},
    {"aten::norm.ScalarOpt_dim(Tensor self)", reduction, shapeOf<Out::Part>, normKernel},
    {"aten::norm.Scalar(Tensor self)", reduction, shapeOf<Out::Part>, normKernel},
    {"aten::var.correction(Tensor self)", reduction, shapeOf<Out::Part>, varianceKernel<false>},
    {"aten::std.correction(Tensor self)", reduction, shapeOf<Out::Part>, varianceKernel<true>},
    {"aten::cumsum(Tensor self)", OpTrait::None, scanShape, scanKernel<false>},
    {"aten::cumprod(Tensor self)", OpTrait::None, scanShape, scanKernel<true>},
    {"aten::vdot(Tensor self)", OpTrait::Matmul, vdotShape, vdotKernel<true>},
    {"aten::dot(Tensor self)", OpTrait::Matmul, vdotShape, vdotKernel<false>},
};

const OpRegistration complexReductionRows({.complex = complexReductionRowsTable});

}  // namespace

}  // namespace kerf::inline ops
