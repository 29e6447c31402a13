// Scaled dot product attention in the fused forms that captures contain, through batched matrix products; softmax sums
// in double.
#include <cmath>

#include "engine/mathlib/gemm.h"
#include "engine/ops/core/empty_output.h"
#include "engine/ops/core/lines.h"
#include "engine/ops/core/op_row.h"
#include "engine/ops/core/strides.h"
#include "engine/ops/nn/attention_dropout.h"
#include "engine/ops/nn/attention_tiles.h"
#include "engine/ops/nn/row_math.h"
#include "engine/symbolic/shape_env.h"
#include "engine/tensor/copy.h"

namespace kerf::inline ops {
namespace {

std::optional<std::size_t> find(const BoundArguments& args, std::string_view name) {
  for (std::size_t i = 0; i < args.values.size(); ++i)
    if (args.op->schema.arguments[i].name == name) return i;
  return {};
}
const Tensor* named(const BoundArguments& args, std::string_view name) {
  const auto at = find(args, name);
  return at ? args.tensorIf(*at) : nullptr;
}

bool isCpuForm(const BoundArguments& args) { return args.op->schema.name.find("_for_cpu") != std::string::npos; }

/// Of [B, H, Q, D] queries, [B, H, K, D] keys, [B, H, K, E] values.
struct AttentionSizes {
  SymInt batch, heads, queries, keys, width, valueWidth;
};

struct Attention {
  std::int64_t batch = 0, heads = 0, queries = 0, keys = 0, width = 0, valueWidth = 0;
  double scale = 1;
  bool causal = false;
  double dropout = 0;
  Tensor q{}, k{}, v{};  ///< float or double, [B * H, …, …]
  Tensor weights{};      ///< softmaxed scores [B * H, Q, K]
  std::vector<double> logSumExp{}, sums{};
};

Result<AttentionSizes> attentionSizes(const BoundArguments& args) {
  const Tensor *q = named(args, "query"), *k = named(args, "key"), *v = named(args, "value");
  for (const Tensor* tensor : {q, k, v})
    if (!tensor || tensor->dim() != 4) return mismatch(args, "query, key and value must have 4 dimensions");
  const AttentionSizes a{q->symSize(0), q->symSize(1), q->symSize(2), k->symSize(2), q->symSize(3), v->symSize(3)};
  if (!checkEqual(k->symSizes(), {a.batch, a.heads, a.keys, a.width}) ||
      !checkEqual(v->symSizes(), {a.batch, a.heads, a.keys, a.valueWidth}))
    return mismatch(args, "the shapes of query, key and value do not fit");
  double dropout = 0;
  if (const auto p = find(args, "dropout_p")) dropout = args.number(*p);
  if (!(dropout >= 0 && dropout < 1)) return mismatch(args, "dropout_p must be in [0, 1), got {}", dropout);
  if (dropout != 0 && isCpuForm(args)) return mismatch(args, "the CPU form takes no dropout, as in PyTorch");
  return a;
}

Result<Attention> dimensions(const BoundArguments& args) {
  KERF_TRY(const AttentionSizes sizes, attentionSizes(args));
  Attention a{sizes.batch, sizes.heads, sizes.queries, sizes.keys, sizes.width, sizes.valueWidth};
  if (const auto p = find(args, "dropout_p")) a.dropout = args.number(*p);
  const auto scale = find(args, "scale");
  a.scale = scale && !args.none(*scale) ? args.number(*scale) : 1 / std::sqrt(double(a.width));
  a.causal = args.boolean(args.position("is_causal"));
  return a;
}

/// 16-bit floats are multiplied and summed as float.
DType workType(DType dtype) { return dtype == DType::Float64 ? DType::Float64 : DType::Float32; }

Result<Tensor> heads(const Tensor& tensor) {
  KERF_TRY(const Tensor wide, tensor.to(workType(tensor.dtype())));
  const Sizes sizes{tensor.size(0) * tensor.size(1), tensor.size(2), tensor.size(3)};
  const bool evenBatches = wide.size(0) == 1 || wide.stride(0) == wide.size(1) * wide.stride(1);
  if (evenBatches && wide.stride(3) == 1)  // BLAS takes it as it lies
    return wide.viewAs(sizes, {wide.stride(1), wide.stride(2), 1}, wide.offset());
  KERF_TRY(const Tensor flat, wide.contiguous());
  return flat.viewAs(sizes, contiguousStrides(sizes), flat.offset());
}

Tensor turned(const Tensor& tensor) {
  return tensor.viewAs({tensor.size(0), tensor.size(2), tensor.size(1)},
                       {tensor.stride(0), tensor.stride(2), tensor.stride(1)}, tensor.offset());
}

Result<Tensor> product(const Tensor& a, const Tensor& b, double alpha = 1) {
  KERF_TRY(Tensor out, emptyTensor(a.dtype(), {a.size(0), a.size(1), b.size(2)}));
  KERF_CHECK(bmm(a, b, out, alpha, 0));
  return out;
}

/// body(row number, row) over the rows of scores, on all threads.
template <class T, class Body>
void forRows(const Tensor& scores, Body&& body) {
  const std::int64_t width = scores.size(2), rows = scores.size(0) * scores.size(1);
  parallelFor(rows, std::max<std::int64_t>(1, 8192 / std::max<std::int64_t>(1, width)),
              [&](std::int64_t begin, std::int64_t end) {
                for (std::int64_t r = begin; r < end; ++r) body(r, scores.data<T>() + r * width);
              });
}

template <class Body>
void dispatchWork(DType dtype, Body&& body) {
  if (dtype == DType::Float64)
    body.template operator()<double>();
  else
    body.template operator()<float>();
}

/// The mask as [B, H, Q, K] numbers to add (bool: minus infinity where false), undefined where there is none.
Result<Tensor> maskOf(const BoundArguments& args, const Attention& a, DType work) {
  const Tensor* mask = named(args, find(args, "attn_mask") ? "attn_mask" : "attn_bias");
  if (!mask) return Tensor();
  const Sizes sizes{a.batch, a.heads, a.queries, a.keys};
  auto broadcast = broadcastSizes(mask->sizes(), sizes);
  if (!broadcast || *broadcast != sizes)
    return mismatch(args, "the mask does not broadcast to [{}]", fmt::join(sizes, ", "));
  KERF_TRY(const Tensor dense, mask->to(work));
  if (mask->dtype() == DType::Bool) {
    KERF_TRY(const Tensor own, dense.clone());
    dispatchWork(work, [&]<class T>() {
      for (std::int64_t i = 0; i < own.numel(); ++i)
        own.data<T>()[i] = own.data<T>()[i] != 0 ? T(0) : -std::numeric_limits<T>::infinity();
    });
    return own.viewAs(sizes, broadcastStrides(own, sizes), own.offset());
  }
  return dense.viewAs(sizes, broadcastStrides(dense, sizes), dense.offset());
}

/// Adds the mask and the causal triangle to row `r` of the scores.
template <class T>
void maskRow(const Attention& a, const Tensor& mask, std::int64_t r, T* row) {
  const std::int64_t query = r % a.queries;
  if (mask.defined()) {
    const std::int64_t head = r / a.queries % a.heads, batch = r / a.queries / a.heads;
    const T* add = mask.data<T>() + batch * mask.stride(0) + head * mask.stride(1) + query * mask.stride(2);
    for (std::int64_t i = 0; i < a.keys; ++i) row[i] += add[i * mask.stride(3)];
  }
  for (std::int64_t i = a.causal ? query + 1 : a.keys; i < a.keys; ++i) row[i] = -std::numeric_limits<T>::infinity();
}

/// Sizes and operands, without scores.
Result<Attention> operands(const BoundArguments& args) {
  KERF_TRY(Attention a, dimensions(args));
  KERF_TRY(a.q, heads(*named(args, "query")));
  KERF_TRY(a.k, heads(*named(args, "key")));
  KERF_TRY(a.v, heads(*named(args, "value")));
  return a;
}

/// Operands and their masked scores, in the place of the weights.
Result<Attention> scored(const BoundArguments& args) {
  KERF_TRY(Attention a, operands(args));
  KERF_TRY(a.weights, product(a.q, turned(a.k), a.scale));
  KERF_TRY(const Tensor mask, maskOf(args, a, a.weights.dtype()));
  if (!mask.defined() && !a.causal) return a;
  dispatchWork(a.weights.dtype(),
               [&]<class T>() { forRows<T>(a.weights, [&](std::int64_t r, T* row) { maskRow(a, mask, r, row); }); });
  return a;
}

/// The CPU kernel hands 16-bit weights to the second product before it divides by their sum.
bool dividesLast(const BoundArguments& args) {
  const DType dtype = args.tensor(0).dtype();
  return isCpuForm(args) && (dtype == DType::Float16 || dtype == DType::BFloat16);
}

/// `divided`: weights add up to 1 in a row; otherwise they are exponentials, to divide by `sums`.
Result<Attention> attend(const BoundArguments& args, bool divided) {
  KERF_TRY(Attention a, scored(args));
  a.logSumExp.resize(std::size_t(a.batch * a.heads * a.queries));
  a.sums.resize(a.logSumExp.size());
  dispatchWork(a.weights.dtype(), [&]<class T>() {
    forRows<T>(a.weights, [&](std::int64_t r, T* row) {
      const double largest = double(rowmath::largest(row, a.keys));
      const double shift = std::isinf(largest) ? 0 : largest;
      const double sum = rowmath::expShifted(row, shift, a.keys);
      a.logSumExp[std::size_t(r)] = shift + std::log(sum);
      a.sums[std::size_t(r)] = sum;
      if (sum != 0 && divided) rowmath::divide(row, sum, a.keys);
    });
  });
  return a;
}

/// The stream that the forward call returned.
DropoutStream givenDropoutStream(const BoundArguments& args) {
  const Tensor *seed = named(args, "philox_seed"), *offset = named(args, "philox_offset");
  const auto value = [](const Tensor* t) { return t && t->numel() == 1 ? t->itemAsInt() : std::int64_t{0}; };
  return {value(seed), value(offset)};
}

/// The call in the terms of attention_tiles.h; none for 16-bit types, whose weights are rounded as whole rows.
Result<std::optional<TiledAttention>> tiled(const BoundArguments& args, const DropoutStream& stream) {
  const DType dtype = args.tensor(0).dtype();
  if (dtype != DType::Float32 && dtype != DType::Float64) return std::nullopt;
  KERF_TRY(const Attention a, operands(args));
  KERF_TRY(const Tensor mask, maskOf(args, a, a.q.dtype()));
  TiledAttention tiles{a.batch, a.heads, a.queries, a.keys, a.width, a.valueWidth, a.scale, a.causal, a.q, a.k, a.v,
                       mask, {}};
  if (a.dropout != 0)
    tiles.dropout = [stream, p = a.dropout](std::int64_t score) {
      return keepsScore(stream, score, p) ? 1 / (1 - p) : 0.0;
    };
  return tiles;
}

/// Scores with those that dropout takes set to zero and the others scaled by 1 / (1 - p).
Result<Tensor> dropped(const Attention& a, const Tensor& scores, const DropoutStream& seed) {
  if (a.dropout == 0) return scores;
  KERF_TRY(Tensor result, scores.clone());
  const double factor = 1 / (1 - a.dropout);
  dispatchWork(result.dtype(), [&]<class T>() {
    forRows<T>(result, [&](std::int64_t r, T* row) {
      for (std::int64_t i = 0; i < a.keys; ++i)
        row[i] *= static_cast<T>(keepsScore(seed, r * a.keys + i, a.dropout) ? factor : 0);
    });
  });
  return result;
}

/// [B, H, Q, E] laid out as [B, Q, H, E].
Value interleaved(DType dtype, SymInt batch, SymInt heads, SymInt rows, SymInt width) {
  return metaTensor(dtype, {batch, heads, rows, width}, {rows * heads * width, width, heads * width, 1});
}

/// Rows of the logsumexp that CUDA's kernel writes: whole blocks of 32.
SymInt paddedRows(SymInt queries) {
  if (!queries.isSymbolic()) return ceilDiv(queries, 32) * 32;
  ShapeEnv& env = *ShapeEnv::current();
  const auto blocks = [&]() -> Result<Symbolic> {  // in PyTorch's words: math.ceil(queries / 32)
    KERF_TRY(Symbolic quotient, Symbolic::call("IntTrueDiv", {env.expression(queries), Symbolic::integer(32)}));
    return Symbolic::call("CeilToInt", {std::move(quotient)});
  }();
  return blocks ? env.intern(*blocks) * 32 : ceilDiv(queries, 32) * 32;
}

Result<Value> forwardShape(const BoundArguments& args) {
  KERF_TRY(const AttentionSizes a, attentionSizes(args));
  const Tensor& query = *named(args, "query");
  ValueList outs{interleaved(query.dtype(), a.batch, a.heads, a.queries, a.valueWidth)};
  if (isCpuForm(args)) {  // the output lies as the query does
    KERF_TRY(const SymSizes strides, likeStrides(query, {}));
    if (guardOrFalse(a.valueWidth == a.width)) outs[0] = metaTensor(query.dtype(), query.symSizes(), strides);
    outs.emplace_back(metaTensor(workType(query.dtype()), {a.batch, a.heads, a.queries}, {a.queries * a.heads, 1, a.heads}));
    return Value(std::move(outs));
  }
  const SymInt rows = args.boolean(args.position("compute_log_sumexp")) ? paddedRows(a.queries) : SymInt(0);
  // CUDA's kernels know no float64: there only the fp64 reference is, which float32 sums would leave without one.
  outs.emplace_back(metaTensor(workType(query.dtype()), SymSizes{a.batch, a.heads, rows}));
  outs.insert(outs.end(), 2, metaTensor(DType::Int64, Sizes{}));
  return Value(std::move(outs));
}

/// Values as `dtype` would hold them.
Result<Tensor> roundedAs(DType dtype, const Tensor& tensor) {
  if (dtype == tensor.dtype()) return tensor;
  KERF_TRY(const Tensor narrow, tensor.to(dtype));
  return narrow.to(tensor.dtype());
}

/// Weights times values, rows divided by the sums of their exponentials.
Result<Tensor> dividedProduct(const Attention& a, DType dtype) {
  KERF_TRY(const Tensor weights, roundedAs(dtype, a.weights));
  KERF_TRY(Tensor result, product(weights, a.v));
  for (std::size_t r = 0; r < a.sums.size(); ++r)
    if (a.sums[r] != 0) rowmath::divide(result.data<float>() + std::int64_t(r) * a.valueWidth, a.sums[r], a.valueWidth);
  return result;
}

/// The attention's output into `out`; the logarithms of the rows' sums.
Result<std::vector<double>> wholeForward(const BoundArguments& args, const DropoutStream& seed, const Tensor& out) {
  const bool divided = !dividesLast(args);
  KERF_TRY(Attention a, attend(args, divided));
  KERF_TRY(const Tensor weights, dropped(a, a.weights, seed));
  KERF_TRY(const Tensor result, divided ? product(weights, a.v) : dividedProduct(a, args.tensor(0).dtype()));
  const Sizes sizes{a.batch, a.heads, a.queries, a.valueWidth};
  KERF_CHECK(copyElements(result.viewAs(sizes, contiguousStrides(sizes), 0), out));
  return std::move(a.logSumExp);
}

Result<Value> forwardKernel(const BoundArguments& args) {
  KERF_TRY(const std::vector<Tensor> outs, makeOutputs(args));
  KERF_TRY(const Attention a, dimensions(args));
  const std::int64_t scores = a.batch * a.heads * a.queries * a.keys;
  const DropoutStream seed = a.dropout == 0 ? DropoutStream() : nextDropoutStream(scores);
  KERF_TRY(const auto tiles, tiled(args, seed));
  const bool inTiles = tiles && attentionFitsTiles(*tiles, false);
  KERF_TRY(const auto logSumExp, inTiles ? attendInTiles(*tiles, outs[0]) : wholeForward(args, seed, outs[0]));
  if (outs.size() > 3) {
    *outs[2].data<std::int64_t>() = seed.seed;
    *outs[3].data<std::int64_t>() = seed.offset;
  }
  if (outs[1].numel() == 0) return tensorList(outs);
  const Sizes rows{a.batch, a.heads, a.queries};
  KERF_CHECK(writeValues(logSumExp, outs[1].viewAs(rows, outs[1].strides(), outs[1].offset())));
  return tensorList(outs);
}

bool gradientWanted(const BoundArguments& args, std::size_t k) {
  const auto mask = find(args, "grad_input_mask");
  if (!mask) return k < 3;
  const ValueList& flags = args.values[*mask].list();
  return k < flags.size() && flags[k].as<bool>() && *flags[k].as<bool>() && (k < 3 || named(args, "attn_bias"));
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
  if (gradientWanted(args, 3) && named(args, "attn_bias")->dim() == 0)
    return mismatch(args, "the gradient of a bias without dimensions is asked for");
  const Tensor& query = *named(args, "query");
  ValueList outs(args.op->schema.returns.size());
  if (gradientWanted(args, 0)) outs[0] = interleaved(query.dtype(), a.batch, a.heads, a.queries, a.width);
  if (gradientWanted(args, 1)) outs[1] = interleaved(query.dtype(), a.batch, a.heads, a.keys, a.width);
  if (gradientWanted(args, 2)) outs[2] = interleaved(query.dtype(), a.batch, a.heads, a.keys, a.valueWidth);
  if (gradientWanted(args, 3)) outs[3] = biasGradientMeta(*named(args, "attn_bias"));
  return Value(std::move(outs));
}

/// dS = P ∘ (dP − sum), with dP = dO Vᵀ under the dropout mask; sum(row number, dP, P) is that of dP ∘ P
template <class RowSum>
Result<Tensor> scoreGradient(const Attention& a, const Tensor& grad, const DropoutStream& seed, RowSum&& rowSum) {
  KERF_TRY(const Tensor plain, product(grad, turned(a.v)));
  KERF_TRY(Tensor result, dropped(a, plain, seed));
  dispatchWork(result.dtype(), [&]<class T>() {
    forRows<T>(result, [&](std::int64_t r, T* row) {
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
  KERF_TRY(Attention a, attend(args, true));
  const DropoutStream seed = a.dropout == 0 ? DropoutStream() : givenDropoutStream(args);
  KERF_TRY(Tensor scores, scoreGradient(a, grad, seed, [&]<class T>(std::int64_t, const T* row, const T* p) {
             return rowmath::dot(row, p, a.keys);
           }));
  KERF_TRY(Tensor weights, dropped(a, a.weights, seed));
  return ScoreGradients{std::move(a), std::move(weights), std::move(scores)};
}

/// What the CPU form saves: the logarithms of the rows' sums and the output.
Result<SavedSoftmax> savedSoftmax(const BoundArguments& args) {
  KERF_TRY(const Attention a, dimensions(args));
  const Tensor &saved = *named(args, "logsumexp"), &out = *named(args, "out");
  if (saved.sizes() != Sizes{a.batch, a.heads, a.queries} || out.sizes() != args.tensor(0).sizes())
    return mismatch(args, "out and logsumexp do not fit query and value");
  KERF_TRY(const Tensor wide, saved.to(DType::Float64));
  KERF_TRY(const Tensor shifts, wide.contiguous());
  KERF_TRY(const Tensor strided, heads(out));
  KERF_TRY(const Tensor results, strided.contiguous());
  return SavedSoftmax{{shifts.data<double>(), shifts.data<double>() + shifts.numel()}, results};
}

/// The CPU kernel takes the softmax from the saved logsumexp and the row sums from the saved output, and hands 16-bit
/// weights and score gradients to its products.
Result<ScoreGradients> savedGradients(const BoundArguments& args, const Tensor& grad) {
  KERF_TRY(const SavedSoftmax saved, savedSoftmax(args));
  const Tensor& results = saved.out;
  KERF_TRY(Attention a, scored(args));
  KERF_TRY(const Tensor grads, grad.contiguous());
  dispatchWork(a.weights.dtype(), [&]<class T>() {
    forRows<T>(a.weights, [&](std::int64_t r, T* row) {
      const double shift = saved.logSumExp[std::size_t(r)];
      rowmath::expShifted(row, std::isinf(shift) ? 0 : shift, a.keys);
    });
  });
  KERF_TRY(const Tensor scores, scoreGradient(a, grad, {}, [&]<class T>(std::int64_t r, const T*, const T*) {
             const std::int64_t first = r * a.valueWidth;
             return rowmath::dot(grads.data<T>() + first, results.data<T>() + first, a.valueWidth);
           }));
  const DType dtype = args.tensor(0).dtype();
  KERF_TRY(Tensor narrowWeights, roundedAs(dtype, a.weights));
  KERF_TRY(Tensor narrowScores, roundedAs(dtype, scores));
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
  KERF_TRY(const auto tiles, tiled(args, givenDropoutStream(args)));
  if (!tiles || !attentionFitsTiles(*tiles, true)) return std::nullopt;
  KERF_TRY(const Tensor grads, grad.contiguous());
  SavedSoftmax saved;
  if (isCpuForm(args)) {
    KERF_TRY(saved, savedSoftmax(args));
  }
  KERF_TRY(TiledGradients gradients, attentionGradientsInTiles(*tiles, grads, saved));
  return gradients;
}

Result<Value> backwardKernel(const BoundArguments& args) {
  KERF_TRY(const Value metas, runShapeRule(args));
  KERF_TRY(const Tensor grad, heads(args.tensor(0)));
  KERF_TRY(auto gradients, tiledGradients(args, grad));
  ScoreGradients of;
  if (!gradients) {
    KERF_TRY(of, isCpuForm(args) ? savedGradients(args, grad) : recomputedGradients(args, grad));
    gradients.emplace();
    KERF_TRY(gradients->query, product(of.scores, of.a.k, of.a.scale));
    KERF_TRY(gradients->key, product(turned(of.scores), of.a.q, of.a.scale));
    KERF_TRY(gradients->value, product(turned(of.weights), grad));
  }
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
constexpr OpRow attentionRows[] = {
    {"aten::_scaled_dot_product_flash_attention_for_cpu(Tensor query, Tensor key, Tensor value, float dropout_p=0.0, "
     "bool is_causal=False, *, Tensor? attn_mask=None, float? scale=None) -> (Tensor output, Tensor logsumexp)",
     matmul, forwardShape, forwardKernel},
    {"aten::_scaled_dot_product_flash_attention_for_cpu_backward(Tensor grad_out, Tensor query, Tensor key, Tensor "
     "value, "
     "Tensor out, Tensor logsumexp, float dropout_p, bool is_causal, *, Tensor? attn_mask=None, float? scale=None) -> "
     "(Tensor grad_query, Tensor grad_key, Tensor grad_value)",
     matmul, backwardShape, backwardKernel},
    {"aten::_scaled_dot_product_efficient_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_bias, "
     "bool compute_log_sumexp, float dropout_p=0.0, bool is_causal=False, *, float? scale=None) -> (Tensor output, "
     "Tensor log_sumexp, Tensor philox_seed, Tensor philox_offset)",
     matmul, forwardShape, forwardKernel},
    {"aten::_scaled_dot_product_efficient_attention_backward(Tensor grad_out_, Tensor query, Tensor key, Tensor value, "
     "Tensor? attn_bias, Tensor out, Tensor logsumexp, Tensor philox_seed, Tensor philox_offset, float dropout_p, "
     "bool[4] grad_input_mask, bool is_causal=False, *, float? scale=None) -> (Tensor, Tensor, Tensor, Tensor)",
     matmul, backwardShape, backwardKernel},
};

}  // namespace

OpRows attentionOps() { return attentionRows; }

}  // namespace kerf::inline ops
