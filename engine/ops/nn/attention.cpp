// Scaled dot product attention in the fused forms that captures contain, through batched matrix products; softmax sums
// in double.
#include "engine/ops/core/empty_output.h"
#include "engine/ops/core/op_registration.h"
#include "engine/ops/core/strides.h"
#include "engine/ops/kernels/lines.h"
#include "engine/ops/nn/attention_scores.h"
#include "engine/ops/nn/row_math.h"
#include "engine/symbolic/shape_env.h"
#include "engine/tensor/copy.h"

namespace kerf::inline ops {
namespace {

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

/// The CPU kernel hands 16-bit weights to the second product before it divides by their sum.
bool dividesLast(const BoundArguments& args) {
  const DType dtype = args.tensor(0).dtype();
  return isCpuForm(args) && (dtype == DType::Float16 || dtype == DType::BFloat16);
}

Result<Value> forwardShape(const BoundArguments& args) {
  KERF_TRY(const AttentionSizes a, attentionSizes(args));
  const Tensor& query = *attentionTensor(args, "query");
  ValueList outs{interleaved(query.dtype(), a.batch, a.heads, a.queries, a.valueWidth)};
  if (isCpuForm(args)) {  // the output lies as the query does
    KERF_TRY(const SymSizes strides, likeStrides(query, {}));
    if (guardOrFalse(a.valueWidth == a.width)) outs[0] = metaTensor(query.dtype(), query.symSizes(), strides);
    outs.emplace_back(
        metaTensor(attentionWorkType(query.dtype()), {a.batch, a.heads, a.queries}, {a.queries * a.heads, 1, a.heads}));
    return Value(std::move(outs));
  }
  const SymInt rows = args.boolean(args.position("compute_log_sumexp")) ? paddedRows(a.queries) : SymInt(0);
  // CUDA's kernels know no float64: there only the fp64 reference is, which float32 sums would leave without one.
  outs.emplace_back(metaTensor(attentionWorkType(query.dtype()), SymSizes{a.batch, a.heads, rows}));
  outs.insert(outs.end(), 2, metaTensor(DType::Int64, Sizes{}));
  return Value(std::move(outs));
}

/// Weights times values, rows divided by the sums of their exponentials.
Result<Tensor> dividedProduct(const Attention& a, DType dtype) {
  KERF_TRY(const Tensor weights, attentionRounded(dtype, a.weights));
  KERF_TRY(Tensor result, attentionProduct(weights, a.v));
  for (std::size_t r = 0; r < a.sums.size(); ++r)
    if (a.sums[r] != 0) rowmath::divide(result.data<float>() + std::int64_t(r) * a.valueWidth, a.sums[r], a.valueWidth);
  return result;
}

/// The attention's output into `out`; the logarithms of the rows' sums.
Result<std::vector<double>> wholeForward(const BoundArguments& args, const DropoutStream& seed, const Tensor& out) {
  const bool divided = !dividesLast(args);
  KERF_TRY(Attention a, attentionWeights(args, divided));
  KERF_TRY(const Tensor weights, droppedScores(a, a.weights, seed));
  KERF_TRY(const Tensor result, divided ? attentionProduct(weights, a.v) : dividedProduct(a, args.tensor(0).dtype()));
  const Sizes sizes{a.batch, a.heads, a.queries, a.valueWidth};
  KERF_CHECK(copyElements(result.viewAs(sizes, contiguousStrides(sizes), 0), out));
  return std::move(a.logSumExp);
}

Result<Value> forwardKernel(const BoundArguments& args) {
  KERF_TRY(const std::vector<Tensor> outs, makeOutputs(args));
  KERF_TRY(const Attention a, attentionDimensions(args));
  const std::int64_t scores = a.batch * a.heads * a.queries * a.keys;
  const DropoutStream seed = a.dropout == 0 ? DropoutStream() : nextDropoutStream(scores);
  KERF_TRY(const auto tiles, attentionTiles(args, seed));
  const bool inTiles = tiles && attentionFitsTiles(*tiles);
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

constexpr OpTrait matmul = OpTrait::Matmul;
constexpr OpRow attentionRows[] = {
    {"aten::_scaled_dot_product_flash_attention_for_cpu(Tensor query, Tensor key, Tensor value, float dropout_p=0.0, "
     "bool is_causal=False, *, Tensor? attn_mask=None, float? scale=None) -> (Tensor output, Tensor logsumexp)",
     matmul, forwardShape, forwardKernel},
    {"aten::_scaled_dot_product_efficient_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_bias, "
     "bool compute_log_sumexp, float dropout_p=0.0, bool is_causal=False, *, float? scale=None) -> (Tensor output, "
     "Tensor log_sumexp, Tensor philox_seed, Tensor philox_offset)",
     matmul, forwardShape, forwardKernel},
};

const OpRegistration attentionOps({.rows = attentionRows});

}  // namespace

}  // namespace kerf::inline ops
