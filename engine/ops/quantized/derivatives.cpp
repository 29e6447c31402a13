// Gradients of fake quantization: straight through the elements inside of the range, as torch.ao trains with it.
#include "engine/ops/core/gradient_rules.h"
#include "engine/ops/core/op_registration.h"

namespace kerf::inline ops {
namespace {

using Tangents = std::vector<Formula>;

/// (output, mask)
void masked(Backward& b) {
  if (b.has(0)) b.give(0, b.grad() * b.result(1));
}
Tangents maskedTangent(Forward& f) {
  if (!f.has(0)) return {};
  return {f.tangent() * f.result(1), {}};
}

/// The forms without a mask: what the forms with one give as such.
Formula maskOf(Formulas& p) {
  const bool perChannel = p.args.op->schema.name.find("channel") != std::string::npos;
  std::vector<Formula> operands;
  for (const Value& value : p.args.values) operands.emplace_back(value);
  const bool tensors = p.args.op->schema.overload == "tensor_qparams";
  if (tensors) operands.insert(operands.begin() + 3, onesLike(p(reshape(p[2], SymSizes{1}))));  // that it is enabled
  const OpId one = tensors ? "aten._fake_quantize_per_tensor_affine_cachemask_tensor_qparams.default"_op
                           : "aten.fake_quantize_per_tensor_affine_cachemask.default"_op;
  const OpId channels = "aten.fake_quantize_per_channel_affine_cachemask.default"_op;
  return p.several<2>({perChannel ? channels : one, std::move(operands)})[1];
}
void unmasked(Backward& b) { b.give(0, b.grad() * maskOf(b)); }
Tangents unmaskedTangent(Forward& f) {
  if (!f.has(0)) return {};
  return {f.tangent() * maskOf(f)};
}

/// *_cachemask_backward(grad, mask)
void maskedBack(Backward& b) { b.give(0, b.grad() * b[1]); }

/// _fake_quantize_learnable_*(self, scale, zero_point, ...): the backward op takes the same arguments.
void learned(Backward& b) {
  const bool perChannel = b.args.op->schema.name.find("channel") != std::string::npos;
  std::vector<Formula> operands{b.grad()};
  for (const Value& value : b.args.values) operands.emplace_back(value);
  const auto grads = b.several<3>({perChannel ? "aten._fake_quantize_learnable_per_channel_affine_backward.default"_op
                                              : "aten._fake_quantize_learnable_per_tensor_affine_backward.default"_op,
                                   std::move(operands)});
  for (std::size_t i = 0; i < grads.size(); ++i)
    if (b.wants(i)) b.give(i, reshape(grads[i], b.sizes(i)));
}

constexpr OpFacts quantizationDerivativesTable[] = {
    differentiable<masked, maskedTangent>("aten::fake_quantize_per_tensor_affine_cachemask"),
    differentiable<masked, maskedTangent>("aten::_fake_quantize_per_tensor_affine_cachemask_tensor_qparams"),
    differentiable<masked, maskedTangent>("aten::fake_quantize_per_channel_affine_cachemask"),
    differentiable<unmasked, unmaskedTangent>("aten::fake_quantize_per_tensor_affine"),
    differentiable<unmasked, unmaskedTangent>("aten::fake_quantize_per_channel_affine"),
    linear<maskedBack>("aten::fake_quantize_per_tensor_affine_cachemask_backward"),
    linear<maskedBack>("aten::fake_quantize_per_channel_affine_cachemask_backward"),
    onlyBackward<learned>("aten::_fake_quantize_learnable_per_tensor_affine"),
    onlyBackward<learned>("aten::_fake_quantize_learnable_per_channel_affine"),
    withoutDerivative("aten::_fake_quantize_learnable_per_tensor_affine_backward"),
    withoutDerivative("aten::_fake_quantize_learnable_per_channel_affine_backward"),
    withoutDerivative("aten::_weight_int8pack_mm"),
    withoutDerivative("aten::_scaled_mm"),
    withoutDerivative("onednn::qlinear_prepack"),
    withoutDerivative("onednn::qlinear_pointwise"),
    withoutDerivative("onednn::qlinear_pointwise.tensor"),
};

const OpRegistration quantizationDerivatives({.facts = quantizationDerivativesTable});

}  // namespace

}  // namespace kerf::inline ops
