// Fused attention of CUDA's flash and cuDNN kernels, and the unfused form: programs over the efficient kernel's rows.
#include <cmath>
#include <limits>

#include "engine/ops/core/composite.h"
#include "engine/ops/core/op_registration.h"
#include "engine/ops/core/strides.h"
#include "engine/symbolic/shape_env.h"

namespace kerf::inline ops {
namespace {

std::optional<std::size_t> find(const BoundArguments& args, std::string_view name) {
  for (std::size_t i = 0; i < args.values.size(); ++i)
    if (args.op->schema.arguments[i].name == name) return i;
  return {};
}
Value named(const BoundArguments& args, std::string_view name) {
  const auto at = find(args, name);
  return at ? args.values[*at] : Value();
}

bool isFlash(const BoundArguments& args) { return args.op->schema.name.find("_flash_") != std::string::npos; }
bool isCudnn(const BoundArguments& args) { return args.op->schema.name.find("_cudnn_") != std::string::npos; }

struct Inputs {
  Tensor q, k, v;
  SymInt groups = 1;  ///< query heads that share a key head
};

Result<Inputs> inputsOf(const BoundArguments& args, const OpRunner& run) {
  Inputs in{named(args, "query").tensor(), named(args, "key").tensor(), named(args, "value").tensor()};
  for (const Tensor* tensor : {&in.q, &in.k, &in.v})
    if (tensor->dim() != 4) return mismatch(args, "query, key and value must have 4 dimensions");
  const SymInt queryHeads = in.q.symSize(1), keyHeads = in.k.symSize(1);
  if (guardOrFalse(queryHeads == keyHeads)) return in;
  if (!guardOrTrue(keyHeads != 0) || !guardOrTrue(floorMod(queryHeads, keyHeads) == 0) ||
      !guardOrTrue(keyHeads == in.v.symSize(1)))
    return mismatch(args, "{} query heads do not divide into {} key heads", queryHeads, keyHeads);
  in.groups = floorDiv(queryHeads, keyHeads);
  for (Tensor* tensor : {&in.k, &in.v}) {
    const SymInt b = tensor->symSize(0), h = tensor->symSize(1), s = tensor->symSize(2), d = tensor->symSize(3);
    KERF_TRY(const Tensor apart, run("aten.unsqueeze.default"_op, {*tensor, std::int64_t{2}}));
    KERF_TRY(const Tensor wide, run("aten.expand.default"_op, {apart, intList({b, h, in.groups, s, d})}));
    KERF_TRY(*tensor, run("aten.reshape.default"_op, {wide, intList({b, h * in.groups, s, d})}));
  }
  return in;
}

/// 0 where query i may see key j <= i + shift, minus infinity elsewhere.
Result<Tensor> causalBias(const OpRunner& run, const Tensor& q, SymInt keys, SymInt shift) {
  const SymSizes sizes{q.symSize(2), keys};
  KERF_TRY(const Tensor ones, run("aten.full.default"_op, {intList(sizes), true}, {{"dtype", DType::Bool}}));
  KERF_TRY(const Tensor visible, run("aten.tril.default"_op, {ones, shift}));
  KERF_TRY(const Tensor zero, run("aten.full.default"_op, {intList(sizes), 0.0}, {{"dtype", q.dtype()}}));
  KERF_TRY(const Tensor hidden, run("aten.logical_not.default"_op, {visible}));
  return run("aten.masked_fill.Scalar"_op, {zero, hidden, -std::numeric_limits<double>::infinity()});
}

/// Flash kernels align the causal triangle with the last key, the others with the first.
struct Masking {
  Value bias;
  bool causal = false;
};
Result<Masking> maskingOf(const BoundArguments& args, const OpRunner& run, const Inputs& in) {
  const auto at = find(args, "is_causal");
  Masking masking{named(args, "attn_bias"), at && args.boolean(*at)};
  const bool flash = isFlash(args);
  const SymInt queries = in.q.symSize(2), keys = in.k.symSize(2);
  if (!masking.causal || !flash || guardOrFalse(queries == keys)) return masking;
  KERF_TRY(const Tensor bias, causalBias(run, in.q, keys, keys - queries));
  return Masking{bias, false};
}

Result<void> checkDebugMask(const BoundArguments& args) {
  const double p = args.number(args.position("dropout_p"));
  if (!isFlash(args) || p != 0 || !args.boolean(args.position("return_debug_mask"))) return {};
  return fail(ErrorCode::RuntimeFailed, "{}: return_softmax is only supported when p_dropout > 0.0", args.opName());
}

/// Of fusedForward, which would have to ask whether an unknown number of queries fits into their whole blocks.
Result<Value> fusedForwardShape(const BoundArguments& args) {
  const OpRunner run(shapeOps());
  KERF_TRY(const Inputs in, inputsOf(args, run));
  KERF_CHECK(checkDebugMask(args));
  KERF_TRY(const Value efficient,
           run.value("aten._scaled_dot_product_efficient_attention.default"_op,
                     {in.q, in.k, in.v, named(args, "attn_bias"), false, args.number(args.position("dropout_p"))}));
  const ValueList& parts = efficient.list();
  SymSizes rows{in.q.symSize(0), in.q.symSize(1), in.q.symSize(2)};
  SymSizes strides = contiguousStrides(rows);
  if (isCudnn(args)) {
    rows.push_back(1);
    strides.push_back(1);
  }
  const Tensor sums = metaTensor(parts[1].tensor().dtype(), std::move(rows), std::move(strides));
  ValueList outs{parts[0], sums, {}, {}, in.q.symSize(2), in.k.symSize(2)};
  if (isFlash(args))
    outs.insert(outs.end(), {metaTensor(DType::UInt64, SymSizes{2}), metaTensor(DType::UInt64, SymSizes{}),
                             metaTensor(in.q.dtype(), SymSizes{0})});
  else
    outs.insert(outs.end(), {parts[2], parts[3], Value()});
  return Value(std::move(outs));
}

/// output, logsumexp, cum_seq_q, cum_seq_k, max_q, max_k, seed, offset, debug mask
Result<Value> fusedForward(const BoundArguments& args, const OpRunner& run) {
  const bool flash = isFlash(args), cudnn = isCudnn(args);
  KERF_TRY(const Inputs in, inputsOf(args, run));
  KERF_TRY(const Masking masking, maskingOf(args, run, in));
  const double p = args.number(args.position("dropout_p"));
  KERF_CHECK(checkDebugMask(args));
  KERF_TRY(const Value efficient,
           run.value("aten._scaled_dot_product_efficient_attention.default"_op,
                     {in.q, in.k, in.v, masking.bias, true, p, masking.causal}, {{"scale", named(args, "scale")}}));
  const ValueList& parts = efficient.list();
  const SymInt rows = in.q.symSize(2);
  KERF_TRY(Tensor sums, run("aten.slice.Tensor"_op, {parts[1], std::int64_t{2}, std::int64_t{0}, rows}));
  KERF_TRY(sums, run("aten.clone.default"_op, {sums}, {{"memory_format", MemoryFormat::Contiguous}}));
  if (flash) {  // a query without keys has +inf there
    KERF_TRY(const Tensor empty, run("aten.eq.Scalar"_op, {sums, -std::numeric_limits<double>::infinity()}));
    KERF_TRY(sums, run("aten.masked_fill.Scalar"_op, {sums, empty, std::numeric_limits<double>::infinity()}));
  }
  if (cudnn) {
    KERF_TRY(sums, run("aten.unsqueeze.default"_op, {sums, std::int64_t{3}}));
  }
  ValueList outs{parts[0], sums, {}, {}, rows, in.k.symSize(2)};
  if (flash) {
    KERF_TRY(const Tensor wide, run("aten.stack.default"_op, {Value(ValueList{parts[2], parts[3]})}));
    KERF_TRY(const Tensor state, run("aten._to_copy.default"_op, {wide}, {{"dtype", DType::UInt64}}));
    KERF_TRY(const Tensor unused,
             run("aten.full.default"_op, {intList({}), std::int64_t{0}}, {{"dtype", DType::UInt64}}));
    KERF_TRY(const Tensor mask, run("aten.full.default"_op, {intList({0}), 0.0}, {{"dtype", in.q.dtype()}}));
    outs.insert(outs.end(), {state, unused, mask});
  } else {
    outs.insert(outs.end(), {parts[2], parts[3], Value()});
  }
  return Value(std::move(outs));
}

/// Gradient in the input's strides; heads that shared a key add up.
Result<Value> gradientLike(const OpRunner& run, const Value& grad, const Tensor& input, SymInt groups) {
  Tensor value = grad.tensor();
  if (guardOrTrue(groups > 1)) {
    const SymSizes split{input.symSize(0), input.symSize(1), groups, input.symSize(2), input.symSize(3)};
    KERF_TRY(value, run("aten.reshape.default"_op, {value, intList(split)}));
    KERF_TRY(value, run("aten.sum.dim_IntList"_op, {value, intList({2})}));
  }
  KERF_TRY(const Tensor place, run("aten.empty_like.default"_op, {input}));
  KERF_TRY(Tensor out, run("aten.copy.default"_op, {place, value}));
  return Value(std::move(out));
}

Result<Value> fusedBackward(const BoundArguments& args, const OpRunner& run) {
  KERF_TRY(const Inputs in, inputsOf(args, run));
  KERF_TRY(const Masking masking, maskingOf(args, run, in));
  Value seed = named(args, "philox_seed"), offset = named(args, "philox_offset");
  if (seed.isTensor() && seed.tensor().dim() == 1 &&
      guardOrFalse(seed.tensor().symSize(0) == 2)) {  // flash keeps both in one
    KERF_TRY(const Tensor both, run("aten._to_copy.default"_op, {seed}, {{"dtype", DType::Int64}}));
    KERF_TRY(seed, run("aten.select.int"_op, {both, std::int64_t{0}, std::int64_t{0}}));
    KERF_TRY(offset, run("aten.select.int"_op, {both, std::int64_t{0}, std::int64_t{1}}));
  }
  Tensor sums = named(args, "logsumexp").tensor();
  if (sums.dim() == 4) {
    KERF_TRY(sums, run("aten.squeeze.dim"_op, {sums, std::int64_t{3}}));
  }
  KERF_TRY(const Value grads,
           run.value("aten._scaled_dot_product_efficient_attention_backward.default"_op,
                     {args.values[0], in.q, in.k, in.v, masking.bias, named(args, "out"), sums, seed, offset,
                      named(args, "dropout_p"), ValueList{true, true, true, false}, masking.causal},
                     {{"scale", named(args, "scale")}}));
  static constexpr const char* names[] = {"query", "key", "value"};
  ValueList outs;
  for (std::size_t i = 0; i < 3; ++i) {
    KERF_TRY(Value grad,
             gradientLike(run, grads.list()[i], named(args, names[i]).tensor(), i == 0 ? SymInt(1) : in.groups));
    outs.push_back(std::move(grad));
  }
  if (args.op->schema.returns.size() > 3) outs.emplace_back();
  return Value(std::move(outs));
}

// The unfused form: output and weights

/// What query and key are multiplied by: both take the root of the scale, the query its sign.
struct Roots {
  Value query, key;
};

/// 1 / sqrt(width) to the power of one half where the width is an expression, in PyTorch's words.
Result<Value> symbolicRoot(SymInt width) {
  ShapeEnv& env = *ShapeEnv::current();
  KERF_TRY(Symbolic real, Symbolic::call("ToFloat", {env.expression(width)}));
  KERF_TRY(Symbolic root, Symbolic::call("OpaqueUnaryFn_sqrt", {std::move(real)}));
  KERF_TRY(Symbolic scale, Symbolic::call("FloatTrueDiv", {Symbolic::real(1), std::move(root)}));
  KERF_TRY(const Symbolic half, Symbolic::call("OpaqueUnaryFn_sqrt", {std::move(scale)}));
  return Value(SymNumber{env.intern(half), SymKind::Float});
}

Result<Roots> rootsOfScale(const BoundArguments& args, const Tensor& query) {
  const auto at = find(args, "scale");
  const SymInt width = query.symSizes().back();
  const auto given = at ? args.numberIf(*at) : std::nullopt;
  if (!given && width.isSymbolic()) {
    KERF_TRY(const Value root, symbolicRoot(width));
    return Roots{root, root};
  }
  const double scale = given ? *given : 1 / std::sqrt(double(std::int64_t{width}));
  const double root = std::sqrt(std::abs(scale));
  return Roots{scale < 0 ? -root : root, root};
}

Result<Value> plain(const BoundArguments& args, const OpRunner& run) {
  Tensor q = named(args, "query").tensor(), k = named(args, "key").tensor(), v = named(args, "value").tensor();
  if (q.dim() < 2 || k.dim() != q.dim() || v.dim() != q.dim())
    return mismatch(args, "query, key and value must have the same number of dimensions, at least 2");
  if (q.dim() == 4 && guardOrTrue(q.symSize(1) != k.symSize(1))) {
    if (!guardOrTrue(k.symSize(1) != 0)) return mismatch(args, "key has no heads");
    KERF_TRY(const Inputs in, inputsOf(args, run));
    k = in.k, v = in.v;
  }
  KERF_TRY(const Roots roots, rootsOfScale(args, q));
  KERF_TRY(q, run("aten.mul.Scalar"_op, {q, roots.query}));
  KERF_TRY(k, run("aten.transpose.int"_op, {k, std::int64_t{-2}, std::int64_t{-1}}));
  KERF_TRY(k, run("aten.mul.Scalar"_op, {k, roots.key}));
  KERF_TRY(Tensor weights, run("aten.matmul.default"_op, {q, k}));
  const auto causal = find(args, "is_causal");
  if (causal && args.boolean(*causal)) {
    const SymSizes sizes{weights.symSize(weights.dim() - 2), weights.symSizes().back()};
    KERF_TRY(const Tensor ones, run("aten.full.default"_op, {intList(sizes), true}, {{"dtype", DType::Bool}}));
    KERF_TRY(const Tensor visible, run("aten.tril.default"_op, {ones}));
    KERF_TRY(const Tensor hidden, run("aten.logical_not.default"_op, {visible}));
    KERF_TRY(weights, run("aten.masked_fill.Scalar"_op, {weights, hidden, -std::numeric_limits<double>::infinity()}));
  } else if (const Value mask = named(args, "attn_mask"); mask.isTensor() && mask.tensor().dtype() == DType::Bool) {
    KERF_TRY(const Tensor hidden, run("aten.logical_not.default"_op, {mask}));
    KERF_TRY(weights, run("aten.masked_fill.Scalar"_op, {weights, hidden, -std::numeric_limits<double>::infinity()}));
  } else if (mask.isTensor()) {
    KERF_TRY(weights, run("aten.add.Tensor"_op, {weights, mask}));
  }
  KERF_TRY(weights, run("aten._safe_softmax.default"_op, {weights, std::int64_t{-1}}));
  const double p = args.number(args.position("dropout_p"));
  Tensor kept = weights;
  if (const Value mask = named(args, "dropout_mask"); mask.isTensor()) {
    KERF_TRY(const Tensor dropped, run("aten.logical_not.default"_op, {mask}));
    KERF_TRY(kept, run("aten.masked_fill.Scalar"_op, {kept, dropped, 0.0}));
    KERF_TRY(kept, run("aten.mul.Scalar"_op, {kept, 1 / (1 - p)}));
  } else if (p > 0) {
    KERF_TRY(const Value dropped, run.value("aten.native_dropout.default"_op, {kept, p, true}));
    kept = dropped.list()[0].tensor();
    weights = kept;
  }
  KERF_TRY(const Tensor out, run("aten.matmul.default"_op, {kept, v}));
  return Value(ValueList{out, weights});
}

constexpr OpTrait matmul = OpTrait::Matmul;
#define KERF_FUSED_RESULTS                                                                                    \
  "(Tensor output, Tensor logsumexp, Tensor cum_seq_q, Tensor cum_seq_k, SymInt max_q, SymInt max_k, Tensor " \
  "philox_seed, Tensor philox_offset, Tensor debug_attn_mask)"
constexpr OpRow fusedForwardRow(const char* schema, OpTrait traits) {
  return {schema, traits, fusedForwardShape, nullptr, nullptr, nullptr, fusedForward};
}
// Arguments that PyTorch passes as undefined tensors (cum_seq_q, …) arrive as None, hence Tensor? in their schemas.
constexpr OpRow flashAttentionRows[] = {
    fusedForwardRow(
        "aten::_scaled_dot_product_flash_attention(Tensor query, Tensor key, Tensor value, float dropout_p=0.0, bool "
        "is_causal=False, bool return_debug_mask=False, *, float? scale=None) -> " KERF_FUSED_RESULTS,
        matmul),
    compositeRow(
        fusedBackward,
        "aten::_scaled_dot_product_flash_attention_backward(Tensor grad_out, Tensor query, Tensor key, Tensor value, "
        "Tensor out, Tensor logsumexp, Tensor? cum_seq_q, Tensor? cum_seq_k, SymInt max_q, SymInt max_k, float "
        "dropout_p, bool is_causal, Tensor? philox_seed, Tensor? philox_offset, *, float? scale=None) -> (Tensor "
        "grad_query, Tensor grad_key, Tensor grad_value)",
        matmul),
    fusedForwardRow(
        "aten::_scaled_dot_product_cudnn_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_bias, bool "
        "compute_log_sumexp, float dropout_p=0.0, bool is_causal=False, bool return_debug_mask=False, *, float? "
        "scale=None) -> " KERF_FUSED_RESULTS,
        matmul),
    compositeRow(
        fusedBackward,
        "aten::_scaled_dot_product_cudnn_attention_backward(Tensor grad_out, Tensor query, Tensor key, Tensor value, "
        "Tensor out, Tensor logsumexp, Tensor? philox_seed, Tensor? philox_offset, Tensor? attn_bias, Tensor? "
        "cum_seq_q, Tensor? cum_seq_k, SymInt max_q, SymInt max_k, float dropout_p, bool is_causal, *, float? "
        "scale=None) -> (Tensor, Tensor, Tensor)",
        matmul),
    fusedForwardRow(
        "aten::_scaled_dot_product_fused_attention_overrideable(Tensor query, Tensor key, Tensor value, Tensor? "
        "attn_bias=None, float dropout_p=0.0, bool is_causal=False, bool return_debug_mask=False, *, float? "
        "scale=None) -> " KERF_FUSED_RESULTS,
        matmul),
    compositeRow(
        fusedBackward,
        "aten::_scaled_dot_product_fused_attention_overrideable_backward(Tensor grad_out, Tensor query, Tensor key, "
        "Tensor value, Tensor? attn_bias, bool[4] grad_input_mask, Tensor out, Tensor logsumexp, Tensor? cum_seq_q, "
        "Tensor? cum_seq_k, SymInt max_q, SymInt max_k, float dropout_p, bool is_causal, Tensor? philox_seed, Tensor? "
        "philox_offset, *, float? scale=None) -> (Tensor grad_query, Tensor grad_key, Tensor grad_value, Tensor "
        "grad_attn_bias)",
        matmul),
    compositeRow(
        plain,
        "aten::_scaled_dot_product_attention_math(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, "
        "float dropout_p=0.0, bool is_causal=False, Tensor? dropout_mask=None, *, float? scale=None, bool "
        "enable_gqa=False) -> (Tensor, Tensor)",
        matmul),
    compositeRow(
        plain,
        "aten::_scaled_dot_product_attention_math_for_mps(Tensor query, Tensor key, Tensor value, Tensor? "
        "attn_mask=None, float dropout_p=0.0, bool is_causal=False, Tensor? dropout_mask=None, *, float? scale=None) "
        "-> (Tensor, Tensor)",
        matmul),
};

const OpRegistration flashAttentionOps({.rows = flashAttentionRows});

}  // namespace

}  // namespace kerf::inline ops
