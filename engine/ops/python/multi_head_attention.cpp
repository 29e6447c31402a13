// multi_head_attention_forward, step by step as torch/nn/functional.py has it.
#include "engine/ops/python/multi_head_attention.h"

#include <array>

#include "engine/ops/core/op_call.h"

namespace kerf::inline ops {
namespace {

bool isSameTensor(const Tensor& a, const Tensor& b) {
  if (!a.defined() || !b.defined()) return a.traced >= 0 && a.traced == b.traced;
  return a.storage() == b.storage() && a.offset() == b.offset() && a.symSizes().isIdentical(b.symSizes()) &&
         a.symStrides().isIdentical(b.symStrides());
}

using Projections = std::array<Tensor, 3>;

/// Query, key and value that are one tensor: one product with the packed weights, taken apart.
Result<Projections> projectedTogether(const PythonCall& call, const Tensor& input) {
  const SymInt width = input.symSize(2);
  KERF_TRY(const Value packed,
           call.aten("linear.default", {Value(input), call.get(5, "in_proj_weight"), call.get(6, "in_proj_bias")}));
  const SymSizes apart{input.symSize(0), input.symSize(1), 3, width};
  KERF_TRY(const Value split, call.aten("view.default", {packed, intList(apart)}));
  KERF_TRY(const Value led, call.aten("unsqueeze.default", {split, Value(std::int64_t{0})}));
  KERF_TRY(const Value turned, call.aten("transpose.int", {led, Value(std::int64_t{0}), Value(std::int64_t{-2})}));
  KERF_TRY(const Value three, call.aten("squeeze.dim", {turned, Value(std::int64_t{-2})}));
  KERF_TRY(const Value dense, call.aten("contiguous.default", {three}));
  Projections parts;
  for (std::int64_t i = 0; i < 3; ++i) {
    KERF_TRY(parts[std::size_t(i)], call.atenTensor("select.int", {dense, Value(std::int64_t{0}), Value(i)}));
  }
  return parts;
}

/// Query, key or value through its third of the packed weights.
Result<Tensor> projectedAlone(const PythonCall& call, const Tensor& input, std::int64_t part) {
  const Value start(input.symSize(2) * part), length(input.symSize(2)), zero(std::int64_t{0});
  KERF_TRY(const Value weight, call.aten("narrow.default", {call.get(5, "in_proj_weight"), zero, start, length}));
  Value bias = call.get(6, "in_proj_bias");
  if (!bias.isNone()) {
    KERF_TRY(bias, call.aten("narrow.default", {bias, zero, start, length}));
  }
  return call.atenTensor("linear.default", {Value(input), weight, bias});
}

Result<Projections> projections(const PythonCall& call, const Projections& inputs) {
  if (isSameTensor(inputs[0], inputs[1]) && isSameTensor(inputs[1], inputs[2]))
    return projectedTogether(call, inputs[0]);
  Projections parts;
  for (std::int64_t i = 0; i < 3; ++i) {
    KERF_TRY(parts[std::size_t(i)], projectedAlone(call, inputs[std::size_t(i)], i));
  }
  return parts;
}

/// [L, N, E] → [N, H, L, E / H]
Result<Tensor> splitHeads(const PythonCall& call, const Tensor& tensor, std::int64_t heads) {
  const SymInt length = tensor.symSize(0), batch = tensor.symSize(1), width = floorDiv(tensor.symSize(2), heads);
  KERF_TRY(const Value rows, call.aten("view.default", {Value(tensor), intList({length, batch * heads, width})}));
  KERF_TRY(const Value turned, call.aten("transpose.int", {rows, Value(std::int64_t{0}), Value(std::int64_t{1})}));
  return call.atenTensor("view.default", {turned, intList({batch, heads, length, width})});
}

}  // namespace

Result<Value> multiHeadAttention(const PythonCall& call) {
  for (const auto& [position, key] :
       {std::pair<std::size_t, std::string_view>{7, "bias_k"}, {14, "key_padding_mask"}, {18, "q_proj_weight"}})
    if (const Value* value = call.find(position, key); value && !value->isNone())
      return fail(ErrorCode::UnsupportedOp, "multi_head_attention_forward: '{}' is not supported", key);
  if (call.flag(15, "need_weights", true))
    return fail(ErrorCode::UnsupportedOp, "multi_head_attention_forward: need_weights is not supported");
  const std::int64_t heads = call.integer(4, "num_heads", 0);
  Projections inputs;
  for (std::size_t i = 0; i < 3; ++i) {
    KERF_TRY(inputs[i], call.tensor(i, i == 0 ? "query" : i == 1 ? "key" : "value"));
    if (inputs[i].dim() != 3 || heads <= 0 || floorMod(inputs[i].symSize(2), heads) != 0)
      return fail(ErrorCode::ShapeMismatch, "multi_head_attention_forward: inputs must be [L, N, E], E by num_heads");
  }
  KERF_TRY(Projections parts, projections(call, inputs));
  for (Tensor& part : parts) {
    KERF_TRY(part, splitHeads(call, part, heads));
  }
  const double dropoutRate = call.flag(13, "training", true) ? call.number(10, "dropout_p", 0) : 0;
  const ValueList args{Value(parts[0]),           Value(parts[1]),    Value(parts[2]),
                       call.get(16, "attn_mask"), Value(dropoutRate), Value(call.flag(24, "is_causal", false))};
  KERF_TRY(const Value attended,
           callPythonLevel("torch.nn.functional.scaled_dot_product_attention", args, {}, call.ops));
  const SymInt length = inputs[0].symSize(0), batch = inputs[0].symSize(1), width = inputs[0].symSize(2);
  KERF_TRY(const Value turned, call.aten("permute.default", {attended, intList({2, 0, 1, 3})}));
  KERF_TRY(const Value dense, call.aten("contiguous.default", {turned}));
  KERF_TRY(const Value flat, call.aten("view.default", {dense, intList({batch * length, width})}));
  KERF_TRY(const Tensor out,
           call.atenTensor("linear.default", {flat, call.get(11, "out_proj_weight"), call.get(12, "out_proj_bias")}));
  KERF_TRY(Value result, call.aten("view.default", {Value(out), intList({length, batch, out.symSize(1)})}));
  return Value(ValueList{std::move(result), Value()});
}

}  // namespace kerf::inline ops
