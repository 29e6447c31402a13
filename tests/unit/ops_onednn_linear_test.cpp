// onednn.qlinear_*: linear layers of 8-bit integers, against sums written out by hand.
#include <gtest/gtest.h>

#include "engine/ops/core/op_call.h"

namespace kerf {
namespace {

template <class Element>
Tensor tensorOf(DType dtype, const Sizes& sizes, const std::vector<Element>& values) {
  Tensor tensor = *Tensor::zeros(dtype, sizes);
  std::ranges::copy(values, tensor.data<Element>());
  return tensor;
}

/// x [2, 3] of uint8 with zero point 2, w [2, 3] of int8 with zero points 1 and 0.
Result<Tensor> layer(double outScale, std::int64_t outZero, DType dtype, const std::string& postOp, Value bias) {
  const Tensor x = tensorOf<std::uint8_t>(DType::UInt8, {2, 3}, {2, 3, 4, 12, 2, 0});
  const Tensor w = tensorOf<std::int8_t>(DType::Int8, {2, 3}, {1, 2, 3, -1, -2, -3});
  KERF_TRY(const Tensor packed, callTensorOp("onednn.qlinear_prepack.default"_op, {w, Value()}));
  EXPECT_EQ(packed.sizes(), (Sizes{3, 2}));
  const Tensor scales = tensorOf<float>(DType::Float32, {2}, {0.5f, 0.25f});
  const Tensor zeros = tensorOf<std::int32_t>(DType::Int32, {2}, {1, 0});
  return callTensorOp("onednn.qlinear_pointwise.default"_op,
                      {x, 2.0, 2, packed, scales, zeros, std::move(bias), outScale, outZero, dtype, postOp, ValueList{},
                       std::string()});
}

std::vector<double> numbersOf(const Tensor& tensor) {
  std::vector<double> numbers;
  for (std::int64_t i = 0; i < tensor.numel(); ++i) numbers.push_back(tensor.itemAsDouble(i));
  return numbers;
}

// x less 2: [0, 1, 2], [10, 0, -2]; w less its zero points: [0, 1, 2], [-1, -2, -3]; sums: 5, -8; -4, -4.
TEST(OnednnLinear, ScalesSumsOfCentredNumbers) {
  const auto plain = layer(1, 0, DType::Float32, "none", {});
  ASSERT_TRUE(plain) << plain.error().text();
  EXPECT_EQ(numbersOf(*plain), (std::vector<double>{5, -4, -4, -2}));
  const auto relu = layer(1, 0, DType::Float32, "relu", tensorOf<float>(DType::Float32, {2}, {1, 3}));
  ASSERT_TRUE(relu) << relu.error().text();
  EXPECT_EQ(numbersOf(*relu), (std::vector<double>{6, 0, 0, 1}));
}

TEST(OnednnLinear, RoundsToIntegersAndClamps) {
  const auto rounded = layer(0.02, 3, DType::UInt8, "none", {});
  ASSERT_TRUE(rounded) << rounded.error().text();
  EXPECT_EQ(rounded->dtype(), DType::UInt8);
  EXPECT_EQ(numbersOf(*rounded), (std::vector<double>{253, 0, 0, 0}));
}

TEST(OnednnLinear, RefusesOtherSizesAndPostOps) {
  EXPECT_EQ(layer(1, 0, DType::Float32, "swish", {}).error().code, ErrorCode::UnsupportedOp);
  const auto narrow = layer(1, 0, DType::Float32, "none", tensorOf<float>(DType::Float32, {3}, {1, 3, 5}));
  EXPECT_EQ(narrow.error().code, ErrorCode::ShapeMismatch);
  EXPECT_EQ(
      callTensorOp("onednn.qlinear_prepack.default"_op, {*Tensor::zeros(DType::Float32, {2, 3}), Value()}).error().code,
      ErrorCode::ShapeMismatch);
}

}  // namespace
}  // namespace kerf
