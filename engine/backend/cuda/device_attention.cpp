// Scaled dot product attention on the device, in the fused forms that captures contain: scores and gradients as batched
// products, and everything between them row by row in one kernel.
#include "engine/backend/cuda/device_attention.h"
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
  KERF_TRY(const AttentionWeights of, attend(call, *h, sums, stream, false));
  KERF_TRY(const HeadMatrices v, headMatrices(call, h->v, false, h->groups));
  KERF_TRY(const HeadMatrices out, headMatrices(call, call.out(0), true));
  KERF_CHECK(multiplyHeads(call, of.dropped, v, out, 1));
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

/// `out` gets the gradient of the scores, summed over what the bias was repeated along.
Result<void> biasGradient(const DeviceCall& call, const AttentionHeads& h, const HeadMatrices& grads, const Tensor& out) {
  Sizes whole, wholeStrides, rest, restStrides;
  const std::size_t dims = out.sizes().size(), lead = 4 - dims;
  std::int64_t each = 1;
  for (std::size_t d = 0; d < 4; ++d) {
    const bool repeated = d < lead || (out.sizes()[d - lead] == 1 && grads.sizes[d] != 1);
    if (d >= lead) whole.push_back(out.sizes()[d - lead]), wholeStrides.push_back(grads.strides[d]);
    if (!repeated) continue;
    rest.push_back(grads.sizes[d]), restStrides.push_back(grads.strides[d]);
    each *= grads.sizes[d];
  }
  KERF_TRY(const DeviceAddress to, call.on.addressOf(out, true));
  KERF_TRY(const DeviceShape bias, DeviceShape::of(out.sizes(), out.strides()));
  KERF_TRY(const DeviceShape own, DeviceShape::of(whole, wholeStrides));
  KERF_TRY(const DeviceShape repeated, DeviceShape::of(rest, restStrides));
  KernelArguments arguments;
  arguments.add(to).add(grads.address).add(bias).add(own).add(repeated).add(out.numel()).add(each);
  return call.on.library.launch(attentionSource(), "kerf_bias_gradient", attentionMacros(h),
                                call.on.library.blocksFor(out.numel()), 256, arguments);
}

Result<bool> backward(const DeviceCall& call) {
  const auto h = attentionHeads(call);
  const Tensor& grad = call.args.tensor(0);
  if (!h || grad.dtype() != h->dtype || grad.dim() != 4) return false;
  if (call.hasOut(3) && (h->mask == nullptr || h->mask->dtype() == DType::Bool || h->mask->dim() > 4)) return false;
  if (!isWritable(call, 0) || !isWritable(call, 1) || !isWritable(call, 2)) return false;
  KERF_TRY(const auto stream, givenStream(call, *h));
  if (!stream) return false;
  KERF_TRY(const AttentionWeights of, attend(call, *h, nullptr, *stream, true));
  KERF_TRY(const HeadMatrices dOut, headMatrices(call, grad, false));
  KERF_TRY(const HeadMatrices v, headMatrices(call, h->v, false, h->groups));
  KERF_TRY(const HeadMatrices dWeights, takeScores(call, *h, h->sum));
  KERF_TRY(const HeadMatrices dScores, takeScores(call, *h, h->dtype));
  KERF_CHECK(multiplyHeads(call, dOut, v.turned(), dWeights, 1));
  KernelArguments arguments;
  arguments.add(of.weights.address).add(dWeights.address).add(dScores.address).add(stream->seed).add(stream->offset);
  arguments.add(attentionRows(*h));
  KERF_CHECK(call.on.library.launch(attentionSource(), "kerf_softmax_gradient", attentionMacros(*h), attentionBlocks(call, *h), 256,
                                    arguments));
  if (call.hasOut(0)) {
    KERF_TRY(const HeadMatrices k, headMatrices(call, h->k, false, h->groups));
    KERF_TRY(const HeadMatrices out, headMatrices(call, call.out(0), true));
    KERF_CHECK(multiplyHeads(call, dScores, k, out, h->scale));
  }
  if (call.hasOut(1)) {
    KERF_TRY(const HeadMatrices q, headMatrices(call, h->q, false));
    KERF_TRY(const HeadMatrices out, headMatrices(call, call.out(1), true, h->groups));
    KERF_CHECK(multiplyHeads(call, dScores.turned(), q, out, h->scale));
  }
  if (call.hasOut(2)) {
    KERF_TRY(const HeadMatrices out, headMatrices(call, call.out(2), true, h->groups));
    KERF_CHECK(multiplyHeads(call, of.dropped.turned(), dOut, out, 1));
  }
  if (call.hasOut(3)) KERF_CHECK(biasGradient(call, *h, dScores, call.out(3)));
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
        for (const char* name : {"kerf_softmax", "kerf_softmax_gradient", "kerf_bias_gradient"})
          all.push_back({attentionSource(), name, attentionMacros(dtype, mask, isLong, isLong)});
  return all;
}

std::span<const DeviceOp> attentionDeviceOps() { return rows; }

}  // namespace kerf::inline backend
