// Ops that are another op under a second name or with a Python number for an operand.
#include "engine/ops/composite/families.h"
#include "engine/ops/core/composite.h"

namespace kerf::inline ops {
namespace {

/// An error of the base says under which name it was called.
Result<Value> forwarded(const BoundArguments& args, const OpRunner& run) {
  auto result = callBase(args, run);
  if (!result && result.error().message.find(args.opName()) == std::string::npos)
    return fail(result.error().code, "{}: {}", args.opName(), result.error().message);
  return result;
}

constexpr OpRow alias(const char* schema, const char* base, OpTrait traits = OpTrait::None) {
  return compositeRow(forwarded, schema, traits, base);
}

#define KERF_ALIAS1(name, base) alias("aten::" name "(Tensor self) -> Tensor", "aten." base ".default")
#define KERF_ALIAS2(name, base) alias("aten::" name "(Tensor self, Tensor other) -> Tensor", "aten." base)
#define KERF_SCALAR_FORMS(name, base) \
  alias("aten::" name ".Scalar_Tensor(Scalar self, Tensor other) -> Tensor", "aten." base)

constexpr OpRow rows[] = {
    KERF_ALIAS1("arccos", "acos"),
    KERF_ALIAS1("arccosh", "acosh"),
    KERF_ALIAS1("arcsin", "asin"),
    KERF_ALIAS1("arcsinh", "asinh"),
    KERF_ALIAS1("arctan", "atan"),
    KERF_ALIAS1("arctanh", "atanh"),
    KERF_ALIAS1("fix", "trunc"),
    KERF_ALIAS1("special_digamma", "digamma"),
    KERF_ALIAS1("special_psi", "digamma"),
    KERF_ALIAS1("special_erf", "erf"),
    KERF_ALIAS1("special_erfc", "erfc"),
    KERF_ALIAS1("special_erfinv", "erfinv"),
    KERF_ALIAS1("special_exp2", "exp2"),
    KERF_ALIAS1("special_expit", "sigmoid"),
    KERF_ALIAS1("special_expm1", "expm1"),
    KERF_ALIAS1("special_gammaln", "lgamma"),
    KERF_ALIAS1("special_i0", "i0"),
    KERF_ALIAS1("special_log1p", "log1p"),
    KERF_ALIAS1("special_sinc", "sinc"),
    alias("aten::special_round(Tensor self, *, int decimals=0) -> Tensor", "aten.round.decimals"),
    alias("aten::special_logit(Tensor self, float? eps=None) -> Tensor", "aten.logit.default"),
    alias("aten::special_polygamma(int n, Tensor self) -> Tensor", "aten.polygamma.default"),
    alias("aten::special_multigammaln(Tensor self, int p) -> Tensor", "aten.mvlgamma.default"),
    KERF_ALIAS2("special_gammainc", "igamma.default"),
    KERF_ALIAS2("special_gammaincc", "igammac.default"),
    KERF_ALIAS2("special_xlogy", "xlogy.Tensor"),
    KERF_ALIAS2("arctan2", "atan2.default"),
    alias("aten::clip.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor", "aten.clamp.Tensor"),
    alias("aten::_stack(Tensor[] tensors, int dim=0) -> Tensor", "aten.stack.default"),
    alias("aten::_logcumsumexp(Tensor self, int dim) -> Tensor", "aten.logcumsumexp.default"),
    alias("aten::_reshape_alias(Tensor(a) self, SymInt[] size, SymInt[] stride) -> Tensor(a)",
          "aten.as_strided.default", OpTrait::View),
    alias("aten::_reshape_alias_copy(Tensor self, SymInt[] size, SymInt[] stride) -> Tensor",
          "aten.as_strided_copy.default"),
    // A number in a place of a tensor: element-wise rows take it.
    KERF_SCALAR_FORMS("bitwise_and", "bitwise_and.Tensor"),
    KERF_SCALAR_FORMS("bitwise_or", "bitwise_or.Tensor"),
    KERF_SCALAR_FORMS("bitwise_xor", "bitwise_xor.Tensor"),
    KERF_SCALAR_FORMS("bitwise_left_shift", "bitwise_left_shift.Tensor"),
    KERF_SCALAR_FORMS("bitwise_right_shift", "bitwise_right_shift.Tensor"),
    alias("aten::bitwise_left_shift.Tensor_Scalar(Tensor self, Scalar other) -> Tensor",
          "aten.bitwise_left_shift.Tensor"),
    alias("aten::bitwise_right_shift.Tensor_Scalar(Tensor self, Scalar other) -> Tensor",
          "aten.bitwise_right_shift.Tensor"),
    alias("aten::__lshift__.Tensor(Tensor self, Tensor other) -> Tensor", "aten.bitwise_left_shift.Tensor"),
    alias("aten::__rshift__.Tensor(Tensor self, Tensor other) -> Tensor", "aten.bitwise_right_shift.Tensor"),
    alias("aten::xlogy.Scalar_Self(Scalar self, Tensor other) -> Tensor", "aten.xlogy.Tensor"),
    alias("aten::xlogy.Scalar_Other(Tensor self, Scalar other) -> Tensor", "aten.xlogy.Tensor"),
    alias("aten::special_xlogy.self_scalar(Scalar self, Tensor other) -> Tensor", "aten.xlogy.Tensor"),
    alias("aten::special_xlogy.other_scalar(Tensor self, Scalar other) -> Tensor", "aten.xlogy.Tensor"),
    alias("aten::special_xlog1py.self_scalar(Scalar self, Tensor other) -> Tensor", "aten.special_xlog1py.default"),
    alias("aten::special_xlog1py.other_scalar(Tensor self, Scalar other) -> Tensor", "aten.special_xlog1py.default"),
    alias("aten::special_zeta.self_scalar(Scalar self, Tensor other) -> Tensor", "aten.special_zeta.default"),
    alias("aten::special_zeta.other_scalar(Tensor self, Scalar other) -> Tensor", "aten.special_zeta.default"),
};

}  // namespace

OpRows secondNameOps() { return rows; }

}  // namespace kerf::inline ops
