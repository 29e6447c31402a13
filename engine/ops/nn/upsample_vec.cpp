// The `.vec` forms of upsampling: a size, or factors per dimension from which the size follows.
#include <cmath>

#include "engine/ops/core/composite.h"
#include "engine/ops/core/op_registration.h"
#include "engine/symbolic/shape_env.h"

namespace kerf::inline ops {
namespace {

/// A factor that is an expression is settled: PyTorch asks whether it is a whole number.
std::vector<double> factorsOf(const Value& value) {
  std::vector<double> factors;
  if (!value.isList()) return factors;
  for (const Value& item : value.list()) {
    const auto* symbolic = item.as<SymNumber>();
    if (symbolic && ShapeEnv::current())
      factors.push_back(ShapeEnv::current()->specialiseReal(symbolic->value));
    else
      factors.push_back(item.as<double>() ? *item.as<double>() : 0);
  }
  return factors;
}

/// trunc(size * factor) in PyTorch's words: a product where the factor is a whole number.
Result<SymInt> scaledSize(SymInt size, double factor) {
  if (factor == std::floor(factor)) return size * std::int64_t(factor);
  ShapeEnv& env = *ShapeEnv::current();
  KERF_TRY(Symbolic real, Symbolic::call("ToFloat", {env.expression(size)}));
  KERF_TRY(const Symbolic whole,
           Symbolic::call("TruncToInt", {Symbolic::mul({Symbolic::real(factor), std::move(real)})}));
  return env.intern(whole);
}

/// The size given, or floor(input * factor) per spatial dimension.
Result<SymSizes> resampledSize(const BoundArguments& args, const std::vector<double>& factors) {
  const Tensor& input = args.tensor(0);
  if (args.none(1) == factors.empty()) return mismatch(args, "exactly one of output_size and scale_factors is needed");
  if (!args.none(1)) return args.symSizes(1);
  if (std::size_t(input.dim()) != factors.size() + 2)
    return mismatch(args, "{} scale factors for {} dimensions", factors.size(), input.dim());
  SymSizes sizes;
  for (std::size_t d = 0; d < factors.size(); ++d) {
    const SymInt in = input.symSizes()[d + 2];
    const double size = in.isSymbolic() ? factors[d] : std::floor(double(std::int64_t{in}) * factors[d]);
    if (!(size >= 0 && size < 0x1p40)) return mismatch(args, "scale factor {} is out of range", factors[d]);
    if (!in.isSymbolic()) {
      sizes.push_back(std::int64_t(size));
      continue;
    }
    KERF_TRY(const SymInt scaled, scaledSize(in, factors[d]));
    sizes.push_back(scaled);
  }
  return sizes;
}

Result<Value> resample(const BoundArguments& args, const OpRunner& run) {
  const std::vector<double> factors = factorsOf(args.values.back());
  KERF_TRY(const SymSizes sizes, resampledSize(args, factors));
  ValueList call{args.values[0], intList(sizes)};
  if (args.values.size() == 4) call.push_back(args.values[2]);  // align_corners
  for (double factor : factors) call.emplace_back(factor);
  return run.value(args.op->base, call);
}

constexpr OpRow vec(const char* schema, const char* base) {
  return compositeRow(resample, schema, OpTrait::None, base);
}
#define KERF_VEC(name)                                                                             \
  vec("aten::" name ".vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor", \
      "aten." name ".default")
#define KERF_VEC_ALIGN(name)                                                                      \
  vec("aten::" name                                                                               \
      ".vec(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors) -> " \
      "Tensor",                                                                                   \
      "aten." name ".default")

constexpr OpRow upsampleVecRows[] = {
    KERF_VEC("upsample_nearest1d"),
    KERF_VEC("upsample_nearest2d"),
    KERF_VEC("upsample_nearest3d"),
    KERF_VEC("_upsample_nearest_exact1d"),
    KERF_VEC("_upsample_nearest_exact2d"),
    KERF_VEC("_upsample_nearest_exact3d"),
    KERF_VEC_ALIGN("upsample_linear1d"),
    KERF_VEC_ALIGN("upsample_bilinear2d"),
    KERF_VEC_ALIGN("upsample_trilinear3d"),
    KERF_VEC_ALIGN("upsample_bicubic2d"),
    KERF_VEC_ALIGN("_upsample_bilinear2d_aa"),
    KERF_VEC_ALIGN("_upsample_bicubic2d_aa"),
};

const OpRegistration upsampleVecOps({.rows = upsampleVecRows});

}  // namespace

}  // namespace kerf::inline ops
