#include "engine/mathlib/convolution.h"

#include <algorithm>

#include "engine/mathlib/convolution_depthwise.h"
#include "engine/mathlib/convolution_gemm.h"
#include "engine/mathlib/convolution_onednn.h"
#include "engine/mathlib/convolution_patches.h"
#include "engine/mathlib/row_convolution.h"
#include "engine/support/thread_pool.h"
#include "engine/tensor/convert.h"
#include "engine/tensor/copy.h"
#include "engine/tensor/empty.h"

namespace kerf::inline mathlib {
namespace {

/// Type in which the sums are formed.
Result<DType> computeType(DType dtype) {
  if (dtype == DType::Float16 || dtype == DType::BFloat16) return DType::Float32;
  if (dtype == DType::Float32 || dtype == DType::Float64) return dtype;
  if (dtype == DType::Complex64 || dtype == DType::Complex128) return dtype;
  if (dtypeInfo(dtype).kind == DTypeKind::Integer) return DType::Int64;
  return fail(ErrorCode::UnsupportedOp, "convolution: {} is not supported", dtypeInfo(dtype).torchName);
}

Result<Tensor> denseAs(const Tensor& tensor, DType dtype) {
  KERF_TRY(const Tensor converted, tensor.to(dtype));
  return converted.contiguous();
}

/// In `dtype`, and with strides that oneDNN understands: positive, and row-major ones where size 1 hides odd strides.
Result<Tensor> withPlainStrides(const Tensor& tensor, DType dtype) {
  KERF_TRY(const Tensor converted, tensor.to(dtype));
  if (converted.isContiguous())
    return converted.viewAs(converted.sizes(), contiguousStrides(converted.sizes()), converted.offset());
  if (std::ranges::any_of(converted.strides(), [](std::int64_t stride) { return stride <= 0; }))
    return converted.clone();
  return converted;
}

Result<void> checkOperands(const Tensor& input, const Tensor& weight, const Tensor& bias, const Sizes& sizes,
                           const Tensor& out) {
  if (weight.dtype() != input.dtype() || (bias.defined() && bias.dtype() != input.dtype()))
    return fail(ErrorCode::ShapeMismatch, "convolution: input is {} but weight is {}",
                dtypeInfo(input.dtype()).torchName, dtypeInfo(weight.dtype()).torchName);
  if (bias.defined() && bias.sizes() != Sizes{sizes[1]})
    return fail(ErrorCode::ShapeMismatch, "convolution: bias [{}] does not fit {} output channels",
                fmt::join(bias.sizes(), ", "), sizes[1]);
  if (out.sizes() == sizes) return {};
  return fail(ErrorCode::ShapeMismatch, "convolution: the output is [{}], not [{}]", fmt::join(sizes, ", "),
              fmt::join(out.sizes(), ", "));
}

constexpr std::int64_t elementsPerThread = 1 << 15;

/// A [N, C, …] tensor as N × C rows of `area` elements.
struct ChannelRows {
  std::int64_t channels, count, area, grain;
};
ChannelRows channelRows(const Tensor& tensor) {
  const std::int64_t channels = tensor.size(1), count = tensor.size(0) * channels;
  const std::int64_t area = count == 0 ? 0 : tensor.numel() / count;
  return {channels, count, area, std::max<std::int64_t>(1, elementsPerThread / std::max<std::int64_t>(1, area))};
}

/// out[n, c, …] += bias[c]; out is contiguous.
Result<void> addBias(const Tensor& bias, const Tensor& out) {
  const ChannelRows rows = channelRows(out);
  return dispatchOver(
      out.dtype(),
      [&]<class T>() {
        parallelFor(rows.count, rows.grain, [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t r = begin; r < end; ++r) {
            const T value = bias.data<T>()[r % rows.channels];
            T* row = out.data<T>() + r * rows.area;
            for (std::int64_t i = 0; i < rows.area; ++i) row[i] += value;
          }
        });
      },
      ConvolutionTypes{});
}

/// Eight sums beside each other, so that none waits for the one before.
template <class Sum, class T>
Sum rowSum(const T* row, std::int64_t count) {
  Sum sums[8] = {};
  std::int64_t i = 0;
  for (; i + 8 <= count; i += 8)
    for (std::int64_t lane = 0; lane < 8; ++lane) sums[lane] += static_cast<Sum>(row[i + lane]);
  for (; i < count; ++i) sums[0] += static_cast<Sum>(row[i]);
  for (std::int64_t lane = 1; lane < 8; ++lane) sums[0] += sums[lane];
  return sums[0];
}

/// Per-channel sums over samples and positions, accumulated in double where the dtype is a float.
Result<Tensor> biasGradient(const Tensor& gradOutput, DType dtype) {
  KERF_TRY(const Tensor result, Tensor::zeros(dtype, {gradOutput.size(1)}));
  const ChannelRows rows = channelRows(gradOutput);
  const std::int64_t perChannel = std::max<std::int64_t>(1, rows.area * gradOutput.size(0));
  KERF_CHECK(dispatchOver(
      gradOutput.dtype(),
      [&]<class T>() {
        using Sum = std::conditional_t<isFloatType<T>, double, T>;
        parallelFor(rows.channels, std::max<std::int64_t>(1, elementsPerThread / perChannel),
                    [&](std::int64_t begin, std::int64_t end) {
                      for (std::int64_t c = begin; c < end; ++c) {
                        Sum sum{};
                        for (std::int64_t r = c; r < rows.count; r += rows.channels)
                          sum += rowSum<Sum>(gradOutput.data<T>() + r * rows.area, rows.area);
                        result.data<T>()[c] = convertElement<T>(sum);
                      }
                    });
      },
      ConvolutionTypes{}));
  return result;
}

/// All tensors in the computing dtype; `out` contiguous and zero.
Result<void> computeForward(const Tensor& input, const Tensor& weight, const Tensor& bias, const ConvolutionSpec& spec,
                            const Tensor& out) {
  KERF_TRY(const auto geometry, convolutionGeometry(input.sizes(), weight.sizes(), out.sizes(), spec));
  KERF_TRY(const Tensor image, input.contiguous());
  KERF_TRY(const Tensor filter, weight.contiguous());
  KERF_CHECK(spec.transposed ? convolutionScatter(geometry, image, filter, out)
                             : convolutionGather(geometry, image, filter, out));
  return bias.defined() ? addBias(bias, out) : Result<void>{};
}

/// A transposed convolution is the gradient of a plain one with respect to its input.
bool oneDnnForward(const Tensor& image, const Tensor& filter, const Tensor& bias, const ConvolutionSpec& spec,
                   const Tensor& out) {
  if (!spec.transposed) return convolutionOneDnn(image, filter, bias, spec, out);
  ConvolutionSpec plain = spec;
  plain.transposed = false;
  if (bias.defined() && !out.isContiguous()) return false;
  if (!convolutionOneDnnBackwardData(image, filter, plain, out)) return false;
  return !bias.defined() || addBias(bias, out).has_value();
}

/// Than oneDNN's kernels.
bool ownIsFaster(const ConvolutionGeometry& geometry, DType dtype) {
  return filtersByChannelFaster(geometry, dtype) || takesPatches(geometry, dtype);
}

Result<void> writeZeros(const Tensor& out) {
  KERF_TRY(const Tensor zero, Tensor::zeros(out.dtype(), Sizes{}));
  return copyElements(zero.viewAs(out.sizes(), Sizes(out.sizes().size(), 0), 0), out);
}

Result<Tensor> optionalDense(const Tensor& tensor, DType dtype) {
  if (!tensor.defined()) return Tensor();
  return denseAs(tensor, dtype);
}

}  // namespace

Result<void> convolutionInto(const Tensor& input, const Tensor& weight, const Tensor& bias, const ConvolutionSpec& spec,
                             const Tensor& out) {
  KERF_TRY(const Sizes sizes, convolutionSizes(input.sizes(), weight.sizes(), spec));
  KERF_CHECK(checkOperands(input, weight, bias, sizes, out));
  KERF_TRY(const DType compute, computeType(input.dtype()));
  KERF_TRY(const Tensor denseBias, optionalDense(bias, compute));
  KERF_TRY(const Tensor image, withPlainStrides(input, compute));
  KERF_TRY(const Tensor filter, withPlainStrides(weight, compute));
  KERF_TRY(const auto geometry, convolutionGeometry(input.sizes(), weight.sizes(), sizes, spec));
  if (!spec.transposed && out.dtype() == compute && takesPatches(geometry, compute))
    return patchGather(geometry, image, filter, denseBias, out);
  const bool direct = out.dtype() == compute && out.isContiguous();
  Tensor target = out;
  if (!direct) {
    KERF_TRY(target, Tensor::zeros(compute, sizes));
  }
  if (compute != DType::Float32 || ownIsFaster(geometry, compute) ||
      !oneDnnForward(image, filter, denseBias, spec, target)) {
    if (direct) {  // the gemm path adds up, so start from zero
      KERF_CHECK(writeZeros(target));
    }
    KERF_CHECK(computeForward(image, filter, denseBias, spec, target));
  }
  return direct ? Result<void>{} : copyElements(target, out);
}

Result<Tensor> convolution(const Tensor& input, const Tensor& weight, const Tensor& bias, const ConvolutionSpec& spec) {
  KERF_TRY(const Sizes sizes, convolutionSizes(input.sizes(), weight.sizes(), spec));
  KERF_TRY(Tensor out, Tensor::zeros(input.dtype(), sizes));
  KERF_CHECK(convolutionInto(input, weight, bias, spec, out));
  return out;
}

namespace {

/// All tensors in the computing dtype and contiguous.
Result<Tensor> inputGradient(const Tensor& grad, const Tensor& filter, const Sizes& sizes, const ConvolutionSpec& spec,
                             const ConvolutionGeometry& geometry) {
  KERF_TRY(const Tensor sum, Tensor::zeros(grad.dtype(), sizes));
  ConvolutionSpec plain = spec;
  plain.transposed = false;
  if (grad.dtype() == DType::Float32 && !ownIsFaster(geometry, grad.dtype())) {
    if (spec.transposed ? convolutionOneDnn(grad, filter, {}, plain, sum)
                        : convolutionOneDnnBackwardData(grad, filter, spec, sum))
      return sum;
    std::fill_n(sum.data<float>(), sum.numel(), 0.0f);
  }
  KERF_CHECK(spec.transposed ? convolutionGather(geometry, grad, filter, sum)
                             : convolutionScatter(geometry, grad, filter, sum));
  return sum;
}

Result<Tensor> weightGradient(const Tensor& grad, const Tensor& image, const Sizes& sizes, const ConvolutionSpec& spec,
                              const ConvolutionGeometry& geometry) {
  // A product of patches writes every element, and large gradients are no memory to write twice.
  const bool written = takesPatches(geometry, grad.dtype());
  KERF_TRY(const Tensor sum, written ? emptyTensor(grad.dtype(), sizes) : Tensor::zeros(grad.dtype(), sizes));
  ConvolutionSpec plain = spec;
  plain.transposed = false;
  if (grad.dtype() == DType::Float32 && !ownIsFaster(geometry, grad.dtype())) {
    if (spec.transposed ? convolutionOneDnnBackwardWeights(image, grad, plain, sum)
                        : convolutionOneDnnBackwardWeights(grad, image, spec, sum))
      return sum;
    std::fill_n(sum.data<float>(), sum.numel(), 0.0f);
  }
  KERF_CHECK(spec.transposed ? convolutionWeightGradient(geometry, grad, image, sum)
                             : convolutionWeightGradient(geometry, image, grad, sum));
  return sum;
}

}  // namespace

namespace {

Result<Tensor> emptyGradient(const Tensor& like, bool channelsLast) {
  return channelsLast && like.dim() == 4 ? emptyTensor(like.dtype(), like.sizes(), channelsLastStrides(like.sizes()))
                                         : emptyTensor(like.dtype(), like.sizes());
}

/// All tensors in the computing dtype, with plain strides.
Result<ConvolutionGradients> patchGradients(const ConvolutionGeometry& geometry, const Tensor& grad,
                                            const Tensor& image, const Tensor& filter, std::array<bool, 3> wanted,
                                            bool channelsLast) {
  ConvolutionGradients result;
  if (wanted[0]) {
    KERF_TRY(result.input, emptyGradient(image, channelsLast));
    if (!patchesCover(geometry)) KERF_CHECK(writeZeros(result.input));
    KERF_CHECK(patchScatter(geometry, grad, filter, result.input));
  }
  if (wanted[1]) {
    KERF_TRY(result.weight, emptyGradient(filter, channelsLast));
    KERF_CHECK(patchWeightGradient(geometry, image, grad, result.weight));
  }
  if (wanted[2]) {
    KERF_TRY(const Tensor dense, grad.contiguous());
    KERF_TRY(result.bias, biasGradient(dense, grad.dtype()));
  }
  return result;
}

}  // namespace

Result<ConvolutionGradients> convolutionBackward(const Tensor& gradOutput, const Tensor& input, const Tensor& weight,
                                                 const ConvolutionSpec& spec, std::array<bool, 3> wanted,
                                                 bool channelsLast) {
  KERF_TRY(const Sizes sizes, convolutionSizes(input.sizes(), weight.sizes(), spec));
  KERF_CHECK(checkOperands(input, weight, {}, sizes, gradOutput));
  KERF_TRY(const auto geometry, convolutionGeometry(input.sizes(), weight.sizes(), sizes, spec));
  KERF_TRY(const DType compute, computeType(input.dtype()));
  if (!spec.transposed && input.dtype() == compute && takesPatches(geometry, compute)) {
    KERF_TRY(const Tensor grad, withPlainStrides(gradOutput, compute));
    KERF_TRY(const Tensor image, withPlainStrides(input, compute));
    KERF_TRY(const Tensor filter, withPlainStrides(weight, compute));
    return patchGradients(geometry, grad, image, filter, wanted, channelsLast);
  }
  KERF_TRY(const Tensor grad, denseAs(gradOutput, compute));
  ConvolutionGradients result;
  if (wanted[0]) {
    KERF_TRY(const Tensor filter, denseAs(weight, compute));
    KERF_TRY(const Tensor sum, inputGradient(grad, filter, input.sizes(), spec, geometry));
    KERF_TRY(result.input, sum.to(input.dtype()));
  }
  if (wanted[1]) {
    KERF_TRY(const Tensor image, denseAs(input, compute));
    KERF_TRY(const Tensor sum, weightGradient(grad, image, weight.sizes(), spec, geometry));
    KERF_TRY(result.weight, sum.to(weight.dtype()));
  }
  if (wanted[2]) {
    KERF_TRY(const Tensor sum, biasGradient(grad, compute));
    KERF_TRY(result.bias, sum.to(input.dtype()));
  }
  return result;
}

}  // namespace kerf::inline mathlib
