#include <random>

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>
#include <csignal>

#include "engine/mathlib/convolution.h"
#include "engine/mathlib/gemm.h"
#include "engine/mathlib/math_threads.h"
#include "engine/support/thread_pool.h"

namespace kerf {
namespace {

/// Small whole numbers: every product and sum is exact in every dtype, so results must be equal, not close.
Tensor numbers(DType dtype, const Sizes& sizes, unsigned seed) {
  std::mt19937 random(seed);
  Tensor t = Tensor::zeros(DType::Int64, sizes).value();
  for (std::int64_t i = 0; i < t.numel(); ++i) t.data<std::int64_t>()[i] = int(random() % 7) - 3;
  return t.to(dtype).value();
}

Tensor transposed(const Tensor& t) { return t.viewAs({t.size(1), t.size(0)}, {t.stride(1), t.stride(0)}, t.offset()); }

double expected(const Tensor& a, const Tensor& b, std::int64_t i, std::int64_t j) {
  double sum = 0;
  for (std::int64_t p = 0; p < a.size(1); ++p)
    sum += a.itemAsDouble(i * a.size(1) + p) * b.itemAsDouble(p * b.size(1) + j);
  return sum;
}

void expectProduct(const Tensor& a, const Tensor& b, const Tensor& out, double alpha = 1, double added = 0) {
  for (std::int64_t i = 0; i < out.size(0); ++i)
    for (std::int64_t j = 0; j < out.size(1); ++j)
      ASSERT_EQ(out.itemAsDouble(i * out.size(1) + j), alpha * expected(a, b, i, j) + added)
          << dtypeInfo(out.dtype()).torchName << " at " << i << ", " << j;
}

TEST(Gemm, MultipliesEveryDtypeAndLayout) {
  for (const DType dtype : {DType::Float32, DType::Float64, DType::Float16, DType::BFloat16, DType::Complex64,
                            DType::Complex128, DType::Int64, DType::Int8}) {
    const Tensor a = numbers(dtype, {5, 7}, 1), b = numbers(dtype, {7, 4}, 2);
    const Tensor turnedA = transposed(transposed(a).clone().value());
    const Tensor turnedB = transposed(transposed(b).clone().value());
    const Tensor holey = numbers(dtype, {5, 14}, 3).viewAs({5, 7}, {14, 2}, 1);
    const Tensor expanded = numbers(dtype, {7}, 4).viewAs({5, 7}, {0, 1}, 0);
    for (const Tensor& left : {a, turnedA, holey, expanded})
      for (const Tensor& right : {b, turnedB}) {
        Tensor out = Tensor::zeros(dtype, {5, 4}).value();
        ASSERT_TRUE(gemm(left, right, out).has_value());
        expectProduct(left, right, out);
      }
  }
}

TEST(Gemm, WritesTransposedAndHoleyOutputs) {
  const Tensor a = numbers(DType::Float32, {5, 7}, 1), b = numbers(DType::Float32, {7, 4}, 2);
  for (const Sizes& strides : {Sizes{1, 5}, Sizes{8, 2}, Sizes{4, 1}, Sizes{9, 1}}) {
    Tensor out = Tensor::zerosStrided(DType::Float32, {5, 4}, strides).value();
    ASSERT_TRUE(gemm(a, b, out).has_value());
    expectProduct(a, b, out);
  }
}

TEST(Gemm, AppliesAlphaAndBetaAndIgnoresNanWithoutBeta) {
  for (const DType dtype : {DType::Float32, DType::BFloat16, DType::Int32}) {
    const Tensor a = numbers(dtype, {3, 6}, 1), b = numbers(dtype, {6, 2}, 2);
    Tensor out = Tensor::zeros(dtype, {3, 2}).value();
    for (std::int64_t i = 0; i < 6; ++i)
      std::memcpy(out.storage()->data() + i * itemSize(dtype), Tensor::scalar(4, dtype).storage()->data(),
                  std::size_t(itemSize(dtype)));
    ASSERT_TRUE(gemm(a, b, out, 2, 3).has_value());
    expectProduct(a, b, out, 2, 12);
  }
  Tensor out = Tensor::zeros(DType::Float64, {1, 1}).value();
  out.data<double>()[0] = std::nan("");
  ASSERT_TRUE(gemm(numbers(DType::Float64, {1, 0}, 1), numbers(DType::Float64, {0, 1}, 1), out).has_value());
  EXPECT_EQ(out.itemAsDouble(), 0.0);
}

TEST(Gemm, AnAlphaOfZeroTakesNothingOfTheOperands) {
  for (const DType dtype : {DType::Float32, DType::Float64, DType::BFloat16, DType::Complex64, DType::Int64})
    for (const std::int64_t n : {4, 64}) {
      Tensor a = numbers(dtype, {40, 30}, 1), out = numbers(dtype, {40, n}, 3);
      const Tensor b = numbers(dtype, {30, n}, 2), before = out.clone().value();
      if (dtype == DType::Float32) a.data<float>()[7] = std::numeric_limits<float>::infinity();
      if (dtype == DType::Float64) a.data<double>()[7] = std::numeric_limits<double>::quiet_NaN();
      ASSERT_TRUE(gemm(a, b, out, 0, 2).has_value());
      for (std::int64_t i = 0; i < out.numel(); ++i) ASSERT_EQ(out.itemAsDouble(i), 2 * before.itemAsDouble(i)) << i;
    }
}

TEST(Gemm, ReducedFloatsRoundOnce) {
  Tensor a = Tensor::zeros(DType::BFloat16, {1, 1000}).value(), b = Tensor::zeros(DType::BFloat16, {1000, 1}).value();
  for (std::int64_t i = 0; i < 1000; ++i) a.data<BFloat16>()[i] = b.data<BFloat16>()[i] = BFloat16(1.0f);
  Tensor out = Tensor::zeros(DType::BFloat16, {1, 1}).value();
  ASSERT_TRUE(gemm(a, b, out).has_value());
  EXPECT_EQ(out.itemAsDouble(), 1000.0);  // a bfloat16 accumulator would stop at 256
}

TEST(Gemm, RefusesWhatDoesNotFit) {
  Tensor out = Tensor::zeros(DType::Float32, {2, 2}).value();
  const Tensor a = numbers(DType::Float32, {2, 3}, 1);
  EXPECT_EQ(gemm(a, a, out).error().code, ErrorCode::ShapeMismatch);
  EXPECT_EQ(gemm(a, numbers(DType::Float64, {3, 2}, 1), out).error().code, ErrorCode::ShapeMismatch);
  Tensor flags = Tensor::zeros(DType::Bool, {1, 1}).value();
  EXPECT_EQ(gemm(flags, flags, flags).error().code, ErrorCode::UnsupportedOp);
}

TEST(Bmm, MultipliesEveryBatch) {
  for (const Sizes& shape : {Sizes{17, 5, 7, 4}, Sizes{2, 60, 70, 80}}) {
    const Tensor a = numbers(DType::Float32, {shape[0], shape[1], shape[2]}, 1);
    const Tensor turned = numbers(DType::Float32, {shape[3], shape[0], shape[2]}, 2);
    const Tensor b = turned.viewAs({shape[0], shape[2], shape[3]}, {shape[2], 1, shape[0] * shape[2]}, 0);
    Tensor out = Tensor::zeros(DType::Float32, {shape[0], shape[1], shape[3]}).value();
    ASSERT_TRUE(bmm(a, b, out).has_value());
    for (std::int64_t n = 0; n < shape[0]; ++n)
      expectProduct(a.viewAs({shape[1], shape[2]}, {shape[2], 1}, n * shape[1] * shape[2]),
                    b.viewAs({shape[2], shape[3]}, {1, shape[0] * shape[2]}, n * shape[2]),
                    out.viewAs({shape[1], shape[3]}, {shape[3], 1}, n * shape[1] * shape[3]));
  }
}

/// Exit code of `work` in a forked child, or -1 when it does not end within ten seconds.
int inChild(const std::function<bool()>& work) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(work() ? 0 : 1);
  for (int i = 0; i < 1000; ++i) {
    int status = 0;
    if (::waitpid(child, &status, WNOHANG) == child) return WIFEXITED(status) ? WEXITSTATUS(status) : -2;
    ::usleep(10'000);
  }
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  return -1;
}

TEST(MathThreads, LibrariesWorkInAForkedChildAndInTheParentAfterwards) {
  setThreadCount(2);
  const Tensor a = numbers(DType::Float32, {300, 300}, 1), b = numbers(DType::Float32, {300, 300}, 2);
  const Tensor image = numbers(DType::Float32, {2, 8, 40, 40}, 3), filter = numbers(DType::Float32, {16, 8, 3, 3}, 4);
  Tensor out = Tensor::zeros(DType::Float32, {300, 300}).value();
  ASSERT_TRUE(gemm(a, b, out).has_value());
  const Tensor map = convolution(image, filter, {}, {}).value();
  const auto again = [&] {
    Tensor second = Tensor::zeros(DType::Float32, {300, 300}).value();
    if (!gemm(a, b, second)) return false;
    const Tensor secondMap = convolution(image, filter, {}, {}).value();
    return std::memcmp(second.data<float>(), out.data<float>(), 360'000) == 0 &&
           std::memcmp(secondMap.data<float>(), map.data<float>(), std::size_t(map.byteSize())) == 0;
  };
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(inChild([&] { return mathThreads() == 2 && again(); }), 0);
    EXPECT_EQ(mathThreads(), 2);
    EXPECT_TRUE(again());
  }
}

TEST(MathThreads, ExplicitCountWinsOverTheThreadPool) {
  setMathThreads(1);
  EXPECT_EQ(mathThreads(), 1);
  setMathThreads(0);
  EXPECT_EQ(mathThreads(), threadCount());
}

}  // namespace
}  // namespace kerf
