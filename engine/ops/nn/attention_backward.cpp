// The gradients of scaled dot product attention: block by block where that fits, else of whole matrices of scores.
#include <cmath>

#include "engine/ops/core/empty_output.h"
#include "engine/ops/core/op_registration.h"
#include "engine/ops/core/strides.h"
#include "engine/ops/core/symbolic_checks.h"
#include "engine/ops/nn/attention_scores.h"
#include "engine/ops/nn/row_math.h"
#include "engine/tensor/copy.h"

namespace kerf::inline ops {
namespace {

bool gradientWanted(const BoundArguments& args, std::size_t k) {
  const auto mask = attentionArgument(args, "grad_input_mask");
  if (!mask) return k < 3;
  const ValueList& flags = args.values[*mask].list();
  return k < flags.size() && flags[k].as<bool>() && *flags[k].as<bool>() &&
         (k < 3 || attentionTensor(args, "attn_bias"));
}

/// The bias's gradient has rows of a multiple of 16 elements in memory.
Tensor biasGradientMeta(const Tensor& bias) {
  SymSizes padded = bias.symSizes();
  padded.back() = floorDiv(padded.back() + SymInt(15), SymInt(16)) * SymInt(16);
  return metaTensor(bias.dtype(), bias.symSizes(), contiguousStrides(padded));
}

Result<Value> backwardShape(const BoundArguments& args) {
  KERF_TRY(const AttentionSizes a, attentionSizes(args));
  if (!checkEqual(args.tensor(0).symSizes(), {a.batch, a.heads, a.queries, a.valueWidth}))
    return mismatch(args, "grad_out has the wrong shape");
  if (gradientWanted(args, 3) && attentionTensor(args, "attn_bias")->dim() == 0)
    return mismatch(args, "the gradient of a bias without dimensions is asked for");
  const Tensor& query = *attentionTensor(args, "query");
  ValueList outs(args.op->schema.returns.size());
  if (gradientWanted(args, 0)) outs[0] = interleaved(query.dtype(), a.batch, a.heads, a.queries, a.width);
  if (gradientWanted(args, 1)) outs[1] = interleaved(query.dtype(), a.batch, a.keyHeads(), a.keys, a.width);
  if (gradientWanted(args, 2)) outs[2] = interleaved(query.dtype(), a.batch, a.keyHeads(), a.keys, a.valueWidth);
  if (gradientWanted(args, 3)) outs[3] = biasGradientMeta(*attentionTensor(args, "attn_bias"));
  return Value(std::move(outs));
}

/// dS = P ∘ (dP − sum), with dP = dO Vᵀ under the dropout mask; sum(row number, dP, P) is that of dP ∘ P
template <class RowSum>
Result<Tensor> scoreGradient(const Attention& a, const Tensor& grad, const DropoutStream& seed, RowSum&& rowSum) {
  KERF_TRY(const Tensor plain, attentionProduct(grad, attentionTurned(a.v)));
  KERF_TRY(Tensor result, droppedScores(a, plain, seed));
  dispatchWork(result.dtype(), [&]<class T>() {
    forScoreRows<T>(result, [&](std::int64_t r, T* row) {
      const T* p = a.weights.data<T>() + r * a.keys;
      rowmath::softmaxGradient(row, p, rowSum(r, static_cast<const T*>(row), p), a.keys);
    });
  });
  return result;
}

/// Weights (with dropout) and the gradient of the scores, [B * H, Q, K].
struct ScoreGradients {
  Attention a;
  Tensor weights, scores;
};

Result<ScoreGradients> recomputedGradients(const BoundArguments& args, const Tensor& grad) {
  KERF_TRY(Attention a, attentionWeights(args, true));
  const DropoutStream seed = a.dropout == 0 ? DropoutStream() : givenDropoutStream(args);
  KERF_TRY(Tensor scores, scoreGradient(a, grad, seed, [&]<class T>(std::int64_t, const T* row, const T* p) {
             return rowmath::dot(row, p, a.keys);
           }));
  KERF_TRY(Tensor weights, droppedScores(a, a.weights, seed));
  return ScoreGradients{std::move(a), std::move(weights), std::move(scores)};
}

/// What the CPU form saves: the logarithms of the rows' sums and the output.
Result<SavedSoftmax> savedSoftmax(const BoundArguments& args) {
  KERF_TRY(const Attention a, attentionDimensions(args));
  const Tensor &saved = *attentionTensor(args, "logsumexp"), &out = *attentionTensor(args, "out");
  if (saved.sizes() != Sizes{a.batch, a.heads, a.queries} || out.sizes() != args.tensor(0).sizes())
    return mismatch(args, "out and logsumexp do not fit query and value");
  KERF_TRY(const Tensor wide, saved.to(DType::Float64));
  KERF_TRY(const Tensor shifts, wide.contiguous());
  KERF_TRY(const Tensor strided, attentionHeads(out));
  KERF_TRY(const Tensor results, strided.contiguous());
  return SavedSoftmax{{shifts.data<double>(), shifts.data<double>() + shifts.numel()}, results};
}

/// The CPU kernel takes the softmax from the saved logsumexp and the row sums from the saved output, and hands 16-bit
/// weights and score gradients to its products.
Result<ScoreGradients> savedGradients(const BoundArguments& args, const Tensor& grad) {
  KERF_TRY(const SavedSoftmax saved, savedSoftmax(args));
  const Tensor& results = saved.out;
  KERF_TRY(Attention a, attentionScores(args));
  KERF_TRY(const Tensor grads, grad.contiguous());
  dispatchWork(a.weights.dtype(), [&]<class T>() {
    forScoreRows<T>(a.weights, [&](std::int64_t r, T* row) {
      const double shift = saved.logSumExp[std::size_t(r)];
      rowmath::expShifted(row, std::isinf(shift) ? 0 : shift, a.keys);
    });
  });
  KERF_TRY(const Tensor scores, scoreGradient(a, grad, {}, [&]<class T>(std::int64_t r, const T*, const T*) {
             const std::int64_t first = r * a.valueWidth;
             return rowmath::dot(grads.data<T>() + first, results.data<T>() + first, a.valueWidth);
           }));
  const DType dtype = args.tensor(0).dtype();
  KERF_TRY(Tensor narrowWeights, attentionRounded(dtype, a.weights));
  KERF_TRY(Tensor narrowScores, attentionRounded(dtype, scores));
  return ScoreGradients{std::move(a), std::move(narrowWeights), std::move(narrowScores)};
}

/// The gradient of the scores, summed over what the bias was broadcast to.
Result<void> writeBiasGradient(const Attention& a, const Tensor& scores, const Tensor& out) {
  const Sizes whole{a.batch, a.heads, a.queries, a.keys};
  Tensor result = scores.viewAs(whole, contiguousStrides(whole), scores.offset());
  Sizes dims;
  const std::size_t lead = whole.size() - out.sizes().size();
  for (std::size_t d = 0; d < whole.size(); ++d)
    if (d < lead || (out.sizes()[d - lead] == 1 && whole[d] != 1)) dims.push_back(std::int64_t(d));
  if (!dims.empty()) {
    KERF_TRY(result, callTensorOp("aten.sum.dim_IntList"_op, {result, intList(dims), true}));
  }
  return copyElements(result.viewAs(out.sizes(), contiguousStrides(out.sizes()), result.offset()), out);
}

/// The three gradients block by block; none where that does not fit, or the bias wants one too.
Result<std::optional<TiledGradients>> tiledGradients(const BoundArguments& args, const Tensor& grad) {
  if (gradientWanted(args, 3)) return std::nullopt;
  KERF_TRY(const auto tiles, attentionTiles(args, givenDropoutStream(args)));
  if (!tiles || !attentionFitsTiles(*tiles)) return std::nullopt;
  KERF_TRY(const Tensor grads, grad.contiguous());
  SavedSoftmax saved;
  if (isCpuForm(args)) {
    KERF_TRY(saved, savedSoftmax(args));
  }
  KERF_TRY(TiledGradients gradients, attentionGradientsInTiles(*tiles, grads, saved));
  return gradients;
}

/// [B * H, …, …] to [B * H / groups, …, …]: heads that shared a key head add up.
Result<Tensor> addedHeads(const Tensor& heads, std::int64_t groups) {
  if (groups == 1) return heads;
  const Sizes apart{heads.size(0) / groups, groups, heads.size(1), heads.size(2)};
  return callTensorOp("aten.sum.dim_IntList"_op,
                      {heads.viewAs(apart, contiguousStrides(apart), heads.offset()), intList({1})});
}

Result<Value> backwardKernel(const BoundArguments& args) {
  KERF_TRY(const Value metas, runShapeRule(args));
  KERF_TRY(const Tensor grad, attentionHeads(args.tensor(0)));
  KERF_TRY(auto gradients, tiledGradients(args, grad));
  ScoreGradients of;
  if (!gradients) {
    KERF_TRY(of, isCpuForm(args) ? savedGradients(args, grad) : recomputedGradients(args, grad));
    gradients.emplace();
    KERF_TRY(gradients->query, attentionProduct(of.scores, of.a.k, of.a.scale));
    KERF_TRY(gradients->key, attentionProduct(attentionTurned(of.scores), of.a.q, of.a.scale));
    KERF_TRY(gradients->value, attentionProduct(attentionTurned(of.weights), grad));
  }
  KERF_TRY(const Attention dimensions, attentionDimensions(args));
  KERF_TRY(gradients->key, addedHeads(gradients->key, dimensions.groups));
  KERF_TRY(gradients->value, addedHeads(gradients->value, dimensions.groups));
  const Tensor* results[] = {&gradients->query, &gradients->key, &gradients->value};
  ValueList outs(metas.list().size());
  for (std::size_t i = 0; i < 3; ++i) {
    if (metas.list()[i].isNone()) continue;
    KERF_TRY(Tensor out, allocateEmpty(metas.list()[i].tensor()));
    KERF_CHECK(copyElements(results[i]->viewAs(out.sizes(), contiguousStrides(out.sizes()), 0), out));
    outs[i] = std::move(out);
  }
  if (outs.size() > 3 && !metas.list()[3].isNone()) {
    KERF_TRY(Tensor out, allocateEmpty(metas.list()[3].tensor()));
    KERF_CHECK(writeBiasGradient(of.a, of.scores, out));
    outs[3] = std::move(out);
  }
  return Value(std::move(outs));
}

constexpr OpTrait matmul = OpTrait::Matmul;
constexpr OpRow attentionBackwardRows[] = {
    {"aten::_scaled_dot_product_flash_attention_for_cpu_backward(Tensor grad_out, Tensor query, Tensor key, Tensor "
     "value, "
     "Tensor out, Tensor logsumexp, float dropout_p, bool is_causal, *, Tensor? attn_mask=None, float? scale=None) -> "
     "(Tensor grad_query, Tensor grad_key, Tensor grad_value)",
     matmul, backwardShape, backwardKernel},
    {"aten::_scaled_dot_product_efficient_attention_backward(Tensor grad_out_, Tensor query, Tensor key, Tensor value, "
     "Tensor? attn_bias, Tensor out, Tensor logsumexp, Tensor philox_seed, Tensor philox_offset, float dropout_p, "
     "bool[4] grad_input_mask, bool is_causal=False, *, float? scale=None) -> (Tensor, Tensor, Tensor, Tensor)",
     matmul, backwardShape, backwardKernel},
};

const OpRegistration attentionBackwardOps({.rows = attentionBackwardRows});

}  // namespace

}  // namespace kerf::inline ops
