// Attention by the device's kernels, on the CPU: in one piece and in blocks of scores, beside the op's own kernel.
#include <gmock/gmock.h>

#include "tests/support/attention_on_host.h"

namespace kerf {
namespace {

using namespace testing_support;

/// 2 batches of 3 heads of 70 queries: blocks of batches, of heads, and of queries.
struct Limit {
  const char* name;
  std::int64_t scores;
  bool dividesQueries;
};
constexpr std::int64_t oneHead = 70 * 70;
constexpr Limit limits[] = {{"a batch", 3 * oneHead, false},
                            {"two heads", 2 * oneHead + 100, false},
                            {"64 queries", oneHead - 1, true},
                            {"seven queries", 7 * 70, true},
                            {"one query", 1, true}};

/// Forward and backward of each, whole and in blocks.
void checkEfficient(DType dtype, bool causal, const Value& bias, double dropout) {
  std::mt19937 random(11);
  const std::int64_t each = itemSize(dtype) + (dtype == DType::Float64 ? 8 : 4);
  const auto draw = [&] { return normal(dtype, {2, 3, 70, 8}, random); };
  const Tensor q = draw(), k = draw(), v = draw(), grad = draw();
  const ValueList forward{q, k, v, bias, true, dropout, causal};
  const ValueList wanted = byReference(efficient, forward), whole = onDevice(efficient, forward, noLimit);
  ASSERT_NO_FATAL_FAILURE(expectSameTensors(wanted, whole, toleranceOf(dtype), "forward"));
  const bool wantsBias = bias.isTensor() && bias.tensor().dtype() != DType::Bool;
  const ValueList backward{
      grad,  q, k, v, bias, wanted[0], wanted[1], wanted[2], wanted[3], dropout, ValueList{true, true, true, wantsBias},
      causal};
  const ValueList wantedBack = byReference(efficientBackward, backward),
                  wholeBack = onDevice(efficientBackward, backward, noLimit);
  ASSERT_NO_FATAL_FAILURE(expectSameTensors(wantedBack, wholeBack, toleranceOf(dtype), "backward"));
  for (const Limit& limit : limits) {
    const double off = limit.dividesQueries ? toleranceOf(dtype) : 0;
    ASSERT_NO_FATAL_FAILURE(expectSameTensors(whole, onDevice(efficient, forward, limit.scores * each), 0, limit.name));
    const ValueList back = onDevice(efficientBackward, backward, limit.scores * 2 * each);
    ASSERT_NO_FATAL_FAILURE(expectSameTensors(wholeBack, back, wantsBias ? toleranceOf(dtype) : off,
                                              fmt::format("{}, backward", limit.name)));
  }
}

class CudaAttention : public ::testing::TestWithParam<DType> {};
TEST_P(CudaAttention, IsTheSameInBlocks) { checkEfficient(GetParam(), GetParam() == DType::Float32, Value(), 0); }
INSTANTIATE_TEST_SUITE_P(Types, CudaAttention,
                         ::testing::Values(DType::Float32, DType::Float64, DType::Float16, DType::BFloat16),
                         [](const auto& info) { return std::string(dtypeInfo(info.param).shortCode); });

TEST(CudaAttentions, DropsTheSameScoresInBlocks) { checkEfficient(DType::BFloat16, true, Value(), 0.25); }
TEST(CudaAttentions, AddsUpTheGradientOfABiasOverWhatItWasRepeatedAlong) {
  std::mt19937 random(12);
  for (const Sizes& sizes : {Sizes{2, 3, 70, 70}, Sizes{1, 3, 70, 70}, Sizes{2, 1, 1, 70}})
    ASSERT_NO_FATAL_FAILURE(checkEfficient(DType::Float32, sizes[2] == 1, normal(DType::Float32, sizes, random), 0));
}

/// The triangle ends at the last key, so that first queries may see none, and single rows and columns.
TEST(CudaAttentions, FlashAlignsTheTriangleWithTheLastKey) {
  std::mt19937 random(13);
  for (const auto& [queries, keys] :
       {std::pair{5, 131}, std::pair{131, 5}, std::pair{1, 1}, std::pair{130, 130}, std::pair{1, 67}}) {
    const Tensor q = normal(DType::Float32, {1, 2, queries, 8}, random),
                 k = normal(DType::Float32, {1, 2, keys, 8}, random),
                 v = normal(DType::Float32, {1, 2, keys, 8}, random),
                 grad = normal(DType::Float32, {1, 2, queries, 8}, random);
    const ValueList forward{q, k, v, 0.0, true};
    const ValueList wanted = byReference(flash, forward);
    for (const std::int64_t bytes : {noLimit, std::int64_t{8} * keys * 3})
      ASSERT_NO_FATAL_FAILURE(expectSameTensors(
          {wanted[0], wanted[1]},
          [&] {
            const ValueList all = onDevice(flash, forward, bytes);
            return all.empty() ? ValueList() : ValueList{all[0], all[1]};
          }(),
          1e-5, fmt::format("{} queries, {} keys", queries, keys)));
    const ValueList backward{grad,
                             q,
                             k,
                             v,
                             wanted[0],
                             wanted[1],
                             Value(),
                             Value(),
                             std::int64_t(queries),
                             std::int64_t(keys),
                             0.0,
                             true,
                             wanted[6],
                             wanted[7]};
    const ValueList wantedBack = byReference(flashGradients, backward);
    for (const std::int64_t bytes : {noLimit, std::int64_t{16} * keys * 3})
      ASSERT_NO_FATAL_FAILURE(expectSameTensors(wantedBack, onDevice(flashGradients, backward, bytes), 1e-5,
                                                fmt::format("backward of {} queries, {} keys", queries, keys)));
  }
}

/// Two query heads for each key head: blocks of key heads, and of queries of both.
TEST(CudaAttentions, HeadsThatShareKeysAreInOneBlock) {
  std::mt19937 random(15);
  const Tensor q = normal(DType::Float32, {2, 4, 70, 8}, random), grad = normal(DType::Float32, {2, 4, 70, 8}, random);
  const Tensor k = normal(DType::Float32, {2, 2, 70, 8}, random), v = normal(DType::Float32, {2, 2, 70, 8}, random);
  const auto first = [](const ValueList& all, std::size_t count) {
    return ValueList(all.begin(), all.begin() + std::ptrdiff_t(count));
  };
  const ValueList whole = onDevice(flash, {q, k, v, 0.0, true}, noLimit);
  ASSERT_GE(whole.size(), 8u);
  const auto headOf = [](const Tensor& all, std::int64_t head) {
    return *all.viewAs({2, 1, 70, 8}, all.strides(), all.offset() + head * all.strides()[1]).clone();
  };
  for (std::int64_t head = 0; head < 4; ++head) {
    const ValueList wanted = byReference(flash, {headOf(q, head), headOf(k, head / 2), headOf(v, head / 2), 0.0, true});
    ASSERT_FALSE(wanted.empty());
    expectClose(wanted[0].tensor(), headOf(whole[0].tensor(), head), 1e-5, fmt::format("head {}", head));
  }
  const ValueList backward{
      grad, q,    k,        v,       whole[0], whole[1], Value(), Value(), std::int64_t(70), std::int64_t(70),
      0.0,  true, whole[6], whole[7]};
  const ValueList wholeBack = onDevice(flashGradients, backward, noLimit);
  for (const std::int64_t scores : {4 * oneHead, 2 * oneHead, oneHead, std::int64_t{300}}) {
    ASSERT_NO_FATAL_FAILURE(
        expectSameTensors(first(whole, 2), first(onDevice(flash, {q, k, v, 0.0, true}, scores * 8), 2), 0, "forward"));
    ASSERT_NO_FATAL_FAILURE(
        expectSameTensors(wholeBack, onDevice(flashGradients, backward, scores * 16), 1e-5, "backward"));
  }
}

/// Blocks launch more kernels, whole scores one of each.
TEST(CudaAttentions, TakesBlocksOnlyWhereScoresExceedTheBound) {
  std::mt19937 random(14);
  const Tensor q = normal(DType::Float32, {2, 2, 16, 8}, random);
  const auto launches = [&](std::int64_t bytes) {
    const int before = DeviceOnHost::get().launches();
    onDevice(efficient, {q, q, q, Value(), false, 0.0, false}, bytes);
    return DeviceOnHost::get().launches() - before;
  };
  EXPECT_EQ(launches(2 * 2 * 16 * 16 * 8), 1);
  EXPECT_EQ(launches(2 * 2 * 16 * 16 * 8 - 1), 2);
  EXPECT_EQ(launches(16 * 16 * 8), 4);
  EXPECT_EQ(launches(4 * 16 * 8), 16);
}

}  // namespace
}  // namespace kerf
