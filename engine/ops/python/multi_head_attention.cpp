// multi_head_attention_forward, step by step as torch.nn.functional has it.
#include "engine/ops/python/multi_head_attention.h"

#include <cmath>

#include "engine/ops/core/op_call.h"

namespace kerf::inline ops {
namespace {

bool isSameTensor(const Tensor& a, const Tensor& b) {
  const bool isSameMemory =
      a.defined() && b.defined() ? a.storage() == b.storage() : a.traced >= 0 && a.traced == b.traced;
  return isSameMemory && a.symOffset().isIdentical(b.symOffset()) && a.symSizes().isIdentical(b.symSizes()) &&
         a.symStrides().isIdentical(b.symStrides());
}

Value dim(std::int64_t number) { return Value(number); }

/// What is attended to: query, key and value through their weights; masks; and sizes.
struct Attention {
  const PythonCall& call;
  std::int64_t heads = 1;
  bool batched = true;
  bool causal = false;
  Tensor query, key, value;
  Value mask, padding;
  SymInt length = 0, batch = 0, width = 0, headWidth = 0;

  Value given(std::string_view name) const { return call.get(SIZE_MAX, name); }
  Result<Tensor> run(std::string_view op, const ValueList& args, const KeywordValues& kwargs = {}) const {
    return call.atenTensor(op, args, kwargs);
  }
};

Result<void> readInputs(Attention& a) {
  a.heads = a.call.integer(SIZE_MAX, "num_heads", 0);
  KERF_TRY(a.query, a.call.tensor(0, "query"));
  KERF_TRY(a.key, a.call.tensor(1, "key"));
  KERF_TRY(a.value, a.call.tensor(2, "value"));
  a.padding = a.given("key_padding_mask");
  a.mask = a.given("attn_mask");
  a.batched = a.query.dim() == 3;
  const std::int64_t rank = a.query.dim();
  if ((rank != 2 && rank != 3) || a.key.dim() != rank || a.value.dim() != rank || a.heads <= 0 ||
      floorMod(a.query.symSize(rank - 1), a.heads) != 0)
    return fail(ErrorCode::ShapeMismatch, "{}: inputs must be [L, N, E] or [L, E], E by num_heads", a.call.name);
  if (a.batched) return {};
  KERF_TRY(a.query, a.run("unsqueeze.default", {Value(a.query), dim(1)}));
  KERF_TRY(a.key, a.run("unsqueeze.default", {Value(a.key), dim(1)}));
  KERF_TRY(a.value, a.run("unsqueeze.default", {Value(a.value), dim(1)}));
  if (a.padding.isTensor()) {
    KERF_TRY(a.padding, a.call.aten("unsqueeze.default", {a.padding, dim(0)}));
  }
  return {};
}

/// A mask of bools as what is added to the scores.
Result<Value> additive(const Attention& a, const Value& mask) {
  if (!mask.isTensor() || mask.tensor().dtype() != DType::Bool) return mask;
  KERF_TRY(const Value zeros, a.call.aten("zeros_like.default", {mask}, {{"dtype", Value(a.query.dtype())}}));
  return a.call.aten("masked_fill.Scalar", {zeros, mask, Value(-HUGE_VAL)});
}

Result<void> readMasks(Attention& a) {
  a.causal = a.call.truth(SIZE_MAX, "is_causal", false);
  const bool weights = a.call.truth(SIZE_MAX, "need_weights", true);
  if (a.causal && a.mask.isNone()) return fail(ErrorCode::BadInput, "{}: is_causal needs attn_mask", a.call.name);
  KERF_TRY(a.padding, additive(a, a.padding));
  if (a.causal && a.padding.isNone() && !weights) {
    a.mask = Value();
  } else {
    KERF_TRY(a.mask, additive(a, a.mask));
    a.causal = a.causal && a.padding.isNone();
  }
  if (a.mask.isTensor() && a.mask.tensor().dim() == 2) {
    KERF_TRY(a.mask, a.call.aten("unsqueeze.default", {a.mask, dim(0)}));
  }
  return {};
}

/// The results of one product with packed weights: [count, L, N, E].
Result<Value> takenApart(const Attention& a, const Value& packed, std::int64_t count) {
  KERF_TRY(const Value split, a.call.aten("unflatten.int", {packed, dim(-1), intList({SymInt(count), a.width})}));
  KERF_TRY(const Value led, a.call.aten("unsqueeze.default", {split, dim(0)}));
  KERF_TRY(const Value turned, a.call.aten("transpose.int", {led, dim(0), dim(-2)}));
  KERF_TRY(const Value parts, a.call.aten("squeeze.dim", {turned, dim(-2)}));
  return a.call.aten("clone.default", {parts}, {{"memory_format", Value(MemoryFormat::Contiguous)}});
}

Result<Value> part(const Attention& a, const Value& of, SymInt start, SymInt length) {
  if (of.isNone()) return of;
  return a.call.aten("slice.Tensor", {of, dim(0), Value(start * a.width), Value((start + length) * a.width)});
}

/// Query, key and value through `in_proj_weight`: together where they are one tensor, in two where key and value are.
Result<void> projectPacked(Attention& a) {
  const Value weight = a.given("in_proj_weight"), bias = a.given("in_proj_bias");
  const bool keyIsValue = isSameTensor(a.key, a.value);
  const std::int64_t together = !keyIsValue ? 1 : isSameTensor(a.query, a.key) ? 3 : 2;
  Tensor* const parts[] = {&a.query, &a.key, &a.value};
  if (together == 3) {
    KERF_TRY(const Value packed, a.call.aten("linear.default", {Value(a.query), weight, bias}));
    KERF_TRY(const Value all, takenApart(a, packed, 3));
    for (std::int64_t i = 0; i < 3; ++i) {
      KERF_TRY(*parts[i], a.run("select.int", {all, dim(0), dim(i)}));
    }
    return {};
  }
  Value keys;
  for (std::int64_t i = 0; i < 3; ++i) {
    const bool both = together == 2 && i > 0;
    if (both && i == 2) {
      KERF_TRY(a.value, a.run("select.int", {keys, dim(0), dim(1)}));
      continue;
    }
    KERF_TRY(const Value own, part(a, weight, i, both ? 2 : 1));
    KERF_TRY(const Value shift, part(a, bias, i, both ? 2 : 1));
    KERF_TRY(*parts[i], a.run("linear.default", {Value(*parts[i]), own, shift}));
    if (both) {
      KERF_TRY(keys, takenApart(a, Value(a.key), 2));
      KERF_TRY(a.key, a.run("select.int", {keys, dim(0), dim(0)}));
    }
  }
  return {};
}

Result<void> project(Attention& a) {
  a.length = a.query.symSize(0);
  a.batch = a.query.symSize(1);
  a.width = a.query.symSize(2);
  a.headWidth = floorDiv(a.width, a.heads);
  if (!a.call.truth(SIZE_MAX, "use_separate_proj_weight", false)) return projectPacked(a);
  const Value bias = a.given("in_proj_bias");
  std::int64_t i = 0;
  for (auto [tensor, name] :
       {std::pair{&a.query, "q_proj_weight"}, {&a.key, "k_proj_weight"}, {&a.value, "v_proj_weight"}}) {
    KERF_TRY(const Value shift, part(a, bias, i++, 1));
    KERF_TRY(*tensor, a.run("linear.default", {Value(*tensor), a.given(name), shift}));
  }
  return {};
}

/// One more key that masks do not hide.
Result<void> widenMasks(Attention& a) {
  for (Value* mask : {&a.mask, &a.padding}) {
    if (!mask->isTensor()) continue;
    KERF_TRY(*mask, a.call.aten("constant_pad_nd.default", {*mask, intList({0, 1})}));
  }
  return {};
}

Result<void> addBiases(Attention& a) {
  const Value keyBias = a.given("bias_k"), valueBias = a.given("bias_v");
  if (keyBias.isNone() != valueBias.isNone())
    return fail(ErrorCode::BadInput, "{}: bias_k and bias_v go together", a.call.name);
  if (keyBias.isNone()) return {};
  for (auto [tensor, bias] : {std::pair{&a.key, keyBias}, {&a.value, valueBias}}) {
    KERF_TRY(const Value each, a.call.aten("repeat.default", {bias, intList({SymInt(1), a.batch, SymInt(1)})}));
    KERF_TRY(*tensor, a.run("cat.default", {Value(ValueList{Value(*tensor), each})}));
  }
  return widenMasks(a);
}

/// [L, N, E] → [N · H, L, E / H]
Result<void> splitHeads(Attention& a) {
  struct Part {
    Tensor* tensor;
    std::string_view fixed;
  };
  for (const Part& part : {Part{&a.query, ""}, Part{&a.key, "static_k"}, Part{&a.value, "static_v"}}) {
    if (!part.fixed.empty() && a.given(part.fixed).isTensor()) {
      *part.tensor = a.given(part.fixed).tensor();
      continue;
    }
    const SymSizes rows{part.tensor->symSize(0), a.batch * a.heads, a.headWidth};
    KERF_TRY(const Value viewed, a.call.aten("view.default", {Value(*part.tensor), intList(rows)}));
    KERF_TRY(*part.tensor, a.run("transpose.int", {viewed, dim(0), dim(1)}));
  }
  return {};
}

Result<void> addZeroKey(Attention& a) {
  if (!a.call.truth(SIZE_MAX, "add_zero_attn", false)) return {};
  const SymSizes sizes{a.batch * a.heads, 1, a.headWidth};
  for (Tensor* tensor : {&a.key, &a.value}) {
    KERF_TRY(const Value zeros, a.call.aten("zeros.default", {intList(sizes)},
                                            {{"dtype", Value(tensor->dtype())}, {"device", Value(tensor->device())}}));
    KERF_TRY(*tensor, a.run("cat.default", {Value(ValueList{Value(*tensor), zeros}), dim(1)}));
  }
  return widenMasks(a);
}

/// The padding of keys joins the mask.
Result<void> joinMasks(Attention& a) {
  if (!a.padding.isTensor()) return {};
  const SymInt keys = a.key.symSize(1);
  KERF_TRY(const Value viewed,
           a.call.aten("view.default", {a.padding, intList({a.batch, SymInt(1), SymInt(1), keys})}));
  KERF_TRY(const Value wide,
           a.call.aten("expand.default", {viewed, intList({SymInt(-1), SymInt(a.heads), SymInt(-1), SymInt(-1)})}));
  KERF_TRY(const Value rows, a.call.aten("reshape.default", {wide, intList({a.batch * a.heads, SymInt(1), keys})}));
  if (!a.mask.isTensor()) {
    a.mask = rows;
    return {};
  }
  KERF_TRY(a.mask, a.call.aten("add.Tensor", {a.mask, rows}));
  return {};
}

Result<Value> projectOut(const Attention& a, const Value& flat) {
  KERF_TRY(const Tensor out, a.run("linear.default", {flat, a.given("out_proj_weight"), a.given("out_proj_bias")}));
  KERF_TRY(const Value result, a.call.aten("view.default", {Value(out), intList({a.length, a.batch, out.symSize(1)})}));
  return a.batched ? Result<Value>(result) : a.call.aten("squeeze.dim", {result, dim(1)});
}

Result<Value> dense(const Attention& a, const Value& tensor) {
  if (tensor.tensor().isContiguous()) return tensor;
  return a.call.aten("clone.default", {tensor}, {{"memory_format", Value(MemoryFormat::Contiguous)}});
}

double dropoutOf(const Attention& a) {
  return a.call.truth(SIZE_MAX, "training", true) ? a.call.number(SIZE_MAX, "dropout_p", 0) : 0;
}

/// Scores, softmax and sum written out, because the weights are asked for.
Result<Value> withWeights(const Attention& a) {
  const SymInt keys = a.key.symSize(1);
  const double scale = std::sqrt(1.0 / double(std::int64_t(a.headWidth)));
  KERF_TRY(const Value scaled, a.call.aten("mul.Tensor", {Value(a.query), Value(scale)}));
  KERF_TRY(const Value turned, a.call.aten("transpose.int", {Value(a.key), dim(-2), dim(-1)}));
  KERF_TRY(const Value scores, a.mask.isTensor() ? a.call.aten("baddbmm.default", {a.mask, scaled, turned})
                                                 : a.call.aten("bmm.default", {scaled, turned}));
  KERF_TRY(Value weights, a.call.aten("_softmax.default", {scores, dim(-1), Value(false)}));
  if (const double rate = dropoutOf(a); rate > 0) {
    KERF_TRY(weights, a.run("native_dropout.default", {weights, Value(rate), Value(true)}));
  }
  KERF_TRY(const Value sums, a.call.aten("bmm.default", {weights, Value(a.value)}));
  KERF_TRY(const Value rows, a.call.aten("transpose.int", {sums, dim(0), dim(1)}));
  KERF_TRY(const Value packed, dense(a, rows));
  KERF_TRY(const Value flat, a.call.aten("view.default", {packed, intList({a.length * a.batch, a.width})}));
  KERF_TRY(Value out, projectOut(a, flat));
  KERF_TRY(Value shown, a.call.aten("view.default", {weights, intList({a.batch, SymInt(a.heads), a.length, keys})}));
  if (a.call.truth(SIZE_MAX, "average_attn_weights", true)) {
    KERF_TRY(shown, a.call.aten("mean.dim", {shown, intList({1})}));
  }
  if (!a.batched) {
    KERF_TRY(shown, a.call.aten("squeeze.dim", {shown, dim(0)}));
  }
  return Value(ValueList{std::move(out), std::move(shown)});
}

Result<Value> withoutWeights(Attention& a) {
  const SymInt keys = a.key.symSize(1);
  if (a.mask.isTensor()) {
    const bool shared = a.mask.tensor().dim() == 3 && a.mask.tensor().symSize(0) == 1;
    KERF_TRY(a.mask,
             shared ? a.call.aten("unsqueeze.default", {a.mask, dim(0)})
                    : a.call.aten("view.default", {a.mask, intList({a.batch, SymInt(a.heads), SymInt(-1), keys})}));
  }
  ValueList args;
  for (const Tensor* tensor : {&a.query, &a.key, &a.value}) {
    const SymSizes sizes{a.batch, SymInt(a.heads), tensor->symSize(1), a.headWidth};
    KERF_TRY(Value viewed, a.call.aten("view.default", {Value(*tensor), intList(sizes)}));
    args.push_back(std::move(viewed));
  }
  args.insert(args.end(), {a.mask, Value(dropoutOf(a)), Value(a.causal)});
  KERF_TRY(const Value attended,
           callPythonLevel("torch.nn.functional.scaled_dot_product_attention", args, {}, a.call.ops));
  KERF_TRY(const Value turned, a.call.aten("permute.default", {attended, intList({2, 0, 1, 3})}));
  KERF_TRY(const Value packed, dense(a, turned));
  KERF_TRY(const Value flat, a.call.aten("view.default", {packed, intList({a.batch * a.length, a.width})}));
  KERF_TRY(Value out, projectOut(a, flat));
  return Value(ValueList{std::move(out), Value()});
}

}  // namespace

Result<Value> multiHeadAttention(const PythonCall& call) {
  Attention a{.call = call};
  for (const auto step : {readInputs, readMasks, project, addBiases, splitHeads, addZeroKey, joinMasks})
    KERF_CHECK(step(a));
  return call.truth(SIZE_MAX, "need_weights", true) ? withWeights(a) : withoutWeights(a);
}

}  // namespace kerf::inline ops
