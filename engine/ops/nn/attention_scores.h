// Scaled dot product attention as whole matrices of scores: what its forward and backward forms share.
#pragma once

#include <optional>
#include <vector>

#include "engine/ops/core/op_call.h"
#include "engine/ops/nn/attention_dropout.h"
#include "engine/ops/nn/attention_tiles.h"
#include "engine/support/thread_pool.h"

namespace kerf::inline ops {

/// Of [B, H, Q, D] queries, [B, H / groups, K, D] keys, [B, H / groups, K, E] values. Grouped heads are the CPU form's
/// alone here: query head h attends to key head h / groups.
struct AttentionSizes {
  SymInt batch, heads, queries, keys, width, valueWidth, groups = 1;
  SymInt keyHeads() const { return floorDiv(heads, groups); }
};

struct Attention {
  std::int64_t batch = 0, heads = 0, queries = 0, keys = 0, width = 0, valueWidth = 0, groups = 1;
  double scale = 1;
  bool causal = false;
  double dropout = 0;
  Tensor q{}, k{}, v{};  ///< float or double, [B * H, …, …]; each head's own key and value
  Tensor weights{};      ///< softmaxed scores [B * H, Q, K]
  std::vector<double> logSumExp{}, sums{};
};

/// The argument of that name; none, or null, where the form has no such.
std::optional<std::size_t> attentionArgument(const BoundArguments& args, std::string_view name);
const Tensor* attentionTensor(const BoundArguments& args, std::string_view name);
/// Whether this is the form of PyTorch's CPU kernel.
bool isCpuForm(const BoundArguments& args);

/// Of query, key and value; an error where they do not fit.
Result<AttentionSizes> attentionSizes(const BoundArguments& args);
/// Sizes and options, without operands.
Result<Attention> attentionDimensions(const BoundArguments& args);
/// 16-bit floats are multiplied and summed as float.
DType attentionWorkType(DType dtype);
/// [B, H, …, …] as [B * H, …, …] in the type of the work.
Result<Tensor> attentionHeads(const Tensor& tensor);
/// The last two dimensions swapped.
Tensor attentionTurned(const Tensor& tensor);
/// alpha * a @ b of batches.
Result<Tensor> attentionProduct(const Tensor& a, const Tensor& b, double alpha = 1);

/// Operands and their masked scores, in the place of the weights.
Result<Attention> attentionScores(const BoundArguments& args);
/// `divided`: weights add up to 1 in a row; otherwise they are exponentials, to divide by `sums`.
Result<Attention> attentionWeights(const BoundArguments& args, bool divided);
/// The stream that the forward call returned.
DropoutStream givenDropoutStream(const BoundArguments& args);
/// The call in the terms of attention_tiles.h; none for types that are no floats of 16 to 64 bits.
Result<std::optional<TiledAttention>> attentionTiles(const BoundArguments& args, const DropoutStream& stream);
/// Scores with those that dropout takes set to zero and the others scaled by 1 / (1 - p).
Result<Tensor> droppedScores(const Attention& a, const Tensor& scores, const DropoutStream& seed);
/// [B, H, Q, E] laid out as [B, Q, H, E].
Value interleaved(DType dtype, SymInt batch, SymInt heads, SymInt rows, SymInt width);
/// Values as `dtype` would hold them.
Result<Tensor> attentionRounded(DType dtype, const Tensor& tensor);

/// body(row number, row) over the rows of scores, on all threads.
template <class T, class Body>
void forScoreRows(const Tensor& scores, Body&& body) {
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

}  // namespace kerf::inline ops
