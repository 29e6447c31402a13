// Element-wise ops: promotion, broadcasting, output strides, rounding.
#include <cmath>
#include <limits>

#include "ops_testing.h"

namespace kerf {
namespace {

using namespace testing;

struct PromotionCase {
  DType left, right;
  bool rightIsScalarTensor;
  DType expected;
};

TEST(Promotion, DimensionedTensorsDecideBeforeZeroDim) {
  const PromotionCase cases[] = {
      {DType::Float32, DType::Float64, false, DType::Float64}, {DType::Float32, DType::Float64, true, DType::Float32},
      {DType::Int64, DType::Float32, true, DType::Float32},    {DType::BFloat16, DType::Float16, false, DType::Float32},
      {DType::Int32, DType::Int64, true, DType::Int32},        {DType::Bool, DType::Int8, true, DType::Int8},
      {DType::UInt8, DType::Int8, false, DType::Int16},        {DType::Bool, DType::Bool, false, DType::Bool},
  };
  for (const PromotionCase& c : cases) {
    const Tensor left = tensorOf({2}, {1, 1}, c.left);
    const Tensor right = c.rightIsScalarTensor ? tensorOf({}, {1}, c.right) : tensorOf({2}, {1, 1}, c.right);
    EXPECT_EQ(callTensor("aten.mul.Tensor", {left, right}).dtype(), c.expected)
        << dtypeInfo(c.left).torchName << " with " << dtypeInfo(c.right).torchName;
  }
}

TEST(Promotion, PythonNumbersOnlyRaiseTheCategory) {
  EXPECT_EQ(callTensor("aten.add.Tensor", {tensorOf({2}, {1, 2}, DType::BFloat16), 0.5}).dtype(), DType::BFloat16);
  EXPECT_EQ(callTensor("aten.add.Tensor", {tensorOf({2}, {1, 2}, DType::Int32), 0.5}).dtype(), DType::Float32);
  EXPECT_EQ(callTensor("aten.add.Tensor", {tensorOf({2}, {1, 2}, DType::Int8), std::int64_t{1}}).dtype(), DType::Int8);
  EXPECT_EQ(callTensor("aten.add.Tensor", {tensorOf({2}, {1, 0}, DType::Bool), true}).dtype(), DType::Bool);
}

TEST(Promotion, DivisionOfIntegersIsFloat) {
  const Tensor result = callTensor("aten.div.Tensor", {tensorOf({2}, {1, 3}, DType::Int64), std::int64_t{2}});
  EXPECT_EQ(result.dtype(), DType::Float32);
  EXPECT_EQ(valuesOf(result), (std::vector<double>{0.5, 1.5}));
}

TEST(Pointwise, BroadcastsAndAddsWithAlpha) {
  const Tensor result = callTensor("aten.add.Tensor", {counting({2, 1}), counting({3})}, {{"alpha", std::int64_t{10}}});
  EXPECT_EQ(result.sizes(), (Sizes{2, 3}));
  EXPECT_EQ(valuesOf(result), (std::vector<double>{0, 10, 20, 1, 11, 21}));
}

TEST(Pointwise, KeepsTheOperandsOrderOfDimensions) {
  const Tensor turned = counting({3, 2}).viewAs({2, 3}, {1, 2}, 0);
  EXPECT_EQ(callTensor("aten.neg.default", {turned}).strides(), (Sizes{1, 2}));
  EXPECT_EQ(callTensor("aten.mul.Tensor", {turned, 2.0}).strides(), (Sizes{1, 2}));
  EXPECT_EQ(callTensor("aten.add.Tensor", {counting({2, 3}), turned}).strides(), (Sizes{3, 1}));
}

TEST(Pointwise, RoundsBfloat16OncePerOp) {
  const Tensor x = tensorOf({1}, {1.0}, DType::BFloat16);
  // 1 + 2^-9 rounds back to 1; the scalar itself is exact in float32.
  EXPECT_EQ(callTensor("aten.add.Tensor", {x, 0.001953125}).itemAsDouble(), 1.0);
  EXPECT_EQ(callTensor("aten.add.Tensor", {x, 0.0078125}).itemAsDouble(), 1.0078125);
}

TEST(Pointwise, NanWinsInExtrema) {
  const double nan = std::nan("");
  EXPECT_TRUE(
      std::isnan(callTensor("aten.maximum.default", {tensorOf({1}, {nan}), tensorOf({1}, {1})}).itemAsDouble()));
  EXPECT_TRUE(std::isnan(callTensor("aten.relu.default", {tensorOf({1}, {nan})}).itemAsDouble()));
  EXPECT_EQ(callTensor("aten.fmax.default", {tensorOf({1}, {nan}), tensorOf({1}, {1})}).itemAsDouble(), 1.0);
}

TEST(Pointwise, IntegersWrapInsteadOfOverflowing) {
  const Tensor largest = Tensor::scalarInt(std::numeric_limits<std::int64_t>::max(), DType::Int64);
  EXPECT_EQ(callTensor("aten.add.Tensor", {largest, std::int64_t{1}}).itemAsInt(),
            std::numeric_limits<std::int64_t>::min());
  const Tensor lowest = Tensor::scalarInt(std::numeric_limits<std::int64_t>::min(), DType::Int64);
  EXPECT_EQ(callTensor("aten.floor_divide.default", {lowest, std::int64_t{-1}}).itemAsInt(), lowest.itemAsInt());
}

TEST(Pointwise, FloorDivisionFollowsPython) {
  const Tensor a = tensorOf({4}, {7, -7, 7, -7}, DType::Int64), b = tensorOf({4}, {2, 2, -2, -2}, DType::Int64);
  EXPECT_EQ(valuesOf(callTensor("aten.floor_divide.default", {a, b})), (std::vector<double>{3, -4, -4, 3}));
  EXPECT_EQ(valuesOf(callTensor("aten.remainder.Tensor", {a, b})), (std::vector<double>{1, 1, -1, -1}));
  EXPECT_EQ(valuesOf(callTensor("aten.fmod.Tensor", {a, b})), (std::vector<double>{1, -1, 1, -1}));
}

TEST(Pointwise, InplaceWritesSelfThroughItsStrides) {
  const Tensor base = counting({2, 3});
  const Tensor column = base.viewAs({2}, {3}, 1);
  call("aten.mul_.Tensor", {column, 10.0});
  EXPECT_EQ(valuesOf(base), (std::vector<double>{0, 10, 2, 3, 40, 5}));
}

TEST(Reductions, SumOfIntegersIsInt64AndExactInFloat) {
  EXPECT_EQ(callTensor("aten.sum.default", {tensorOf({3}, {100, 100, 100}, DType::Int8)}).itemAsInt(), 300);
  const Tensor many = callTensor("aten.full.default", {ints({1 << 20}), 0.1});
  const float exact = float(0.1f * double(1 << 20));
  EXPECT_EQ(callTensor("aten.sum.default", {many}).itemAsDouble(), exact);
}

TEST(Reductions, ColumnsAndRowsAgree) {
  const Tensor x = counting({5, 700});
  const Tensor rows = callTensor("aten.sum.dim_IntList", {x, ints({1})});
  const Tensor turned = x.viewAs({700, 5}, {1, 700}, 0);
  const Tensor columns = callTensor("aten.sum.dim_IntList", {turned, ints({0})});
  EXPECT_EQ(valuesOf(rows), valuesOf(columns));
  EXPECT_EQ(callTensor("aten.mean.dim", {x, ints({0, 1}), true}).sizes(), (Sizes{1, 1}));
}

/// What PyTorch's CPU kernels give at -inf, -0.0 and 4: roots, but for float16.
TEST(Pointwise, HalfPowersAreRootsButForFloat16) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  for (const DType dtype : {DType::Float32, DType::Float64, DType::BFloat16, DType::Float16}) {
    SCOPED_TRACE(dtypeInfo(dtype).torchName);
    const bool half = dtype == DType::Float16;
    const Tensor x = tensorOf({3}, {-inf, -0.0, 4}, dtype);
    const auto root = valuesOf(callTensor("aten.pow.Tensor_Scalar", {x, 0.5}));
    EXPECT_TRUE(half ? root[0] == inf : std::isnan(root[0])) << root[0];
    EXPECT_EQ(root[1], 0);
    EXPECT_EQ(std::signbit(root[1]), !half);
    EXPECT_EQ(root[2], 2);
    const auto inverse = valuesOf(callTensor("aten.pow.Tensor_Scalar", {x, -0.5}));
    EXPECT_TRUE(half ? inverse[0] == 0 : std::isnan(inverse[0])) << inverse[0];
    EXPECT_EQ(inverse[1], half ? inf : -inf);
    EXPECT_EQ(inverse[2], 0.5);
    const auto wide = valuesOf(callTensor("aten.float_power.Tensor_Scalar", {x, 0.5}));
    EXPECT_TRUE(std::isnan(wide[0])) << "in float64, which takes roots";
    const Tensor exponents = tensorOf({3}, {0.5, 0.5, 0.5}, dtype);
    const auto pairs = valuesOf(callTensor("aten.pow.Tensor_Tensor", {x, exponents}));
    EXPECT_EQ(pairs, (std::vector<double>{inf, 0, 2})) << "a tensor of exponents takes none";
    EXPECT_FALSE(std::signbit(pairs[1]));
  }
}

TEST(Pointwise, TheSignOfNanIsZero) {
  const Tensor x = tensorOf({4}, {std::nan(""), -2, 0, 3});
  EXPECT_EQ(valuesOf(callTensor("aten.sign.default", {x})), (std::vector<double>{0, -1, 0, 1}));
  EXPECT_EQ(valuesOf(callTensor("aten.sgn.default", {x})), (std::vector<double>{0, -1, 0, 1}));
}

}  // namespace
}  // namespace kerf
