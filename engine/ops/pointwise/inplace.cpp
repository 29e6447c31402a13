// In-place ops: the functional op of the table, its result copied into self.
#include <algorithm>

#include "engine/ops/core/complex_rows.h"
#include "engine/ops/core/op_registration.h"
#include "engine/ops/core/strides.h"
#include "engine/ops/core/type_promotion.h"
#include "engine/tensor/copy.h"

namespace kerf::inline ops {
namespace {

Result<Value> selfShape(const BoundArguments& args) {
  const Tensor& self = args.tensor(0);
  return Value(metaTensor(self.dtype(), self.symSizes(), self.symStrides(), self.symOffset()));
}

Result<Value> inplaceKernel(const BoundArguments& args) {
  const OpInfo* functional = findOp(args.op->base);
  if (!functional) return fail(ErrorCode::UnsupportedOp, "no kernel for {}", args.opName());
  BoundArguments call{functional, args.values};
  const OpRow* complex = complexRow(call);
  KERF_TRY(const Value result, (complex ? complex->kernel : functional->kernel)(call));
  const Tensor& self = args.tensor(0);
  const Tensor& value = result.tensor();
  const bool copies = functional->schema.name == "aten::copy" || functional->schema.name == "aten::fill";
  if (!copies && !canCast(value.dtype(), self.dtype()))
    return mismatch(args, "result type {} cannot be stored in {}", dtypeInfo(value.dtype()).torchName,
                    dtypeInfo(self.dtype()).torchName);
  if (value.sizes() != self.sizes())
    return mismatch(args, "result of shape [{}] does not fit self of shape [{}]", fmt::join(value.sizes(), ", "),
                    fmt::join(self.sizes(), ", "));
  KERF_CHECK(copyElements(value, self));
  return args.values[0];
}

/// Whether the second tensor's elements can go straight into self: no memory in common, and none of self's twice.
bool copiesStraight(const Tensor& self, const Tensor& source) {
  if (self.storage() == source.storage() || isComplex(self.dtype()) != isComplex(source.dtype())) return false;
  for (std::size_t d = 0; d < self.sizes().size(); ++d)
    if (self.strides()[d] == 0 && self.sizes()[d] > 1) return false;
  const auto sizes = broadcastSizes(self.sizes(), source.sizes());
  return sizes && *sizes == self.sizes();
}

/// copy_(self, src): as the others, but without a tensor in between.
Result<Value> copyIntoKernel(const BoundArguments& args) {
  const Tensor &self = args.tensor(0), &source = args.tensor(1);
  if (!copiesStraight(self, source)) return inplaceKernel(args);
  KERF_CHECK(copyElements(source.viewAs(self.sizes(), broadcastStrides(source, self.sizes()), source.offset()), self));
  return args.values[0];
}

constexpr OpRow inplace(const char* schema, const char* base = nullptr) {
  return {schema, OpTrait::Inplace | OpTrait::Impure, selfShape, inplaceKernel, nullptr, base};
}

#define KERF_UNARY_INPLACE(name) inplace("aten::" name "_(Tensor(a!) self) -> Tensor(a!)")

#define KERF_COMPARE_INPLACE(name)                                                \
  inplace("aten::" name "_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)"), \
      inplace("aten::" name "_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)")

constexpr OpRow inplaceRows[] = {
    KERF_UNARY_INPLACE("abs"),
    KERF_UNARY_INPLACE("acos"),
    KERF_UNARY_INPLACE("acosh"),
    KERF_UNARY_INPLACE("asin"),
    KERF_UNARY_INPLACE("asinh"),
    KERF_UNARY_INPLACE("atan"),
    KERF_UNARY_INPLACE("atanh"),
    KERF_UNARY_INPLACE("ceil"),
    KERF_UNARY_INPLACE("cos"),
    KERF_UNARY_INPLACE("cosh"),
    KERF_UNARY_INPLACE("erf"),
    KERF_UNARY_INPLACE("erfc"),
    KERF_UNARY_INPLACE("erfinv"),
    KERF_UNARY_INPLACE("exp"),
    KERF_UNARY_INPLACE("exp2"),
    KERF_UNARY_INPLACE("expm1"),
    KERF_UNARY_INPLACE("floor"),
    KERF_UNARY_INPLACE("frac"),
    KERF_UNARY_INPLACE("lgamma"),
    KERF_UNARY_INPLACE("log"),
    KERF_UNARY_INPLACE("log10"),
    KERF_UNARY_INPLACE("log1p"),
    KERF_UNARY_INPLACE("log2"),
    KERF_UNARY_INPLACE("neg"),
    KERF_UNARY_INPLACE("reciprocal"),
    KERF_UNARY_INPLACE("relu"),
    KERF_UNARY_INPLACE("round"),
    KERF_UNARY_INPLACE("rsqrt"),
    KERF_UNARY_INPLACE("sigmoid"),
    KERF_UNARY_INPLACE("sign"),
    KERF_UNARY_INPLACE("silu"),
    KERF_UNARY_INPLACE("sin"),
    KERF_UNARY_INPLACE("sinh"),
    KERF_UNARY_INPLACE("sqrt"),
    KERF_UNARY_INPLACE("square"),
    KERF_UNARY_INPLACE("tan"),
    KERF_UNARY_INPLACE("tanh"),
    KERF_UNARY_INPLACE("trunc"),
    KERF_UNARY_INPLACE("zero"),
    KERF_UNARY_INPLACE("bitwise_not"),
    KERF_UNARY_INPLACE("logical_not"),
    KERF_UNARY_INPLACE("hardswish"),
    KERF_UNARY_INPLACE("hardsigmoid"),
    KERF_UNARY_INPLACE("deg2rad"),
    KERF_UNARY_INPLACE("rad2deg"),
    KERF_UNARY_INPLACE("digamma"),
    KERF_UNARY_INPLACE("sgn"),
    inplace("aten::add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)"),
    inplace("aten::add_.Scalar(Tensor(a!) self, Scalar other, Scalar alpha=1) -> Tensor(a!)"),
    inplace("aten::sub_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)"),
    inplace("aten::sub_.Scalar(Tensor(a!) self, Scalar other, Scalar alpha=1) -> Tensor(a!)"),
    inplace("aten::mul_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)"),
    inplace("aten::mul_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)"),
    inplace("aten::div_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)"),
    inplace("aten::div_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)"),
    inplace("aten::pow_.Scalar(Tensor(a!) self, Scalar exponent) -> Tensor(a!)", "aten.pow.Tensor_Scalar"),
    inplace("aten::remainder_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)"),
    inplace("aten::remainder_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)"),
    inplace("aten::fmod_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)"),
    inplace("aten::floor_divide_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)", "aten.floor_divide.default"),
    inplace("aten::lerp_.Tensor(Tensor(a!) self, Tensor end, Tensor weight) -> Tensor(a!)"),
    inplace("aten::lerp_.Scalar(Tensor(a!) self, Tensor end, Scalar weight) -> Tensor(a!)"),
    inplace("aten::addcmul_(Tensor(a!) self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor(a!)"),
    inplace("aten::addcdiv_(Tensor(a!) self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor(a!)"),
    inplace("aten::clamp_(Tensor(a!) self, Scalar? min=None, Scalar? max=None) -> Tensor(a!)"),
    inplace("aten::clamp_min_(Tensor(a!) self, Scalar min) -> Tensor(a!)"),
    inplace("aten::clamp_min_.Tensor(Tensor(a!) self, Tensor min) -> Tensor(a!)"),
    inplace("aten::clamp_max_(Tensor(a!) self, Scalar max) -> Tensor(a!)"),
    inplace("aten::clamp_max_.Tensor(Tensor(a!) self, Tensor max) -> Tensor(a!)"),
    inplace("aten::hardtanh_(Tensor(a!) self, Scalar min_val=-1, Scalar max_val=1) -> Tensor(a!)"),
    inplace("aten::leaky_relu_(Tensor(a!) self, Scalar negative_slope=0.01) -> Tensor(a!)"),
    inplace("aten::elu_(Tensor(a!) self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> Tensor(a!)"),
    inplace("aten::logical_and_(Tensor(a!) self, Tensor other) -> Tensor(a!)"),
    inplace("aten::logical_or_(Tensor(a!) self, Tensor other) -> Tensor(a!)"),
    inplace("aten::logical_xor_(Tensor(a!) self, Tensor other) -> Tensor(a!)"),
    inplace("aten::bitwise_and_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)"),
    inplace("aten::bitwise_or_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)"),
    inplace("aten::bitwise_xor_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)"),
    inplace("aten::masked_fill_.Scalar(Tensor(a!) self, Tensor mask, Scalar value) -> Tensor(a!)"),
    inplace("aten::masked_fill_.Tensor(Tensor(a!) self, Tensor mask, Tensor value) -> Tensor(a!)"),
    {"aten::copy_(Tensor(a!) self, Tensor src, bool non_blocking=False) -> Tensor(a!)",
     OpTrait::Inplace | OpTrait::Impure, selfShape, copyIntoKernel},
    inplace("aten::fill_.Scalar(Tensor(a!) self, Scalar value) -> Tensor(a!)"),
    inplace("aten::fill_.Tensor(Tensor(a!) self, Tensor value) -> Tensor(a!)"),
    inplace("aten::tril_(Tensor(a!) self, SymInt diagonal=0) -> Tensor(a!)"),
    inplace("aten::triu_(Tensor(a!) self, SymInt diagonal=0) -> Tensor(a!)"),
    inplace("aten::scatter_.value(Tensor(a!) self, int dim, Tensor index, Scalar value) -> Tensor(a!)"),
    inplace("aten::scatter_.src(Tensor(a!) self, int dim, Tensor index, Tensor src) -> Tensor(a!)"),
    inplace("aten::scatter_add_(Tensor(a!) self, int dim, Tensor index, Tensor src) -> Tensor(a!)"),
    inplace("aten::index_add_(Tensor(a!) self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor(a!)"),
    inplace("aten::index_copy_(Tensor(a!) self, int dim, Tensor index, Tensor source) -> Tensor(a!)"),
    inplace("aten::addmm_(Tensor(a!) self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor(a!)"),
    inplace("aten::baddbmm_(Tensor(a!) self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> "
            "Tensor(a!)"),
    inplace("aten::cumsum_(Tensor(a!) self, int dim, *, ScalarType? dtype=None) -> Tensor(a!)"),
    inplace("aten::cumprod_(Tensor(a!) self, int dim, *, ScalarType? dtype=None) -> Tensor(a!)"),
    inplace("aten::__iand__.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)", "aten.bitwise_and.Tensor"),
    inplace("aten::__ior__.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)", "aten.bitwise_or.Tensor"),
    inplace("aten::__ixor__.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)", "aten.bitwise_xor.Tensor"),
    inplace("aten::bitwise_and_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)"),
    inplace("aten::bitwise_or_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)"),
    inplace("aten::bitwise_xor_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)"),
    inplace("aten::bitwise_left_shift_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)"),
    inplace("aten::bitwise_left_shift_.Tensor_Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)"),
    inplace("aten::bitwise_right_shift_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)"),
    inplace("aten::bitwise_right_shift_.Tensor_Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)"),
    inplace("aten::addbmm_(Tensor(a!) self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> "
            "Tensor(a!)"),
    inplace("aten::addmv_(Tensor(a!) self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1) -> Tensor(a!)"),
    inplace("aten::addr_(Tensor(a!) self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1) -> Tensor(a!)"),
    inplace("aten::atan2_(Tensor(a!) self, Tensor other) -> Tensor(a!)"),
    inplace("aten::celu_(Tensor(a!) self, Scalar alpha=1.0) -> Tensor(a!)"),
    inplace("aten::clamp_.Tensor(Tensor(a!) self, Tensor? min=None, Tensor? max=None) -> Tensor(a!)"),
    inplace("aten::copysign_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)"),
    inplace("aten::copysign_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)"),
    inplace("aten::div_.Tensor_mode(Tensor(a!) self, Tensor other, *, str? rounding_mode) -> Tensor(a!)"),
    inplace("aten::div_.Scalar_mode(Tensor(a!) self, Scalar other, *, str? rounding_mode) -> Tensor(a!)"),
    inplace("aten::floor_divide_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)"),
    inplace("aten::fmod_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)"),
    inplace("aten::gcd_(Tensor(a!) self, Tensor other) -> Tensor(a!)"),
    inplace("aten::lcm_(Tensor(a!) self, Tensor other) -> Tensor(a!)"),
    inplace("aten::heaviside_(Tensor(a!) self, Tensor values) -> Tensor(a!)"),
    inplace("aten::hypot_(Tensor(a!) self, Tensor other) -> Tensor(a!)"),
    inplace("aten::i0_(Tensor(a!) self) -> Tensor(a!)"),
    inplace("aten::igamma_(Tensor(a!) self, Tensor other) -> Tensor(a!)"),
    inplace("aten::igammac_(Tensor(a!) self, Tensor other) -> Tensor(a!)"),
    inplace("aten::index_fill_.int_Scalar(Tensor(a!) self, int dim, Tensor index, Scalar value) -> Tensor(a!)"),
    inplace("aten::index_fill_.int_Tensor(Tensor(a!) self, int dim, Tensor index, Tensor value) -> Tensor(a!)"),
    inplace("aten::index_reduce_(Tensor(a!) self, int dim, Tensor index, Tensor source, str reduce, *, bool "
            "include_self=True) -> Tensor(a!)"),
    inplace("aten::ldexp_(Tensor(a!) self, Tensor other) -> Tensor(a!)", "aten.ldexp.Tensor"),
    inplace("aten::logit_(Tensor(a!) self, float? eps=None) -> Tensor(a!)"),
    inplace("aten::masked_scatter_(Tensor(a!) self, Tensor mask, Tensor source) -> Tensor(a!)"),
    inplace("aten::mvlgamma_(Tensor(a!) self, int p) -> Tensor(a!)"),
    inplace("aten::nan_to_num_(Tensor(a!) self, float? nan=None, float? posinf=None, float? neginf=None) -> "
            "Tensor(a!)"),
    inplace("aten::nextafter_(Tensor(a!) self, Tensor other) -> Tensor(a!)"),
    inplace("aten::pow_.Tensor(Tensor(a!) self, Tensor exponent) -> Tensor(a!)", "aten.pow.Tensor_Tensor"),
    inplace("aten::put_(Tensor(a!) self, Tensor index, Tensor source, bool accumulate=False) -> Tensor(a!)"),
    inplace("aten::renorm_(Tensor(a!) self, Scalar p, int dim, Scalar maxnorm) -> Tensor(a!)"),
    inplace("aten::round_.decimals(Tensor(a!) self, *, int decimals) -> Tensor(a!)"),
    inplace("aten::scatter_.reduce(Tensor(a!) self, int dim, Tensor index, Tensor src, *, str reduce) -> Tensor(a!)"),
    inplace("aten::scatter_.value_reduce(Tensor(a!) self, int dim, Tensor index, Scalar value, *, str reduce) -> "
            "Tensor(a!)"),
    inplace("aten::scatter_reduce_.two(Tensor(a!) self, int dim, Tensor index, Tensor src, str reduce, *, bool "
            "include_self=True) -> Tensor(a!)"),
    inplace("aten::sinc_(Tensor(a!) self) -> Tensor(a!)"),
    inplace("aten::threshold_(Tensor(a!) self, Scalar threshold, Scalar value) -> Tensor(a!)"),
    inplace("aten::true_divide_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)", "aten.div.Tensor"),
    inplace("aten::xlogy_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)"),
    inplace("aten::xlogy_.Scalar_Other(Tensor(a!) self, Scalar other) -> Tensor(a!)"),
    KERF_COMPARE_INPLACE("eq"),
    KERF_COMPARE_INPLACE("ne"),
    KERF_COMPARE_INPLACE("lt"),
    KERF_COMPARE_INPLACE("le"),
    KERF_COMPARE_INPLACE("gt"),
    KERF_COMPARE_INPLACE("ge"),
};

const OpRegistration inplaceOps({.rows = inplaceRows});

}  // namespace

}  // namespace kerf::inline ops
