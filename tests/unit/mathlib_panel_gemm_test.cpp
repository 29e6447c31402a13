// Products from panels: against sums of numbers whose products and sums are exact, over sizes around those of tiles,
// and with the same bits on any number of threads.
#include <cmath>
#include <random>

#include <sys/resource.h>

#include <gtest/gtest.h>

#include "engine/mathlib/library_gemm.h"
#include "engine/mathlib/panel_gemm.h"
#include "engine/support/thread_pool.h"

namespace kerf {
namespace {

/// A matrix of `rows` rows, `stride` apart.
template <class T>
struct Stored {
  std::int64_t stride = 1;
  std::vector<T> data;
  Stored(std::int64_t rows, std::int64_t columns, std::int64_t gap)
      : stride(columns + gap), data(std::size_t(rows * stride)) {}
  T& at(std::int64_t row, std::int64_t column) { return data[std::size_t(row * stride + column)]; }
};

template <class T>
Stored<T> matrix(std::int64_t rows, std::int64_t columns, std::int64_t gap, std::mt19937& random, bool whole) {
  Stored<T> m(rows, columns, gap);
  for (T& x : m.data) x = whole ? T(int(random() % 7) - 3) : T(double(random()) / 4294967296.0 - 0.5);
  return m;
}

template <class T>
class PanelGemm : public ::testing::Test {};
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(PanelGemm, Reals);

constexpr std::int64_t sizes[] = {1, 2, 5, 7, 12, 13, 16, 17, 24, 25, 31, 32, 33, 47, 64, 96, 129, 320, 500};

TYPED_TEST(PanelGemm, MultipliesEverySizeAndLayout) {
  using T = TypeParam;
  std::mt19937 random(7);
  for (int round = 0; round < 400; ++round) {
    const std::int64_t m = sizes[random() % 19], n = sizes[random() % 19];
    const std::int64_t k = round % 4 == 0 ? 380 + std::int64_t(random() % 500) : sizes[random() % 19];
    const bool ta = random() % 2 != 0, tb = random() % 2 != 0;
    const std::int64_t apart = round % 8 == 0 ? 4096 / std::int64_t(sizeof(T)) : 0;  // rows in one place of the cache
    Stored<T> a = matrix<T>(ta ? k : m, ta ? m : k, apart > k && !ta ? apart - k : random() % 3, random, true);
    Stored<T> b = matrix<T>(tb ? n : k, tb ? k : n, random() % 3, random, true);
    Stored<T> c = matrix<T>(m, n, 3, random, true);
    const Stored<T> before = c;
    const T alpha = round % 3 == 0 ? T(2) : T(1), beta = round % 5 == 0 ? T(-1) : T(0);
    const int threads = 1 + round % 4;
    setThreadCount(threads);
    panelGemm<T>({ta, tb, m, n, k, alpha, a.stride, b.stride, beta, c.stride}, a.data.data(), b.data.data(),
                 c.data.data(), threads);
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < c.stride; ++j) {
        const T old = before.data[std::size_t(i * c.stride + j)];
        double sum = 0;
        for (std::int64_t p = 0; j < n && p < k; ++p)
          sum += double(ta ? a.at(p, i) : a.at(i, p)) * double(tb ? b.at(j, p) : b.at(p, j));
        ASSERT_EQ(c.at(i, j), j < n ? T(alpha * sum + beta * old) : old)  // what lies between rows stays
            << m << " x " << n << " x " << k << (ta ? " T" : " N") << (tb ? "T" : "N") << " at " << i << ", " << j;
      }
  }
  setThreadCount(2);
}

TYPED_TEST(PanelGemm, HasTheSameBitsOnAnyNumberOfThreads) {
  using T = TypeParam;
  std::mt19937 random(8);
  constexpr std::array<std::int64_t, 3> shapes[] = {
      {500, 300, 900}, {128, 770, 256}, {20, 512, 800},   {700, 90, 385},   {7, 500, 1003}, {8, 2048, 900},
      {61, 1056, 130}, {30, 50, 40000}, {32, 1100, 1024}, {41, 1500, 1024}, {3, 40, 70001}};
  for (const auto& [m, n, k] : shapes)
    for (const bool ta : {false, true})
      for (const bool tb : {false, true}) {
        Stored<T> a = matrix<T>(ta ? k : m, ta ? m : k, 0, random, false);
        Stored<T> b = matrix<T>(tb ? n : k, tb ? k : n, 0, random, false);
        std::vector<std::vector<T>> results;
        for (const int threads : {1, 2, 3, 7}) {
          setThreadCount(threads);
          Stored<T> c(m, n, 0);
          panelGemm<T>({ta, tb, m, n, k, T(1), a.stride, b.stride, T(0), c.stride}, a.data.data(), b.data.data(),
                       c.data.data(), threads);
          results.push_back(c.data);
        }
        for (const std::vector<T>& other : results) ASSERT_EQ(other, results.front()) << m << " x " << n << " x " << k;
      }
  setThreadCount(2);
}

/// Every row, or column, of an operand is the same memory, so that only what the product allocates grows.
TYPED_TEST(PanelGemm, PacksLittleOfManyProducts) {
  using T = TypeParam;
  constexpr std::int64_t m = 50, n = 40, k = 3'000'000, mostKilobytes = 64 << 10;
  const std::vector<T> ones(std::size_t(k), T(1));
  const auto peak = [] {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
  };
  const auto before = peak();
  for (const std::int64_t columns : {n, std::int64_t{700}})  // with few results, and in parts for all threads
    for (const int threads : {1, 3}) {
      const std::int64_t steps = columns == n ? k : k / 20;
      setThreadCount(threads);
      Stored<T> c(m, columns, 0);
      panelGemm<T>({true, true, m, columns, steps, T(1), 0, 0, T(0), columns}, ones.data(), ones.data(), c.data.data(),
                   threads);
      EXPECT_TRUE(std::ranges::all_of(c.data, [&](T x) { return x == T(steps); })) << columns << " on " << threads;
      panelGemm<T>({false, false, m, columns, steps, T(1), 0, 0, T(0), columns}, ones.data(), ones.data(),
                   c.data.data(), threads);
      EXPECT_TRUE(std::ranges::all_of(c.data, [&](T x) { return x == T(steps); })) << columns << " on " << threads;
    }
  EXPECT_LT(peak() - before, mostKilobytes);
  setThreadCount(2);
}

TYPED_TEST(PanelGemm, SumsManyProductsExactlyEnough) {
  using T = TypeParam;
  std::mt19937 random(10);
  constexpr std::int64_t m = 5, n = 24, k = 60'000;
  for (const bool ta : {false, true})
    for (const bool tb : {false, true}) {
      Stored<T> a = matrix<T>(ta ? k : m, ta ? m : k, 1, random, false);
      Stored<T> b = matrix<T>(tb ? n : k, tb ? k : n, 1, random, false), c(m, n, 0);
      panelGemm<T>({ta, tb, m, n, k, T(2), a.stride, b.stride, T(0), c.stride}, a.data.data(), b.data.data(),
                   c.data.data(), 2);
      for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t j = 0; j < n; ++j) {
          long double sum = 0, size = 0;
          for (std::int64_t p = 0; p < k; ++p) {
            const long double x = (long double)(ta ? a.at(p, i) : a.at(i, p)) * (tb ? b.at(j, p) : b.at(p, j));
            sum += 2 * x, size += 2 * std::abs(x);
          }
          const long double chain = 384 + 64 + 22;  // a block's products, pieces, and a piece's blocks
          EXPECT_LE(std::abs(c.at(i, j) - sum), chain * std::numeric_limits<T>::epsilon() / 2 * size) << i << ", " << j;
        }
    }
}

/// Short products of a result that no cache holds.
TYPED_TEST(PanelGemm, WritesLargeResultsPastTheCaches) {
  using T = TypeParam;
  std::mt19937 random(11);
  constexpr std::int64_t n = 2048, k = 3;
  const std::int64_t m = (std::int64_t{33} << 20) / std::int64_t(sizeof(T)) / n;
  Stored<T> a = matrix<T>(m, k, 0, random, true), b = matrix<T>(k, n, 0, random, true);
  std::vector<T> memory(std::size_t(m * n + 128), T(77));
  T* c = memory.data();
  while (reinterpret_cast<std::uintptr_t>(c) % 64 != 0) ++c;
  T* const end = c + m * n;
  panelGemm<T>({false, false, m, n, k, T(-1), a.stride, b.stride, T(0), n}, a.data.data(), b.data.data(), c, 2);
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j)
      ASSERT_EQ(c[i * n + j], -(a.at(i, 0) * b.at(0, j) + a.at(i, 1) * b.at(1, j) + a.at(i, 2) * b.at(2, j))) << i;
  EXPECT_EQ(*end, T(77));
}

TYPED_TEST(PanelGemm, IgnoresNanInTheResultWithoutBeta) {
  using T = TypeParam;
  std::mt19937 random(9);
  Stored<T> a = matrix<T>(30, 20, 0, random, true), b = matrix<T>(20, 40, 0, random, true), c(30, 40, 0);
  std::ranges::fill(c.data, std::numeric_limits<T>::quiet_NaN());
  panelGemm<T>({false, false, 30, 40, 20, T(1), a.stride, b.stride, T(0), c.stride}, a.data.data(), b.data.data(),
               c.data.data(), 1);
  EXPECT_TRUE(std::ranges::none_of(c.data, [](T x) { return x != x; }));
}

TEST(PanelGemmRule, LeavesVectorsAndFewColumnsToOpenBlas) {
  EXPECT_FALSE(suitsPanels(1, 4096, 4096));
  EXPECT_FALSE(suitsPanels(4096, 1, 4096));
  EXPECT_FALSE(suitsPanels(8, 8, 8));
}

TEST(LibraryGemm, MultipliesAsPanelsDo) {
  std::mt19937 random(9);
  for (const bool ta : {false, true})
    for (const bool tb : {false, true}) {
      Stored<float> a = matrix<float>(ta ? 40 : 21, ta ? 21 : 40, 2, random, true);
      Stored<float> b = matrix<float>(tb ? 33 : 40, tb ? 40 : 33, 1, random, true);
      const PanelProduct<float> product{ta, tb, 21, 33, 40, 2, a.stride, b.stride, -1, 35};
      const Stored<float> before = matrix<float>(21, 33, 2, random, true);
      Stored<float> wanted = before;
      panelGemm(product, a.data.data(), b.data.data(), wanted.data.data(), 1);
      for (const GemmLibrary library : {GemmLibrary::OpenBlas, GemmLibrary::OneDnn}) {
        Stored<float> c = before;
        ASSERT_TRUE(libraryGemm(library, product, a.data.data(), b.data.data(), c.data.data()).has_value());
        EXPECT_EQ(c.data, wanted.data) << describeLibrary(library) << ta << tb;
      }
    }
  EXPECT_TRUE(describeLibrary(GemmLibrary::OpenBlas).starts_with("OpenBLAS "));
  EXPECT_TRUE(describeLibrary(GemmLibrary::OneDnn).starts_with("oneDNN "));
}

TEST(LibraryGemm, RefusesWhatIsBeyondBlas) {
  const std::int64_t rows = std::int64_t{1} << 32;
  const auto refused =
      libraryGemm(GemmLibrary::OpenBlas, {false, false, rows, 1, 1, 1, 1, 1, 0, 1}, nullptr, nullptr, nullptr);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::TooLarge);
}

}  // namespace
}  // namespace kerf
