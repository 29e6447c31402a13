// Convolutions row by row: against the same convolution over images in row-major order, with numbers small enough for
// every sum to be exact.
#include <atomic>
#include <random>

#include <gtest/gtest.h>

#include "engine/mathlib/row_blocks.h"
#include "engine/tensor/copy.h"

namespace kerf {
namespace {

Tensor wholeNumbers(const Sizes& sizes, unsigned seed) {
  std::mt19937 random(seed);
  Tensor t = Tensor::zeros(DType::Float32, sizes).value();
  for (std::int64_t i = 0; i < t.numel(); ++i) t.data<float>()[i] = float(int(random() % 7) - 3);
  return t;
}

Tensor channelsLast(const Tensor& tensor) {
  Tensor t = Tensor::zerosStrided(DType::Float32, tensor.sizes(), channelsLastStrides(tensor.sizes())).value();
  EXPECT_TRUE(copyElements(tensor, t));
  return t;
}

std::vector<float> rowMajor(const Tensor& tensor) {
  const Tensor dense = tensor.contiguous().value();
  return {dense.data<float>(), dense.data<float>() + dense.numel()};
}

struct RowCase {
  const char* name;
  Sizes image, filter;
  ConvolutionSpec spec;
};

const std::vector<RowCase>& rowCases() {
  static const std::vector<RowCase> list{
      {"pixelwise", {2, 5, 6, 7}, {9, 5, 1, 1}, {}},
      {"pixelwise, many", {3, 32, 24, 24}, {48, 32, 1, 1}, {}},
      {"one pixel", {2, 16, 1, 1}, {4, 16, 1, 1}, {}},
      {"strided pixels", {2, 8, 9, 10}, {6, 8, 1, 1}, {{2}, {0}, {1}, false, {0}, 1}},
      {"3 x 3", {2, 4, 40, 12}, {8, 4, 3, 3}, {{1, 1}, {1, 1}, {1, 1}, false, {0, 0}, 1}},
      {"3 x 3, strided", {2, 3, 33, 17}, {32, 3, 3, 3}, {{2, 2}, {1, 1}, {1, 1}, false, {0, 0}, 1}},
      {"3 x 2, dilated", {1, 4, 20, 11}, {5, 4, 3, 2}, {{1, 2}, {2, 1}, {2, 1}, false, {0, 0}, 1}},
      {"depthwise", {2, 24, 30, 9}, {24, 1, 5, 5}, {{1, 1}, {2, 2}, {1, 1}, false, {0, 0}, 24}},
      {"depthwise, strided", {2, 16, 31, 8}, {16, 1, 3, 3}, {{2, 2}, {1, 1}, {1, 1}, false, {0, 0}, 16}},
      {"grouped", {2, 8, 10, 10}, {12, 2, 3, 3}, {{1, 1}, {1, 1}, {1, 1}, false, {0, 0}, 4}},
      {"patches", {2, 3, 16, 16}, {8, 3, 4, 4}, {{4, 4}, {0, 0}, {1, 1}, false, {0, 0}, 1}},
  };
  return list;
}

class RowConvolutions : public ::testing::TestWithParam<std::tuple<std::size_t, bool, int>> {};

TEST_P(RowConvolutions, EqualThoseOfRowMajorImages) {
  const auto& [which, hasBias, threads] = GetParam();
  const RowCase& c = rowCases()[which];
  const Tensor image = wholeNumbers(c.image, 1), filter = wholeNumbers(c.filter, 2);
  const Tensor bias = hasBias ? wholeNumbers({c.filter[0]}, 3) : Tensor();
  const Tensor expected = convolution(image, filter, bias, c.spec).value();
  const Tensor out = channelsLast(Tensor::zeros(DType::Float32, expected.sizes()).value());
  const auto plan = RowConvolution::make(image, filter, hasBias, c.spec, out, 1, threads);
  ASSERT_TRUE(plan) << c.name;
  const Tensor packed = plan->packed(filter).value();
  for (const Tensor& given : {image, channelsLast(image)}) {
    ASSERT_TRUE(plan->run(given, packed, bias, out, nullptr));
    EXPECT_EQ(rowMajor(out), rowMajor(expected)) << c.name;
  }
}

TEST_P(RowConvolutions, HandEveryElementToTheFollowerOnce) {
  const auto& [which, hasBias, threads] = GetParam();
  const RowCase& c = rowCases()[which];
  const Tensor image = channelsLast(wholeNumbers(c.image, 1)), filter = wholeNumbers(c.filter, 2);
  const Tensor bias = hasBias ? wholeNumbers({c.filter[0]}, 3) : Tensor();
  const Tensor expected = convolution(image, filter, bias, c.spec).value();
  const Tensor out = channelsLast(Tensor::zeros(DType::Float32, expected.sizes()).value());
  const Tensor taken = channelsLast(Tensor::zeros(DType::Float32, expected.sizes()).value());
  const std::int64_t multiple = c.filter[0];
  const auto plan = RowConvolution::make(image, filter, hasBias, c.spec, out, multiple, threads);
  ASSERT_TRUE(plan) << c.name;
  std::atomic<std::int64_t> count{0};
  const RowFollower follower{multiple, true, [&](std::int64_t begin, std::int64_t end, float* block) {
                               EXPECT_EQ(begin % multiple, 0);
                               EXPECT_EQ(end % multiple, 0);
                               count += end - begin;
                               for (std::int64_t i = begin; i < end; ++i) taken.data<float>()[i] += block[i - begin];
                             }};
  ASSERT_TRUE(plan->run(image, plan->packed(filter).value(), bias, out, &follower));
  EXPECT_EQ(count, expected.numel());
  EXPECT_EQ(rowMajor(taken), rowMajor(expected)) << c.name;
}

INSTANTIATE_TEST_SUITE_P(All, RowConvolutions,
                         ::testing::Combine(::testing::Range(std::size_t{0}, rowCases().size()), ::testing::Bool(),
                                            ::testing::Values(1, 7)));

TEST(RowConvolution, IsNoneForWhatItCannotDo) {
  const Tensor image = wholeNumbers({1, 4, 6, 6}, 1), filter = wholeNumbers({4, 4, 1, 1}, 2);
  const Tensor out = channelsLast(image);
  ConvolutionSpec transposed;
  transposed.transposed = true;
  EXPECT_TRUE(RowConvolution::make(image, filter, false, {}, out, 1, 1));
  EXPECT_FALSE(RowConvolution::make(image, filter, false, transposed, out, 1, 1));
  EXPECT_FALSE(RowConvolution::make(image, filter, false, {}, image, 1, 1));  // a result in row-major order
  const Tensor wide = image.to(DType::Float64).value();
  EXPECT_FALSE(RowConvolution::make(wide, filter.to(DType::Float64).value(), false, {}, wide, 1, 1));
}

TEST(RowBlocks, CoverTheResultOnce) {
  const RowGeometry g{3, 8, 37, 20, 16, 37, 20, 1, 3, 3, 1, 1, 1, 1, 1, 1};
  for (const int threads : {1, 2, 16}) {
    const auto blocks = rowBlocks(g, 1, threads);
    ASSERT_TRUE(blocks);
    std::int64_t next = 0, above = 0, below = 0;
    for (const RowBlock& block : *blocks) {
      EXPECT_EQ(block.resultOffset, next);
      next += block.piece.rows * g.outWidth * g.outChannels;
      above += block.piece.above;
      below += block.piece.below;
      EXPECT_EQ(block.imageRows + block.piece.above + block.piece.below, block.piece.rows + 2);
    }
    EXPECT_EQ(next, g.batch * g.outChannels * g.outHeight * g.outWidth);
    EXPECT_EQ(above, g.batch);  // the first block of every image
    EXPECT_EQ(below, g.batch);
  }
}

TEST(RowBlocks, KeepToWholeImagesWhereAFollowerNeedsThem) {
  const RowGeometry g{4, 8, 6, 5, 16, 6, 5, 1, 3, 3, 1, 1, 1, 1, 1, 1};
  const auto blocks = rowBlocks(g, 16 * 6 * 5, 16);
  ASSERT_TRUE(blocks);
  EXPECT_EQ(blocks->size(), 4u);
  EXPECT_FALSE(rowBlocks(g, 16 * 6 * 5 * 2, 16));  // two images at once
}

}  // namespace
}  // namespace kerf
