#include "engine/runtime/convolution_steps.h"

#include "engine/mathlib/exact_sums.h"
#include "engine/mathlib/math_threads.h"
#include "engine/support/thread_pool.h"

namespace kerf::inline runtime {
namespace {

constexpr std::int64_t hashedAtOnce = 1 << 18;  ///< bytes

/// Of the elements, piece by piece; `filter` is contiguous.
std::vector<Hash128> hashesOf(const Tensor& filter) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span(filter.data<float>(), std::size_t(filter.numel())));
  const auto size = std::int64_t(bytes.size());
  std::vector<Hash128> hashes(std::size_t((size + hashedAtOnce - 1) / hashedAtOnce));
  parallelFor(std::int64_t(hashes.size()), 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t from = i * hashedAtOnce;
      hashes[std::size_t(i)] =
          hashBytes(bytes.subspan(std::size_t(from), std::size_t(std::min(hashedAtOnce, size - from))));
    }
  });
  return hashes;
}

Sizes sizesAt(const ValueList& args, std::size_t i) {
  Sizes result;
  if (i >= args.size() || !args[i].isList()) return result;
  for (const Value& item : args[i].list())
    if (const auto* number = item.as<std::int64_t>()) result.push_back(*number);
  return result;
}

}  // namespace

Result<ConvolutionCall> convolutionCall(const ValueList& args) {
  if (args.size() < 2 || !args[0].isTensor() || !args[1].isTensor())
    return fail(ErrorCode::Internal, "a convolution without image and filter");
  ConvolutionCall call{args[0].tensor(), args[1].tensor(), {}, {}};
  if (args.size() > 2 && args[2].isTensor()) call.bias = args[2].tensor();
  call.spec.stride = sizesAt(args, 3);
  call.spec.padding = sizesAt(args, 4);
  call.spec.dilation = sizesAt(args, 5);
  if (args.size() > 6)
    if (const auto* transposed = args[6].as<bool>()) call.spec.transposed = *transposed;
  call.spec.outputPadding = sizesAt(args, 7);
  if (args.size() > 8)
    if (const auto* groups = args[8].as<std::int64_t>()) call.spec.groups = *groups;
  return call;
}

void ConvolutionSteps::prepare(Prepared& step, const ConvolutionCall& call, const Tensor& out,
                               const RowFollower* follower) {
  step.threads = mathThreads();
  step.multiple = follower ? follower->multiple : 1;
  step.packed = {};
  const auto make = [&](std::int64_t multiple) {
    return RowConvolution::make(call.image, call.filter, call.bias.defined(), call.spec, out, multiple, step.threads);
  };
  step.plan = make(step.multiple);
  step.divides = true;
  if (!follower || !step.plan || step.plan->blockCount() >= step.threads) return;
  const auto alone = make(1);
  step.divides = !alone || step.plan->blockCount() >= alone->blockCount();
}

Result<void> ConvolutionSteps::packFilter(Prepared& step, const Tensor& filter) {
  KERF_TRY(const Tensor plain, filter.contiguous());
  std::vector<Hash128> hashes = hashesOf(plain);
  if (step.packed.defined() && hashes == step.filterHashes) return {};
  KERF_TRY(step.packed, step.plan->packed(plain));
  step.filterHashes = std::move(hashes);
  return {};
}

Result<bool> ConvolutionSteps::run(std::size_t index, const ConvolutionCall& call, const Tensor& out,
                                   const RowFollower* follower) {
  if (ExactSums::wanted() || out.dtype() != DType::Float32 || !liesChannelsLast(out.sizes(), out.strides()))
    return false;
  // One that a follower would keep from being divided runs alone.
  const auto [found, isNew] = m_prepared.try_emplace(2 * index + (follower ? 1 : 0));
  Prepared& step = found->second;
  const std::int64_t multiple = follower ? follower->multiple : 1;
  if (isNew || step.threads != mathThreads() || step.multiple != multiple) prepare(step, call, out, follower);
  if (!step.plan || !step.divides) return false;
  KERF_TRY(const Sizes sizes, convolutionSizes(call.image.sizes(), call.filter.sizes(), call.spec));
  if (sizes != out.sizes() || (call.bias.defined() && call.bias.sizes() != Sizes{sizes[1]})) return false;
  KERF_CHECK(packFilter(step, call.filter));
  Tensor bias = call.bias;
  if (bias.defined()) {
    if (bias.dtype() != DType::Float32) return false;
    KERF_TRY(bias, call.bias.contiguous());
  }
  KERF_CHECK(step.plan->run(call.image, step.packed, bias, out, follower));
  return true;
}

}  // namespace kerf::inline runtime
