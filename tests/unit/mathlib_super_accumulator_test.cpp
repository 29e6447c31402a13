// Exact sums: what no order of ordinary additions gives.
#include "engine/mathlib/super_accumulator.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "engine/mathlib/exact_sums.h"
#include "engine/mathlib/gemm.h"

namespace kerf {
namespace {

double sumOf(const std::vector<double>& values, FloatFormat format = {}) {
  SuperAccumulator sum;
  sum.add(values.data(), std::int64_t(values.size()));
  return sum.value(format);
}

TEST(SuperAccumulator, CancelsWithoutLoss) {
  EXPECT_EQ(sumOf({1e16, 1, -1e16}), 1.0);
  EXPECT_EQ(sumOf({1e308, 1e308, -1e308, -1e308, 5e-324}), 5e-324);
  EXPECT_EQ(sumOf({0.1, 0.2, -0.3}), 0x1p-55);
  EXPECT_EQ(sumOf({1, 1e100, 1, -1e100}), 2.0);
  EXPECT_EQ(sumOf({}), 0.0);
  EXPECT_EQ(sumOf({-3, 1.5}), -1.5);
}

TEST(SuperAccumulator, RoundsOnceToNearestEven) {
  EXPECT_EQ(sumOf({1, 0x1p-53}), 1.0);                     // a tie goes to even
  EXPECT_EQ(sumOf({1, 0x1p-53, 0x1p-1000}), 1 + 0x1p-52);  // the least bit above a tie goes up
  EXPECT_EQ(sumOf({1 + 0x1p-52, 0x1p-53}), 1 + 0x1p-51);   // the other tie goes up to even
  EXPECT_EQ(sumOf({-1, -0x1p-53, -0x1p-1000}), -1 - 0x1p-52);
  // Through double this would round twice: 1 + 2^-24 is a tie for float, and what decides is below double's last bit.
  EXPECT_EQ(sumOf({1, 0x1p-24, 0x1p-80}, formatOf(DType::Float32)), 1 + 0x1p-23);
  EXPECT_EQ(sumOf({1, 0x1p-8, 0x1p-60}, formatOf(DType::BFloat16)), 1 + 0x1p-7);
  EXPECT_EQ(sumOf({0x1p-25, 0x1p-60}, formatOf(DType::Float16)), 0x1p-24);  // subnormal halves
}

TEST(SuperAccumulator, ReachesTheEndsOfTheRange) {
  const double most = std::numeric_limits<double>::max();
  EXPECT_EQ(sumOf({most, most}), std::numeric_limits<double>::infinity());
  EXPECT_EQ(sumOf({most, most, -most}), most);
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(sumOf({1, inf}), inf);
  EXPECT_TRUE(std::isnan(sumOf({inf, -inf})));
  EXPECT_TRUE(std::isnan(sumOf({1, std::nan("")})));
}

TEST(SuperAccumulator, AgreesWithWholeNumbers) {
  std::mt19937_64 random(7);
  std::uniform_int_distribution<std::int64_t> draw(-(std::int64_t{1} << 52), std::int64_t{1} << 52);
  for (int round = 0; round < 200; ++round) {
    SuperAccumulator sum;
    __int128 exact = 0;
    for (int i = 0; i < 500; ++i) {
      const std::int64_t value = draw(random);
      exact += value;
      sum.add(std::ldexp(double(value), -30));
    }
    EXPECT_EQ(sum.value(), std::ldexp(double(exact), -30));  // the conversion rounds to nearest even
  }
}

TEST(SuperAccumulator, MultipliesAndDividesExactly) {
  SuperAccumulator sum;
  const double x = 1 + 0x1p-52;
  sum.addProduct(x, x);
  sum.addProduct(-1, x);
  EXPECT_EQ(sum.value(), 0x1p-52 + 0x1p-104);
  SuperAccumulator tiny;
  tiny.addProduct(5e-324, 5e-324);
  tiny.addProduct(1e300, 1e300);
  tiny.addProduct(-1e300, 1e300);
  EXPECT_EQ(tiny.value(), 0.0);
  EXPECT_EQ(tiny.value({}, 1), 0.0);
  SuperAccumulator third;
  third.add(1);
  EXPECT_EQ(third.value({}, 3), 1.0 / 3);
  EXPECT_EQ(third.value(formatOf(DType::Float32), 3), double(1.0f / 3));
  std::mt19937_64 random(8);
  for (int i = 0; i < 2000; ++i) {  // quotients of whole numbers are correctly rounded by the processor
    const auto numerator = double(random() >> 12);
    const auto divisor = std::int64_t(random() >> 40) + 1;
    SuperAccumulator one;
    one.add(numerator);
    EXPECT_EQ(one.value({}, divisor), numerator / double(divisor));
  }
}

TEST(ExactSums, MakeProductsOfMatricesExact) {
  auto a = Tensor::zeros(DType::Float32, {1, 3}).value();
  auto b = Tensor::zeros(DType::Float32, {3, 1}).value();
  auto out = Tensor::zeros(DType::Float32, {1, 1}).value();
  const float left[] = {1e20f, 1, -1e20f}, right[] = {1e15f, 3, 1e15f};
  std::copy(left, left + 3, a.data<float>());
  std::copy(right, right + 3, b.data<float>());
  {
    const ExactSums scope;
    EXPECT_TRUE(ExactSums::wanted());
    ASSERT_TRUE(gemm(a, b, out).has_value());
  }
  EXPECT_FALSE(ExactSums::wanted());
  EXPECT_EQ(out.data<float>()[0], 3.0f);
}

}  // namespace
}  // namespace kerf
