// What generated CUDA kernels compute of rows, run on the CPU: quotients by a value of the row, and variances.
#include <gmock/gmock.h>

#include <bit>
#include <cmath>
#include <limits>

#include "tests/support/cuda_kernels.h"

namespace kerf {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using namespace testing_support;

/// A row's elements by their sum: subnormal sums have no inverse, zero has an infinite one.
TEST(CudaRows, QuotientsBySumsWithoutAnInverseAreRight) {
  constexpr std::size_t columns = 64;
  const std::vector<float> sums{1e-39f, 1.4e-45f, 0, 1.2e-38f, 1e38f, std::numeric_limits<float>::infinity(), 2};
  LoopKernel kernel =
      kernelOn({{std::int64_t(sums.size()), false}, {columns, true}}, {DType::Float32, DType::BFloat16});
  ExprBuilder b(kernel);
  const int x = b.load(0, at({columns, 1}));
  const int sum = b.convert(b.reduce(ExprOp::ReduceSum, b.convert(x, DType::Float64)), DType::Float32);
  kernel.stores = {{1, at({columns, 1}), b.convert(b.binary(ExprOp::Div, x, sum), DType::BFloat16), true}};
  Made quotients = made(kernel);
  EXPECT_THAT(quotients.kernel.text(), HasSubstr("kerf_scale("));
  ASSERT_TRUE(quotients.host) << quotients.host.error().text();
  std::vector<float> values(sums.size() * columns, 0);
  for (std::size_t r = 0; r < sums.size(); ++r) values[r * columns + r] = sums[r];
  std::vector<std::uint16_t> out(values.size());
  quotients.host->run({values, out}, 2);
  for (std::size_t r = 0; r < sums.size(); ++r)
    for (std::size_t c = 0; c < columns; ++c) {
      const float expected = values[r * columns + c] / sums[r], got = fromBf16(out[r * columns + c]);
      if (std::isnan(expected))
        EXPECT_TRUE(std::isnan(got)) << r << " " << c;
      else
        EXPECT_EQ(got, expected) << r << " " << c;
    }
}

/// Rows by one number each, in float32: the bits of a division, but of what is next to subnormal.
TEST(CudaRows, QuotientsOfRowsHaveTheBitsOfADivision) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> divisors{1,  3,      1.9999999f, 50257.125f, 3e38f,    2e30f, 0.75f,
                                    -3, 1e-39f, -1e-30f,    0,          infinity, NAN};
  const std::vector<float> edges{0.0f,    -0.0f,   1.4e-45f, 1e-39f,   8.6e-19f,  8.7e-19f, 1e18f,
                                 1.2e18f, 3.4e38f, -3.4e38f, infinity, -infinity, NAN};
  const std::size_t rows = divisors.size(), columns = 4096;
  LoopKernel kernel = kernelOn({{std::int64_t(rows), false}, {std::int64_t(columns), true}},
                               {DType::Float32, DType::Float32, DType::Float32, DType::Float32});
  ExprBuilder b(kernel);
  const int x = b.load(0, at({std::int64_t(columns), 1})), divisor = b.load(1, at({1}));
  kernel.stores = {{2, at({std::int64_t(columns), 1}), b.binary(ExprOp::Div, x, divisor), true},
                   {3, at({1}), b.reduce(ExprOp::ReduceMax, x), false}};
  Made quotients = made(kernel);
  EXPECT_THAT(quotients.kernel.text(), HasSubstr("= kerf_quotient("));
  ASSERT_TRUE(quotients.host) << quotients.host.error().text();
  std::vector<float> values(rows * columns), out(values.size()), most(rows), by = divisors;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto bits = std::uint32_t((i + 1) * 2654435761u);
    values[i] = i % columns < edges.size() ? edges[i % columns] : std::bit_cast<float>(bits);
  }
  quotients.host->run({values, by, out, most}, 2);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const float expected = values[i] / divisors[i / columns];
    const std::string what = fmt::format("{} by {} is {}, not {}", values[i], divisors[i / columns], out[i], expected);
    const auto distance = std::int64_t(std::bit_cast<std::int32_t>(out[i])) - std::bit_cast<std::int32_t>(expected);
    const bool isSmall = std::min(std::abs(values[i]), std::abs(expected)) < 7.9e-31f;
    if (std::isnan(expected))
      ASSERT_TRUE(std::isnan(out[i])) << what;
    else
      ASSERT_LE(std::abs(distance), isSmall ? 1 : 0) << what;
  }
}

/// Means and variances of neighbours added in float32, far from zero: what is left of each is exact.
TEST(CudaRows, VariancesFarFromZeroKeepTheirDigits) {
  constexpr std::size_t columns = 4096;
  LoopKernel kernel = kernelOn({{3, false}, {columns, true}}, {DType::Float32, DType::Float32, DType::Float32});
  ExprBuilder b(kernel);
  const int x = b.convert(b.load(0, at({columns, 1})), DType::Float64), count = b.constant(columns, DType::Float64);
  const int mean = b.binary(ExprOp::Div, b.reduce(ExprOp::ReduceSum, x), count);
  const int far = b.binary(ExprOp::Sub, x, mean);
  const int variance = b.binary(ExprOp::Div, b.reduce(ExprOp::ReduceSum, b.binary(ExprOp::Mul, far, far)), count);
  kernel.stores = {{1, at({1}), b.convert(mean, DType::Float32), false},
                   {2, at({1}), b.convert(variance, DType::Float32), false}};
  Made norm = made(kernel);
  EXPECT_THAT(norm.kernel.text(), HasSubstr("float sum"));
  ASSERT_TRUE(norm.host) << norm.host.error().text();
  const std::vector<float> offsets{0, 1000, -70000};
  std::vector<float> values(3 * columns), means(3), variances(3);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = offsets[i / columns] + float((i * 2654435761u >> 8) % 1000) / 512.0f;
  norm.host->run({values, means, variances}, 2);
  for (std::size_t r = 0; r < 3; ++r) {
    long double sum = 0, squares = 0;
    for (std::size_t c = 0; c < columns; ++c) sum += values[r * columns + c];
    for (std::size_t c = 0; c < columns; ++c) {
      const long double far = values[r * columns + c] - sum / columns;
      squares += far * far;
    }
    EXPECT_NEAR(means[r], double(sum / columns), std::abs(double(sum / columns)) * 1e-7) << r;
    EXPECT_NEAR(variances[r], double(squares / columns), double(squares / columns) * 3e-7) << r;
  }
}

/// A sum that is stored in float64 has all of its digits.
TEST(CudaRows, SumsThatAreStoredInFloat64AreFormedInIt) {
  constexpr std::size_t columns = 4096;
  LoopKernel kernel = kernelOn({{2, false}, {columns, true}}, {DType::Float32, DType::Float64});
  ExprBuilder b(kernel);
  kernel.stores = {
      {1, at({1}), b.reduce(ExprOp::ReduceSum, b.convert(b.load(0, at({columns, 1})), DType::Float64)), false}};
  Made sums = made(kernel);
  EXPECT_THAT(sums.kernel.text(), Not(HasSubstr("float sum")));
  ASSERT_TRUE(sums.host) << sums.host.error().text();
  std::vector<float> values(2 * columns);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = i % 2 == 0 ? 1e8f : 1.0f;
  std::vector<double> out(2);
  sums.host->run({values, out}, 2);
  for (const double sum : out) EXPECT_EQ(sum, columns / 2 * (1e8 + 1));
}

/// Sums of columns in bfloat16: four rows at a time in float32, and those that are left.
TEST(CudaRows, ColumnsOfHalvesAreSummedByBatchesOfRows) {
  constexpr std::int64_t columns = 64;
  for (const std::int64_t rows : {37, 301, 4096}) {
    LoopKernel kernel = kernelOn({{columns, false}, {rows, true}}, {DType::BFloat16, DType::Float32});
    ExprBuilder b(kernel);
    const int x = b.convert(b.load(0, at({1, columns})), DType::Float32);
    const int sum = b.reduce(ExprOp::ReduceSum, b.convert(x, DType::Float64));
    kernel.stores = {{1, at({1}), b.convert(sum, DType::Float32), false}};
    Made sums = made(kernel);
    EXPECT_EQ(sums.kernel.shape.layout, KernelLayout::Columns);
    EXPECT_THAT(sums.kernel.text(), HasSubstr("float sum"));
    ASSERT_TRUE(sums.host) << sums.host.error().text();
    const std::vector<float> values = wholeNumbers(std::size_t(rows * columns));
    std::vector<std::uint16_t> halves;
    for (const float value : values) halves.push_back(bf16(value));
    std::vector<float> out(columns);
    sums.host->run({halves, out}, 64);
    for (std::size_t c = 0; c < columns; ++c) {
      float expected = 0;
      for (std::size_t r = 0; r < std::size_t(rows); ++r) expected += values[r * columns + c];
      EXPECT_EQ(out[c], expected) << rows << " " << c;
    }
  }
}

}  // namespace
}  // namespace kerf
