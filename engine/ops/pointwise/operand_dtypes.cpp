// Which dtypes PyTorch has no element-wise kernels for, and the scalars that its integer kernels refuse. From recordings
// of every overload in every dtype on CPU and CUDA: a dtype stands here where both refuse it.
#include <cmath>

#include "engine/ops/core/operand_checks.h"
#include "engine/ops/core/type_promotion.h"

namespace kerf::inline ops {
namespace {

constexpr std::uint32_t truth = bitOf(DType::Bool);
constexpr std::uint32_t signedIntegers =
    bitOf(DType::Int64) | bitOf(DType::Int32) | bitOf(DType::Int16) | bitOf(DType::Int8);
constexpr std::uint32_t integers = truth | signedIntegers | bitOf(DType::UInt8);
constexpr std::uint32_t halves = bitOf(DType::Float16) | bitOf(DType::BFloat16);
constexpr std::uint32_t floats = halves | bitOf(DType::Float32) | bitOf(DType::Float64);

constexpr RefusedDtypes elementDtypes[] = {
    {"_prelu_kernel _prelu_kernel_backward _standard_gamma_grad addcdiv binary_cross_entropy_backward celu elu "
     "elu_backward frac frexp.Tensor gelu gelu_backward hardshrink hardshrink_backward hardsigmoid "
     "hardsigmoid_backward hardswish hardswish_backward hardtanh_backward huber_loss_backward hypot igamma igammac "
     "leaky_relu leaky_relu_backward lerp.Scalar lerp.Tensor log_sigmoid log_sigmoid_backward log_sigmoid_forward "
     "logaddexp logaddexp2 logit_backward mish mish_backward nextafter round.decimals sigmoid_backward silu "
     "silu_backward soft_margin_loss_backward softplus softplus_backward softshrink softshrink_backward tanh_backward "
     "special_gammainc special_gammaincc _softmax _log_softmax glu logcumsumexp _logcumsumexp selu",
     integers},
    {"_neg_view _neg_view_copy addcmul ceil floor floor_divide fmod.Tensor hardtanh mse_loss_backward "
     "mvlgamma neg pow.Tensor_Tensor relu relu6 remainder.Tensor round smooth_l1_loss_backward "
     "threshold threshold_backward trunc fmod.default pow.default remainder.default argmax argmin fix positive "
     "special_multigammaln special_round nanmedian",
     truth},
    {"hash_tensor searchsorted bucketize", bitOf(DType::Complex64) | bitOf(DType::Complex128)},
    {"special_airy_ai special_bessel_j0 special_bessel_j1 special_bessel_y0 special_bessel_y1 "
     "special_chebyshev_polynomial_t special_chebyshev_polynomial_u special_chebyshev_polynomial_v "
     "special_chebyshev_polynomial_w special_erfcx special_hermite_polynomial_h special_hermite_polynomial_he "
     "special_laguerre_polynomial_l special_legendre_polynomial_p special_log_ndtr special_modified_bessel_i0 "
     "special_modified_bessel_i1 special_modified_bessel_k0 special_modified_bessel_k1 special_ndtri "
     "special_scaled_modified_bessel_k0 special_scaled_modified_bessel_k1 special_shifted_chebyshev_polynomial_t "
     "special_shifted_chebyshev_polynomial_u special_shifted_chebyshev_polynomial_v "
     "special_shifted_chebyshev_polynomial_w special_spherical_bessel_j0 special_zeta bessel_j0 bessel_j1 erfcx ndtri "
     "spherical_bessel_j0 zeta",
     halves},
    {"__lshift__ __rshift__ bitwise_and bitwise_not bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift gcd "
     "lcm shift_left shift_right_arithmetic",
     floats},
    {"__lshift__.Tensor __rshift__.Tensor bitwise_left_shift.Tensor bitwise_right_shift.Tensor gcd lcm shift_left "
     "shift_right_arithmetic",
     truth},
    {"complex", integers | bitOf(DType::BFloat16)},
    {"polar", integers | halves},
};

struct WholeRange {
  double low, high;
};

/// What integers of a dtype can be made of; negative numbers wrap into unsigned ones.
std::optional<WholeRange> rangeOf(DType dtype) {
  switch (dtype) {
    case DType::UInt8:
      return WholeRange{-255, 255};
    case DType::Int8:
      return WholeRange{-128, 127};
    case DType::Int16:
      return WholeRange{-32768, 32767};
    case DType::Int32:
      return WholeRange{-2147483648.0, 2147483647.0};
    case DType::Int64:
      return WholeRange{-0x1p63, 0x1p63};
    default:
      return {};
  }
}

/// A number that the dtype has no value for, in the place of an element.
Result<void> checkFits(const BoundArguments& args, const Value& value, DType dtype, std::string_view argument) {
  const auto* real = value.as<double>();
  const auto* whole = value.as<std::int64_t>();
  const auto range = rangeOf(dtype);
  if ((!real && !whole) || !range) return {};
  const double number = real ? *real : double(*whole);
  if (number >= range->low && number <= range->high) return {};
  return mismatch(args, "'{}' is {}, which {} cannot hold", argument, number, nameOf(dtype));
}

template <std::size_t position>
Result<void> fitsSelf(const BoundArguments& args) {
  if (!args.values[0].isTensor()) return {};
  const auto given = args.op->schema.name.starts_with("aten::full_like") ? args.dtypeIf(args.position("dtype"))
                                                                         : std::optional<DType>();
  return checkFits(args, args.values[position], given.value_or(args.tensor(0).dtype()),
                   args.op->schema.arguments[position].name);
}

/// torch.full and its kin, whose dtype is an argument.
Result<void> fullFits(const BoundArguments& args) {
  const auto dtype = args.dtypeIf(args.position("dtype"));
  const std::size_t value = args.position("fill_value");
  return dtype ? checkFits(args, args.values[value], *dtype, "fill_value") : Result<void>();
}

/// add, sub and rsub of integers take integers times the other operand.
Result<void> alphaFits(const BoundArguments& args) {
  const std::size_t at = args.position("alpha");
  if (at == 0 || !args.values[at].as<double>()) return {};
  const DType dtype = resultType(std::vector<Value>{args.values[0], args.values[1]});
  if (isIntegral(dtype))
    return mismatch(args, "'alpha' must be an integer for {}, got {}", nameOf(dtype), args.number(at));
  return {};
}

/// Bits of an integer with a float.
Result<void> wholeOperands(const BoundArguments& args) {
  for (std::size_t i = 0; i < 2; ++i)
    if (args.values[i].as<double>()) return mismatch(args, "not implemented for {}", nameOf(DType::Float32));
  return {};
}

Result<void> negativeExponent(const BoundArguments& args) {
  const bool whole = args.values[0].isTensor() && isIntegral(args.tensor(0).dtype());
  const auto* exponent = args.values[1].as<std::int64_t>();
  if (whole && exponent && *exponent < 0) return mismatch(args, "integers have no powers with negative exponents");
  return {};
}

Result<void> roundingMode(const BoundArguments& args) {
  const std::size_t at = args.position("rounding_mode");
  const std::string mode = args.text(at);
  if (args.none(at) || mode == "trunc" || mode == "floor") return {};
  return mismatch(args, "rounding_mode must be None, 'trunc' or 'floor', got '{}'", mode);
}

Result<void> approximation(const BoundArguments& args) {
  const std::string text = textNamed(args, "approximate");
  if (text == "none" || text == "tanh") return {};
  return mismatch(args, "approximate must be 'none' or 'tanh', got '{}'", text);
}

/// uint8 counts as truths, as it always did.
Result<void> truthCondition(const BoundArguments& args) {
  const Tensor* condition = args.tensorIf(0);
  if (!condition || condition->dtype() == DType::Bool || condition->dtype() == DType::UInt8) return {};
  return mismatch(args, "'condition' must be a bool tensor, got {}", nameOf(condition->dtype()));
}

Result<void> truthMask(const BoundArguments& args) {
  const Tensor* mask = operandNamed(args, "mask");
  if (!mask || mask->dtype() == DType::Bool) return {};
  return mismatch(args, "'mask' must be a bool tensor, got {}", nameOf(mask->dtype()));
}

/// torch has no difference of truths.
Result<void> noTruths(const BoundArguments& args) {
  bool any = false, all = true;
  for (std::size_t i = 0; i < 2; ++i) {
    const bool isTruth =
        args.values[i].isTensor() ? args.tensor(i).dtype() == DType::Bool : args.values[i].as<bool>() != nullptr;
    any = any || isTruth;
    all = all && isTruth;
  }
  if (any && all) return mismatch(args, "subtraction of two bool tensors is not supported; use logical_xor");
  if (any) return mismatch(args, "subtraction of a bool tensor is not supported; convert it first");
  return {};
}

Result<void> complexOnly(const BoundArguments& args) {
  const Tensor* self = args.tensorIf(0);
  if (!self || isComplex(self->dtype())) return {};
  return mismatch(args, "needs a complex tensor, got {}", nameOf(self->dtype()));
}

Result<void> oneDtype(const BoundArguments& args) {
  const Tensor *a = args.tensorIf(0), *b = args.tensorIf(1);
  if (!a || !b || a->dtype() == b->dtype()) return {};
  return mismatch(args, "the operands must have one dtype, got {} and {}", nameOf(a->dtype()), nameOf(b->dtype()));
}

/// The norm of a difference has no whole numbers.
Result<void> inexactDifference(const BoundArguments& args) {
  const DType dtype = resultType(std::vector<Value>{args.values[0], args.values[1]});
  if (!isIntegral(dtype)) return {};
  return mismatch(args, "needs floating point or complex tensors, got {}", nameOf(dtype));
}

constexpr OperandRule elementRules[] = {
    {"aten::sub aten::sub_ aten::rsub aten::subtract aten::subtract_ prims::sub", noTruths},
    {"aten::masked_fill.Scalar aten::masked_fill_.Scalar", fitsSelf<2>},
    {"aten::masked_fill aten::masked_fill_ aten::masked_scatter aten::masked_scatter_", truthMask},
    {"aten::full_like aten::fill.Scalar aten::fill_.Scalar", fitsSelf<1>},
    {"aten::threshold aten::threshold_ aten::constant_pad_nd", fitsSelf<2>},
    {"aten::index_fill.int_Scalar aten::index_fill_.int_Scalar aten::scatter.value aten::scatter_.value", fitsSelf<3>},
    {"aten::full aten::new_full", fullFits},
    {"aten::add.Tensor aten::add.Scalar aten::sub.Tensor aten::sub.Scalar aten::rsub.Tensor aten::rsub.Scalar "
     "aten::add_.Tensor aten::add_.Scalar aten::sub_.Tensor aten::sub_.Scalar",
     alphaFits},
    {"aten::__lshift__.Scalar aten::__rshift__.Scalar aten::bitwise_and.Scalar aten::bitwise_or.Scalar "
     "aten::bitwise_xor.Scalar aten::bitwise_left_shift.Tensor_Scalar aten::bitwise_right_shift.Tensor_Scalar "
     "aten::bitwise_left_shift.Scalar_Tensor aten::bitwise_right_shift.Scalar_Tensor",
     wholeOperands},
    {"aten::pow.Tensor_Scalar aten::pow_.Scalar", negativeExponent},
    {"aten::div.Tensor_mode aten::div.Scalar_mode aten::div_.Tensor_mode aten::div_.Scalar_mode "
     "aten::divide.Tensor_mode aten::divide.Scalar_mode aten::divide_.Tensor_mode aten::divide_.Scalar_mode",
     roundingMode},
    {"aten::gelu aten::gelu_ aten::gelu_backward", approximation},
    {"aten::where", truthCondition},
    {"prims::conj prims::conj_physical", complexOnly},
    {"aten::heaviside aten::heaviside_ aten::isclose aten::allclose", oneDtype},
    {"aten::dist", noTruths},
    {"aten::dist", inexactDifference},
};

const OperandChecks elementChecks({.rules = elementRules, .dtypes = elementDtypes});

}  // namespace
}  // namespace kerf::inline ops
