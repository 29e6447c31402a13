// Products of int8 matrices, which are formed in float32 by pieces whose sums it has exactly.
#include <gtest/gtest.h>

#include "engine/ops/core/op_call.h"

namespace kerf {
namespace {

Tensor bytes(const Sizes& sizes, int (*value)(std::int64_t)) {
  Tensor t = Tensor::zeros(DType::Int8, sizes).value();
  for (std::int64_t i = 0; i < t.numel(); ++i) t.data<std::int8_t>()[i] = std::int8_t(value(i));
  return t;
}

void expectProduct(const Tensor& a, const Tensor& b) {
  const auto out = callTensorOp("aten._int_mm.default", {Value(a), Value(b)});
  ASSERT_TRUE(out) << out.error().text();
  ASSERT_EQ(out->dtype(), DType::Int32);
  const auto at = [](const Tensor& t, std::int64_t i, std::int64_t j) {
    return std::int32_t(t.data<std::int8_t>()[i * t.stride(0) + j * t.stride(1)]);
  };
  for (std::int64_t i = 0; i < a.size(0); ++i)
    for (std::int64_t j = 0; j < b.size(1); ++j) {
      std::int32_t sum = 0;
      for (std::int64_t k = 0; k < a.size(1); ++k) sum += at(a, i, k) * at(b, k, j);
      ASSERT_EQ(out->data<std::int32_t>()[i * b.size(1) + j], sum) << i << ", " << j;
    }
}

TEST(IntegerProduct, IsExactWhereEveryProductIsLargest) {
  const auto lowest = [](std::int64_t) { return -128; };
  for (const std::int64_t steps : {1, 1023, 1024, 1025, 3000})
    expectProduct(bytes({3, steps}, lowest), bytes({steps, 5}, lowest));
}

TEST(IntegerProduct, OfAnyNumbersAndStrides) {
  const auto mixed = [](std::int64_t i) { return int(i * 7919 % 256) - 128; };
  const auto other = [](std::int64_t i) { return int(i * 104729 % 255) - 127; };
  expectProduct(bytes({33, 2100}, mixed), bytes({2100, 17}, other));
  const Tensor turned = bytes({17, 2100}, other);
  expectProduct(bytes({33, 2100}, mixed), turned.viewAs({2100, 17}, {1, 2100}, 0));
  expectProduct(bytes({4, 0}, mixed), bytes({0, 6}, other));
  expectProduct(bytes({0, 8}, mixed), bytes({8, 6}, other));
}

}  // namespace
}  // namespace kerf
