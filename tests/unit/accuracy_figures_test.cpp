// Figures over large tensors, which are read in pieces: against loops over single elements, whatever shape and strides.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "engine/accuracy/closeness.h"
#include "engine/support/thread_pool.h"
#include "engine/tensor/dispatch.h"

namespace kerf {
namespace {

Tensor filled(DType dtype, const Sizes& sizes, unsigned seed) {
  Tensor tensor = *Tensor::zeros(DType::Float64, sizes);
  std::mt19937 random(seed);
  for (std::int64_t i = 0; i < tensor.numel(); ++i) tensor.data<double>()[i] = double(random() % 2001) / 1000 - 1;
  return *tensor.to(dtype);
}

struct Shape {
  Sizes sizes;
  Sizes left, right;  ///< strides; empty: contiguous
};

/// Larger than a piece, cut along any dimension, with strides of every kind.
const Shape shapes[] = {{{200'001}, {}, {}},
                        {{3, 70'001}, {}, {1, 3}},
                        {{5, 300, 301}, {90'300, 1, 300}, {}},
                        {{70'001, 2}, {}, {1, 70'001}},
                        {{4, 1, 33'000}, {0, 0, 1}, {33'000, 33'000, 1}},
                        {{}, {}, {}},
                        {{0, 7}, {}, {}}};

Tensor shaped(DType dtype, const Shape& shape, const Sizes& strides, unsigned seed) {
  const Tensor dense = filled(dtype, shape.sizes, seed);
  if (strides.empty()) return dense;
  return dense.viewAs(shape.sizes, strides, 0);
}

TEST(Figures, AreThoseOfALoopOverTheElements) {
  for (const DType dtype : {DType::Float32, DType::Float64, DType::BFloat16, DType::Float16}) {
    for (const Shape& shape : shapes) {
      const Tensor a = shaped(dtype, shape, shape.left, 1), b = shaped(dtype, shape, shape.right, 2);
      const Tensor left = *(*a.to(DType::Float64)).contiguous(), right = *(*b.to(DType::Float64)).contiguous();
      double most = 0, squares = 0;
      for (std::int64_t i = 0; i < left.numel(); ++i) {
        const double difference = left.data<double>()[i] - right.data<double>()[i];
        most = std::max(most, std::fabs(difference));
        squares += difference * difference;
      }
      const PairFigures figures = *pairFigures(a, b);
      EXPECT_EQ(figures.maxAbsDifference, most) << fmt::format("{}", fmt::join(shape.sizes, ", "));
      EXPECT_EQ(figures.finite, left.numel());
      const double rmse = *rootMeanSquareError(left, b);
      if (left.numel() == 0)
        EXPECT_TRUE(std::isnan(rmse));
      else
        EXPECT_NEAR(rmse, std::sqrt(squares / double(left.numel())), 1e-12);
      EXPECT_EQ(allClose(a, b, 1e-3, false)->close, left.numel() == 0 || most == 0);
      EXPECT_TRUE(allClose(a, a, 1e-3, false)->close);
    }
  }
}

TEST(Figures, DoNotDependOnThreads) {
  const Tensor a = filled(DType::Float32, {700'001}, 1), b = filled(DType::Float32, {700'001}, 2);
  const Tensor truth = filled(DType::Float64, {700'001}, 3);
  const int threads = threadCount();
  setThreadCount(1);
  const double alone = *rootMeanSquareError(truth, a), ratio = allClose(a, b, 1e-3, true)->worstRatio;
  setThreadCount(4);
  EXPECT_EQ(*rootMeanSquareError(truth, a), alone);
  EXPECT_EQ(allClose(a, b, 1e-3, true)->worstRatio, ratio);
  setThreadCount(threads);
}

TEST(Figures, CountWhatIsNoNumber) {
  for (const DType dtype : {DType::Float32, DType::Float64, DType::BFloat16}) {
    Tensor values = *Tensor::zeros(DType::Float64, {100'000});
    Tensor others = *Tensor::zeros(DType::Float64, {100'000});
    values.data<double>()[3] = values.data<double>()[99'999] = std::nan("");
    values.data<double>()[17] = INFINITY;
    others.data<double>()[17] = -INFINITY;
    others.data<double>()[70'000] = INFINITY;
    others.data<double>()[5] = 0.5;
    const PairFigures figures = *pairFigures(*values.to(dtype), *others.to(dtype));
    EXPECT_EQ(figures.a.nan, 2);
    EXPECT_EQ(figures.a.inf, 1);
    EXPECT_EQ(figures.b.nan, 0);
    EXPECT_EQ(figures.b.inf, 2);
    EXPECT_EQ(figures.finite, 100'000 - 4);
    EXPECT_EQ(figures.maxAbsDifference, 0.5);
  }
}

TEST(Figures, ToleranceCountsAtItsBoundary) {
  // |2 - 1| is exactly what 0.5 + 0.5 |1| allows.
  Tensor a = *Tensor::zeros(DType::Float32, {9}), b = *Tensor::zeros(DType::Float32, {9});
  std::fill_n(a.data<float>(), 9, 2.0f);
  std::fill_n(b.data<float>(), 9, 1.0f);
  EXPECT_TRUE(allClose(a, b, 0.5, false)->close);
  EXPECT_EQ(allClose(a, b, 0.5, false)->worstRatio, 1);
  a.data<float>()[8] = std::nextafter(2.0f, 3.0f);
  EXPECT_FALSE(allClose(a, b, 0.5, false)->close);
  a.data<float>()[8] = b.data<float>()[8] = std::nanf("");
  EXPECT_FALSE(allClose(a, b, 0.5, false)->close);
  EXPECT_TRUE(allClose(a, b, 0.5, true)->close);
  a.data<float>()[0] = b.data<float>()[0] = INFINITY;
  EXPECT_TRUE(allClose(a, b, 0.5, true)->close);
  b.data<float>()[0] = -INFINITY;
  EXPECT_FALSE(allClose(a, b, 0.5, true)->close);
  EXPECT_EQ(allClose(a, b, 0.5, true)->worstRatio, INFINITY);
  EXPECT_FALSE(allClose(a, b, 0, true)->close);
}

}  // namespace
}  // namespace kerf
