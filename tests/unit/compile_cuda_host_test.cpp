// What generated CUDA kernels compute, run on the CPU: split reductions, columns, tiles, what is kept between loops.
#include <gmock/gmock.h>

#include <bit>
#include <cmath>
#include <numeric>
#include <span>
#include <stdexcept>

#include "engine/codegen_cuda/nvrtc.h"
#include "engine/loops/expr_builder.h"
#include "tests/support/cuda_kernels.h"

namespace kerf {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using namespace testing_support;

/// Sum and maximum of everything, and twice what is summed.
LoopKernel wholeSum(std::int64_t size) {
  LoopKernel kernel = kernelOn({{size, true}}, {DType::Float32, DType::Float64, DType::Float32, DType::Float32});
  ExprBuilder b(kernel);
  const int x = b.load(0, at({1}));
  const int sum = b.reduce(ExprOp::ReduceSum, b.convert(x, DType::Float64)), most = b.reduce(ExprOp::ReduceMax, x);
  kernel.stores = {{1, {}, sum, false}, {2, {}, most, false}, {3, at({1}), b.binary(ExprOp::Add, x, x), true}};
  return kernel;
}

TEST(CudaOnHost, SumsOfEverythingAreSharedByBlocks) {
  for (const std::int64_t size : {65536, 70001}) {
    Made sum = made(wholeSum(size));
    EXPECT_GT(sum.kernel.shape.splits, 4) << size;
    EXPECT_EQ(sum.kernel.shape.blocks({}, 1 << 20), sum.kernel.shape.splits);
    EXPECT_EQ(sum.kernel.shape.partsBytes(), sum.kernel.shape.splits * 2 * 8);
    ASSERT_TRUE(sum.host) << sum.host.error().text();
    std::vector<float> x = wholeNumbers(std::size_t(size)), twice(x.size());
    x[x.size() / 3] = 99;
    double total = 0;
    float most = 0;
    for (const int blocks : {int(sum.kernel.shape.splits), 3, 1}) {  // with the counters of the run before
      sum.host->run({x, std::span(&total, 1), std::span(&most, 1), twice}, blocks);
      EXPECT_EQ(total, std::accumulate(x.begin(), x.end(), 0.0));
      EXPECT_EQ(most, 99);
      for (std::size_t i = 0; i < x.size(); ++i) ASSERT_EQ(twice[i], 2 * x[i]) << i;
    }
  }
}

/// x less its row's mean, by the root of the mean of squares, and that root.
LoopKernel normalized(std::int64_t rows, std::int64_t columns, DType type) {
  LoopKernel kernel = kernelOn({{rows, false}, {columns, true}}, {type, DType::Float32, DType::Float32});
  ExprBuilder b(kernel);
  const int x = b.convert(b.load(0, at({columns, 1})), DType::Float32),
            count = b.constant(double(columns), DType::Float32);
  const int off = b.binary(ExprOp::Sub, x, b.binary(ExprOp::Div, b.reduce(ExprOp::ReduceSum, x), count));
  const int square = b.binary(ExprOp::Div, b.reduce(ExprOp::ReduceSum, b.binary(ExprOp::Mul, off, off)), count);
  const int root = b.unary(ExprOp::Sqrt, square);
  kernel.stores = {{1, at({columns, 1}), b.binary(ExprOp::Div, off, root), true}, {2, at({1}), root, false}};
  return kernel;
}

/// Rows that the registers of one block do not hold: blocks of a cluster have parts of each.
TEST(CudaOnHost, LongRowsAreTheWorkOfClusters) {
  const KernelTarget hopper = KernelTarget::of("sm_90");
  for (const auto& [columns, type] :
       {std::pair{std::int64_t{16392}, DType::Float32}, std::pair{std::int64_t{17001}, DType::Float32},
        std::pair{std::int64_t{40000}, DType::BFloat16}}) {
    Made norm = made(normalized(3, columns, type), hopper);
    EXPECT_EQ(norm.kernel.shape.cluster, 4) << columns;
    EXPECT_EQ(norm.kernel.shape.threads, 256);
    EXPECT_EQ(norm.kernel.shape.blocks({}, 1000), 12);
    EXPECT_EQ(norm.kernel.shape.blocks({}, 9), 8);
    ASSERT_TRUE(norm.host) << norm.host.error().text();
    const std::vector<float> x = wholeNumbers(std::size_t(3 * columns));
    std::vector<std::uint16_t> narrow;
    for (const float value : x) narrow.push_back(bf16(value));
    std::vector<float> y(x.size(), -1), roots(3, -1);
    norm.host->run({type == DType::Float32 ? HostMemory(x) : HostMemory(narrow), y, roots}, 8);
    for (std::size_t row = 0; row < 3; ++row) {
      const float* const own = x.data() + row * std::size_t(columns);
      double mean = 0, square = 0;
      for (std::int64_t i = 0; i < columns; ++i) mean += own[i] / double(columns);
      for (std::int64_t i = 0; i < columns; ++i) square += (own[i] - mean) * (own[i] - mean) / double(columns);
      EXPECT_NEAR(roots[row], std::sqrt(square), 1e-4) << columns;
      for (std::int64_t i = 0; i < columns; ++i)
        ASSERT_NEAR(y[row * std::size_t(columns) + std::size_t(i)], (own[i] - mean) / std::sqrt(square), 1e-4)
            << row << " " << i;
    }
  }
  EXPECT_EQ(generateKernel(normalized(3, 8192, DType::Float32), {}, {}, KernelGuard::None, hopper)->shape.cluster, 1);
  EXPECT_EQ(generateKernel(normalized(3, 50257, DType::Float32), {}, {}, KernelGuard::None, hopper)->shape.cluster, 8);
  const auto longest = generateKernel(normalized(3, 200000, DType::Float32), {}, {}, KernelGuard::None, hopper);
  EXPECT_EQ(longest->shape.cluster, 8);
  EXPECT_EQ(longest->shape.threads, 1024);
  EXPECT_EQ(generateKernel(normalized(3, 300000, DType::Float32), {}, {}, KernelGuard::None, hopper)->shape.cluster, 1);
  EXPECT_EQ(generateKernel(normalized(3, 50257, DType::Float32), {}, {}, KernelGuard::None, KernelTarget::of("sm_80"))
                ->shape.cluster,
            1);
}

/// Rows of a table at places that are read: packs of them, several of a thread; and single elements.
TEST(CudaOnHost, ElementsAtReadPlacesAreUnderWayTogether) {
  for (const std::int64_t width : {24, 7}) {
    constexpr std::int64_t rows = 46001, places = 11;
    LoopKernel loops = kernelOn({{rows, false}, {width, false}}, {DType::Int64, DType::BFloat16, DType::BFloat16});
    ExprBuilder b(loops);
    const int place = b.binary(ExprOp::Mul, b.load(0, at({1, 0})), b.integer(width, DType::Int64));
    loops.stores = {{2, at({width, 1}), b.loadAt(1, at({0, 1}), place), true}};
    Made select = made(loops);
    EXPECT_EQ(select.kernel.shape.unroll, 2);
    EXPECT_EQ(select.kernel.text().find("kerf_load<unsigned short, V>(b1 + ") != std::string::npos, width == 24);
    ASSERT_TRUE(select.host) << select.host.error().text();
    std::vector<long long> index(rows);
    std::vector<std::uint16_t> table(places * width), out(rows * width);
    for (std::size_t i = 0; i < index.size(); ++i) index[i] = (long long)(i * i % places);
    for (std::size_t i = 0; i < table.size(); ++i) table[i] = std::uint16_t(i);
    select.host->run({index, table, out}, int(select.kernel.shape.blocks({}, 2)));
    for (std::size_t i = 0; i < out.size(); ++i)
      ASSERT_EQ(out[i], table[std::size_t(index[i / width]) * width + i % width]) << width << " " << i;
  }
}

/// [batches, rows, columns] → Σ over rows of x·y + column's bias, times 3.
LoopKernel columnSum(std::int64_t batches, std::int64_t rows, std::int64_t columns, DType type) {
  LoopKernel kernel =
      kernelOn({{batches, false}, {columns, false}, {rows, true}}, {type, DType::Float32, DType::Float32});
  ExprBuilder b(kernel);
  const int x = b.convert(b.load(0, at({rows * columns, 1, columns})), DType::Float32);
  const int bias = b.load(1, at({0, 1}));
  const int sum = b.reduce(ExprOp::ReduceSum, b.binary(ExprOp::Add, x, bias));
  kernel.stores = {{2, at({columns, 1}), b.binary(ExprOp::Mul, sum, b.constant(3, DType::Float32)), false}};
  return kernel;
}

void expectColumnSums(std::int64_t batches, std::int64_t rows, std::int64_t columns, std::size_t offset) {
  Made sum = made(columnSum(batches, rows, columns, DType::BFloat16));
  EXPECT_EQ(sum.kernel.shape.layout, KernelLayout::Columns);
  EXPECT_GT(sum.kernel.shape.splits, 1);
  ASSERT_TRUE(sum.host) << sum.host.error().text();
  const auto count = std::size_t(batches * rows * columns);
  const std::vector<float> values = wholeNumbers(count);
  std::vector<std::uint16_t> x(count + 8);
  for (std::size_t i = 0; i < count; ++i) x[i + offset] = bf16(values[i]);
  std::vector<float> bias = wholeNumbers(std::size_t(columns), 5), out(std::size_t(batches * columns), -1);
  for (int run = 0; run < 2; ++run) {
    std::ranges::fill(out, -1.0f);
    sum.host->run({std::span(x).subspan(offset), bias, out}, run == 0 ? 7 : 1000);
    for (std::int64_t n = 0; n < batches; ++n)
      for (std::int64_t c = 0; c < columns; ++c) {
        float expected = 0;
        for (std::int64_t r = 0; r < rows; ++r)
          expected += values[std::size_t((n * rows + r) * columns + c)] + bias[std::size_t(c)];
        ASSERT_EQ(out[std::size_t(n * columns + c)], 3 * expected) << n << " " << c << " of " << columns;
      }
  }
}

TEST(CudaOnHost, ColumnsAreSummedInPacks) {
  expectColumnSums(1, 2048, 72, 0);
  expectColumnSums(2, 1024, 128, 1);  // where no pack may lie
}
TEST(CudaOnHost, ColumnsOfAnOddNumberAreSummedOneByOne) { expectColumnSums(3, 515, 37, 0); }

LoopKernel hostSoftmax(std::int64_t rows, std::int64_t columns, DType type) {
  LoopKernel kernel = kernelOn({{rows, false}, {columns, true}}, {type, type});
  ExprBuilder b(kernel);
  const int x = b.convert(b.load(0, at({columns, 1})), DType::Float32), most = b.reduce(ExprOp::ReduceMax, x);
  const int e = b.unary(ExprOp::Exp, b.binary(ExprOp::Sub, x, most));
  const int sum = b.convert(b.reduce(ExprOp::ReduceSum, b.convert(e, DType::Float64)), DType::Float32);
  kernel.stores = {{1, at({columns, 1}), b.convert(b.binary(ExprOp::Div, e, sum), type), true}};
  return kernel;
}

TEST(CudaOnHost, SoftmaxComputesEachExponentialOnce) {
  for (const std::int64_t columns : {20, 1000}) {
    Made softmax = made(hostSoftmax(5, columns, DType::Float32));
    const std::string text = softmax.kernel.text();
    EXPECT_EQ(text.find("expf"), text.rfind("expf")) << text;
    EXPECT_THAT(text, Not(HasSubstr("kerf_scale")));
    ASSERT_TRUE(softmax.host) << softmax.host.error().text();
    std::vector<float> x = wholeNumbers(std::size_t(5 * columns)), out(x.size());
    softmax.host->run({x, out}, 2);
    for (std::int64_t r = 0; r < 5; ++r) {
      double sum = 0;
      for (std::int64_t c = 0; c < columns; ++c) sum += std::exp(double(x[std::size_t(r * columns + c)]) - 8);
      for (std::int64_t c = 0; c < columns; ++c) {
        const double expected = std::exp(double(x[std::size_t(r * columns + c)]) - 8) / sum;
        ASSERT_NEAR(out[std::size_t(r * columns + c)], expected, expected * 1e-6) << r << " " << c;
      }
    }
  }
}

TEST(CudaOnHost, ARowsQuotientThatIsRoundedTo16BitsIsAProduct) {
  Made softmax = made(hostSoftmax(3, 512, DType::BFloat16));
  EXPECT_THAT(softmax.kernel.text(), HasSubstr("kerf_scale("));
  ASSERT_TRUE(softmax.host) << softmax.host.error().text();
  const std::vector<float> values = wholeNumbers(3 * 512);
  std::vector<std::uint16_t> x(values.size()), out(values.size());
  std::ranges::transform(values, x.begin(), bf16);
  softmax.host->run({x, out}, 3);
  for (std::size_t r = 0; r < 3; ++r) {
    double sum = 0;
    for (std::size_t c = 0; c < 512; ++c) sum += std::exp(double(values[r * 512 + c]) - 8);
    for (std::size_t c = 0; c < 512; ++c) {
      const double expected = std::exp(double(values[r * 512 + c]) - 8) / sum;
      ASSERT_NEAR(fromBf16(out[r * 512 + c]), expected, expected / 250) << r << " " << c;
    }
  }
}

void expectOddSoftmax(std::size_t rows, std::size_t columns, KernelTarget target, std::size_t off) {
  constexpr std::size_t around = 8;
  Made softmax = made(hostSoftmax(std::int64_t(rows), std::int64_t(columns), DType::BFloat16), target);
  EXPECT_EQ(softmax.kernel.shape.vector, 2);
  ASSERT_TRUE(softmax.kernel.shape.shift);
  ASSERT_TRUE(softmax.host) << softmax.host.error().text();
  const std::vector<float> values = wholeNumbers(rows * columns);
  std::vector<std::uint16_t> x(values.size() + 2 * around, 0x7fc0), out(x.size(), 0x1234);
  std::uint16_t *const from = x.data() + around + off, *const to = out.data() + around + off;
  std::ranges::transform(values, from, bf16);
  softmax.host->run({std::span(x).subspan(around + off), std::span(out).subspan(around + off)},
                    2 * softmax.kernel.shape.cluster);
  for (std::size_t r = 0; r < rows; ++r) {
    double sum = 0;
    for (std::size_t c = 0; c < columns; ++c) sum += std::exp(double(values[r * columns + c]) - 8);
    for (std::size_t c = 0; c < columns; ++c) {
      const double expected = std::exp(double(values[r * columns + c]) - 8) / sum;
      ASSERT_NEAR(fromBf16(to[r * columns + c]), expected, expected / 250) << r << " " << c;
    }
  }
  for (std::size_t i = 0; i < around - off; ++i) EXPECT_EQ(to[rows * columns + i], 0x1234) << i;
  for (std::size_t i = 0; i < around + off; ++i) EXPECT_EQ(out[i], 0x1234) << i;
}

/// Rows of an odd number of elements are read and written in packs, and nothing around them changes.
TEST(CudaOnHost, LongRowsThatBeginAnywhereGoInPacks) {
  for (const std::size_t off : {0, 1}) {  // of a pack's beginning: single elements then
    expectOddSoftmax(5, 5003, {}, off);
    expectOddSoftmax(3, 17001, KernelTarget::of("sm_90"), off);
  }
  EXPECT_EQ(generateKernel(hostSoftmax(2, 4099, DType::Float32), {}, {})->shape.vector, 4);
  EXPECT_EQ(generateKernel(hostSoftmax(2, 4095, DType::Float32), {}, {})->shape.vector, 1);
  EXPECT_EQ(generateKernel(hostSoftmax(2, 4096, DType::Float32), {}, {})->shape.shift, std::nullopt);
}

/// Masked rows of float64 that begin anywhere, less their largest element: packs of two, of a mask's bytes too.
TEST(CudaOnHost, MaskedDoublesOfOddRowsGoInPacks) {
  constexpr std::int64_t rows = 3, columns = 4099;
  for (const std::string_view architecture : {"sm_80", "sm_90"}) {
    LoopKernel kernel = kernelOn({{rows, false}, {columns, true}}, {DType::Float64, DType::Bool, DType::Float64});
    ExprBuilder b(kernel);
    const int x = b.load(0, at({columns, 1})), mask = b.load(1, at({columns, 1}));
    const int kept = b.select(mask, x, b.constant(-100, DType::Float64)), most = b.reduce(ExprOp::ReduceMax, kept);
    kernel.stores = {{2, at({columns, 1}), b.binary(ExprOp::Sub, kept, most), true}};
    Made masked = made(kernel, KernelTarget::of(architecture));
    EXPECT_EQ(masked.kernel.shape.vector, 2);
    EXPECT_TRUE(masked.kernel.shape.shift);
    ASSERT_TRUE(masked.host) << masked.host.error().text();
    const std::vector<float> values = wholeNumbers(rows * columns), chosen = wholeNumbers(rows * columns, 9);
    std::vector<double> doubles(values.begin(), values.end()), out(values.size(), 77);
    std::vector<std::uint8_t> bytes;
    for (const float value : chosen) bytes.push_back(value > 0);
    masked.host->run({doubles, bytes, out}, 2);
    for (std::size_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], (bytes[i] ? doubles[i] : -100) - 8) << i;
  }
}

/// out[r, c] = (x[r, c] - sum of x[r]) * w[c] + y[r, c + 1], of rows of 4101 and 4102 elements.
TEST(CudaOnHost, RowsShiftedUnlikeMostGoOneByOne) {
  constexpr std::int64_t rows = 5, columns = 4099, wide = 4101;
  LoopKernel kernel =
      kernelOn({{rows, false}, {columns, true}}, {DType::Float32, DType::Float32, DType::Float32, DType::Float32});
  ExprBuilder b(kernel);
  const int x = b.load(0, at({wide, 1})), sum = b.reduce(ExprOp::ReduceSum, b.convert(x, DType::Float64));
  Affine next = at({wide + 1, 1});
  next.constant = 1;
  const int centered = b.binary(ExprOp::Sub, x, b.convert(sum, DType::Float32));
  const int scaled = b.binary(ExprOp::Mul, centered, b.load(1, at({0, 1})));
  kernel.stores = {{3, at({wide, 1}), b.binary(ExprOp::Add, scaled, b.load(2, next)), true}};
  Made shifted = made(kernel);
  EXPECT_EQ(shifted.kernel.shape.vector, 4);
  ASSERT_TRUE(shifted.kernel.shape.shift);
  EXPECT_THAT(shifted.kernel.text(), HasSubstr("= b1[i1];"));
  ASSERT_TRUE(shifted.host) << shifted.host.error().text();
  std::vector<float> values = wholeNumbers(rows * wide), w = wholeNumbers(columns, 2),
                     y = wholeNumbers(rows * (wide + 1) + 1, 3);
  std::vector<float> out(rows * wide, -77);
  shifted.host->run({values, w, y, out}, 2);
  for (std::int64_t r = 0; r < rows; ++r) {
    const float* const row = values.data() + r * wide;
    const float total = std::accumulate(row, row + columns, 0.0f);
    for (std::int64_t c = 0; c < columns; ++c)
      ASSERT_EQ(out[std::size_t(r * wide + c)],
                (row[c] - total) * w[std::size_t(c)] + y[std::size_t(r * (wide + 1) + c + 1)])
          << r << " " << c;
    for (std::int64_t c = columns; c < wide; ++c) EXPECT_EQ(out[std::size_t(r * wide + c)], -77) << r << " " << c;
  }
}

/// out[n, i, j] = x[n, i, j] + y[n, j, i]
LoopKernel transposedAdd(std::int64_t batches, std::int64_t lines, std::int64_t columns, DType type) {
  LoopKernel kernel = kernelOn({{batches, false}, {lines, false}, {columns, false}}, {type, type, type});
  ExprBuilder b(kernel);
  const auto load = [&](int buffer, Affine index) {
    return b.convert(b.load(buffer, std::move(index)), DType::Float32);
  };
  const std::int64_t all = lines * columns;
  const int sum = b.binary(ExprOp::Add, load(0, at({all, columns, 1})), load(1, at({all, 1, lines})));
  kernel.stores = {{2, at({all, columns, 1}), b.convert(sum, type), true}};
  return kernel;
}

void expectTransposedSums(std::int64_t lines, std::int64_t columns, int blocks) {
  Made add = made(transposedAdd(2, lines, columns, DType::Float32));
  EXPECT_EQ(add.kernel.shape.layout, KernelLayout::Tiles);
  EXPECT_EQ(add.kernel.shape.blocks({}, 1 << 20), 2 * ((lines + 63) / 64) * ((columns + 63) / 64));
  ASSERT_TRUE(add.host) << add.host.error().text();
  const auto count = std::size_t(2 * lines * columns);
  std::vector<float> x = wholeNumbers(count), y = wholeNumbers(count, 3), out(count, -1000);
  add.host->run({x, y, out}, blocks);
  for (std::int64_t n = 0; n < 2; ++n)
    for (std::int64_t i = 0; i < lines; ++i)
      for (std::int64_t j = 0; j < columns; ++j) {
        const auto own = std::size_t((n * lines + i) * columns + j), other = std::size_t((n * columns + j) * lines + i);
        ASSERT_EQ(out[own], x[own] + y[other]) << n << " " << i << " " << j;
      }
}

TEST(CudaOnHost, TransposedOperandsGoThroughTiles) {
  expectTransposedSums(128, 64, 4);
  expectTransposedSums(100, 136, 3);
  expectTransposedSums(67, 131, 2);
}

/// out[i, j] = x[i, j] + the sum of y0[j, i], y1[j, i], …: more of them than have room in shared memory.
TEST(CudaOnHost, ManyTransposedOperandsShareTheTilesOfOneKernel) {
  constexpr std::int64_t lines = 72, columns = 100;
  for (const int others : {2, 3, 5}) {
    LoopKernel kernel =
        kernelOn({{lines, false}, {columns, false}}, std::vector<DType>(std::size_t(others) + 2, DType::Float32));
    ExprBuilder b(kernel);
    int sum = b.load(0, at({columns, 1}));
    for (int k = 1; k <= others; ++k) sum = b.binary(ExprOp::Add, sum, b.load(k, at({1, lines})));
    kernel.stores = {{others + 1, at({columns, 1}), sum, true}};
    Made add = made(kernel);
    EXPECT_EQ(add.kernel.shape.layout, KernelLayout::Tiles);
    EXPECT_EQ(add.kernel.shape.vector, 4);
    ASSERT_TRUE(add.host) << add.host.error().text();
    std::vector<std::vector<float>> values;
    for (int k = 0; k <= others; ++k) values.push_back(wholeNumbers(std::size_t(lines * columns), k + 1));
    values.emplace_back(std::size_t(lines * columns), -1000);
    add.host->run({values.begin(), values.end()}, 3);
    for (std::size_t i = 0; i < lines; ++i)
      for (std::size_t j = 0; j < columns; ++j) {
        float expected = values[0][i * columns + j];
        for (int k = 1; k <= others; ++k) expected += values[std::size_t(k)][j * lines + i];
        ASSERT_EQ(values.back()[i * columns + j], expected) << others << " " << i << " " << j;
      }
  }
}

TEST(CudaOnHost, TilesOf16BitElementsAreReadInPacks) {
  Made add = made(transposedAdd(1, 96, 72, DType::BFloat16));
  EXPECT_EQ(add.kernel.shape.acrossVector, 4);
  EXPECT_EQ(add.kernel.shape.vector, 8);
  ASSERT_TRUE(add.host) << add.host.error().text();
  const std::vector<float> a = wholeNumbers(96 * 72), c = wholeNumbers(96 * 72, 9);
  std::vector<std::uint16_t> x(a.size()), y(a.size()), out(a.size());
  std::ranges::transform(a, x.begin(), bf16);
  std::ranges::transform(c, y.begin(), bf16);
  add.host->run({x, y, out}, 2);
  for (std::size_t i = 0; i < 96; ++i)
    for (std::size_t j = 0; j < 72; ++j) ASSERT_EQ(fromBf16(out[i * 72 + j]), a[i * 72 + j] + c[j * 96 + i]);
}

/// out[i, j] = j < 90 ? x[j, i] : 0
TEST(CudaOnHost, WhatIsPaddedGoesThroughTilesToo) {
  LoopKernel kernel = kernelOn({{70, false}, {96, false}}, {DType::Float32, DType::Float32});
  ExprBuilder b(kernel);
  const int within = b.binary(ExprOp::Lt, b.index(at({0, 1})), b.integer(90, DType::Int64));
  kernel.stores = {{1, at({96, 1}), b.loadWhere(0, at({1, 70}), within), true}};
  Made pad = made(kernel);
  EXPECT_EQ(pad.kernel.shape.layout, KernelLayout::Tiles);
  ASSERT_TRUE(pad.host) << pad.host.error().text();
  std::vector<float> x = wholeNumbers(90 * 70), out(70 * 96, -1000);
  pad.host->run({x, out}, 2);
  for (std::size_t i = 0; i < 70; ++i)
    for (std::size_t j = 0; j < 96; ++j) ASSERT_EQ(out[i * 96 + j], j < 90 ? x[j * 70 + i] : 0) << i << " " << j;
}

}  // namespace
}  // namespace kerf
