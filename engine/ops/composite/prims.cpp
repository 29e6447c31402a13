// torch.ops.prims that are an ATen op under another name or in another order: what torch._refs decompose to.
#include "engine/ops/core/composite.h"
#include "engine/ops/core/op_registration.h"

namespace kerf::inline ops {
namespace {

Result<Value> broadcastInDim(const BoundArguments& args, const OpRunner& run) {
  const std::size_t rank = args.symSizes(1).size();
  const Sizes places = args.sizes(2);
  Value self = args.values[0];
  if (places.size() != self.tensor().symSizes().size())
    return mismatch(args, "argument 'broadcast_dimensions' names {} dimensions of {}", places.size(),
                    self.tensor().dim());
  for (std::size_t d = 0; d < places.size(); ++d)
    if (places[d] < 0 || places[d] >= std::int64_t(rank) || (d > 0 && places[d] <= places[d - 1]))
      return mismatch(args, "argument 'broadcast_dimensions' must rise within the shape");
  for (std::int64_t d = 0; d < std::int64_t(rank); ++d) {
    if (std::ranges::find(places, d) != places.end()) continue;
    KERF_TRY(self, run.value("aten.unsqueeze.default"_op, {self, d}));
  }
  return run.value("aten.expand.default"_op, {self, args.values[1]});
}

template <Composite program>
constexpr OpRow viewRow(const char* schema) {
  return compositeRow(program, schema, OpTrait::View);
}

Result<Value> primSqueeze(const BoundArguments& args, const OpRunner& run) {
  return run.value("aten.squeeze.dims"_op, {args.values[0], args.values[1]});
}
Result<Value> primTranspose(const BoundArguments& args, const OpRunner& run) {
  return run.value("aten.permute.default"_op, {args.values[0], args.values[1]});
}
Result<Value> primViewOf(const BoundArguments& args, const OpRunner& run) {
  return run.value("aten.alias.default"_op, {args.values[0]});
}
/// prims.div(self, other): whole numbers are divided towards zero.
Result<Value> primDivision(const BoundArguments& args, const OpRunner& run) {
  if (!isIntegral(args.tensor(0).dtype())) return run.value("aten.div.Tensor"_op, {args.values[0], args.values[1]});
  return run.value("aten.div.Tensor_mode"_op, {args.values[0], args.values[1]},
                   {{"rounding_mode", std::string("trunc")}});
}
Result<Value> primReshape(const BoundArguments& args, const OpRunner& run) {
  KERF_TRY(const Value copy, run.value("aten.clone.default"_op, {args.values[0]}));
  return run.value("aten.reshape.default"_op, {copy, args.values[1]});
}

#define KERF_PRIM1(name, base) aliasRow("prims::" name "(Tensor self) -> Tensor", "aten." base ".default", point)
#define KERF_PRIM2(name, base) aliasRow("prims::" name "(Tensor self, Tensor other) -> Tensor", "aten." base, point)

constexpr OpTrait point = OpTrait::Pointwise;
constexpr OpRow primRows[] = {
    KERF_PRIM1("abs", "abs"),
    KERF_PRIM1("acos", "acos"),
    KERF_PRIM1("acosh", "acosh"),
    KERF_PRIM1("asin", "asin"),
    KERF_PRIM1("asinh", "asinh"),
    KERF_PRIM1("atan", "atan"),
    KERF_PRIM1("atanh", "atanh"),
    KERF_PRIM1("bitwise_not", "bitwise_not"),
    KERF_PRIM1("ceil", "ceil"),
    KERF_PRIM1("cos", "cos"),
    KERF_PRIM1("cosh", "cosh"),
    KERF_PRIM1("digamma", "digamma"),
    KERF_PRIM1("erf", "erf"),
    KERF_PRIM1("erfc", "erfc"),
    KERF_PRIM1("exp", "exp"),
    KERF_PRIM1("exp2", "exp2"),
    KERF_PRIM1("expm1", "expm1"),
    KERF_PRIM1("floor", "floor"),
    KERF_PRIM1("isfinite", "isfinite"),
    KERF_PRIM1("lgamma", "lgamma"),
    KERF_PRIM1("log", "log"),
    KERF_PRIM1("log10", "log10"),
    KERF_PRIM1("log1p", "log1p"),
    KERF_PRIM1("log2", "log2"),
    KERF_PRIM1("neg", "neg"),
    KERF_PRIM1("reciprocal", "reciprocal"),
    KERF_PRIM1("round", "round"),
    KERF_PRIM1("rsqrt", "rsqrt"),
    KERF_PRIM1("sign", "sign"),
    KERF_PRIM1("signbit", "signbit"),
    KERF_PRIM1("sin", "sin"),
    KERF_PRIM1("sinh", "sinh"),
    KERF_PRIM1("sqrt", "sqrt"),
    KERF_PRIM1("tan", "tan"),
    KERF_PRIM1("tanh", "tanh"),
    KERF_PRIM1("trunc", "trunc"),
    KERF_PRIM1("bessel_i0", "i0"),
    KERF_PRIM1("bessel_i0e", "special_i0e"),
    KERF_PRIM1("bessel_i1", "special_i1"),
    KERF_PRIM1("bessel_i1e", "special_i1e"),
    KERF_PRIM1("bessel_j0", "special_bessel_j0"),
    KERF_PRIM1("bessel_j1", "special_bessel_j1"),
    KERF_PRIM1("erf_inv", "erfinv"),
    KERF_PRIM1("erfcx", "special_erfcx"),
    KERF_PRIM1("ndtri", "special_ndtri"),
    KERF_PRIM1("spherical_bessel_j0", "special_spherical_bessel_j0"),
    KERF_PRIM2("add", "add.Tensor"),
    KERF_PRIM2("atan2", "atan2.default"),
    KERF_PRIM2("bitwise_and", "bitwise_and.Tensor"),
    KERF_PRIM2("bitwise_or", "bitwise_or.Tensor"),
    KERF_PRIM2("bitwise_xor", "bitwise_xor.Tensor"),
    KERF_PRIM2("eq", "eq.Tensor"),
    KERF_PRIM2("fmax", "fmax.default"),
    KERF_PRIM2("fmin", "fmin.default"),
    KERF_PRIM2("fmod", "fmod.Tensor"),
    KERF_PRIM2("gcd", "gcd.default"),
    KERF_PRIM2("ge", "ge.Tensor"),
    KERF_PRIM2("gt", "gt.Tensor"),
    KERF_PRIM2("hypot", "hypot.default"),
    KERF_PRIM2("igamma", "igamma.default"),
    KERF_PRIM2("igammac", "igammac.default"),
    KERF_PRIM2("le", "le.Tensor"),
    KERF_PRIM2("lt", "lt.Tensor"),
    KERF_PRIM2("maximum", "maximum.default"),
    KERF_PRIM2("minimum", "minimum.default"),
    KERF_PRIM2("mul", "mul.Tensor"),
    KERF_PRIM2("ne", "ne.Tensor"),
    KERF_PRIM2("nextafter", "nextafter.default"),
    KERF_PRIM2("pow", "pow.Tensor_Tensor"),
    KERF_PRIM2("remainder", "remainder.Tensor"),
    KERF_PRIM2("shift_left", "bitwise_left_shift.Tensor"),
    KERF_PRIM2("shift_right_arithmetic", "bitwise_right_shift.Tensor"),
    KERF_PRIM2("sub", "sub.Tensor"),
    KERF_PRIM2("zeta", "special_zeta.default"),
    compositeRow(primDivision, "prims::div(Tensor self, Tensor other) -> Tensor", point),
    aliasRow("prims::where(Tensor pred, Tensor a, Tensor b) -> Tensor", "aten.where.self", point),
    aliasRow("prims::cat(Tensor[] tensors, int dim) -> Tensor", "aten.cat.default"),
    aliasRow("prims::rev(Tensor a, int[] dims) -> Tensor", "aten.flip.default"),
    compositeRow(primReshape, "prims::reshape(Tensor a, SymInt[] shape) -> Tensor"),
    viewRow<broadcastInDim>(
        "prims::broadcast_in_dim(Tensor(a) a, SymInt[] shape, int[] broadcast_dimensions) -> Tensor(a)"),
    viewRow<primSqueeze>("prims::squeeze(Tensor(a) a, int[] dimensions) -> Tensor(a)"),
    viewRow<primTranspose>("prims::transpose(Tensor(a) a, int[] permutation) -> Tensor(a)"),
    viewRow<primViewOf>("prims::view_of(Tensor(a) a) -> Tensor(a)"),
};

#undef KERF_PRIM1
#undef KERF_PRIM2

const OpRegistration primOps({.rows = primRows});

}  // namespace

}  // namespace kerf::inline ops
