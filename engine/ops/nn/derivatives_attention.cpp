// Gradients of attention kernels, with the weights computed anew for tangents.
#include <cmath>

#include "engine/ops/core/op_registration.h"
#include "engine/ops/nn/backward_calls.h"

namespace kerf::inline ops {
namespace {

Formula turned(const Formula& a) { return {"aten.transpose.int"_op, {a, -2, -1}}; }
Formula product(const Formula& a, const Formula& b) { return {"aten.matmul.default"_op, {a, b}}; }

/// _scaled_dot_product_flash_attention_for_cpu(query, key, value, dropout_p, is_causal, *, attn_mask, scale) →
/// (output, logsumexp).
void flashAttention(Backward& b) {
  if (!b.has(0)) return;
  giveResults(b, {0, 1, 2},
              {"aten._scaled_dot_product_flash_attention_for_cpu_backward.default"_op,
               {b.grad(), b[0], b[1], b[2], b.result(0), b.result(1), b[3], b[4]},
               {{"attn_mask", b.args.values[5]}, {"scale", b.args.values[6]}}});
}

/// _scaled_dot_product_efficient_attention(query, key, value, attn_bias, compute_log_sumexp, dropout_p, is_causal, *,
/// scale) → (output, log_sumexp, philox_seed, philox_offset).
void efficientAttention(Backward& b) {
  if (!b.has(0)) return;
  giveResults(b, {0, 1, 2, 3},
              {"aten._scaled_dot_product_efficient_attention_backward.default"_op,
               {b.grad(), b[0], b[1], b[2], b[3], b.result(0), b.result(1), b.result(2), b.result(3), b[5],
                outputMask(b, {0, 1, 2, 3}), b[6]},
               {{"scale", b.args.values[7]}}});
}

struct AttentionTerms {
  Formula query, key, value, mask;
  bool causal = false;
  Formula scale;
};

/// softmax(scale · query · keyᵀ + mask), and what the tangents of query and key change in its argument.
Formula weights(Forward& f, const AttentionTerms& a) {
  Formula scores = product(a.query, turned(a.key)) * a.scale;
  if (!a.mask.isNone() && a.mask.dtype() == DType::Bool)
    scores = maskedFill(scores, ~a.mask, -INFINITY);
  else if (!a.mask.isNone())
    scores = scores + a.mask;
  if (a.causal) {
    const Tensor &query = f.args.tensor(0), &key = f.args.tensor(1);
    const SymSizes square{query.symSize(query.dim() - 2), key.symSize(key.dim() - 2)};
    const Formula ones("aten.ones.default"_op, {Formula(intList(square))},
                       {{"dtype", DType::Bool}, {"device", query.device()}});
    scores = maskedFill(scores, ~Formula("aten.tril.default"_op, {ones}), -INFINITY);
  }
  return {"aten._safe_softmax.default"_op, {scores, -1}};
}

/// Of the output; what else the kernels return is for their backward ops.
std::vector<Formula> attentionTangent(Forward& f, const AttentionTerms& a, const Formula& maskTangent) {
  const Formula odds = weights(f, a);
  const Formula moved = sumOf({f.has(0) ? product(f.tangent(0), turned(a.key)) * a.scale : Formula(),
                               f.has(1) ? product(a.query, turned(f.tangent(1))) * a.scale : Formula(), maskTangent});
  const Formula bent = moved.isNone() ? moved : odds * (moved - sum(odds * moved, {-1}, true));
  const Formula total =
      sumOf({bent.isNone() ? bent : product(bent, a.value), f.has(2) ? product(odds, f.tangent(2)) : Formula()});
  return {typed(f, total, f.call.result().dtype())};
}

Formula scaleOf(const Formulas& p, std::size_t given) {
  if (!p.args.none(given)) return p[given];
  const SymInt head = p.args.tensor(0).symSizes().back();
  return 1 / std::sqrt(double(std::int64_t(head)));
}

std::vector<Formula> flashAttentionForward(Forward& f) {
  return attentionTangent(f, {f[0], f[1], f[2], f[5], f.args.boolean(4), scaleOf(f, 6)}, f.tangent(5));
}

std::vector<Formula> efficientAttentionForward(Forward& f) {
  return attentionTangent(f, {f[0], f[1], f[2], f[3], f.args.boolean(6), scaleOf(f, 7)}, f.tangent(3));
}
/// Which weights dropout took is known to the kernel only.
Result<Value> efficientAttentionJvp(const CallRecord& call, const ValueList& tangents, const OpRunner& run) {
  if (call.args.number(5) != 0)
    return fail(ErrorCode::UnsupportedOp, "{} has no tangent with dropout", call.args.opName());
  return jvpByRule(efficientAttentionForward, call, tangents, run);
}

constexpr OpFacts attentionDerivativesTable[] = {
    differentiable<flashAttention, flashAttentionForward>("aten::_scaled_dot_product_flash_attention_for_cpu"),
    {.op = "aten::_scaled_dot_product_efficient_attention",
     .gradient = ruleGradient<efficientAttention>,
     .jvp = efficientAttentionJvp},
    withoutDerivative("aten::_scaled_dot_product_flash_attention_for_cpu_backward"),
    withoutDerivative("aten::_scaled_dot_product_efficient_attention_backward"),
    withoutDerivative("prims::prepare_softmax_online"),
};

const OpRegistration attentionDerivatives({.facts = attentionDerivativesTable});

}  // namespace

}  // namespace kerf::inline ops
