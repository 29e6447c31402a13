// Sorts and scans by the device's kernels, on the CPU, beside the interpreter's values.
#include <gmock/gmock.h>

#include <limits>
#include <random>

#include "tests/support/device_on_host.h"
#include "tests/support/graph_fixture.h"

namespace kerf {
namespace {

using testing_support::DeviceOnHost;
using testing_support::expectClose;
using testing_support::randomTensor;

void expectSameResults(const std::string& op, const ValueList& args, double tolerance = 0,
                       const KeywordValues& kwargs = {}) {
  const auto expected = referenceOps().call(OpTarget("torch.ops." + op), args, kwargs);
  ASSERT_TRUE(expected) << op << ": " << expected.error().text();
  const auto given = DeviceOnHost::get().run(op, args, kwargs);
  ASSERT_TRUE(given) << op << ": " << given.error().text();
  ASSERT_TRUE(*given) << op << " is left to the host";
  const ValueList wanted = expected->isList() ? expected->list() : ValueList{*expected};
  const ValueList results = (*given)->isList() ? (*given)->list() : ValueList{**given};
  ASSERT_EQ(wanted.size(), results.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    ASSERT_NO_FATAL_FAILURE(
        expectClose(wanted[i].tensor(), results[i].tensor(), tolerance, fmt::format("{} {}", op, i)));
    EXPECT_EQ(wanted[i].tensor().strides(), results[i].tensor().strides());
  }
}

/// Few different values, so that many are equal; NaN, infinities and both zeros where the type has them.
Tensor withTies(DType dtype, const Sizes& sizes, std::mt19937& random) {
  const Tensor whole = randomTensor(DType::Int64, sizes, random);
  Tensor tensor = *whole.to(DType::Float64);
  constexpr double odd[] = {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
                            -std::numeric_limits<double>::infinity(), -0.0, 0.0};
  if (isFloating(dtype))
    for (std::int64_t i = 0; i < tensor.numel(); i += 7) tensor.data<double>()[i] = odd[std::size_t(random() % 5)];
  return *tensor.to(dtype);
}

class CudaOrder : public ::testing::TestWithParam<DType> {};

TEST_P(CudaOrder, LinesAreSortedWithTiesInTheirOrder) {
  std::mt19937 random(2);
  for (const bool descending : {false, true}) {
    expectSameResults("aten.sort.default", {withTies(GetParam(), {9, 40}, random), std::int64_t(-1), descending});
    expectSameResults("aten.sort.default", {withTies(GetParam(), {5, 31, 3}, random), std::int64_t(1), descending});
  }
  const Tensor across = withTies(GetParam(), {17, 6}, random).viewAs({6, 17}, {1, 6}, 0);
  expectSameResults("aten.sort.default", {across, std::int64_t(1), false});
  expectSameResults("aten.topk.default", {across, std::int64_t(3), std::int64_t(1), true, true});
  expectSameResults("aten.topk.default", {across, std::int64_t(2), std::int64_t(0), false, true});
  expectSameResults("aten.kthvalue.default", {across, std::int64_t(4), std::int64_t(0), false});
}

INSTANTIATE_TEST_SUITE_P(Types, CudaOrder,
                         ::testing::Values(DType::Float32, DType::Float64, DType::Float16, DType::BFloat16,
                                           DType::Int64, DType::Int32, DType::UInt8, DType::Bool),
                         [](const auto& info) { return std::string(dtypeInfo(info.param).shortCode); });

/// Lines that one block sorts, of every number of keys for a thread, and those from which it selects.
TEST(CudaOrders, LinesOfEveryLengthByOneBlockEach) {
  std::mt19937 random(5);
  for (const std::int64_t size : {1, 2, 31, 127, 128, 129, 512, 513, 1031, 2049, 4097})
    expectSameResults("aten.sort.default",
                      {withTies(DType::Float32, {2, size}, random), std::int64_t(1), size % 2 == 0});
  for (const std::int64_t size : {600, 1500, 3001})
    for (const DType dtype : {DType::Float64, DType::BFloat16, DType::Int64})
      expectSameResults("aten.sort.default", {withTies(dtype, {2, size}, random), std::int64_t(1), size % 2 == 0});
}

TEST(CudaOrders, SelectsTheFirstOfLongLines) {
  std::mt19937 random(6);
  for (const DType dtype : {DType::Float32, DType::Float64, DType::Float16, DType::BFloat16, DType::Int64, DType::Int32,
                            DType::UInt8, DType::Bool})
    for (const bool largest : {true, false}) {
      const Tensor x = withTies(dtype, {3, 1031}, random);
      for (const std::int64_t k : {1, 7, 250})
        expectSameResults("aten.topk.default", {x, k, std::int64_t(1), largest, true});
    }
  const Tensor equal = *Tensor::zeros(DType::Float32, {2, 5000});
  expectSameResults("aten.topk.default", {equal, std::int64_t(700), std::int64_t(1), true, true});
  expectSameResults("aten.kthvalue.default",
                    {randomTensor(DType::Float32, {3, 4100}, random), std::int64_t(600), std::int64_t(1), true});
  expectSameResults("aten.topk.default",
                    {randomTensor(DType::Float32, {4099, 2}, random), std::int64_t(5), std::int64_t(0), true, true});
  expectSameResults("aten.topk.default",
                    {randomTensor(DType::Float32, {40000}, random), std::int64_t(3), std::int64_t(0), true, true});
}

TEST(CudaOrders, ManyElementsByManyBlocks) {
  std::mt19937 random(3);
  expectSameResults("aten.sort.default", {randomTensor(DType::Float32, {2, 8500}, random), std::int64_t(1), true});
  expectSameResults("aten.sort.stable", {withTies(DType::Float32, {9000}, random)}, 0,
                    {{"stable", true}, {"dim", std::int64_t(0)}, {"descending", false}});
  expectSameResults("aten.argsort.default", {randomTensor(DType::Float32, {33}, random), std::int64_t(0), true});
  expectSameResults("aten.sort.default", {*Tensor::zeros(DType::Float32, {0, 4}), std::int64_t(1), false});
}

TEST(CudaOrders, RunningExtremaTakeTheLatestAndKeepNan) {
  std::mt19937 random(4);
  for (const DType dtype : {DType::Float32, DType::BFloat16, DType::Int64})
    for (const char* op : {"aten.cummax.default", "aten.cummin.default"}) {
      expectSameResults(op, {withTies(dtype, {3, 700}, random), std::int64_t(1)});
      expectSameResults(op, {withTies(dtype, {50, 40}, random), std::int64_t(0)});
      expectSameResults(op, {withTies(dtype, {1, 1}, random), std::int64_t(-1)});
    }
}

TEST(CudaOrders, RunningExtremaOfUnsignedNumbersHaveNoSign) {
  Tensor numbers = *Tensor::zeros(DType::UInt64, {5});
  for (int i = 0; i < 5; ++i)
    numbers.data<std::uint64_t>()[i] = std::array{5ull, 1ull << 63, 7ull, ~0ull, (1ull << 63) + 1}[std::size_t(i)];
  for (const char* op : {"aten.cummax.default", "aten.cummin.default"})
    expectSameResults(op, {numbers, std::int64_t(0)});
}

TEST(CudaOrders, ProductsOfBytesAndFreshCopies) {
  std::mt19937 random(6);
  const Tensor a = *randomTensor(DType::Int64, {35, 70}, random).to(DType::Int8);
  const Tensor b = *randomTensor(DType::Int64, {41, 70}, random).to(DType::Int8);
  expectSameResults("aten._int_mm.default", {a, b.viewAs({70, 41}, {1, 70}, 0)});
  expectSameResults("aten.lift_fresh_copy.default", {randomTensor(DType::Float32, {3, 4}, random)});
  expectSameResults("aten.lift_fresh_copy.default", {Tensor::scalar(2.5, DType::Float32)});
}

TEST(CudaOrders, ScansInPacksAndWithout) {
  std::mt19937 random(5);
  for (const std::int64_t size : {4096 + 8, 2048, 12, 8, 13, 5001})
    for (const DType dtype : {DType::Float32, DType::BFloat16, DType::Int64}) {
      const Tensor whole = *randomTensor(DType::Int64, {3, size}, random).to(dtype);
      expectSameResults("aten.cumsum.default", {whole, std::int64_t(1)}, dtype == DType::BFloat16 ? 0.01 : 0);
    }
  expectSameResults("aten.cumsum.default", {withTies(DType::Bool, {4, 64}, random), std::int64_t(1)});
  const Tensor part =
      randomTensor(DType::Float32, {4, 65}, random).viewAs({4, 64}, {65, 1}, 1);  // where no pack may lie
  expectSameResults("aten.cumsum.default", {part, std::int64_t(1)}, 1e-5);
  expectSameResults("aten.logcumsumexp.default", {randomTensor(DType::Float32, {3, 64}, random), std::int64_t(1)},
                    1e-5);
}

}  // namespace
}  // namespace kerf
