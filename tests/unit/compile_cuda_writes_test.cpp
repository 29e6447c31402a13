// Writes by index by the device's kernels, on the CPU, beside the interpreter's values.
#include <gmock/gmock.h>

#include <random>

#include "engine/backend/cuda/device_put.h"
#include "engine/backend/cuda/device_sort.h"
#include "tests/support/device_on_host.h"
#include "tests/support/graph_fixture.h"

namespace kerf {
namespace {

using ::testing::HasSubstr;
using testing_support::DeviceOnHost;
using testing_support::expectClose;
using testing_support::randomTensor;

Tensor someIndices(const Sizes& sizes, std::int64_t below, std::mt19937& random, std::int64_t least = 0) {
  Tensor indices = *Tensor::zeros(DType::Int64, sizes);
  for (std::int64_t i = 0; i < indices.numel(); ++i)
    indices.data<std::int64_t>()[i] = least + std::int64_t(random() % std::uint64_t(below - least));
  return indices;
}

/// By the device's kernels, twice, and by the interpreter's.
void expectSame(const std::string& op, const ValueList& args, double tolerance, const std::string& what = "",
                const KeywordValues& kwargs = {}) {
  const auto expected = referenceOps().call(OpTarget("torch.ops." + op), args, kwargs);
  ASSERT_TRUE(expected) << op << ": " << expected.error().text();
  Tensor first;
  for (int round = 0; round < 2; ++round) {
    const auto given = DeviceOnHost::get().run(op, args, kwargs);
    ASSERT_TRUE(given) << op << " " << what << ": " << given.error().text();
    ASSERT_TRUE(*given) << op << " " << what << " is left to the host";
    const Tensor result = (*given)->tensor();
    ASSERT_NO_FATAL_FAILURE(expectClose(expected->tensor(), result, tolerance, op + " " + what));
    EXPECT_EQ(expected->tensor().strides(), result.strides()) << what;
    if (round == 0) first = result;
    EXPECT_EQ(std::memcmp(first.storage()->data(), result.storage()->data(), std::size_t(result.byteSize())), 0)
        << what;
  }
}

double toleranceOf(DType dtype) {
  return dtype == DType::BFloat16 ? 0.05 : dtype == DType::Float16 ? 0.01 : isFloating(dtype) ? 2e-6 : 0;
}

class CudaWrites : public ::testing::TestWithParam<DType> {};

TEST_P(CudaWrites, RowsAreAddedAndAssigned) {
  std::mt19937 random(7);
  for (const bool accumulates : {true, false})
    for (const std::int64_t width : {16, 5, 1}) {
      const Tensor self = randomTensor(GetParam(), {50, width}, random),
                   values = randomTensor(GetParam(), {70, width}, random);
      expectSame("aten.index_put.default", {self, ValueList{someIndices({70}, 50, random, -50)}, values, accumulates},
                 toleranceOf(GetParam()), fmt::format("{} {}", width, accumulates));
    }
}

TEST_P(CudaWrites, ElementsAreScattered) {
  std::mt19937 random(8);
  const Tensor self = randomTensor(GetParam(), {6, 9, 4}, random),
               source = randomTensor(GetParam(), {5, 20, 4}, random);
  const Tensor index = someIndices({5, 17, 3}, 9, random);
  expectSame("aten.scatter_add.default", {self, std::int64_t(1), index, source}, toleranceOf(GetParam()));
  expectSame("aten.scatter.src", {self, std::int64_t(1), index, source}, 0);
  expectSame("aten.scatter.value", {self, std::int64_t(-2), index, 3.5}, 0);
}

INSTANTIATE_TEST_SUITE_P(Types, CudaWrites,
                         ::testing::Values(DType::Float32, DType::BFloat16, DType::Float16, DType::Int64),
                         [](const auto& info) { return std::string(dtypeInfo(info.param).shortCode); });

TEST(CudaWrite, ManyRowsForOnePlaceGoThroughPartsOfParts) {
  std::mt19937 random(3);
  for (const std::int64_t width : {4, 3}) {
    const std::int64_t rows = width == 4 ? 16600 : 700;  // several blocks of the sort, two levels of parts; one of each
    const Tensor values = *randomTensor(DType::Int64, {rows, width}, random).to(DType::Float32);  // sums are exact
    Tensor indices = someIndices({rows}, 40, random);
    for (std::int64_t n = 0; n < rows; ++n)
      if (n % 8 != 0) indices.data<std::int64_t>()[n] = 17;
    expectSame("aten.embedding_dense_backward.default", {values, indices, std::int64_t(40), std::int64_t(3), false}, 0);
    expectSame("aten.index_put.default",
               {*randomTensor(DType::Int64, {40, width}, random).to(DType::Float32), ValueList{indices}, values, true},
               0);
  }
}

TEST(CudaWrite, MorePlacesThanOneDigitTells) {
  std::mt19937 random(5);
  const Tensor self = randomTensor(DType::Float64, {70000}, random),
               values = randomTensor(DType::Float64, {9000}, random);
  expectSame("aten.index_put.default", {self, ValueList{someIndices({9000}, 70000, random)}, values, true}, 1e-12);
}

TEST(CudaWrite, ReductionsWithAndWithoutWhatWasThere) {
  std::mt19937 random(4);
  for (const DType dtype : {DType::Float32, DType::Int32})
    for (const char* how : {"sum", "prod", "mean", "amax", "amin"})
      for (const bool includes : {true, false}) {
        const Tensor self = randomTensor(dtype, {4, 7}, random), source = randomTensor(dtype, {4, 12}, random);
        const Tensor index = someIndices({4, 12}, 6, random);
        expectSame("aten.scatter_reduce.two", {self, std::int64_t(1), index, source, std::string(how)}, 1e-6, how,
                   {{"include_self", includes}});
      }
  const Tensor self = randomTensor(DType::Float32, {5, 8}, random),
               source = randomTensor(DType::Float32, {9, 8}, random);
  const Tensor index = someIndices({9}, 5, random);
  expectSame("aten.index_add.default", {self, std::int64_t(0), index, source}, 1e-6);
  expectSame("aten.index_copy.default", {self, std::int64_t(0), index, source}, 0);
  expectSame("aten.index_reduce.default", {self, std::int64_t(0), index, source, std::string("amax")}, 0, "",
             {{"include_self", false}});
  expectSame("aten.embedding_dense_backward.default", {source, index, std::int64_t(6), std::int64_t(-1), true}, 1e-6);
}

/// Of both halves of uint64, which are negative and not as int64.
Tensor largeNumbers(const Sizes& sizes, std::mt19937& random) {
  Tensor numbers = *Tensor::zeros(DType::UInt64, sizes);
  for (std::int64_t i = 0; i < numbers.numel(); ++i)
    numbers.data<std::uint64_t>()[i] = std::uint64_t(random()) << 32 | random();
  return numbers;
}

TEST(CudaWrite, UnsignedNumbersHaveNoSign) {
  std::mt19937 random(5);
  for (const char* how : {"sum", "amax", "amin"})
    for (const bool includes : {true, false})
      expectSame("aten.scatter_reduce.two",
                 {largeNumbers({4, 7}, random), std::int64_t(1), someIndices({4, 12}, 6, random),
                  largeNumbers({4, 12}, random), std::string(how)},
                 0, how, {{"include_self", includes}});
}

TEST(CudaWrite, SeveralIndicesSomeDimensionsAndRepeatedIndices) {
  std::mt19937 random(6);
  const Tensor self = randomTensor(DType::Float32, {5, 6, 4, 8}, random);
  const Tensor a = someIndices({7, 1}, 5, random), b = someIndices({3}, 6, random), c = someIndices({7, 3}, 4, random);
  expectSame("aten.index_put.default",
             {self, ValueList{a, b}, randomTensor(DType::Float32, {7, 3, 4, 8}, random), true}, 1e-6);
  expectSame("aten.index_put.default",
             {self, ValueList{Value(), b, c}, randomTensor(DType::Float32, {5, 7, 3, 8}, random), true}, 1e-6);
  expectSame("aten.index_put.default",
             {self, ValueList{a, Value(), c}, randomTensor(DType::Float32, {7, 3, 6, 8}, random), true}, 1e-6);
  expectSame("aten.index_put.default",
             {self, ValueList{Value(), Value(), Value(), b}, randomTensor(DType::Float32, {1}, random), true}, 1e-6);
  const Tensor line = someIndices({12}, 5, random);
  const Tensor repeated = line.viewAs({12, 6, 4, 8}, {1, 0, 0, 0}, 0);
  const int before = DeviceOnHost::get().launches();
  expectSame("aten.scatter_add.default",
             {self, std::int64_t(0), repeated, randomTensor(DType::Float32, {12, 6, 4, 8}, random)}, 1e-6);
  EXPECT_LE(DeviceOnHost::get().launches() - before, 8);  // as rows: keys, one sort, ranges, the sum, twice
}

/// Lines whose places one block sorts: all lines and some of them, pieces of 32 for one place, every number of keys for
/// a thread.
TEST(CudaWrite, ElementsOfLinesByOneBlockEach) {
  std::mt19937 random(12);
  const auto whole = [&](const Sizes& sizes, DType dtype) {
    return *randomTensor(DType::Int64, sizes, random).to(dtype);
  };  // exact sums
  for (const std::int64_t size : {1, 40, 300, 1031, 4000}) {
    const Tensor index = someIndices({3, size}, 7, random);
    expectSame("aten.scatter_add.default",
               {whole({3, 7}, DType::Float32), std::int64_t(1), index, whole({3, size}, DType::Float32)}, 0);
    expectSame("aten.scatter_add.default",
               {whole({5, 9}, DType::Int64), std::int64_t(1), index, whole({3, size}, DType::Int64)}, 0);
    expectSame("aten.scatter.src",
               {whole({5, 900}, DType::BFloat16), std::int64_t(1), someIndices({3, size}, 900, random),
                whole({3, size}, DType::BFloat16)},
               0);
  }
  const Tensor index = someIndices({130, 50}, 33, random), self = randomTensor(DType::Float32, {130, 33}, random);
  const int before = DeviceOnHost::get().launches();
  expectSame("aten.scatter_add.default",
             {self, std::int64_t(1), index, randomTensor(DType::Float32, {130, 50}, random)}, 1e-6);
  EXPECT_EQ(DeviceOnHost::get().launches() - before, 2);  // one kernel each time: it copies what is not written
  expectSame("aten.scatter.src", {whole({130, 33}, DType::Bool), std::int64_t(1), index, whole({130, 50}, DType::Bool)},
             0);
  expectSame("aten.scatter.value", {randomTensor(DType::Float64, {130, 33}, random), std::int64_t(1), index, 2.5}, 0);
  for (const char* how : {"mean", "prod", "amax"})
    for (const bool includes : {true, false})
      expectSame("aten.scatter_reduce.two",
                 {self, std::int64_t(1), index, randomTensor(DType::Float32, {130, 50}, random), std::string(how)},
                 1e-5, how, {{"include_self", includes}});
  const Tensor across = randomTensor(DType::Float32, {50, 130}, random).viewAs({130, 50}, {1, 130}, 0);
  expectSame("aten.scatter_add.default", {self, std::int64_t(1), index, across}, 1e-6);
  expectSame("aten.index_put.default",
             {randomTensor(DType::Float32, {90}, random), ValueList{someIndices({700}, 90, random, -90)},
              randomTensor(DType::Float32, {700}, random), true},
             1e-5);
  Tensor outside = someIndices({130, 50}, 33, random);
  outside.data<std::int64_t>()[77] = -1;
  const auto given = DeviceOnHost::get().run(
      "aten.scatter_add.default", {self, std::int64_t(1), outside, randomTensor(DType::Float32, {130, 50}, random)});
  ASSERT_FALSE(given);
  EXPECT_THAT(given.error().text(), HasSubstr("index -1 is out of bounds for dimension 1 with size 33"));
}

TEST(CudaWrite, NothingAndOutside) {
  std::mt19937 random(9);
  const Tensor self = randomTensor(DType::Float32, {5, 8}, random);
  expectSame("aten.index_put.default",
             {self, ValueList{someIndices({0}, 5, random)}, randomTensor(DType::Float32, {0, 8}, random), true}, 0);
  Tensor index = someIndices({6}, 5, random);
  index.data<std::int64_t>()[3] = 5;
  const auto given = DeviceOnHost::get().run(
      "aten.index_put.default", {self, ValueList{index}, randomTensor(DType::Float32, {6, 8}, random), true});
  ASSERT_FALSE(given);
  EXPECT_THAT(given.error().text(), HasSubstr("index 5 is out of bounds for dimension 0 with size 5"));
}

/// The first index outside is named, wherever it lies: in packs, behind the last one, of rows that do not lie one
/// behind the other.
TEST(CudaWrite, TheFirstIndexOutsideIsNamed) {
  std::mt19937 random(5);
  const auto said = [](const Tensor& indices) {
    const auto given = DeviceOnHost::get().check(indices, {"gather", "n", 33, 1, false});
    return given ? std::string() : given.error().text();
  };
  const auto names = [](int index) {
    return HasSubstr(fmt::format("gather: index {} is out of bounds for dimension 1 with size 33", index));
  };
  const Tensor whole = someIndices({130, 51}, 33, random);
  const std::array<Tensor, 4> views{whole, whole.viewAs({6629}, {1}, 1), whole.viewAs({51, 130}, {1, 51}, 0),
                                    whole.viewAs({65, 51}, {102, 1}, 0)};
  for (std::size_t v = 0; v < views.size(); ++v) {
    EXPECT_EQ(said(views[v]), "") << v;
    for (const std::int64_t at : {6528, 150, 1}) {  // which all views have
      const std::int64_t before = std::exchange(whole.data<std::int64_t>()[at], 100 + at);
      EXPECT_THAT(said(views[v]), names(int(100 + at))) << v;
      whole.data<std::int64_t>()[at] = before;
    }
    whole.data<std::int64_t>()[6528] = -1, whole.data<std::int64_t>()[6450] = 33;
    EXPECT_THAT(said(views[v]), names(v == 2 ? -1 : 33)) << v;  // [0, 128] comes before [24, 126]
    whole.data<std::int64_t>()[6528] = 0, whole.data<std::int64_t>()[6450] = 0;
  }
  EXPECT_EQ(said(someIndices({0}, 33, random)), "");
  EXPECT_EQ(said(someIndices({1}, 33, random)), "");
}

TEST(CudaWrite, GradientsOfMaximaOverWindows) {
  std::mt19937 random(11);
  const Tensor x = randomTensor(DType::Float32, {2, 3, 9, 10}, random);
  const ValueList two{std::int64_t(3), std::int64_t(3)}, step{std::int64_t(2), std::int64_t(2)},
      one{std::int64_t(1), std::int64_t(1)};
  const auto pooled = referenceOps().call("aten.max_pool2d_with_indices.default", {x, two, step, one, one, false}, {});
  ASSERT_TRUE(pooled) << pooled.error().text();
  const Tensor grad = randomTensor(DType::Float32, pooled->list()[0].tensor().sizes(), random);
  expectSame("aten.max_pool2d_with_indices_backward.default", {grad, x, two, step, one, one, false, pooled->list()[1]},
             1e-6);
  const auto adaptive = referenceOps().call("aten.adaptive_max_pool2d.default", {x, step}, {});
  ASSERT_TRUE(adaptive) << adaptive.error().text();
  expectSame("aten.adaptive_max_pool2d_backward.default",
             {randomTensor(DType::Float32, {2, 3, 2, 2}, random), x, adaptive->list()[1]}, 1e-6);
}

TEST(CudaWrite, InPlace) {
  std::mt19937 random(10);
  const Tensor values = randomTensor(DType::Float32, {6, 3}, random), index = someIndices({6}, 5, random);
  const Tensor given = randomTensor(DType::Float32, {5, 6}, random), own = *given.clone();
  const Sizes sizes{5, 3}, strides{6, 2};  // every other column
  ASSERT_TRUE(referenceOps().call("torch.ops.aten.index_put_.default",
                                  {given.viewAs(sizes, strides, 1), ValueList{index}, values, true}, {}));
  const auto done = DeviceOnHost::get().run("aten.index_put_.default",
                                            {own.viewAs(sizes, strides, 1), ValueList{index}, values, true});
  ASSERT_TRUE(done && *done);
  expectClose(given, own, 1e-6, "index_put_");
}

TEST(CudaWrite, ATeamLeavesFewThreadsIdle) {
  const Tensor t = *Tensor::zeros(DType::Bool, {3});
  EXPECT_TRUE(putTakes(DType::Bool, PutKind::Assign));
  EXPECT_FALSE(putTakes(DType::Bool, PutKind::Sum));
  EXPECT_FALSE(putTakes(DType::Complex64, PutKind::Assign));
  EXPECT_EQ(*repeatedStrides(t, {2, 3}), (Sizes{0, 1}));
  EXPECT_FALSE(repeatedStrides(t, {3, 2}));
}

}  // namespace
}  // namespace kerf
