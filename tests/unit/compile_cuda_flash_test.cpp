// Attention as one kernel of tensor cores, run on the CPU, beside the op's own kernel and the kernels between products.
#include <bit>

#include <gmock/gmock.h>

#include "engine/backend/cuda/device_flash.h"
#include "tests/support/attention_on_host.h"

namespace kerf {
namespace {

using namespace testing_support;

/// The op on the device by one kernel, as launches show.
ValueList fused(const std::string& op, const ValueList& args, int launches = 1) {
  const RandomState before = randomState();
  const int launched = DeviceOnHost::get().launches();
  const auto given = DeviceOnHost::get().run(op, args);
  randomState() = before;
  EXPECT_EQ(DeviceOnHost::get().launches() - launched, launches) << op;
  if (!given || !*given) ADD_FAILURE() << op << ": " << (given ? "left to the host" : given.error().text());
  return given && *given ? (*given)->list() : ValueList();
}

struct FlashCase {
  const char* name;
  DType dtype;
  std::int64_t heads, keyHeads, queries, keys, width, values;
  bool causal = false;
  double dropout = 0;
  Sizes bias = {};
  bool isBool = false;
};
std::ostream& operator<<(std::ostream& out, const FlashCase& c) { return out << c.name; }

Value biasOf(const FlashCase& c, std::mt19937& random) {
  if (c.bias.empty()) return {};
  const Tensor drawn = normal(DType::Float64, c.bias, random);
  if (!c.isBool) return *drawn.to(c.dtype);
  Tensor seen = *Tensor::zeros(DType::Bool, c.bias);
  for (std::int64_t i = 0; i < seen.numel(); ++i) seen.data<bool>()[i] = drawn.data<double>()[i] > -0.5;
  return seen;
}

class CudaFlash : public ::testing::TestWithParam<FlashCase> {};

TEST_P(CudaFlash, IsTheOp) {
  const FlashCase& c = GetParam();
  std::mt19937 random(21);
  const Tensor q = normal(c.dtype, {2, c.heads, c.queries, c.width}, random),
               k = normal(c.dtype, {2, c.keyHeads, c.keys, c.width}, random),
               v = normal(c.dtype, {2, c.keyHeads, c.keys, c.values}, random);
  const bool shares = c.heads != c.keyHeads || (c.causal && c.queries != c.keys);
  const std::string& op = shares ? flash : efficient;
  const ValueList args = shares ? ValueList{q, k, v, c.dropout, c.causal}
                                : ValueList{q, k, v, biasOf(c, random), true, c.dropout, c.causal};
  const ValueList wanted = byReference(op, args), given = fused(op, args);
  ASSERT_EQ(wanted.size(), given.size());
  EXPECT_NO_FATAL_FAILURE(expectClose(wanted[0].tensor(), given[0].tensor(), toleranceOf(c.dtype), "output"));
  EXPECT_NO_FATAL_FAILURE(expectClose(wanted[1].tensor(), given[1].tensor(), 1e-5, "logarithms of sums"));
  if (std::max(c.width, c.values) > 128) return;
  const Tensor grad = normal(c.dtype, {2, c.heads, c.queries, c.values}, random);
  const ValueList backward = shares ? ValueList{grad,    q,         k,      v,         wanted[0], wanted[1], Value(),
                                                Value(), c.queries, c.keys, c.dropout, c.causal,  wanted[6], wanted[7]}
                                    : ValueList{grad,
                                                q,
                                                k,
                                                v,
                                                args[3],
                                                wanted[0],
                                                wanted[1],
                                                wanted[2],
                                                wanted[3],
                                                c.dropout,
                                                ValueList{true, true, true, false},
                                                c.causal};
  const std::string& back = shares ? flashGradients : efficientBackward;
  const ValueList wantedBack = byReference(back, backward), givenBack = fused(back, backward, 2);
  ASSERT_EQ(wantedBack.size(), givenBack.size());
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_NO_FATAL_FAILURE(expectClose(wantedBack[i].tensor(), givenBack[i].tensor(), toleranceOf(c.dtype),
                                        fmt::format("gradient {}", i)));
}

constexpr DType half = DType::Float16, brain = DType::BFloat16;
INSTANTIATE_TEST_SUITE_P(
    Cases, CudaFlash,
    ::testing::Values(FlashCase{"plain", brain, 2, 2, 64, 128, 64, 64}, FlashCase{"odd", brain, 1, 1, 67, 71, 40, 24},
                      FlashCase{"one", half, 1, 1, 1, 1, 8, 8}, FlashCase{"halves", half, 3, 3, 130, 97, 32, 64},
                      FlashCase{"causal", brain, 2, 2, 150, 150, 64, 64, true},
                      FlashCase{"sharedKeys", brain, 4, 2, 70, 70, 16, 16, true},
                      FlashCase{"lateKeys", half, 2, 2, 5, 131, 8, 8, true},
                      FlashCase{"unseenKeys", brain, 2, 2, 131, 5, 8, 8, true},
                      FlashCase{"dropout", brain, 2, 2, 66, 67, 16, 16, true, 0.25},
                      FlashCase{"evenDropout", half, 2, 2, 64, 64, 16, 16, false, 0.5},
                      FlashCase{"bias", brain, 3, 3, 70, 70, 16, 16, false, 0, {2, 3, 70, 70}},
                      FlashCase{"sharedBias", half, 3, 3, 70, 66, 16, 16, true, 0, {1, 3, 1, 66}},
                      FlashCase{"hidden", brain, 3, 3, 70, 70, 16, 16, false, 0.1, {2, 1, 70, 70}, true},
                      FlashCase{"wide", brain, 1, 1, 40, 70, 128, 128},
                      FlashCase{"widest", half, 1, 1, 40, 70, 256, 136}),
    [](const auto& info) { return std::string(info.param.name); });

/// Each row that sees no key, and a key that is not a number.
TEST(CudaFlashes, EmptyRowsAreZeroAndNaNStays) {
  std::mt19937 random(22);
  Tensor q = normal(brain, {1, 1, 70, 16}, random), v = normal(brain, {1, 1, 70, 16}, random);
  Tensor bias = *Tensor::zeros(DType::Bool, {1, 1, 70, 70});
  for (std::int64_t i = 0; i < 70; ++i)
    for (std::int64_t j = 0; j < 70; ++j) bias.data<bool>()[i * 70 + j] = i % 3 != 0 && j != 5;
  q.data<BFloat16>()[4 * 16] = BFloat16(NAN);
  const ValueList given = fused(efficient, {q, q, v, bias, true, 0.0, false});
  const auto* out = given[0].tensor().data<BFloat16>();
  const auto* sums = given[1].tensor().data<float>();
  for (std::int64_t i = 0; i < 70; ++i) {
    const bool isEmpty = i % 3 == 0;
    EXPECT_EQ(sums[i] == -INFINITY, isEmpty) << i;
    EXPECT_EQ(std::isnan(float(out[i * 16])), !isEmpty) << i;  // key 4 is not a number for all that see it
    EXPECT_TRUE(!isEmpty || float(out[i * 16]) == 0) << i;
  }
}

/// Rows all of whose keys are hidden by the smallest number there is, or by one that leaves no digit for a logarithm
/// beside it, weigh all keys alike.
TEST(CudaFlashes, SmallestNumbersOfAMaskAreNoInfinities) {
  std::mt19937 random(25);
  const Tensor q = normal(brain, {1, 2, 70, 16}, random), k = normal(brain, {1, 2, 70, 16}, random),
               v = normal(brain, {1, 2, 70, 16}, random);
  const Tensor grad = normal(brain, {1, 2, 70, 16}, random);
  const float smallest = -std::bit_cast<float>(0x7f7f0000u), hidden[] = {smallest, -1e9f, 0};
  Tensor bias = *Tensor::zeros(brain, {1, 1, 70, 70});
  for (std::int64_t i = 0; i < 70; ++i)
    for (std::int64_t j = 0; j < 70; ++j)
      bias.data<BFloat16>()[i * 70 + j] = BFloat16(i % 3 < 2 ? hidden[i % 3] : j % 4 == 1 ? smallest : 0.0f);
  const ValueList args{q, k, v, bias, true, 0.0, false};
  const ValueList wanted = byReference(efficient, args), given = fused(efficient, args);
  EXPECT_NO_FATAL_FAILURE(expectClose(wanted[0].tensor(), given[0].tensor(), toleranceOf(brain), "output"));
  EXPECT_NO_FATAL_FAILURE(expectClose(wanted[1].tensor(), given[1].tensor(), 1e-5, "logarithms of sums"));
  const ValueList backward{
      grad, q, k, v, bias, wanted[0], wanted[1], wanted[2], wanted[3], 0.0, ValueList{true, true, true, false}, false};
  const ValueList wantedBack = byReference(efficientBackward, backward),
                  givenBack = fused(efficientBackward, backward, 2);
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_NO_FATAL_FAILURE(
        expectClose(wantedBack[i].tensor(), givenBack[i].tensor(), toleranceOf(brain), fmt::format("gradient {}", i)));
}

/// Heads beside each other in memory, as projections leave them, are read where they lie; what no pack holds is copied
/// first.
TEST(CudaFlashes, TakesAnyStrides) {
  std::mt19937 random(23);
  const Tensor all = normal(brain, {2, 70, 3, 2, 24}, random);
  const auto part = [&](std::int64_t which, std::int64_t width, std::int64_t first) {
    const Sizes s = all.strides();
    return all.viewAs({2, 2, 70, width}, {s[0], s[3], s[1], s[4]}, which * s[2] + first);
  };
  for (const auto& [width, first, launches] : {std::tuple{24, 0, 1}, std::tuple{16, 3, 4}}) {
    const ValueList args{part(0, width, first), part(1, width, first), part(2, width, first), Value(), true, 0.0, true};
    const ValueList wanted = byReference(efficient, args);
    ASSERT_NO_FATAL_FAILURE(
        expectClose(wanted[0].tensor(), fused(efficient, args, launches)[0].tensor(), 0.03, "output"));
  }
}

/// Products in memory have what the kernel does not: odd heads, float32, a negative scale, and few queries of many
/// keys.
TEST(CudaFlashes, LeavesWhatItDoesNotTake) {
  std::mt19937 random(24);
  const auto launches = [&](DType dtype, const Sizes& queries, std::int64_t keys, double scale) {
    const Tensor q = normal(dtype, queries, random), k = normal(dtype, {1, 1, keys, queries[3]}, random);
    const int before = DeviceOnHost::get().launches();
    const auto given = DeviceOnHost::get().run(efficient, {q, k, k, Value(), false, 0.0, false}, {{"scale", scale}});
    EXPECT_TRUE(given && *given);
    return DeviceOnHost::get().launches() - before;
  };
  DeviceOnHost::get().limitScores(1);  // a launch for each row
  EXPECT_EQ(launches(brain, {1, 1, 20, 16}, 20, 1), 1);
  EXPECT_EQ(launches(brain, {1, 1, 20, 12}, 20, 1), 20);
  EXPECT_EQ(launches(DType::Float32, {1, 1, 20, 16}, 20, 1), 20);
  EXPECT_EQ(launches(brain, {1, 1, 20, 16}, 20, -1), 20);
  EXPECT_EQ(launches(brain, {1, 1, 15, 8}, 2049, 1), 15);
  EXPECT_EQ(launches(brain, {1, 1, 16, 8}, 2049, 1), 1);
  DeviceOnHost::get().limitScores(noLimit);
}

}  // namespace
}  // namespace kerf
