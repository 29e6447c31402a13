// Uses that have a domain: outside of it the result is NaN, infinite, or an error.
#include <cmath>

#include "engine/capture/plausible/use_rules.h"

namespace kerf::inline capture {
namespace {

/// A domain by name; the reason begins with `what`.
struct Domain {
  std::string_view what;
  NeedRange hard, likely;
  bool whole = false;
};
constexpr Domain positiveDomain{"positive", {0.05, 16}, {0.5, 1.5}};
constexpr Domain probabilityDomain{"a probability", {0.02, 0.98}, {0.1, 0.9}};
constexpr Domain unitDomain{"between 0 and 1", {0, 1}, {0.05, 0.95}};
constexpr Domain signedUnitDomain{"between -1 and 1", {-0.95, 0.95}, {-0.9, 0.9}};
constexpr Domain aboveOneDomain{"above 1", {1.05, 16}, {1.1, 3}};
constexpr Domain aboveMinusOneDomain{"above -1", {-0.9, 16}, {-0.5, 1.5}};
constexpr Domain countDomain{"a count of steps", {1, 1000}, {1, 10}, true};
constexpr Domain scaleDomain{"a quantization scale", {1e-3, 1}, {0.01, 0.1}};
constexpr Domain zeroPointDomain{"a zero point", {0, 7}, {0, 3}, true};
constexpr Domain switchDomain{"a switch", {0, 1}, {0, 1}, true};
constexpr Domain bitsDomain{"a number of bits", {0, 6}, {0, 6}, true};
constexpr Domain moderateDomain{"small enough", {-8, 8}, {-3, 3}};

ValueNeed needOf(const Domain& domain) {
  ValueNeed need;
  need.hard = domain.hard;
  need.likely = domain.likely;
  need.whole = domain.whole;
  need.reasons.emplace_back(domain.what);
  return need;
}

template <const Domain& domain>
std::optional<ValueNeed> inDomain(const UseSite&, const UseRule&) {
  return needOf(domain);
}

/// x ** c: fractional and negative exponents need a positive x. prims.pow calls the exponent `other`.
std::optional<ValueNeed> powerBase(const UseSite& site, const UseRule&) {
  const std::string_view name = site.find("exponent") ? "exponent" : "other";
  const auto exponent = site.number(name);
  if (!exponent) return site.find(name) ? std::optional(needOf(positiveDomain)) : std::nullopt;
  const bool fine = *exponent >= 0 && *exponent == std::floor(*exponent);
  return fine ? std::nullopt : std::optional(needOf(positiveDomain));
}

/// c ** x with 0 < c < 1: what Adam does with its step.
std::optional<ValueNeed> powerExponent(const UseSite& site, const UseRule&) {
  const auto base = site.number("self");
  if (base && *base > 0 && *base < 1) return needOf(countDomain);
  return needOf(moderateDomain);
}

/// Not beside a number that is no node: x / 2 has 2 in that place.
std::optional<ValueNeed> denominator(const UseSite& site, const UseRule&) {
  ValueNeed need = needOf(positiveDomain);
  const TensorMeta* meta = site.graph.node(site.value).meta().value.tensor();
  if (meta != nullptr && isIntegral(meta->dtype)) {
    need.hard = {1, 7};
    need.likely = {1, 3};
  }
  return need;
}

constexpr UseRule domainRulesRows[] = {
    {"sqrt rsqrt log log2 log10 reciprocal", "self", inDomain<positiveDomain>, {}, 0, true},
    {"log1p", "self", inDomain<aboveMinusOneDomain>},
    {"lgamma digamma polygamma igamma igammac gammainc gammaincc entr multinomial poisson _standard_gamma "
     "_sample_dirichlet",
     "self", inDomain<positiveDomain>},
    {"igamma igammac gammainc gammaincc", "other", inDomain<positiveDomain>},
    {"xlogy", "other", inDomain<positiveDomain>, {}, 0, true},
    {"xlog1py", "other", inDomain<aboveMinusOneDomain>},
    {"div divide true_divide truediv floor_divide floordiv remainder fmod mod", "other", denominator, {}, 0, true},
    {"addcdiv", "tensor2", denominator, {}, 0, true},
    {"pow float_power", "self", powerBase},
    {"pow", "exponent", powerExponent},
    {"acos asin atanh erfinv", "self", inDomain<signedUnitDomain>},
    {"grid_sampler grid_sampler_2d grid_sampler_3d grid_sample", "grid", inDomain<signedUnitDomain>},
    {"acosh", "self", inDomain<aboveOneDomain>},
    {"logit logit_backward ndtri bernoulli binary_cross_entropy binary_cross_entropy_backward", "self",
     inDomain<probabilityDomain>},
    {"bernoulli", "p", inDomain<probabilityDomain>},
    {"binomial", "prob", inDomain<probabilityDomain>},
    {"binomial", "count", inDomain<countDomain>},
    {"normal", "std", inDomain<positiveDomain>},
    {"polar", "abs", inDomain<positiveDomain>},
    {"binary_cross_entropy binary_cross_entropy_backward binary_cross_entropy_with_logits", "target",
     inDomain<unitDomain>},
    {"gaussian_nll_loss", "var", inDomain<positiveDomain>},
    {"nll_loss_backward nll_loss2d_backward", "total_weight", inDomain<positiveDomain>},
    {"batch_norm instance_norm native_batch_norm cudnn_batch_norm miopen_batch_norm _native_batch_norm_legit "
     "_native_batch_norm_legit_no_training _native_batch_norm_legit_functional _batch_norm_with_update "
     "_batch_norm_with_update_functional native_batch_norm_backward batch_norm_backward",
     "running_var", inDomain<positiveDomain>},
    {"native_batch_norm_backward", "save_invstd", inDomain<positiveDomain>},
    {"batch_norm_backward", "save_var", inDomain<positiveDomain>},
    {"native_layer_norm_backward native_group_norm_backward _fused_rms_norm_backward", "rstd",
     inDomain<positiveDomain>},
    {"_fused_adam _fused_adamw", "exp_avg_sqs", inDomain<positiveDomain>},
    {"_fused_adam _fused_adamw", "max_exp_avg_sqs", inDomain<positiveDomain>},
    {"_fused_adam _fused_adamw _fused_adagrad", "state_steps", inDomain<countDomain>},
    {"_fused_adagrad", "state_sums", inDomain<positiveDomain>},
    {"quantize_per_tensor dequantize_per_tensor fake_quantize_per_tensor_affine fake_quantize_per_channel_affine "
     "fake_quantize_per_channel_affine_cachemask _fake_quantize_per_tensor_affine_cachemask_tensor_qparams "
     "_fake_quantize_learnable_per_tensor_affine _fake_quantize_learnable_per_channel_affine",
     "scale", inDomain<scaleDomain>},
    {"quantize_per_tensor dequantize_per_tensor fake_quantize_per_tensor_affine fake_quantize_per_channel_affine "
     "fake_quantize_per_channel_affine_cachemask _fake_quantize_per_tensor_affine_cachemask_tensor_qparams",
     "zero_point", inDomain<zeroPointDomain>},
    {"quantize_per_channel quantize_per_channel_group quantize_per_token dequantize_per_channel "
     "dequantize_per_channel_group dequantize_per_token fake_quant_per_channel",
     "scales", inDomain<scaleDomain>},
    {"quantize_per_channel quantize_per_channel_group quantize_per_token dequantize_per_channel "
     "dequantize_per_channel_group dequantize_per_token fake_quant_per_channel",
     "zero_points", inDomain<zeroPointDomain>},
    {"_fake_quantize_per_tensor_affine_cachemask_tensor_qparams", "fake_quant_enabled", inDomain<switchDomain>},
    {"__lshift__ __rshift__ lshift rshift bitwise_left_shift bitwise_right_shift", "other", inDomain<bitsDomain>},
    {"exp exp2 expm1 sinh cosh", "self", inDomain<moderateDomain>},
};

}  // namespace

UseRules domainRules() { return domainRulesRows; }

}  // namespace kerf::inline capture
