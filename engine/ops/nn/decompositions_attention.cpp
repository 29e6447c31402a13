// Decomposition of the CPU's flash attention into products and a softmax.
#include <cmath>

#include "engine/ops/core/formula.h"
#include "engine/ops/core/op_registration.h"

namespace kerf::inline ops {
namespace {

/// _scaled_dot_product_flash_attention_for_cpu(query, key, value, dropout_p, is_causal, *, attn_mask, scale): the math
/// form, laid out as the kernel lays it out. The logarithm of the sums is written beside it, for who asks for it.
Result<Value> scaledDotProductFlashAttentionForCpu(const BoundArguments& args, const OpRunner& run) {
  const Tensor &query = args.tensor(0), &key = args.tensor(1);
  if (query.dim() != 4 || key.dim() != 4 || args.tensor(2).dim() != 4) return mismatch(args, "needs 4 dimensions");
  Formulas p(args, run);
  const bool isGrouped = guardOrFalse(query.symSize(1) != key.symSize(1));
  const auto [out, weights] = p.several<2>({"aten._scaled_dot_product_attention_math.default"_op,
                                            {p[0], p[1], p[2], p[5], p[3], p[4], Value()},
                                            {{"scale", args.values[6]}, {"enable_gqa", isGrouped}}});
  const Formula dense = p(contiguous(permute(out, {2, 0, 1, 3})));
  const double scale = args.numberIf(6).value_or(1 / std::sqrt(double(std::int64_t(query.symSizes().back()))));
  Formula turned = p({"aten.transpose.int"_op, {p[1], -2, -1}});
  if (isGrouped) {
    const SymInt heads = floorDiv(query.symSize(1), key.symSize(1));
    turned = p({"aten.repeat_interleave.self_int"_op, {turned, heads, 1}});
  }
  Formula scores = p(Formula("aten.matmul.default"_op, {p[0], turned}) * scale);
  if (args.boolean(4)) {
    const Formula seen = p({"aten.tril.default"_op, {onesLike(scores)}});
    scores = p(where(equals(seen, 0), -HUGE_VAL, scores));
  }
  if (!args.none(5)) {
    const bool isBool = args.tensor(5).dtype() == DType::Bool;
    scores = p(isBool ? where(p[5], scores, -HUGE_VAL) : scores + p[5]);
  }
  const Formula sums = p({"aten.logsumexp.default"_op, {scores, intList({-1})}});
  return p.done(std::vector<Formula>{permute(dense, {1, 2, 0, 3}), sums});
}

constexpr OpFacts attentionDecompositionsTable[] = {
    decomposes("aten::_scaled_dot_product_flash_attention_for_cpu", scaledDotProductFlashAttentionForCpu),
};

const OpRegistration attentionDecompositions({.facts = attentionDecompositionsTable});

}  // namespace

}  // namespace kerf::inline ops
