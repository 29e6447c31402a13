// Sums that cancel: what is noise in a clean run is none of a fault, and a fault in a sum that does not cancel is seen.
#include <gtest/gtest.h>

#include "engine/align/alignment.h"
#include "engine/align/cancellation.h"

namespace kerf {
namespace {

StepValue magnitudes(std::vector<std::int64_t> shape, double l1, const std::string& hash) {
  return {.dtype = "f32", .shape = std::move(shape), .shaped = true, .hash = hash, .l1 = l1};
}

RunStep stepOf(const std::string& op, std::vector<StepValue> inputs, StepValue result) {
  RunStep step;
  step.op = op;
  step.inputs = std::move(inputs);
  step.outputs = {std::move(result)};
  return step;
}

/// The gradient of a bias: rows of `grad` summed to `bias`, whose sum of magnitudes is `sum`, then scaled.
RunRecording biasGradient(double grad, double sum, const std::string& side) {
  RunRecording recording;
  const auto hash = [&](const std::string& name) { return "hash_tensor:" + name + side; };
  recording.steps = {
      stepOf("aten.neg", {magnitudes({512, 64}, grad, hash("x"))}, magnitudes({512, 64}, grad, hash("grad"))),
      stepOf("aten.sum", {magnitudes({512, 64}, grad, hash("grad"))}, magnitudes({64}, sum, hash("bias"))),
      stepOf("aten.mul", {magnitudes({64}, sum, hash("bias"))}, magnitudes({64}, 2 * sum, hash("scaled")))};
  nameSteps(recording);
  return recording;
}

TEST(Cancellation, NoiseOfASumIsNoFault) {
  const auto all = alignRecordings(biasGradient(4000, 3e-4, "a"), biasGradient(4000.0002, 8e-4, "b"));
  EXPECT_EQ(all.verdict, AlignVerdict::Rounding);
  ASSERT_EQ(all.pairs.size(), 3U);
  EXPECT_EQ(all.pairs[1].role, PairRole::Rounding);
  EXPECT_EQ(all.pairs[2].role, PairRole::Rounding) << "noise that is handed on is no fault of who takes it";
}

TEST(Cancellation, AFaultInASumThatDoesNotCancelIsSeen) {
  const auto all = alignRecordings(biasGradient(4000, 180, "a"), biasGradient(4000.0002, 181.8, "b"));
  ASSERT_EQ(all.verdict, AlignVerdict::Different);
  EXPECT_EQ(all.first, 1U);
}

TEST(Cancellation, AFaultBeyondTheNoiseIsSeen) {
  // Magnitudes of 4000 in float32 leave about 0.004 of noise, not 1.
  const auto all = alignRecordings(biasGradient(4000, 3e-4, "a"), biasGradient(4000.0002, 1, "b"));
  ASSERT_EQ(all.verdict, AlignVerdict::Different);
  EXPECT_EQ(all.first, 1U);
}

TEST(Cancellation, IsToldByTheOperands) {
  const StepValue a = magnitudes({16, 16}, 1000, "hash_tensor:a"), b = magnitudes({16, 16}, 1000, "hash_tensor:b");
  const auto noise = [&](const std::string& op, std::vector<StepValue> inputs, double l1) {
    const RunStep step = stepOf(op, std::move(inputs), magnitudes({16, 16}, l1, "hash_tensor:r"));
    return roundingNoise(step, step.outputs.front());
  };
  EXPECT_DOUBLE_EQ(noise("aten.sub", {a, b}, 2).own, 2e-3);     // 2000, times the rounding of a figure
  EXPECT_EQ(noise("aten.sub", {a, b}, 500).own, 0);             // cancels by four only
  EXPECT_EQ(noise("aten.mul", {a, b}, 2).own, 0);               // sums nothing
  EXPECT_EQ(noise("aten.mm", {a, b}, 62500.0 / 8).own, 0);      // 16 terms of random signs cancel by four
  EXPECT_DOUBLE_EQ(noise("aten.mm", {a, b}, 625).own, 0.0625);  // 1000 * 1000 / 16, times the same
  RunStep kernel = stepOf("triton_red_fused_sum_0", {a, b}, magnitudes({16, 16}, 2, "hash_tensor:r"));
  kernel.kernel = true;
  EXPECT_EQ(roundingNoise(kernel, kernel.outputs.front()).own, 0);
}

}  // namespace
}  // namespace kerf
