// Scaled dot product attention on the device, in the fused forms that captures contain: scores and gradients as batched
// products, and everything between them row by row in one kernel.
#include "engine/backend/cuda/device_attention.h"
#include "engine/backend/cuda/device_flash.h"
#include "engine/ops/random/state.h"

namespace kerf::inline backend {
namespace {

// Forward: output, logsumexp, …, seed, offset

/// Positions of seed and offset among the results; flash has both in one.
struct StreamOuts {
  std::size_t seed, offset;
  bool both;
};
StreamOuts streamOuts(const DeviceCall& call) {
  if (isFlash(call.args)) return {6, 7, true};
  return call.outs.size() > 4 ? StreamOuts{6, 7, false} : StreamOuts{2, 3, false};
}

Result<void> prepareForward(const DeviceCall& call) {
  const auto heads = attentionHeads(call);
  std::uint64_t seed = 0, offset = 0;
  if (heads && heads->dropout != 0) {
    RandomState& state = randomState();
    offset = state.takeCudaOffset(std::uint64_t(heads->scores()));
    seed = state.cudaSeed;
  }
  const StreamOuts at = streamOuts(call);
  auto* const first = reinterpret_cast<std::uint64_t*>(call.out(at.seed).storage()->data());
  first[0] = seed;
  auto* const second = reinterpret_cast<std::uint64_t*>(call.out(at.offset).storage()->data());
  if (at.both)
    first[1] = offset, second[0] = 0;
  else
    second[0] = offset;
  return {};
}

Result<bool> forward(const DeviceCall& call) {
  const auto h = attentionHeads(call);
  if (!h || !isWritable(call, 0)) return false;
  const StreamOuts at = streamOuts(call);
  DeviceDropout stream;
  if (h->dropout != 0) {
    KERF_TRY(stream.seed, call.on.addressOf(call.out(at.seed)));
    stream.offset = stream.seed + 8;
    if (!at.both) {
      KERF_TRY(stream.offset, call.on.addressOf(call.out(at.offset)));
    }
  }
  const auto wantsSums = argumentNamed(call.args, "compute_log_sumexp");
  const Tensor* const sums = call.hasOut(1) && (!wantsSums || call.out(1).numel() > 0) ? &call.out(1) : nullptr;
  if (sums != nullptr && sums->numel() > h->rows()) {  // rows that belong to no query
    KERF_TRY(const DeviceAddress place, call.on.addressOf(*sums, true));
    KERF_CHECK(call.on.queue.clear(place, sums->byteSize()));
  }
  KERF_TRY(const bool fused, flashForward(call, *h, sums, stream));
  if (fused) return true;
  const auto blocks = scoreBlocks(*h, itemSize(h->sum) + itemSize(h->dtype), call.on.scoreBytes);
  KERF_TRY(const AttentionParts parts, attentionParts(call, *h, blocks));
  KERF_TRY(const HeadMatrices v, headMatrices(call, h->v, false, h->groups));
  KERF_TRY(const HeadMatrices out, headMatrices(call, call.out(0), true));
  for (const ScoreBlock& block : blocks) {
    KERF_TRY(const AttentionWeights of, attend(call, *h, parts, block, sums, stream, false));
    KERF_CHECK(multiplyHeads(call, of.dropped, v.keys(block), out.queries(block), 1));
  }
  return true;
}

// Backward: gradients of query, key, value and bias

Result<std::optional<DeviceDropout>> givenStream(const DeviceCall& call, const AttentionHeads& h) {
  DeviceDropout stream;
  if (h.dropout == 0) return stream;
  const Tensor *seed = tensorNamed(call.args, "philox_seed"), *offset = tensorNamed(call.args, "philox_offset");
  const auto is64 = [](const Tensor* t) { return t != nullptr && itemSize(t->dtype()) == 8; };
  if (!is64(seed) || (seed->numel() != 2 && !is64(offset))) return std::optional<DeviceDropout>();
  KERF_TRY(stream.seed, call.on.addressOf(*seed));
  stream.offset = stream.seed + 8;
  if (seed->numel() != 2) {
    KERF_TRY(stream.offset, call.on.addressOf(*offset));
  }
  return stream;
}

/// Where the gradient of the bias is formed by blocks that share places of it; 0 where none do.
Result<DeviceAddress> takeBiasSums(const DeviceCall& call, const AttentionHeads& h,
                                   const std::vector<ScoreBlock>& blocks) {
  if (!call.hasOut(3) || blocks.size() == 1) return 0;
  const Tensor& out = call.out(3);
  const auto sizeOf = [&](std::size_t fromEnd) {
    return out.sizes().size() < fromEnd ? 1 : out.sizes()[out.sizes().size() - fromEnd];
  };
  const ScoreBlock& block = blocks.front();
  const bool shares = (sizeOf(4) < h.batch && block.batches < h.batch) ||
                      (sizeOf(3) < h.heads && block.heads < h.heads) ||
                      (sizeOf(2) < h.queries && block.queries < h.queries);
  if (!shares) return 0;
  const std::int64_t bytes = out.numel() * itemSize(h.sum);
  KERF_TRY(const DeviceAddress sums, call.on.scratch.take(bytes));
  KERF_CHECK(call.on.queue.clear(sums, bytes));
  return sums;
}

/// The block's part of the gradient of the bias: the gradient of its scores, summed over what the bias was repeated
/// along. `sums`: where blocks add up, in the order of out's elements; 0: the result itself.
Result<void> biasGradient(const DeviceCall& call, const AttentionHeads& h, const HeadMatrices& grads,
                          const ScoreBlock& block, const Tensor& out, DeviceAddress sums) {
  Sizes own, ownStrides, grown, rest, restStrides;
  const Sizes outStrides = sums != 0 ? contiguousStrides(out.sizes()) : out.strides();
  const std::int64_t first[] = {block.batch, block.head, block.query, 0}, all[] = {h.batch, h.heads, h.queries, h.keys};
  const std::size_t dims = out.sizes().size(), lead = 4 - dims;
  std::int64_t each = 1, count = 1, offset = 0;
  for (std::size_t d = 0; d < 4; ++d) {
    const bool repeated = d < lead || (out.sizes()[d - lead] == 1 && all[d] != 1);
    if (d >= lead) {
      own.push_back(repeated ? 1 : grads.sizes[d]), ownStrides.push_back(outStrides[d - lead]),
          grown.push_back(grads.strides[d]);
      count *= own.back();
      if (!repeated) offset += first[d] * outStrides[d - lead];
    }
    if (!repeated) continue;
    rest.push_back(grads.sizes[d]), restStrides.push_back(grads.strides[d]);
    each *= grads.sizes[d];
  }
  KERF_TRY(const DeviceAddress to, call.on.addressOf(out, true));
  KERF_TRY(const DeviceShape bias, DeviceShape::of(own, ownStrides));
  KERF_TRY(const DeviceShape whole, DeviceShape::of(own, grown));
  KERF_TRY(const DeviceShape repeated, DeviceShape::of(rest, restStrides));
  const DeviceAddress sumsAt = sums == 0 ? 0 : sums + std::uint64_t(offset * itemSize(h.sum));
  KernelArguments arguments;
  arguments.add(to + std::uint64_t(offset * itemSize(out.dtype())))
      .add(sumsAt)
      .add(grads.address)
      .add(bias)
      .add(whole)
      .add(repeated);
  arguments.add(count).add(each);
  return call.on.library.launch(attentionSource(), "kerf_bias_gradient", attentionMacros(h),
                                call.on.library.blocksFor(count), 256, arguments);
}

/// Gradients of the scores of a block: `weights` times what is left of the gradients of the weights.
Result<void> softmaxGradient(const DeviceCall& call, const AttentionHeads& h, const ScoreBlock& block,
                             const HeadMatrices& weights, const HeadMatrices& dWeights, const HeadMatrices& dScores,
                             const DeviceDropout& stream) {
  KernelArguments arguments;
  arguments.add(weights.address).add(dWeights.address).add(dScores.address).add(stream.seed).add(stream.offset);
  arguments.add(attentionRows(h, block));
  return call.on.library.launch(attentionSource(), "kerf_softmax_gradient", attentionMacros(h),
                                attentionBlocks(call, h, block), 256, arguments);
}

Result<bool> backward(const DeviceCall& call) {
  const auto h = attentionHeads(call);
  const Tensor& grad = call.args.tensor(0);
  if (!h || grad.dtype() != h->dtype || grad.dim() != 4) return false;
  if (call.hasOut(3) && (h->mask == nullptr || h->mask->dtype() == DType::Bool || h->mask->dim() > 4)) return false;
  if (!isWritable(call, 0) || !isWritable(call, 1) || !isWritable(call, 2)) return false;
  KERF_TRY(const auto stream, givenStream(call, *h));
  if (!stream) return false;
  KERF_TRY(const bool fused, flashBackward(call, *h, *stream));
  if (fused) return true;
  const auto blocks = scoreBlocks(*h, 2 * (itemSize(h->sum) + itemSize(h->dtype)), call.on.scoreBytes, call.hasOut(3));
  KERF_TRY(const AttentionParts parts, attentionParts(call, *h, blocks));
  KERF_TRY(const HeadMatrices dOut, headMatrices(call, grad, false));
  KERF_TRY(const HeadMatrices v, headMatrices(call, h->v, false, h->groups));
  KERF_TRY(const DeviceAddress dWeightsAt, call.on.scratch.take(mostScores(blocks) * itemSize(h->sum)));
  KERF_TRY(const DeviceAddress dScoresAt, call.on.scratch.take(mostScores(blocks) * itemSize(h->dtype)));
  KERF_TRY(const KeyGradient dK, KeyGradient::of(call, *h, 1, blocks));
  KERF_TRY(const KeyGradient dV, KeyGradient::of(call, *h, 2, blocks));
  KERF_TRY(const DeviceAddress biasSums, takeBiasSums(call, *h, blocks));
  for (const ScoreBlock& block : blocks) {
    const HeadMatrices dWeights = blockScores(dWeightsAt, block, h->sum),
                       dScores = blockScores(dScoresAt, block, h->dtype);
    const HeadMatrices dOutOf = dOut.queries(block);
    KERF_TRY(const AttentionWeights of, attend(call, *h, parts, block, nullptr, *stream, true));
    KERF_CHECK(multiplyHeads(call, dOutOf, v.keys(block).turned(), dWeights, 1));
    KERF_CHECK(softmaxGradient(call, *h, block, of.weights, dWeights, dScores, *stream));
    if (call.hasOut(0)) {
      KERF_TRY(const HeadMatrices out, headMatrices(call, call.out(0), true));
      KERF_CHECK(multiplyHeads(call, dScores, parts.k.keys(block), out.queries(block), h->scale));
    }
    KERF_CHECK(dK.add(call, dScores.turned(), parts.q.queries(block), block, h->scale));
    KERF_CHECK(dV.add(call, of.dropped.turned(), dOutOf, block, 1));
    if (call.hasOut(3)) KERF_CHECK(biasGradient(call, *h, dScores, block, call.out(3), biasSums));
  }
  KERF_CHECK(dK.finish(call, *h));
  KERF_CHECK(dV.finish(call, *h));
  if (biasSums != 0) KERF_CHECK(roundInto(call, attentionMacros(*h), call.out(3), biasSums));
  return true;
}

constexpr std::uint32_t bits(std::size_t a, std::size_t b) { return 1u << a | 1u << b; }
constexpr DeviceOp rows[] = {
    {"aten._scaled_dot_product_efficient_attention.default", prepareForward, forward, bits(2, 3)},
    {"aten._scaled_dot_product_flash_attention.default", prepareForward, forward, bits(6, 7)},
    {"aten._scaled_dot_product_cudnn_attention.default", prepareForward, forward, bits(6, 7)},
    {"aten._scaled_dot_product_fused_attention_overrideable.default", prepareForward, forward, bits(6, 7)},
    {"aten._scaled_dot_product_efficient_attention_backward.default", nullptr, backward},
    {"aten._scaled_dot_product_flash_attention_backward.default", nullptr, backward},
    {"aten._scaled_dot_product_cudnn_attention_backward.default", nullptr, backward},
    {"aten._scaled_dot_product_fused_attention_overrideable_backward.default", nullptr, backward},
};

}  // namespace

std::vector<LibraryKernel> attentionKernels() {
  std::vector<LibraryKernel> all;
  for (const DType dtype : {DType::Float32, DType::Float64, DType::Float16, DType::BFloat16})
    for (const DType mask : {dtype, DType::Bool})
      for (const bool isLong : {false, true})
        for (const char* name : {"kerf_softmax", "kerf_softmax_gradient", "kerf_bias_gradient", "kerf_rounded"})
          all.push_back({attentionSource(), name, attentionMacros(dtype, mask, isLong, isLong)});
  return all;
}

std::span<const DeviceOp> attentionDeviceOps() { return rows; }

}  // namespace kerf::inline backend
