// Memory formats of convolutions: channels-last where input or weight is, on every device, as PyTorch 2.11 records it.
#include <gmock/gmock.h>

#include "engine/ops/core/op_call.h"

namespace kerf {
namespace {

using ::testing::ElementsAre;

Tensor like(const Sizes& sizes, const Sizes& strides, std::string_view device) {
  Tensor tensor = metaTensor(DType::Float32, sizes, strides);
  tensor.setDevice(Device{std::string(device), device == "cuda" ? 0 : -1});
  return tensor;
}

Value ints(std::initializer_list<std::int64_t> numbers) {
  ValueList items;
  for (const std::int64_t number : numbers) items.emplace_back(number);
  return items;
}

/// A depthwise convolution of ConvNeXt: kernel 7, padding 3.
Sizes forwardStrides(const Tensor& input, const Tensor& weight, std::int64_t groups) {
  const auto result = inferShapes("torch.ops.aten.convolution.default",
                                  {Value(input), Value(weight), Value(), ints({1, 1}), ints({3, 3}), ints({1, 1}),
                                   Value(false), ints({0, 0}), Value(groups)},
                                  {});
  EXPECT_TRUE(result) << result.error().text();
  return result ? result->tensor().strides() : Sizes();
}

TEST(ConvolutionFormats, FollowInputOrWeightOnEveryDevice) {
  for (const char* device : {"cpu", "cuda"}) {
    const Tensor input = like({2, 256, 16, 16}, {65536, 256, 16, 1}, device);
    const Tensor lastInput = like({2, 256, 16, 16}, {65536, 1, 4096, 256}, device);
    const Tensor weight = like({256, 1, 7, 7}, {49, 49, 7, 1}, device);
    const Tensor wide = like({8, 256, 7, 7}, {12544, 49, 7, 1}, device);
    const Tensor lastWide = like({8, 256, 7, 7}, {12544, 1, 1792, 256}, device);
    EXPECT_THAT(forwardStrides(input, weight, 256), ElementsAre(65536, 256, 16, 1)) << device;
    EXPECT_THAT(forwardStrides(lastInput, weight, 256), ElementsAre(65536, 1, 4096, 256)) << device;
    EXPECT_THAT(forwardStrides(input, wide, 1), ElementsAre(2048, 256, 16, 1)) << device;
    EXPECT_THAT(forwardStrides(input, lastWide, 1), ElementsAre(2048, 1, 128, 8)) << device;
  }
}

/// convnext's backward on CUDA: [2048, 1, 7, 7] comes back as [49, 1, 7, 1].
TEST(ConvolutionFormats, OfGradientsAreThoseOfTheForward) {
  for (const char* device : {"cpu", "cuda"}) {
    const Tensor gradient = like({2, 2048, 2, 2}, {8192, 1, 4096, 2048}, device);
    const Tensor input = like({2, 2048, 2, 2}, {8192, 1, 4096, 2048}, device);
    const Tensor weight = like({2048, 1, 7, 7}, {49, 49, 7, 1}, device);
    const auto result = inferShapes("torch.ops.aten.convolution_backward.default",
                                    {Value(gradient), Value(input), Value(weight), ints({2048}), ints({1, 1}),
                                     ints({3, 3}), ints({1, 1}), Value(false), ints({0, 0}), Value(std::int64_t{2048}),
                                     Value(ValueList{Value(true), Value(true), Value(false)})},
                                    {});
    ASSERT_TRUE(result) << result.error().text();
    EXPECT_THAT(result->list()[0].tensor().strides(), ElementsAre(8192, 1, 4096, 2048)) << device;
    EXPECT_THAT(result->list()[1].tensor().strides(), ElementsAre(49, 1, 7, 1)) << device;
    EXPECT_TRUE(result->list()[2].isNone());
  }
}

}  // namespace
}  // namespace kerf
