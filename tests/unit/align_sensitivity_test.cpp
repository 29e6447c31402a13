// What inputs that differ excuse: as much as they make of a result, each by its own share, and no more.
#include <gmock/gmock.h>

#include "engine/align/alignment.h"
#include "engine/align/sensitivity.h"

namespace kerf {
namespace {

StepValue givenValue(std::vector<std::int64_t> shape, double l1, const std::string& hash, std::string dtype = "f32") {
  return {
      .dtype = std::move(dtype), .shape = std::move(shape), .shaped = true, .hash = "hash_tensor:" + hash, .l1 = l1};
}

RunStep givingStep(const std::string& op, std::vector<StepValue> inputs, StepValue result) {
  RunStep step;
  step.op = op;
  step.inputs = std::move(inputs);
  step.outputs = {std::move(result)};
  return step;
}

/// The gradient of a bias that cancels to `noise`, and what `op` makes of it together with values of 4000.
RunRecording behindNoise(const std::string& op, double noise, double result, const std::string& side) {
  RunRecording recording{.kind = "DebugMode log"};
  const auto of = [&](std::vector<std::int64_t> shape, double l1, const std::string& name) {
    return givenValue(std::move(shape), l1, name + side);
  };
  const StepValue grad = of({512, 64}, 4000, "grad"), bias = of({64}, noise, "bias");
  const StepValue other = givenValue({512, 64}, 4000, "other");
  recording.steps = {givingStep("aten.neg", {grad}, grad), givingStep("aten.sum", {grad}, bias)};
  std::vector<StepValue> taken{bias};
  if (op != "aten.neg") taken = {other, bias};
  if (op == "aten.addmm") taken = {bias, other, givenValue({64, 64}, 900, "weight")};
  recording.steps.push_back(givingStep(
      op, taken,
      of(op == "aten.neg" ? std::vector<std::int64_t>{64} : std::vector<std::int64_t>{512, 64}, result, "result")));
  nameSteps(recording);
  return recording;
}

RunAlignment alignedBehindNoise(const std::string& op, double right, double wrong) {
  return alignRecordings(behindNoise(op, 3e-4, right, "a"), behindNoise(op, 8e-4, wrong, "b"));
}

TEST(Sensitivity, NoiseThatIsHandedOnIsNoFaultAndThreeTimesAsMuchIs) {
  const auto handedOn = alignedBehindNoise("aten.neg", 3e-4, 8e-4);
  EXPECT_EQ(handedOn.verdict, AlignVerdict::Rounding);
  EXPECT_EQ(handedOn.pairs[1].role, PairRole::Rounding);
  EXPECT_EQ(handedOn.pairs[2].role, PairRole::Rounding);
  const auto tripled = alignedBehindNoise("aten.neg", 3e-4, 3 * 8e-4);
  EXPECT_EQ(tripled.verdict, AlignVerdict::Different);
  EXPECT_EQ(tripled.first, 2U);
}

/// 64 numbers of 3e-4 or 8e-4 in all, repeated 512 times: 0.4 of 4000.
TEST(Sensitivity, ASmallNoisyOperandExcusesItsOwnShareOfASum) {
  EXPECT_EQ(alignedBehindNoise("aten.add", 4000, 4000.2).verdict, AlignVerdict::Rounding);
  for (const double wrong : {4120.0, 6000.0, 12000.0}) {
    const auto all = alignedBehindNoise("aten.add", 4000, wrong);
    EXPECT_EQ(all.first, 2U) << wrong;
  }
}

TEST(Sensitivity, ANoisyBiasExcusesNothingOfTheProduct) {
  EXPECT_EQ(alignedBehindNoise("aten.addmm", 5000, 5000.001).verdict, AlignVerdict::Rounding);
  for (const double wrong : {5100.0, 15000.0}) EXPECT_EQ(alignedBehindNoise("aten.addmm", 5000, wrong).first, 2U);
}

TEST(Sensitivity, ALinearStepFollowsTheNoisesOwnMagnitude) {
  EXPECT_EQ(alignedBehindNoise("aten.mul", 6e-4, 1.6e-3).verdict, AlignVerdict::Rounding);
  EXPECT_EQ(alignedBehindNoise("aten.mul", 6e-4, 4.8e-3).first, 2U) << "three times";
  EXPECT_EQ(alignedBehindNoise("aten.mul", 6e-4, 2e-4).first, 2U) << "the other way";
}

/// Values of bfloat16 that came to be apart by a fortieth, which is rounding that has grown.
RunRecording grownRounding(double grown, const std::string& op, double last, const std::string& side) {
  RunRecording recording{.kind = "DebugMode log"};
  const auto of = [&](double l1, const std::string& name) { return givenValue({64, 64}, l1, name + side, "bf16"); };
  const double start = grown == 1000 ? 1000 : 1004;
  recording.steps = {givingStep("aten.cos", {of(start, "x")}, of(start, "y")),
                     givingStep("aten.exp", {of(start, "y")}, of(grown, "z")),
                     givingStep(op, {of(grown, "z")}, of(last, "w"))};
  nameSteps(recording);
  return recording;
}

TEST(Sensitivity, RoundingOfSixteenBitsThatHasGrownExcusesNoMultiple) {
  const auto with = [](const std::string& op, double last) {
    return alignRecordings(grownRounding(1000, op, 500, "a"), grownRounding(1025, op, last, "b"));
  };
  EXPECT_EQ(with("aten.tanh", 512).verdict, AlignVerdict::Rounding);
  EXPECT_EQ(with("aten.tanh", 600).verdict, AlignVerdict::Rounding) << "within thirty times";
  for (const double wrong : {1500.0, 750.0, 170.0}) EXPECT_EQ(with("aten.tanh", wrong).first, 2U) << wrong;
}

TEST(Sensitivity, WhatIsHandedOnIsAsFarApartAsItWas) {
  const auto with = [](double last) {
    return alignRecordings(grownRounding(1000, "aten.view", 1000, "a"), grownRounding(1025, "aten.view", last, "b"));
  };
  EXPECT_EQ(with(1025).verdict, AlignVerdict::Rounding);
  EXPECT_EQ(with(1100).first, 2U);
}

TEST(Sensitivity, FiguresWeighOperandsByTheirRoots) {
  StepValue x{.dtype = "f32", .shape = {512, 64}, .shaped = true}, bias{.dtype = "f32", .shape = {64}, .shaped = true};
  x.stats = ElementStats{.min = -1, .max = 1, .norm = 100};
  bias.stats = ElementStats{.min = -1, .max = 1, .norm = 1};
  const RunStep step = givingStep("aten.add", {x, bias}, x);
  const InputGaps gaps{{&step.inputs[1], &step.inputs[1], 0.5}};
  EXPECT_NEAR(expectedApart(step, step.outputs[0], gaps), 0.5 * std::sqrt(512.0) / 100, 1e-12);
  EXPECT_EQ(expectedApart(givingStep("aten.custom", {x, bias}, x), x, gaps), 0.5) << "nothing is known of the op";
}

/// Errors of 24 numbers cancel less than those of thousands.
TEST(Sensitivity, SumsOfFewElementsAreCoarser) {
  const auto gap = [](std::vector<std::int64_t> shape, double apart) {
    return gapBetween(givenValue(shape, 100, "a"), givenValue(shape, 100 * (1 + apart), "b")).kind;
  };
  EXPECT_EQ(gap({24}, 3e-6), GapKind::Rounding);
  EXPECT_EQ(gap({24}, 6e-6), GapKind::Wrong);
  EXPECT_EQ(gap({24, 100}, 3e-6), GapKind::Wrong);
  EXPECT_EQ(gap({}, 1.5e-5), GapKind::Rounding);
}

/// Float32 that comes from bfloat16 is as coarse as that.
TEST(Sensitivity, ValuesAreAsCoarseAsWhatTheyComeFrom) {
  const auto run = [](double x, double y, double mean, const std::string& from, const std::string& side) {
    RunRecording recording{.kind = "DebugMode log"};
    const StepValue coarse = givenValue({64, 64}, x, "x" + side, from), wide = givenValue({64, 64}, y, "y" + side);
    recording.steps = {givingStep("aten._to_copy", {coarse}, wide),
                       givingStep("aten.erf", {wide}, givenValue({64, 64}, mean, "m" + side))};
    nameSteps(recording);
    return recording;
  };
  const auto verdict = [&](const std::string& from, double mean) {
    return alignRecordings(run(100, 100, 50, from, "a"), run(100.1, 100.1, mean, from, "b"));
  };
  EXPECT_EQ(verdict("bf16", 50.4).verdict, AlignVerdict::Rounding);
  EXPECT_EQ(verdict("bf16", 52).first, 1U);
  EXPECT_EQ(verdict("f32", 50.4).first, 0U);
}

/// A checksum alone says nothing where the inputs are known to differ by rounding.
TEST(Sensitivity, OtherBitsBehindOtherBitsAreNoFault) {
  const auto run = [](double x, const std::string& side) {
    RunRecording recording{.kind = "DebugMode log"};
    const StepValue given = givenValue({64, 64}, x, "x" + side);
    StepValue mask = givenValue({64, 64}, 0, "mask" + side);
    mask.l1.reset();
    recording.steps = {givingStep("aten.cos", {given}, given), givingStep("aten.masked_fill", {given}, mask)};
    nameSteps(recording);
    return recording;
  };
  EXPECT_EQ(alignRecordings(run(100, "a"), run(100.00001, "b")).verdict, AlignVerdict::Rounding);
  RunRecording a = run(100, "a"), b = run(100, "a");
  b.steps[1].outputs[0].hash = "hash_tensor:other";
  EXPECT_EQ(alignRecordings(a, b).first, 1U) << "the inputs are equal";
}

TEST(Sensitivity, MeansOfALayerNormThatCancelAreNoise) {
  const auto run = [](double means, const std::string& side) {
    RunRecording recording{.kind = "DebugMode log"};
    RunStep step = givingStep("aten.native_layer_norm", {givenValue({24, 48}, 900, "x" + side)},
                              givenValue({24, 48}, 900, "y" + side));
    step.outputs.push_back(givenValue({24, 1}, means, "mean" + side));
    recording.steps = {step};
    nameSteps(recording);
    return recording;
  };
  EXPECT_EQ(alignRecordings(run(1e-6, "a"), run(3e-6, "b")).verdict, AlignVerdict::Rounding);
  EXPECT_EQ(alignRecordings(run(1e-6, "a"), run(1e-2, "b")).verdict, AlignVerdict::Different);
  EXPECT_EQ(alignRecordings(run(2, "a"), run(2.1, "b")).verdict, AlignVerdict::Different) << "nothing cancels";
}

Tensor dataOf(const std::vector<float>& values) {
  Tensor tensor = *Tensor::zeros(DType::Float32, {std::int64_t(values.size())});
  std::ranges::copy(values, tensor.data<float>());
  return tensor;
}

RunRecording valuesOf(const std::vector<float>& x, const std::vector<float>& y) {
  RunRecording recording{.kind = "safetensors"};
  const auto value = [](const std::vector<float>& numbers, int id) {
    return StepValue{.dtype = "f32", .shape = {2}, .shaped = true, .id = id, .data = dataOf(numbers)};
  };
  RunStep given = givingStep("input", {}, value(x, 0)), step = givingStep("aten.exp", {value(x, 0)}, value(y, 1));
  given.name = "x";
  step.name = "exp";
  recording.steps = {given, step};
  return recording;
}

/// Gradients that are zero but for rounding, among values alone: nobody says what they were summed from.
TEST(Sensitivity, ValuesBelowTheRoundingOfOthersAreNotJudged) {
  const auto run = [](float large, float small) {
    RunRecording recording{.kind = "safetensors"};
    for (const auto& [name, number] : {std::pair("out", large), std::pair("grad", small)}) {
      StepValue value{.dtype = "f32", .shape = {2}, .shaped = true, .data = dataOf({number, -number})};
      RunStep step = givingStep(name, {}, std::move(value));
      step.name = name;
      recording.steps.push_back(step);
    }
    return recording;
  };
  const auto noise = alignRecordings(run(1, 3e-9F), run(1, 1e-12F));
  EXPECT_EQ(noise.verdict, AlignVerdict::Same);
  EXPECT_EQ(noise.pairs[1].outputs.kind, GapKind::Unknown);
  EXPECT_THAT(noise.notes, testing::ElementsAre("1 values are smaller than the rounding of the largest, and differ: "
                                                "nothing is said of them"));
  EXPECT_EQ(alignRecordings(run(1, 3e-9F), run(1, 1e-6F)).first, 1U) << "large on one side";
  EXPECT_EQ(alignRecordings(run(1e-8F, 3e-9F), run(1e-8F, 1e-12F)).first, 1U) << "the others are as small";
}

/// Where the step was run again on both sides' inputs, that decides: not how much they differ.
TEST(Sensitivity, ARerunTellsTheInputsShareFromTheStepsOwn) {
  const auto a = valuesOf({1, 1}, {1, 1}), near = valuesOf({1, 1.00001F}, {1, 1.0001F});
  const auto far = valuesOf({1, 1.00001F}, {1, 1.01F}), wrong = valuesOf({1, 2}, {1, 3});
  const auto with = [](double own) { return [own](const StepPair&) { return std::optional(RerunGap{own, 2e-5}); }; };
  const RerunStep none = [](const StepPair&) { return std::optional<RerunGap>(); };
  EXPECT_EQ(alignRecordings(a, near, none).verdict, AlignVerdict::Rounding) << "excused by the bound alone";
  EXPECT_EQ(alignRecordings(a, near, with(7e-5)).first, 1U);
  EXPECT_EQ(alignRecordings(a, far, none).first, 1U);
  EXPECT_EQ(alignRecordings(a, far, with(1e-6)).verdict, AlignVerdict::Rounding) << "a step that is badly conditioned";
  const auto follows = alignRecordings(a, wrong, with(1e-6)), itself = alignRecordings(a, wrong, with(0.5));
  EXPECT_EQ(follows.pairs[1].role, PairRole::Follows);
  EXPECT_EQ(itself.pairs[1].role, PairRole::New) << "a fault of its own behind wrong inputs";
}

}  // namespace
}  // namespace kerf
