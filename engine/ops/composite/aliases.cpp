// Ops that are another op under a second name or with a Python number for an operand.
#include "engine/ops/core/composite.h"
#include "engine/ops/core/op_registration.h"

namespace kerf::inline ops {
namespace {

#define KERF_ALIAS1(name, base) aliasRow("aten::" name "(Tensor self) -> Tensor", "aten." base ".default")
#define KERF_ALIAS2(name, base) aliasRow("aten::" name "(Tensor self, Tensor other) -> Tensor", "aten." base)
#define KERF_SCALAR_FORMS(name, base) \
  aliasRow("aten::" name ".Scalar_Tensor(Scalar self, Tensor other) -> Tensor", "aten." base)

constexpr OpRow secondNameRows[] = {
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
    aliasRow("aten::special_round(Tensor self, *, int decimals=0) -> Tensor", "aten.round.decimals"),
    aliasRow("aten::special_logit(Tensor self, float? eps=None) -> Tensor", "aten.logit.default"),
    aliasRow("aten::special_polygamma(int n, Tensor self) -> Tensor", "aten.polygamma.default"),
    aliasRow("aten::special_multigammaln(Tensor self, int p) -> Tensor", "aten.mvlgamma.default"),
    KERF_ALIAS2("special_gammainc", "igamma.default"),
    KERF_ALIAS2("special_gammaincc", "igammac.default"),
    KERF_ALIAS2("special_xlogy", "xlogy.Tensor"),
    KERF_ALIAS2("arctan2", "atan2.default"),
    aliasRow("aten::clip.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor", "aten.clamp.Tensor"),
    aliasRow("aten::ger(Tensor self, Tensor vec2) -> Tensor", "aten.outer.default"),
    aliasRow("aten::_stack(Tensor[] tensors, int dim=0) -> Tensor", "aten.stack.default"),
    aliasRow("aten::_logcumsumexp(Tensor self, int dim) -> Tensor", "aten.logcumsumexp.default"),
    aliasRow("aten::_reshape_alias(Tensor(a) self, SymInt[] size, SymInt[] stride) -> Tensor(a)",
             "aten.as_strided.default", OpTrait::View),
    aliasRow("aten::_reshape_alias_copy(Tensor self, SymInt[] size, SymInt[] stride) -> Tensor",
             "aten.as_strided_copy.default"),
    // A number in a place of a tensor: element-wise rows take it.
    KERF_SCALAR_FORMS("bitwise_and", "bitwise_and.Tensor"),
    KERF_SCALAR_FORMS("bitwise_or", "bitwise_or.Tensor"),
    KERF_SCALAR_FORMS("bitwise_xor", "bitwise_xor.Tensor"),
    KERF_SCALAR_FORMS("bitwise_left_shift", "bitwise_left_shift.Tensor"),
    KERF_SCALAR_FORMS("bitwise_right_shift", "bitwise_right_shift.Tensor"),
    aliasRow("aten::bitwise_left_shift.Tensor_Scalar(Tensor self, Scalar other) -> Tensor",
             "aten.bitwise_left_shift.Tensor"),
    aliasRow("aten::bitwise_right_shift.Tensor_Scalar(Tensor self, Scalar other) -> Tensor",
             "aten.bitwise_right_shift.Tensor"),
    aliasRow("aten::__lshift__.Tensor(Tensor self, Tensor other) -> Tensor", "aten.bitwise_left_shift.Tensor"),
    aliasRow("aten::__rshift__.Tensor(Tensor self, Tensor other) -> Tensor", "aten.bitwise_right_shift.Tensor"),
    aliasRow("aten::xlogy.Scalar_Self(Scalar self, Tensor other) -> Tensor", "aten.xlogy.Tensor"),
    aliasRow("aten::xlogy.Scalar_Other(Tensor self, Scalar other) -> Tensor", "aten.xlogy.Tensor"),
    aliasRow("aten::special_xlogy.self_scalar(Scalar self, Tensor other) -> Tensor", "aten.xlogy.Tensor"),
    aliasRow("aten::special_xlogy.other_scalar(Tensor self, Scalar other) -> Tensor", "aten.xlogy.Tensor"),
    aliasRow("aten::special_xlog1py.self_scalar(Scalar self, Tensor other) -> Tensor", "aten.special_xlog1py.default"),
    aliasRow("aten::special_xlog1py.other_scalar(Tensor self, Scalar other) -> Tensor", "aten.special_xlog1py.default"),
    aliasRow("aten::special_zeta.self_scalar(Scalar self, Tensor other) -> Tensor", "aten.special_zeta.default"),
    aliasRow("aten::special_zeta.other_scalar(Tensor self, Scalar other) -> Tensor", "aten.special_zeta.default"),
    aliasRow("aten::__and__.Tensor(Tensor self, Tensor other) -> Tensor", "aten.bitwise_and.Tensor"),
    aliasRow("aten::__and__.Scalar(Tensor self, Scalar other) -> Tensor", "aten.bitwise_and.Scalar"),
    aliasRow("aten::__or__.Tensor(Tensor self, Tensor other) -> Tensor", "aten.bitwise_or.Tensor"),
    aliasRow("aten::__or__.Scalar(Tensor self, Scalar other) -> Tensor", "aten.bitwise_or.Scalar"),
    aliasRow("aten::__xor__.Tensor(Tensor self, Tensor other) -> Tensor", "aten.bitwise_xor.Tensor"),
    aliasRow("aten::__xor__.Scalar(Tensor self, Scalar other) -> Tensor", "aten.bitwise_xor.Scalar"),
    aliasRow("aten::multiply.Tensor(Tensor self, Tensor other) -> Tensor", "aten.mul.Tensor"),
    aliasRow("aten::subtract.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", "aten.sub.Tensor"),
    aliasRow("aten::divide.Tensor(Tensor self, Tensor other) -> Tensor", "aten.div.Tensor"),
    aliasRow("aten::true_divide.Tensor(Tensor self, Tensor other) -> Tensor", "aten.div.Tensor"),
    aliasRow("aten::divide.Scalar(Tensor self, Scalar other) -> Tensor", "aten.div.Scalar"),
    aliasRow("aten::true_divide.Scalar(Tensor self, Scalar other) -> Tensor", "aten.div.Scalar"),
    aliasRow("aten::multiply.Scalar(Tensor self, Scalar other) -> Tensor", "aten.mul.Scalar"),
    aliasRow("aten::subtract.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor", "aten.sub.Scalar"),
    aliasRow("aten::split.sizes(Tensor(a -> *) self, SymInt[] split_size, int dim=0) -> Tensor(a)[]",
             "aten.split_with_sizes.default"),
    aliasRow("aten::absolute(Tensor self) -> Tensor", "aten.abs.default"),
    aliasRow("aten::negative(Tensor self) -> Tensor", "aten.neg.default"),
    aliasRow("aten::clip(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor", "aten.clamp.default"),
    aliasRow("aten::greater.Tensor(Tensor self, Tensor other) -> Tensor", "aten.gt.Tensor"),
    aliasRow("aten::greater.Scalar(Tensor self, Scalar other) -> Tensor", "aten.gt.Scalar"),
    aliasRow("aten::less.Tensor(Tensor self, Tensor other) -> Tensor", "aten.lt.Tensor"),
    aliasRow("aten::less.Scalar(Tensor self, Scalar other) -> Tensor", "aten.lt.Scalar"),
    aliasRow("aten::greater_equal.Tensor(Tensor self, Tensor other) -> Tensor", "aten.ge.Tensor"),
    aliasRow("aten::greater_equal.Scalar(Tensor self, Scalar other) -> Tensor", "aten.ge.Scalar"),
    aliasRow("aten::less_equal.Tensor(Tensor self, Tensor other) -> Tensor", "aten.le.Tensor"),
    aliasRow("aten::less_equal.Scalar(Tensor self, Scalar other) -> Tensor", "aten.le.Scalar"),
    aliasRow("aten::not_equal.Tensor(Tensor self, Tensor other) -> Tensor", "aten.ne.Tensor"),
    aliasRow("aten::not_equal.Scalar(Tensor self, Scalar other) -> Tensor", "aten.ne.Scalar"),
    aliasRow("aten::concat(Tensor[] tensors, int dim=0) -> Tensor", "aten.cat.default"),
    aliasRow("aten::concatenate(Tensor[] tensors, int dim=0) -> Tensor", "aten.cat.default"),
};

const OpRegistration secondNameOps({.rows = secondNameRows});

}  // namespace

}  // namespace kerf::inline ops
