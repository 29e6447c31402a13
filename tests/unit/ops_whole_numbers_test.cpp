// Whole numbers and truths where their arithmetic is another than that of floats: uint64 from 2^63 on, multiples by a
// fraction, the fill of a mask.
#include "ops_testing.h"

namespace kerf {
namespace {

using namespace testing;

Tensor bigNumbers() {  // 2^64 - 1, 2^63, 5
  Tensor x = *Tensor::zeros(DType::UInt64, {3});
  x.data<std::uint64_t>()[0] = ~std::uint64_t{0};
  x.data<std::uint64_t>()[1] = std::uint64_t{1} << 63;
  x.data<std::uint64_t>()[2] = 5;
  return x;
}
std::vector<std::uint64_t> bitsOf(const Tensor& tensor) {
  return {tensor.data<std::uint64_t>(), tensor.data<std::uint64_t>() + tensor.numel()};
}

TEST(WholeNumbers, Uint64IsOrderedWithoutASign) {
  const Tensor x = bigNumbers();
  const std::uint64_t all = ~std::uint64_t{0}, high = std::uint64_t{1} << 63;
  EXPECT_EQ(valuesOf(callTensor("aten.gt.Scalar", {x, std::int64_t{7}})), (std::vector<double>{1, 1, 0}));
  EXPECT_EQ(valuesOf(callTensor("aten.lt.Scalar", {x, std::int64_t{-2}})), (std::vector<double>{0, 1, 1}));
  EXPECT_EQ(bitsOf(callTensor("aten.clamp_max.default", {x, std::int64_t{7}})), (std::vector<std::uint64_t>{7, 7, 5}));
  EXPECT_EQ(bitsOf(callTensor("aten.clamp.default", {x, std::int64_t{9}, Value()})),
            (std::vector<std::uint64_t>{all, high, 9}));
  EXPECT_EQ(bitsOf(callTensor("aten.abs.default", {x})), (std::vector<std::uint64_t>{all, high, 5}));
  EXPECT_EQ(bitsOf(callTensor("aten.sign.default", {x})), (std::vector<std::uint64_t>{1, 1, 1}));
  EXPECT_EQ(bitsOf(callTensor("aten.relu.default", {x})), (std::vector<std::uint64_t>{all, high, 5}));
  EXPECT_EQ(bitsOf(callTensor("aten.relu6.default", {x})), (std::vector<std::uint64_t>{6, 6, 5}));
  EXPECT_EQ(bitsOf(callTensor("aten.threshold_backward.default", {x, x, std::int64_t{5}})),
            (std::vector<std::uint64_t>{all, high, 0}));
  EXPECT_EQ(bitsOf(callTensor("aten.heaviside.default", {x, x})), (std::vector<std::uint64_t>{1, 1, 1}));
  EXPECT_EQ(bitsOf(callTensor("aten.floor_divide.Scalar", {x, std::int64_t{2}})),
            (std::vector<std::uint64_t>{all / 2, high / 2, 2}));
}

TEST(WholeNumbers, HaveNoMultipleByAFraction) {
  const Tensor x = tensorOf({2}, {1, 2}, DType::Int32), truth = tensorOf({2}, {1, 0}, DType::Bool);
  for (const char* op : {"aten.add.Tensor", "aten.sub.Tensor", "aten.rsub.Tensor"})
    EXPECT_EQ(errorOf(op, {x, x}, {{"alpha", 0.5}}).code, ErrorCode::ShapeMismatch) << op;
  EXPECT_EQ(errorOf("aten.add.Tensor", {truth, truth}, {{"alpha", 0.5}}).code, ErrorCode::ShapeMismatch);
  EXPECT_EQ(errorOf("aten.add.Tensor", {x, x}, {{"alpha", true}}).code, ErrorCode::ShapeMismatch);
  EXPECT_EQ(valuesOf(callTensor("aten.add.Tensor", {x, tensorOf({2}, {4, 8})}, {{"alpha", 0.5}})),
            (std::vector<double>{3, 6}));
}

TEST(WholeNumbers, AFractionIsTrueWhereItFillsAMask) {
  const Tensor truth = tensorOf({2}, {1, 0}, DType::Bool), mask = tensorOf({2}, {1, 1}, DType::Bool);
  EXPECT_EQ(valuesOf(callTensor("aten.masked_fill.Scalar", {truth, mask, -0.25})), (std::vector<double>{1, 1}));
  EXPECT_EQ(valuesOf(callTensor("aten.masked_fill.Tensor", {truth, mask, tensorOf({}, {0.25})})),
            (std::vector<double>{1, 1}));
  EXPECT_EQ(valuesOf(callTensor("aten.masked_fill.Tensor", {truth, mask, tensorOf({}, {0})})),
            (std::vector<double>{0, 0}));
}

TEST(WholeNumbers, LeastSquaresHaveResidualsOfFullRankOnly) {
  const Tensor a = tensorOf({3, 2}, {1, 0, 0, 1, 0, 0}), low = tensorOf({3, 2}, {1, 1, 1, 1, 1, 1});
  const Tensor b = tensorOf({3, 2}, {1, 2, 3, 4, 5, 6});
  const auto residuals = [&](const Tensor& matrix, const char* driver) {
    const auto result =
        referenceOps().call("aten.linalg_lstsq.default", {matrix, b, Value()}, {{"driver", std::string(driver)}});
    return result ? valuesOf(result->list()[1].tensor()) : std::vector<double>{-1};
  };
  const std::vector<double> full = residuals(a, "gelsd");
  ASSERT_EQ(full.size(), 2u);
  EXPECT_NEAR(full[0], 25, 1e-4);
  EXPECT_NEAR(full[1], 36, 1e-4);
  EXPECT_TRUE(residuals(low, "gelsd").empty());
  EXPECT_TRUE(residuals(a, "gelsy").empty());
  EXPECT_EQ(residuals(a, "gels").size(), 2u);
}

}  // namespace
}  // namespace kerf
