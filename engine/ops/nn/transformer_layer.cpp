// What nn.MultiheadAttention and nn.TransformerEncoderLayer call in inference: fused ops that compiled graphs keep.
#include <cmath>
#include <limits>

#include "engine/ops/core/composite.h"
#include "engine/ops/core/op_registration.h"
#include "engine/ops/core/strides.h"
#include "engine/ops/core/symbolic_checks.h"

namespace kerf::inline ops {
namespace {

enum MaskType : std::int64_t { SourceMask = 0, PaddingMask = 1, FullMask = 2 };

/// The mask, true where nothing is seen, as it is broadcast to [B, H, Q, K]: a source mask is [Q, K], a padding mask
/// [B, K], a full one has the shape of the scores.
Tensor hiddenKeys(CompositeSteps& steps, const Tensor& mask, std::int64_t type, std::int64_t dims) {
  Tensor hidden = steps("aten._to_copy.default"_op, {mask}, {{"dtype", DType::Bool}});
  for (std::int64_t d = mask.dim(); type == PaddingMask && d < dims; ++d)
    hidden = steps("aten.unsqueeze.default"_op, {hidden, std::int64_t{1}});
  return hidden;
}

/// softmax of scores without what is hidden; NaN in rows where all is.
Tensor maskedSoftmax(CompositeSteps& steps, const Tensor& scores, const Value& mask, std::int64_t type,
                     std::int64_t dim) {
  Tensor seen = scores;
  if (mask.isTensor()) {
    const Tensor hidden = hiddenKeys(steps, mask.tensor(), type, scores.dim());
    seen = steps("aten.masked_fill.Scalar"_op, {scores, hidden, -std::numeric_limits<double>::infinity()});
  }
  return steps("aten._softmax.default"_op, {seen, dim, false});
}

/// _masked_softmax(self, mask, dim, mask_type)
Result<Value> maskedSoftmaxProgram(const BoundArguments& args, const OpRunner& run) {
  CompositeSteps steps(run);
  const std::int64_t type = args.none(3) ? std::int64_t{FullMask} : args.integer(3);
  if (type < SourceMask || type > FullMask) return mismatch(args, "mask_type must be 0, 1 or 2, got {}", type);
  const std::int64_t dim = args.none(2) ? args.tensor(0).dim() - 1 : args.integer(2);
  return steps.done(maskedSoftmax(steps, args.tensor(0), args.values[1], type, dim));
}

/// Arguments of attention, which stand at other places in a layer.
struct SelfAttention {
  Tensor query, key, value;
  std::int64_t width = 0, heads = 0;
  Tensor inWeight, inBias, outWeight, outBias;
  Value mask;
  std::int64_t maskType = FullMask;
};

/// Output [B, T, D] and weights [B, H, T, T] of heads that attend to keys of the same length.
struct Attended {
  Tensor out, weights;
};

/// Projections `part` (0: query, 1: key, 2: value) as [B, H, T, D / H].
Tensor projected(CompositeSteps& steps, const SelfAttention& a, const Tensor& input, std::int64_t part) {
  const std::int64_t begin = part * a.width, end = begin + a.width;
  const Tensor weight = steps("aten.slice.Tensor"_op, {a.inWeight, std::int64_t{0}, begin, end});
  const Tensor bias = steps("aten.slice.Tensor"_op, {a.inBias, std::int64_t{0}, begin, end});
  const Tensor rows = steps("aten.linear.default"_op, {input, weight, bias});
  const Tensor apart = steps("aten.view.default"_op,
                             {rows, intList({a.query.symSize(0), a.query.symSize(1), a.heads, a.width / a.heads})});
  return steps("aten.transpose.int"_op, {apart, std::int64_t{1}, std::int64_t{2}});
}

Attended attend(CompositeSteps& steps, const SelfAttention& a) {
  const double scale = 1 / std::sqrt(double(a.width / a.heads));
  const Tensor q = steps("aten.mul.Scalar"_op, {projected(steps, a, a.query, 0), scale});
  const Tensor k = steps("aten.transpose.int"_op, {projected(steps, a, a.key, 1), std::int64_t{-2}, std::int64_t{-1}});
  const Tensor scores = steps("aten.matmul.default"_op, {q, k});
  const Tensor weights = maskedSoftmax(steps, scores, a.mask, a.maskType, 3);
  const Tensor heads = steps("aten.matmul.default"_op, {weights, projected(steps, a, a.value, 2)});
  const Tensor turned = steps("aten.transpose.int"_op, {heads, std::int64_t{1}, std::int64_t{2}});
  const Tensor rows =
      steps("aten.reshape.default"_op, {turned, intList({a.query.symSize(0), a.query.symSize(1), a.width})});
  return {steps("aten.linear.default"_op, {rows, a.outWeight, a.outBias}), weights};
}

Result<void> checkAttention(const BoundArguments& args, const SelfAttention& a) {
  if (a.query.dim() != 3 || a.key.dim() != 3 || a.value.dim() != 3)
    return mismatch(args, "query, key and value must have 3 dimensions");
  if (a.heads <= 0 || a.width <= 0 || a.width % a.heads != 0)
    return mismatch(args, "{} heads do not divide a width of {}", a.heads, a.width);
  if (a.inWeight.dim() != 2 || !checkEqual(a.inWeight.symSizes(), {SymInt(3 * a.width), SymInt(a.width)}) ||
      !checkEqual(a.inBias.symSizes(), {SymInt(3 * a.width)}))
    return mismatch(args, "the projections must have shapes [{}, {}] and [{}]", 3 * a.width, a.width, 3 * a.width);
  if (!checkEqual(a.query.symSizes(), a.key.symSizes()) || !checkEqual(a.key.symSizes(), a.value.symSizes()))
    return mismatch(args, "query, key and value must have one shape");
  if (a.maskType < SourceMask || a.maskType > FullMask)
    return mismatch(args, "mask_type must be 0, 1 or 2, got {}", a.maskType);
  return {};
}

/// _native_multi_head_attention(query, key, value, embed_dim, num_head, qkv_weight, qkv_bias, proj_weight, proj_bias,
/// mask, need_weights, average_attn_weights, mask_type)
Result<Value> multiHeadAttention(const BoundArguments& args, const OpRunner& run) {
  const SelfAttention a{args.tensor(0),
                        args.tensor(1),
                        args.tensor(2),
                        args.integer(3),
                        args.integer(4),
                        args.tensor(5),
                        args.tensor(6),
                        args.tensor(7),
                        args.tensor(8),
                        args.values[9],
                        args.none(12) ? std::int64_t{FullMask} : args.integer(12)};
  KERF_CHECK(checkAttention(args, a));
  CompositeSteps steps(run);
  const Attended attended = attend(steps, a);
  Tensor weights = attended.weights;
  if (args.boolean(10) && args.boolean(11)) weights = steps("aten.mean.dim"_op, {weights, intList({1})});
  KERF_CHECK(steps.done(weights));
  return Value(ValueList{attended.out, args.boolean(10) ? Value(weights) : Value()});
}

/// _transformer_encoder_layer_fwd(src, embed_dim, num_heads, qkv_weight, qkv_bias, proj_weight, proj_bias, use_gelu,
/// norm_first, eps, norm_weight_1, norm_bias_1, norm_weight_2, norm_bias_2, ffn_weight_1, ffn_bias_1, ffn_weight_2,
/// ffn_bias_2, mask, mask_type): x + attention(x), then x + ffn(x), each normalised before (norm_first) or after.
Result<Value> encoderLayer(const BoundArguments& args, const OpRunner& run) {
  const Tensor& src = args.tensor(0);
  const bool isGelu = args.boolean(7), normsFirst = args.boolean(8);
  CompositeSteps steps(run);
  const auto normed = [&](const Tensor& x, std::size_t weight) {
    return steps("aten.layer_norm.default"_op,
                 {x, intList({args.integer(1)}), args.tensor(weight), args.tensor(weight + 1), args.number(9)});
  };
  const auto normedIf = [&](bool wanted, const Tensor& x, std::size_t weight) {
    return wanted ? normed(x, weight) : x;
  };
  SelfAttention a{{},
                  {},
                  {},
                  args.integer(1),
                  args.integer(2),
                  args.tensor(3),
                  args.tensor(4),
                  args.tensor(5),
                  args.tensor(6),
                  args.values[18],
                  args.none(19) ? std::int64_t{FullMask} : args.integer(19)};
  if (src.dim() != 3) return mismatch(args, "src must have 3 dimensions");
  a.query = a.key = a.value = normedIf(normsFirst, src, 10);
  KERF_CHECK(steps.done(a.query));
  KERF_CHECK(checkAttention(args, a));
  Tensor x = steps("aten.add.Tensor"_op, {attend(steps, a).out, src});
  x = normedIf(!normsFirst, x, 10);
  KERF_CHECK(steps.done(x));
  const Tensor before = normedIf(normsFirst, x, 12);
  const SymInt rows = src.symSize(0) * src.symSize(1), width = src.symSize(2);
  const Tensor flat = steps("aten.reshape.default"_op, {before, intList({rows, width})});
  const Tensor w1 = steps("aten.t.default"_op, {args.tensor(14)}), w2 = steps("aten.t.default"_op, {args.tensor(16)});
  const Tensor hidden = steps("aten._addmm_activation.default"_op, {args.tensor(15), flat, w1}, {{"use_gelu", isGelu}});
  const Tensor out = steps("aten.addmm.default"_op, {args.tensor(17), hidden, w2});
  const Tensor apart = steps("aten.view.default"_op, {out, intList({src.symSize(0), src.symSize(1), width})});
  x = steps("aten.add.Tensor"_op, {apart, x});
  return steps.done(normedIf(!normsFirst, x, 12));
}

constexpr OpTrait matmul = OpTrait::Matmul;
constexpr OpRow transformerRows[] = {
    compositeRow(maskedSoftmaxProgram,
                 "aten::_masked_softmax(Tensor self, Tensor mask, int? dim=None, int? mask_type=None) -> Tensor"),
    compositeRow(multiHeadAttention,
                 "aten::_native_multi_head_attention(Tensor query, Tensor key, Tensor value, int embed_dim, int "
                 "num_head, Tensor qkv_weight, Tensor qkv_bias, Tensor proj_weight, Tensor proj_bias, Tensor? "
                 "mask=None, bool need_weights=True, bool average_attn_weights=True, int? mask_type=None) -> (Tensor, "
                 "Tensor)",
                 matmul),
    compositeRow(encoderLayer,
                 "aten::_transformer_encoder_layer_fwd(Tensor src, int embed_dim, int num_heads, Tensor qkv_weight, "
                 "Tensor qkv_bias, Tensor proj_weight, Tensor proj_bias, bool use_gelu, bool norm_first, float eps, "
                 "Tensor norm_weight_1, Tensor norm_bias_1, Tensor norm_weight_2, Tensor norm_bias_2, Tensor "
                 "ffn_weight_1, Tensor ffn_bias_1, Tensor ffn_weight_2, Tensor ffn_bias_2, Tensor? mask=None, int? "
                 "mask_type=None) -> Tensor",
                 matmul),
};

const OpRegistration transformerOps({.rows = transformerRows});

}  // namespace

}  // namespace kerf::inline ops
