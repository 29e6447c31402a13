// uint64 from 2^63 on: the largest numbers, not negative ones.
#include "ops_testing.h"

namespace kerf {
namespace {

using namespace testing;
using Numbers = std::vector<std::uint64_t>;

constexpr std::uint64_t large = 1ULL << 63;

Tensor unsignedOf(const Sizes& sizes, const Numbers& values) {
  Tensor tensor = *Tensor::zeros(DType::UInt64, sizes);
  std::ranges::copy(values, tensor.data<std::uint64_t>());
  return tensor;
}

Numbers numbersOf(const Value& value) {
  const Tensor flat = *value.tensor().contiguous();
  return {flat.data<std::uint64_t>(), flat.data<std::uint64_t>() + flat.numel()};
}

Tensor given() { return unsignedOf({2, 3}, {1, large, 5, large + 9, 7, large + 3}); }

TEST(UnsignedOrder, Extrema) {
  const Value one(std::int64_t{1});
  EXPECT_EQ(numbersOf(call("aten.amax.default", {given(), ints({1})})), (Numbers{large, large + 9}));
  EXPECT_EQ(numbersOf(call("aten.amin.default", {given(), ints({1})})), (Numbers{1, 7}));
  EXPECT_EQ(numbersOf(call("aten.max.default", {given()})), (Numbers{large + 9}));
  EXPECT_EQ(numbersOf(call("aten.min.default", {given()})), (Numbers{1}));
  const ValueList both = call("aten.aminmax.default", {given()}).list();
  EXPECT_EQ(numbersOf(both[0]), (Numbers{1}));
  EXPECT_EQ(numbersOf(both[1]), (Numbers{large + 9}));
  const ValueList most = call("aten.max.dim", {given(), one}).list();
  EXPECT_EQ(numbersOf(most[0]), (Numbers{large, large + 9}));
  EXPECT_EQ(valuesOf(most[1].tensor()), (std::vector<double>{1, 0}));
  EXPECT_EQ(valuesOf(callTensor("aten.argmin.default", {given(), one})), (std::vector<double>{0, 1}));
}

TEST(UnsignedOrder, RunningExtrema) {
  const Value one(std::int64_t{1});
  const ValueList most = call("aten.cummax.default", {given(), one}).list();
  EXPECT_EQ(numbersOf(most[0]), (Numbers{1, large, large, large + 9, large + 9, large + 9}));
  EXPECT_EQ(valuesOf(most[1].tensor()), (std::vector<double>{0, 1, 1, 0, 0, 0}));
  EXPECT_EQ(numbersOf(call("aten.cummin.default", {given(), one}).list()[0]), (Numbers{1, 1, 1, large + 9, 7, 7}));
}

TEST(UnsignedOrder, SortedLines) {
  const Value one(std::int64_t{1}), two(std::int64_t{2});
  EXPECT_EQ(numbersOf(call("aten.sort.default", {given(), one}).list()[0]),
            (Numbers{1, 5, large, 7, large + 3, large + 9}));
  EXPECT_EQ(numbersOf(call("aten.topk.default", {given(), two, one}).list()[0]),
            (Numbers{large, 5, large + 9, large + 3}));
  EXPECT_EQ(numbersOf(call("aten.kthvalue.default", {given(), two, one}).list()[0]), (Numbers{5, large + 3}));
  EXPECT_EQ(numbersOf(call("aten.median.dim", {given(), one}).list()[0]), (Numbers{5, large + 3}));
  EXPECT_EQ(numbersOf(call("aten._unique2.default", {given()}).list()[0]),
            (Numbers{1, 5, 7, large, large + 3, large + 9}));
}

TEST(UnsignedOrder, Searches) {
  const Tensor edges = unsignedOf({3}, {4, large, large + 4});
  EXPECT_EQ(valuesOf(callTensor("aten.bucketize.Tensor", {given(), edges})), (std::vector<double>{0, 1, 1, 3, 1, 2}));
}

TEST(UnsignedOrder, WritesAndShifts) {
  const Tensor self = unsignedOf({2}, {3, 3}), source = unsignedOf({2}, {large, 1});
  Tensor index = *Tensor::zeros(DType::Int64, {2});
  index.data<std::int64_t>()[1] = 1;
  const Value zero(std::int64_t{0}), most(std::string("amax")), least(std::string("amin"));
  EXPECT_EQ(numbersOf(call("aten.scatter_reduce.two", {self, zero, index, source, most})), (Numbers{large, 3}));
  EXPECT_EQ(numbersOf(call("aten.scatter_reduce.two", {self, zero, index, source, least})), (Numbers{3, 1}));
  EXPECT_EQ(numbersOf(call("aten.bitwise_right_shift.Tensor", {source, unsignedOf({2}, {1, 64})})),
            (Numbers{large >> 1, 0}));
}

}  // namespace
}  // namespace kerf
