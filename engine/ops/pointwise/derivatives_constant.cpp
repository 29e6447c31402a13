// Element-wise and creating ops through which nothing flows, or whose result holds one argument's values only.
#include "engine/ops/core/gradient_rules.h"
#include "engine/ops/core/op_registration.h"

namespace kerf::inline ops {
namespace {

/// copy(self, src): src. self gives sizes, strides and dtype.
void copied(Backward& b) { b.give(1, b.grad()); }
std::vector<Formula> copiedTangent(Forward& f) {
  if (!f.has(1)) return {};
  return {{"aten.copy.default"_op, {f[0], f.tangent(1)}}};
}

/// fill(self, value): one number everywhere.
void filled(Backward& b) { b.give(1, sum(b.grad())); }
std::vector<Formula> filledTangent(Forward& f) {
  if (!f.has(1)) return {};
  return {{"aten.fill.Tensor"_op, {f[0], f.tangent(1)}}};
}

constexpr OpFacts constantDerivativesTable[] = {
    {.op = "aten::copy", .gradient = ruleGradient<copied>, .jvp = ruleJvp<copiedTangent>},
    {.op = "aten::fill.Tensor", .gradient = ruleGradient<filled>, .jvp = ruleJvp<filledTangent>},
    notDifferentiable("aten::fill.Scalar"),
    notDifferentiable("aten::zero"),
    // PyTorch has no derivative of these
    withoutDerivative("aten::nextafter"),
    withoutDerivative("aten::logit_backward"),
    withoutDerivative("aten::mish_backward"),
    withoutDerivative("aten::silu_backward"),
    withoutDerivative("aten::special_airy_ai"),
    withoutDerivative("aten::special_bessel_j0"),
    withoutDerivative("aten::special_bessel_j1"),
    withoutDerivative("aten::special_bessel_y0"),
    withoutDerivative("aten::special_bessel_y1"),
    withoutDerivative("aten::special_chebyshev_polynomial_t"),
    withoutDerivative("aten::special_chebyshev_polynomial_u"),
    withoutDerivative("aten::special_chebyshev_polynomial_v"),
    withoutDerivative("aten::special_chebyshev_polynomial_w"),
    withoutDerivative("aten::special_hermite_polynomial_h"),
    withoutDerivative("aten::special_hermite_polynomial_he"),
    withoutDerivative("aten::special_laguerre_polynomial_l"),
    withoutDerivative("aten::special_legendre_polynomial_p"),
    withoutDerivative("aten::special_modified_bessel_i0"),
    withoutDerivative("aten::special_modified_bessel_i1"),
    withoutDerivative("aten::special_modified_bessel_k0"),
    withoutDerivative("aten::special_modified_bessel_k1"),
    withoutDerivative("aten::special_scaled_modified_bessel_k0"),
    withoutDerivative("aten::special_scaled_modified_bessel_k1"),
    withoutDerivative("aten::special_shifted_chebyshev_polynomial_t"),
    withoutDerivative("aten::special_shifted_chebyshev_polynomial_u"),
    withoutDerivative("aten::special_shifted_chebyshev_polynomial_v"),
    withoutDerivative("aten::special_shifted_chebyshev_polynomial_w"),
    withoutDerivative("aten::special_spherical_bessel_j0"),
    // Rounding
    notDifferentiable("aten::ceil"),
    notDifferentiable("aten::floor"),
    notDifferentiable("aten::round"),
    notDifferentiable("aten::trunc"),
    notDifferentiable("aten::sign"),
    notDifferentiable("aten::heaviside"),
    notDifferentiable("aten::floor_divide"),
    // Questions
    notDifferentiable("aten::eq"),
    notDifferentiable("aten::ne"),
    notDifferentiable("aten::lt"),
    notDifferentiable("aten::le"),
    notDifferentiable("aten::gt"),
    notDifferentiable("aten::ge"),
    notDifferentiable("aten::isnan"),
    notDifferentiable("aten::isinf"),
    notDifferentiable("aten::isneginf"),
    notDifferentiable("aten::isposinf"),
    notDifferentiable("aten::signbit"),
    notDifferentiable("aten::logical_and"),
    notDifferentiable("aten::logical_not"),
    notDifferentiable("aten::logical_or"),
    notDifferentiable("aten::logical_xor"),
    notDifferentiable("aten::is_complex"),
    // Whole numbers
    notDifferentiable("aten::bitwise_and"),
    notDifferentiable("aten::bitwise_left_shift"),
    notDifferentiable("aten::bitwise_not"),
    notDifferentiable("aten::bitwise_or"),
    notDifferentiable("aten::bitwise_right_shift"),
    notDifferentiable("aten::bitwise_xor"),
    notDifferentiable("aten::__iand__"),
    notDifferentiable("aten::__ior__"),
    notDifferentiable("aten::__ixor__"),
    notDifferentiable("aten::__lshift__"),
    notDifferentiable("aten::__rshift__"),
    notDifferentiable("aten::gcd"),
    notDifferentiable("aten::lcm"),
    // New tensors
    notDifferentiable("aten::_efficientzerotensor"),
    notDifferentiable("aten::arange"),
    notDifferentiable("aten::empty"),
    notDifferentiable("aten::empty_like"),
    notDifferentiable("aten::empty_permuted"),
    notDifferentiable("aten::empty_strided"),
    notDifferentiable("aten::eye"),
    notDifferentiable("aten::full"),
    notDifferentiable("aten::full_like"),
    notDifferentiable("aten::linspace"),
    notDifferentiable("aten::logspace"),
    notDifferentiable("aten::new_empty"),
    notDifferentiable("aten::new_empty_strided"),
    notDifferentiable("aten::new_full"),
    notDifferentiable("aten::new_ones"),
    notDifferentiable("aten::new_zeros"),
    notDifferentiable("aten::ones"),
    notDifferentiable("aten::ones_like"),
    notDifferentiable("aten::scalar_tensor"),
    notDifferentiable("aten::tril_indices"),
    notDifferentiable("aten::triu_indices"),
    notDifferentiable("aten::zeros"),
    notDifferentiable("aten::zeros_like"),
    notDifferentiable("prims::iota"),
};

const OpRegistration constantDerivatives({.facts = constantDerivativesTable});

}  // namespace

}  // namespace kerf::inline ops
