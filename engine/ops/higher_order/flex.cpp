// flex_attention and its backward: attention with a score and a mask graph, by the dense formulas of
// torch._higher_order_ops.flex_attention (sdpa_dense). The graphs see all scores at once, the positions broadcast.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "engine/ops/higher_order/higher_order.h"

namespace kerf::inline ops {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// flex_attention(query, key, value, score_mod, block_mask, scale, kernel_options, score_buffers, mask_buffers), and
/// the backward's (query, key, value, out, logsumexp, grad_out, grad_logsumexp, fw_graph, joint_graph, block_mask, …).
struct Flex {
  const HigherOrderCall& call;
  Tensor query, key, value;  ///< [B, H, Q, D], [B, H / group, K, D], [B, H / group, K, E]
  SymInt group = 1;
  DType working = DType::Float32;
  double scale = 1;
  std::string scoreGraph, maskGraph;
  ValueList scoreBuffers, maskBuffers;

  Result<Tensor> op(std::string_view name, const ValueList& args, const KeywordValues& kwargs = {}) const {
    return call.atenTensor(name, args, kwargs);
  }
  Result<Tensor> cast(const Tensor& tensor, DType dtype) const {
    if (tensor.dtype() == dtype) return tensor;
    return op("_to_copy.default", {Value(tensor)}, {{"dtype", Value(dtype)}});
  }
  Result<Tensor> turned(const Tensor& tensor) const {
    return op("transpose.int", {Value(tensor), Value(std::int64_t{-2}), Value(std::int64_t{-1})});
  }
  /// Batched product of 4-d tensors.
  Result<Tensor> product(const Tensor& a, const Tensor& b) const;
  /// Keys and values repeated for the query heads that share them.
  Result<Tensor> repeated(const Tensor& tensor) const;
  /// Sum over the query heads that share a key head; undoes `repeated`.
  Result<Tensor> gathered(const Tensor& tensor) const;
  /// Batch, head, query and key index, shaped to broadcast over [B, H, Q, K].
  Result<ValueList> positions() const;
  Result<Value> scores(Tensor& plain, Tensor& masked, Tensor& mask) const;
};

Tensor tensorAt(const HigherOrderCall& call, std::size_t i) {
  const bool present = i < call.args.size() && call.args[i].isTensor();
  return present ? call.args[i].tensor() : Tensor();
}

Result<void> checkShapes(Flex& flex) {
  for (const Tensor* tensor : {&flex.query, &flex.key, &flex.value})
    if (tensor->dim() != 4)
      return fail(ErrorCode::ShapeMismatch, "{}: query, key and value must have 4 dimensions", flex.call.name);
  const SymInt heads = flex.query.symSize(1), keyHeads = flex.key.symSize(1);
  const bool fits = keyHeads > 0 && floorMod(heads, keyHeads) == 0 && flex.value.symSize(1) == keyHeads &&
                    flex.query.symSize(3) == flex.key.symSize(3) &&
                    guardOrTrue(flex.key.symSize(2) == flex.value.symSize(2));
  if (!fits) return fail(ErrorCode::ShapeMismatch, "{}: the shapes of query, key and value do not fit", flex.call.name);
  flex.group = floorDiv(heads, keyHeads);
  return {};
}

/// `mask` is the position of the block mask, which scale, options and buffers follow.
Result<Flex> readFlex(const HigherOrderCall& call, std::size_t score, std::size_t mask) {
  Flex flex{call, tensorAt(call, 0), tensorAt(call, 1), tensorAt(call, 2), 1, DType::Float32, 1, {}, {}, {}, {}};
  KERF_CHECK(checkShapes(flex));
  KERF_TRY(flex.scoreGraph, call.graph(score));
  if (flex.query.dtype() == DType::Float64) flex.working = DType::Float64;
  const ValueList block = call.list(mask);
  const std::string* path = block.empty() ? nullptr : block.back().as<std::string>();
  if (path == nullptr) return fail(ErrorCode::ShapeMismatch, "{}: the block mask has no mask graph", call.name);
  flex.maskGraph = *path;
  const Value* scale = call.find(mask + 1, "scale");
  const auto* number = scale ? scale->as<double>() : nullptr;
  if (number)
    flex.scale = *number;
  else if (!call.shapesOnly)
    flex.scale = 1 / std::sqrt(double(flex.query.size(3)));
  flex.scoreBuffers = call.list(mask + 3, "score_mod_other_buffers");
  flex.maskBuffers = call.list(mask + 4, "mask_mod_other_buffers");
  return flex;
}

Value sizesValue(const SymSizes& sizes) {
  ValueList items;
  for (const SymInt size : sizes) items.emplace_back(size);
  return Value(std::move(items));
}

Result<Tensor> Flex::product(const Tensor& a, const Tensor& b) const {
  const SymInt batch = a.symSize(0) * a.symSize(1);
  KERF_TRY(const Tensor left, op("reshape.default", {Value(a), sizesValue({batch, a.symSize(2), a.symSize(3)})}));
  KERF_TRY(const Tensor right, op("reshape.default", {Value(b), sizesValue({batch, b.symSize(2), b.symSize(3)})}));
  KERF_TRY(const Tensor out, op("bmm.default", {Value(left), Value(right)}));
  return op("reshape.default", {Value(out), sizesValue({a.symSize(0), a.symSize(1), a.symSize(2), b.symSize(3)})});
}

Result<Tensor> Flex::repeated(const Tensor& tensor) const {
  Tensor full = tensor;
  if (group > 1) {
    KERF_TRY(const Tensor extra, op("unsqueeze.default", {Value(full), Value(std::int64_t{2})}));
    const SymSizes wide{full.symSize(0), full.symSize(1), group, full.symSize(2), full.symSize(3)};
    KERF_TRY(const Tensor expanded, op("expand.default", {Value(extra), sizesValue(wide)}));
    KERF_TRY(full, op("reshape.default", {Value(expanded), sizesValue({wide[0], wide[1] * group, wide[3], wide[4]})}));
  }
  if (guardOrFalse(full.symSize(0) == query.symSize(0))) return full;
  return op("expand.default",
            {Value(full), sizesValue({query.symSize(0), full.symSize(1), full.symSize(2), full.symSize(3)})});
}

Result<Tensor> Flex::gathered(const Tensor& tensor) const {
  Tensor result = tensor;
  if (group > 1) {
    const SymSizes wide{tensor.symSize(0), floorDiv(tensor.symSize(1), group), group, tensor.symSize(2),
                        tensor.symSize(3)};
    KERF_TRY(const Tensor split, op("reshape.default", {Value(tensor), sizesValue(wide)}));
    KERF_TRY(result, op("sum.dim_IntList", {Value(split), sizesValue({2})}));
  }
  if (guardOrFalse(result.symSize(0) == key.symSize(0))) return result;
  return op("sum.dim_IntList", {Value(result), sizesValue({0}), Value(true)});
}

Result<ValueList> Flex::positions() const {
  const SymSizes sizes{query.symSize(0), query.symSize(1), query.symSize(2), key.symSize(2)};
  ValueList result;
  for (std::size_t dim = 0; dim < 4; ++dim) {
    KERF_TRY(const Tensor line, op("arange.default", {Value(sizes[dim])}, {{"dtype", Value(DType::Int32)}}));
    SymSizes shape{1, 1, 1, 1};
    shape[dim] = sizes[dim];
    KERF_TRY(Tensor shaped, op("reshape.default", {Value(line), sizesValue(shape)}));
    shaped.setDevice(query.device());
    result.emplace_back(std::move(shaped));
  }
  return result;
}

Result<Tensor> singleOutput(const Flex& flex, const std::string& graph, const ValueList& operands) {
  KERF_TRY(const Value result, flex.call.run(graph, operands));
  const ValueList parts = partsOf(result);
  if (parts.size() == 1 && parts[0].isTensor()) return parts[0].tensor();
  return fail(ErrorCode::ShapeMismatch, "{}: '{}' must give one tensor", flex.call.name, graph);
}

ValueList concatenated(std::initializer_list<ValueList> lists) {
  ValueList result;
  for (const ValueList& list : lists) result.insert(result.end(), list.begin(), list.end());
  return result;
}

/// Scaled scores, the mask, and the modified scores with -inf where the mask is false.
Result<Value> Flex::scores(Tensor& plain, Tensor& masked, Tensor& mask) const {
  KERF_TRY(const Tensor keys, repeated(key));
  KERF_TRY(const Tensor keysTurned, turned(keys));
  KERF_TRY(const Tensor raw, product(query, keysTurned));
  KERF_TRY(const Tensor wide, cast(raw, working));
  KERF_TRY(plain, op("mul.Tensor", {Value(wide), Value(scale)}));
  KERF_TRY(const ValueList where, positions());
  KERF_TRY(mask, singleOutput(*this, maskGraph, concatenated({where, maskBuffers})));
  KERF_TRY(const Tensor modified, singleOutput(*this, scoreGraph, concatenated({{Value(plain)}, where, scoreBuffers})));
  KERF_TRY(const Tensor modifiedWide, cast(modified, working));
  KERF_TRY(const Tensor hidden, op("scalar_tensor.default", {Value(-infinity)}, {{"dtype", Value(working)}}));
  KERF_TRY(const Tensor joined, op("where.self", {Value(mask), Value(modifiedWide), Value(hidden)}));
  KERF_TRY(masked, op("expand.default", {Value(joined), sizesValue(plain.symSizes())}));
  return Value();
}

/// The tensor with sizes as they are and the dimensions laid out in the order of `like`'s strides.
Result<Tensor> laidOutLike(const Flex& flex, const Tensor& tensor, const Tensor& like) {
  std::vector<std::size_t> order{0, 1, 2, 3};
  std::ranges::stable_sort(
      order, [&](std::size_t a, std::size_t b) { return guardOrFalse(like.symStrides()[a] > like.symStrides()[b]); });
  Sizes forward(4), backward(4), sizes(4);
  for (std::size_t i = 0; i < 4; ++i) {
    forward[i] = std::int64_t(order[i]);
    backward[order[i]] = std::int64_t(i);
  }
  KERF_TRY(const Tensor permuted, flex.op("permute.default", {Value(tensor), sizesValue(forward)}));
  KERF_TRY(const Tensor packed,
           flex.op("clone.default", {Value(permuted)}, {{"memory_format", Value(MemoryFormat::Contiguous)}}));
  return flex.op("permute.default", {Value(packed), sizesValue(backward)});
}

Result<Value> runFlex(const HigherOrderCall& call) {
  KERF_TRY(const Flex flex, readFlex(call, 3, 4));
  Tensor plain, masked, mask;
  KERF_CHECK(flex.scores(plain, masked, mask));
  const Value last = sizesValue({-1});
  KERF_TRY(const Tensor logSum, flex.op("logsumexp.default", {Value(masked), last}));
  KERF_TRY(const Tensor largest, flex.op("amax.default", {Value(masked), last}));
  KERF_TRY(const Tensor weights, flex.op("_safe_softmax.default", {Value(masked), Value(std::int64_t{-1})}));
  KERF_TRY(const Tensor narrow, flex.cast(weights, flex.query.dtype()));
  KERF_TRY(const Tensor values, flex.repeated(flex.value));
  KERF_TRY(const Tensor product, flex.product(narrow, values));
  KERF_TRY(Tensor out, laidOutLike(flex, product, flex.query));
  KERF_TRY(Tensor logSum2, flex.op("div.Tensor", {Value(logSum), Value(std::numbers::ln2)}));
  KERF_TRY(Tensor largest2, flex.op("div.Tensor", {Value(largest), Value(std::numbers::ln2)}));
  return Value(ValueList{Value(std::move(out)), Value(std::move(logSum2)), Value(std::move(largest2))});
}

/// exp(scores - logsumexp), zero in rows that the mask hides.
Result<Tensor> savedSoftmax(const Flex& flex, const Tensor& masked, const Tensor& logSum2) {
  KERF_TRY(const Tensor logSum, flex.op("mul.Tensor", {Value(logSum2), Value(std::numbers::ln2)}));
  KERF_TRY(const Tensor column, flex.op("unsqueeze.default", {Value(logSum), Value(std::int64_t{-1})}));
  KERF_TRY(const Tensor shifted, flex.op("sub.Tensor", {Value(masked), Value(column)}));
  KERF_TRY(const Tensor weights, flex.op("exp.default", {Value(shifted)}));
  KERF_TRY(const Tensor hidden, flex.op("eq.Scalar", {Value(column), Value(-infinity)}));
  KERF_TRY(const Tensor zero, flex.op("scalar_tensor.default", {Value(0.0)}, {{"dtype", Value(flex.working)}}));
  return flex.op("where.self", {Value(hidden), Value(zero), Value(weights)});
}

/// Gradient of the modified scores: P ∘ (dO Vᵀ − rowsum(O ∘ dO) + d logsumexp).
Result<Tensor> scoreGradient(const Flex& flex, const Tensor& weights) {
  KERF_TRY(const Tensor gradOut, flex.cast(tensorAt(flex.call, 5), flex.working));
  KERF_TRY(const Tensor out, flex.cast(tensorAt(flex.call, 3), flex.working));
  KERF_TRY(const Tensor values, flex.repeated(flex.value));
  KERF_TRY(const Tensor valuesTurned, flex.turned(values));
  KERF_TRY(const Tensor valuesWide, flex.cast(valuesTurned, flex.working));
  KERF_TRY(const Tensor grad, flex.product(gradOut, valuesWide));
  KERF_TRY(const Tensor products, flex.op("mul.Tensor", {Value(out), Value(gradOut)}));
  KERF_TRY(const Tensor sums, flex.op("sum.dim_IntList", {Value(products), sizesValue({-1}), Value(true)}));
  KERF_TRY(Tensor centred, flex.op("sub.Tensor", {Value(grad), Value(sums)}));
  if (const Tensor gradLogSum = tensorAt(flex.call, 6); gradLogSum.dim() == 3) {
    KERF_TRY(const Tensor natural, flex.op("div.Tensor", {Value(gradLogSum), Value(std::numbers::ln2)}));
    KERF_TRY(const Tensor column, flex.op("unsqueeze.default", {Value(natural), Value(std::int64_t{-1})}));
    KERF_TRY(centred, flex.op("add.Tensor", {Value(centred), Value(column)}));
  }
  return flex.op("mul.Tensor", {Value(weights), Value(centred)});
}

/// Through the joint graph (scores, positions…, gradient, buffers…) → (gradient of scores, None…, of buffers…).
Result<ValueList> jointGradient(const Flex& flex, const Tensor& plain, const Tensor& mask, const Tensor& grad) {
  KERF_TRY(const std::string joint, flex.call.graph(8));
  KERF_TRY(const ValueList where, flex.positions());
  KERF_TRY(const Value result,
           flex.call.run(joint, concatenated({{Value(plain)}, where, {Value(grad)}, flex.scoreBuffers})));
  ValueList parts = partsOf(result);
  if (parts.empty() || !parts[0].isTensor())
    return fail(ErrorCode::ShapeMismatch, "{}: the joint graph gives no gradient", flex.call.name);
  KERF_TRY(const Tensor wide, flex.cast(parts[0].tensor(), flex.working));
  KERF_TRY(const Tensor scaled, flex.op("mul.Tensor", {Value(wide), Value(flex.scale)}));
  KERF_TRY(const Tensor zero, flex.op("scalar_tensor.default", {Value(0.0)}, {{"dtype", Value(flex.working)}}));
  KERF_TRY(const Tensor visible, flex.op("where.self", {Value(mask), Value(scaled), Value(zero)}));
  KERF_TRY(const Tensor full, flex.op("expand.default", {Value(visible), sizesValue(plain.symSizes())}));
  KERF_TRY(parts[0], flex.cast(full, flex.query.dtype()));
  return parts;
}

Result<Value> runFlexBackward(const HigherOrderCall& call) {
  KERF_TRY(const Flex flex, readFlex(call, 7, 9));
  if (tensorAt(call, 3).dim() != 4 || tensorAt(call, 5).dim() != 4 || tensorAt(call, 4).dim() != 3)
    return fail(ErrorCode::ShapeMismatch, "{}: out and grad_out must have 4 dimensions, logsumexp 3", call.name);
  Tensor plain, masked, mask;
  KERF_CHECK(flex.scores(plain, masked, mask));
  KERF_TRY(const Tensor weights, savedSoftmax(flex, masked, tensorAt(call, 4)));
  KERF_TRY(const Tensor narrow, flex.cast(weights, flex.query.dtype()));
  KERF_TRY(const Tensor narrowTurned, flex.turned(narrow));
  KERF_TRY(const Tensor gradValues, flex.product(narrowTurned, tensorAt(call, 5)));
  KERF_TRY(const Tensor gradModified, scoreGradient(flex, weights));
  KERF_TRY(const ValueList joint, jointGradient(flex, plain, mask, gradModified));
  KERF_TRY(const Tensor keys, flex.repeated(flex.key));
  KERF_TRY(const Tensor gradQuery, flex.product(joint[0].tensor(), keys));
  KERF_TRY(const Tensor jointTurned, flex.turned(joint[0].tensor()));
  KERF_TRY(const Tensor gradKeys, flex.product(jointTurned, flex.query));
  KERF_TRY(const Tensor keySum, flex.gathered(gradKeys));
  KERF_TRY(const Tensor valueSum, flex.gathered(gradValues));
  KERF_TRY(Tensor queryOut, laidOutLike(flex, gradQuery, flex.query));
  KERF_TRY(Tensor keyOut, laidOutLike(flex, keySum, flex.key));
  KERF_TRY(Tensor valueOut, laidOutLike(flex, valueSum, flex.value));
  ValueList captured;
  for (std::size_t i = 5; i < joint.size(); ++i) captured.push_back(joint[i]);
  return Value(ValueList{Value(std::move(queryOut)), Value(std::move(keyOut)), Value(std::move(valueOut)),
                         Value(std::move(captured))});
}

constexpr HigherOrderRow flexRowsTable[] = {
    {"flex_attention", runFlex},
    {"flex_attention_backward", runFlexBackward},
};

}  // namespace

HigherOrderRows flexRows() { return flexRowsTable; }

}  // namespace kerf::inline ops
