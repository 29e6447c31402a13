#include <cmath>
#include <limits>

#include "engine/verification/random_call.h"

namespace kerf::inline verification {
namespace {

/// [… q, k] True where key k comes after query q.
Result<Value> causalMask(const RandomCall& call, const Tensor& scores) {
  KERF_TRY(const Value ones, call.op("torch.ops.aten.ones_like.default", {Value(scores)}));
  KERF_TRY(const Value upper, call.op("torch.ops.aten.triu.default", {ones, Value(std::int64_t(1))}));
  return call.op("torch.ops.aten.gt.Scalar", {upper, Value(0.0)});
}

Result<Value> maskedScores(const RandomCall& call, Value scores, const Value* mask, bool causal) {
  const Value lowest(-std::numeric_limits<double>::infinity());
  if (causal) {
    KERF_TRY(const Value hidden, causalMask(call, scores.tensor()));
    KERF_TRY(scores, call.op("torch.ops.aten.masked_fill.Scalar", {scores, hidden, lowest}));
  }
  if (mask == nullptr || !mask->isTensor()) return scores;
  if (mask->tensor().dtype() != DType::Bool) return call.op("torch.ops.aten.add.Tensor", {scores, *mask});
  KERF_TRY(const Value hidden, call.op("torch.ops.aten.logical_not.default", {*mask}));
  return call.op("torch.ops.aten.masked_fill.Scalar", {scores, hidden, lowest});
}

/// The mask as what is added to the scores, as large as these.
Result<Value> additiveMask(const RandomCall& call, const Value& mask) {
  const Tensor &queries = call.args[0].tensor(), &keys = call.args[1].tensor();
  Value bias = mask;
  if (mask.tensor().dtype() == DType::Bool) {
    KERF_TRY(const Value hidden, call.op("torch.ops.aten.logical_not.default", {mask}));
    KERF_TRY(Tensor zeros, Tensor::zeros(queries.dtype(), mask.tensor().sizes()));
    KERF_TRY(bias, call.op("torch.ops.aten.masked_fill.Scalar",
                           {Value(std::move(zeros)), hidden, Value(-std::numeric_limits<double>::infinity())}));
  }
  ValueList sizes;
  for (std::int64_t i = 0; i + 2 < queries.dim(); ++i) sizes.emplace_back(queries.size(i));
  sizes.emplace_back(queries.size(queries.dim() - 2));
  sizes.emplace_back(keys.size(keys.dim() - 2));
  return call.op("torch.ops.aten.expand.default", {bias, Value(std::move(sizes))});
}

/// The op that the ATen graphs have in its place, with the same numbers.
Result<Value> fusedAttention(const RandomCall& call) {
  const Value* mask = call.argument(3, "attn_mask");
  const bool efficient = call.random.draws().fusedAttention.find("efficient") != std::string::npos;
  Value bias;
  if (mask != nullptr && mask->isTensor()) {
    KERF_TRY(bias, additiveMask(call, *mask));
  }
  ValueList args{call.args[0], call.args[1], call.args[2]};
  if (efficient) args.insert(args.end(), {bias, Value(true)});
  args.insert(args.end(), {Value(call.number(4, "dropout_p", 0)), Value(call.flag(5, "is_causal", false))});
  KeywordValues keywords;
  if (const Value* scale = call.argument(99, "scale"); scale != nullptr && !scale->isNone())
    keywords.emplace_back("scale", *scale);
  const std::string target = call.random.draws().fusedAttention;
  KERF_TRY(const Value results, call.random.call(OpTarget(target), args, keywords));
  return results.isList() && !results.list().empty() ? results.list().front() : results;
}

}  // namespace

Result<Value> attentionWithDropout(const RandomCall& call) {
  const double p = call.number(4, "dropout_p", 0);
  if (p == 0 || call.args.size() < 3 || call.flag(99, "enable_gqa", false)) return call.callInner();
  if (!call.random.draws().fusedAttention.empty()) return fusedAttention(call);
  const std::int64_t width = call.args[0].tensor().size(call.args[0].tensor().dim() - 1);
  const double scale = call.number(99, "scale", 1 / std::sqrt(double(width)));
  KERF_TRY(const Value keys,
           call.op("torch.ops.aten.transpose.int", {call.args[1], Value(std::int64_t(-2)), Value(std::int64_t(-1))}));
  KERF_TRY(const Value products, call.op("torch.ops.aten.matmul.default", {call.args[0], keys}));
  KERF_TRY(Value scores, call.op("torch.ops.aten.mul.Tensor", {products, Value(scale)}));
  KERF_TRY(scores,
           maskedScores(call, std::move(scores), call.argument(3, "attn_mask"), call.flag(5, "is_causal", false)));
  KERF_TRY(const Value weights, call.op("torch.ops.aten.softmax.int", {scores, Value(std::int64_t(-1))}));
  KERF_TRY(const auto kept, dropped(call, weights, p));
  return call.op("torch.ops.aten.matmul.default", {kept.result, call.args[2]});
}

}  // namespace kerf::inline verification
