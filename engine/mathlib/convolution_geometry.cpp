#include "engine/mathlib/convolution_geometry.h"

namespace kerf::inline mathlib {
namespace {

constexpr std::int64_t sizeLimit = std::int64_t{1} << 40;  // keeps products of two arguments within 63 bits

Result<std::int64_t> entry(const Sizes& list, std::size_t d, std::size_t spatial, std::string_view what) {
  if (list.size() != 1 && list.size() != spatial)
    return fail(ErrorCode::ShapeMismatch, "convolution: {} has {} entries for {} spatial dimensions", what, list.size(),
                spatial);
  const std::int64_t value = list.size() == 1 ? list[0] : list[d];
  if (value > sizeLimit || value < 0)
    return fail(ErrorCode::ShapeMismatch, "convolution: {} {} is out of range", what, value);
  return value;
}

/// Size along one spatial dimension.
Result<std::int64_t> outputSize(std::int64_t in, std::int64_t kernel, std::size_t d, std::size_t spatial,
                                const ConvolutionSpec& spec) {
  KERF_TRY(const std::int64_t stride, entry(spec.stride, d, spatial, "stride"));
  KERF_TRY(const std::int64_t padding, entry(spec.padding, d, spatial, "padding"));
  KERF_TRY(const std::int64_t dilation, entry(spec.dilation, d, spatial, "dilation"));
  if (stride < 1 || dilation < 1)
    return fail(ErrorCode::ShapeMismatch, "convolution: stride {} and dilation {} must be positive", stride, dilation);
  if (in > sizeLimit || kernel > (1 << 20) || dilation > (1 << 20) || stride > (1 << 20))
    return fail(ErrorCode::TooLarge, "convolution: size {}, kernel {}, dilation {} or stride {} is too large", in,
                kernel, dilation, stride);
  const std::int64_t reach = dilation * (kernel - 1) + 1;
  std::int64_t out = 0;
  if (spec.transposed) {
    KERF_TRY(const std::int64_t extra, entry(spec.outputPadding, d, spatial, "output_padding"));
    if (extra >= std::max(stride, dilation) && extra > 0)
      return fail(ErrorCode::ShapeMismatch, "convolution: output_padding {} must be smaller than stride or dilation",
                  extra);
    out = (in - 1) * stride - 2 * padding + reach + extra;
  } else {
    if (in + 2 * padding < reach)
      return fail(ErrorCode::ShapeMismatch, "convolution: kernel of extent {} is larger than the padded input {}",
                  reach, in + 2 * padding);
    out = (in + 2 * padding - reach) / stride + 1;
  }
  if (out < 0) return fail(ErrorCode::ShapeMismatch, "convolution: the output would have size {}", out);
  return out;
}

Result<void> checkChannels(const Sizes& input, const Sizes& weight, const ConvolutionSpec& spec) {
  const std::int64_t groups = spec.groups;
  if (groups < 1 || weight[0] < 1 || weight[1] < 0 || weight[0] % groups != 0)
    return fail(ErrorCode::ShapeMismatch, "convolution: {} groups do not divide weight [{}]", groups,
                fmt::join(weight, ", "));
  const std::int64_t expected = spec.transposed ? weight[0] : weight[1] * groups;
  if (input[1] == expected) return {};
  return fail(ErrorCode::ShapeMismatch, "convolution: weight [{}] with {} groups expects {} input channels, not {}",
              fmt::join(weight, ", "), groups, expected, input[1]);
}

}  // namespace

Result<Sizes> convolutionSizes(const Sizes& input, const Sizes& weight, const ConvolutionSpec& spec) {
  if (input.size() < 3 || input.size() > 5 || weight.size() != input.size())
    return fail(ErrorCode::ShapeMismatch, "convolution: input [{}] and weight [{}] must have 3 to 5 dimensions",
                fmt::join(input, ", "), fmt::join(weight, ", "));
  KERF_CHECK(checkChannels(input, weight, spec));
  Sizes out{input[0], spec.transposed ? weight[1] * spec.groups : weight[0]};
  for (std::size_t d = 2; d < input.size(); ++d) {
    if (weight[d] < 1) return fail(ErrorCode::ShapeMismatch, "convolution: a kernel cannot have size {}", weight[d]);
    KERF_TRY(const std::int64_t size, outputSize(input[d], weight[d], d - 2, input.size() - 2, spec));
    out.push_back(size);
  }
  return out;
}

Result<ConvolutionGeometry> convolutionGeometry(const Sizes& input, const Sizes& weight, const Sizes& output,
                                                const ConvolutionSpec& spec) {
  ConvolutionGeometry g;
  const Sizes& big = spec.transposed ? output : input;
  const Sizes& small = spec.transposed ? input : output;
  g.batch = input[0];
  g.groups = spec.groups;
  g.bigChannels = big[1];
  g.smallChannels = small[1];
  const std::size_t spatial = input.size() - 2;
  for (std::size_t d = 0; d < spatial; ++d) {
    const std::size_t at = 3 - spatial + d;
    g.big[at] = big[d + 2];
    g.small[at] = small[d + 2];
    g.kernel[at] = weight[d + 2];
    KERF_TRY(g.stride[at], entry(spec.stride, d, spatial, "stride"));
    KERF_TRY(g.padding[at], entry(spec.padding, d, spatial, "padding"));
    KERF_TRY(g.dilation[at], entry(spec.dilation, d, spatial, "dilation"));
  }
  return g;
}

}  // namespace kerf::inline mathlib
