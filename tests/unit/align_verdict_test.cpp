// The mapping of two recordings and its verdict.
#include <cmath>
#include <limits>

#include <gmock/gmock.h>

#include "engine/accuracy/same.h"
#include "engine/align/alignment.h"
#include "tests/unit/align_testing.h"

namespace kerf {
namespace {

using testing::ElementsAre;

std::vector<std::string> names(const RunRecording& recording, const std::vector<std::size_t>& steps) {
  std::vector<std::string> found;
  for (const std::size_t i : steps) found.push_back(recording.steps[i].name);
  return found;
}

struct Aligned {
  explicit Aligned(const std::string& first, const std::string& second)
      : a(recordedRun(first)), b(recordedRun(second)), all(alignRecordings(a, b)) {}

  std::vector<std::string> namesOfA(std::size_t pair) const { return names(a, all.pairs.at(pair).steps.a); }
  std::vector<std::string> namesOfB(std::size_t pair) const { return names(b, all.pairs.at(pair).steps.b); }

  RunRecording a, b;
  RunAlignment all;
};

Tensor numbers(const std::vector<float>& values) {
  Tensor tensor = *Tensor::zeros(DType::Float32, {std::int64_t(values.size())});
  std::ranges::copy(values, tensor.data<float>());
  return tensor;
}

StepValue sum(double l1, std::string hash = {}, std::string dtype = "f32") {
  return {.dtype = std::move(dtype), .shape = {8}, .shaped = true, .hash = std::move(hash), .l1 = l1};
}

TEST(BitDistance, CountsUnitsInTheLastPlace) {
  const float one = 1, next = std::nextafter(1.0F, 2.0F), nan = std::nanf("");
  const auto distance = bitDistance(numbers({one, one, 0, nan, nan, 8}), numbers({one, next, -0.0F, nan, 1, 8.5F}));
  ASSERT_TRUE(distance);
  EXPECT_EQ(distance->elements, 6);
  EXPECT_EQ(distance->equal, 2);
  EXPECT_EQ(distance->unordered, 1);
  EXPECT_EQ(distance->mostUlps, std::ldexp(0.5, 20));
  EXPECT_THAT(distance->histogram, ElementsAre(2, 2, 0, 0, 0, 0, 0, 2));  // 0 and -0 are 0 ulp apart: other bits
  EXPECT_EQ(bitDistanceText(*distance),
            "2 of 6 elements equal in their bits, 2 up to 1 ulp, 1 more than 1024 ulp, 1 NaN or infinite on one side");
}

TEST(BitDistance, OfBfloat16CountsItsOwnSteps) {
  Tensor a = *Tensor::zeros(DType::BFloat16, {1}), b = *Tensor::zeros(DType::BFloat16, {1});
  a.data<BFloat16>()[0] = BFloat16(1.0F);
  b.data<BFloat16>()[0] = BFloat16(1.0078125F);
  EXPECT_EQ(bitDistance(a, b)->mostUlps, 1);
}

TEST(BitDistance, OfWholeNumbersIsExact) {
  Tensor a = *Tensor::zeros(DType::Int64, {2}), b = *Tensor::zeros(DType::Int64, {2});
  a.data<std::int64_t>()[0] = (std::int64_t(1) << 60) + 1;
  b.data<std::int64_t>()[0] = std::int64_t(1) << 60;
  const auto distance = bitDistance(a, b);
  EXPECT_EQ(distance->equal, 1);
  EXPECT_FALSE(distance->same());
}

TEST(ExactBits, AreTheVerdictWhateverTheToleranceIs) {
  const Value ref(numbers({1, 2})), near(numbers({1, std::nextafter(2.0F, 3.0F)}));
  SameOptions options{.tolerance = 1};
  EXPECT_TRUE(same(ref, near, Value(), options).same);
  options.exactBits = true;
  EXPECT_TRUE(same(ref, ref, Value(), options).same);
  const SameReport report = same(ref, near, Value(), options);
  EXPECT_FALSE(report.same);
  EXPECT_EQ(report.outputs[0].reason, "1 of 2 elements equal in their bits, 1 up to 1 ulp");
  EXPECT_FALSE(same(ref, Value(numbers({1})), Value(), options).same);
}

RunStep step(const std::string& op, std::vector<StepValue> inputs, std::vector<StepValue> outputs) {
  return {.name = op, .op = op, .inputs = std::move(inputs), .outputs = std::move(outputs)};
}

TEST(ValueGap, ChecksumsDecideOverSums) {
  EXPECT_EQ(gapBetween(sum(5, "h:1"), sum(5, "h:1")).kind, GapKind::Equal);
  EXPECT_EQ(gapBetween(sum(5, "h:1"), sum(5, "h:2")).kind, GapKind::Rounding);
  EXPECT_EQ(gapBetween(sum(5, "h:1"), sum(5, "other:1")).kind, GapKind::Equal);
  EXPECT_EQ(gapBetween(sum(5), sum(5.000001)).kind, GapKind::Rounding);
  EXPECT_EQ(gapBetween(sum(5), sum(5.01)).kind, GapKind::Wrong);
  EXPECT_EQ(gapBetween(sum(5, {}, "bf16"), sum(5.01, {}, "bf16")).kind, GapKind::Rounding);
  EXPECT_EQ(gapBetween(sum(5), sum(5.01), {1e-3}).kind, GapKind::Rounding);
  EXPECT_EQ(gapBetween(sum(5), sum(std::nan(""))).kind, GapKind::Wrong);
  StepValue only = sum(0, "h:1"), other = sum(0, "h:2");
  only.l1.reset();
  other.l1.reset();
  EXPECT_EQ(gapBetween(only, other).kind, GapKind::Unequal);
}

/// hash_tensor is an XOR: of a value that is repeated an even number of times it is 0, whatever the value is.
TEST(ValueGap, ChecksumsThatAreZeroDoNotHideOtherSums) {
  EXPECT_EQ(gapBetween(sum(5, "h:0"), sum(5.5, "h:0")).kind, GapKind::Wrong);
  EXPECT_EQ(gapBetween(sum(5, "h:0"), sum(5.000001, "h:0")).kind, GapKind::Rounding);
  EXPECT_EQ(gapBetween(sum(5, "h:0"), sum(5, "h:0")).kind, GapKind::Equal);
  EXPECT_EQ(gapBetween(sum(5, "h:10"), sum(5.5, "h:10")).kind, GapKind::Equal);
}

/// One NaN makes a sum NaN, whatever the other elements are and wherever it stands.
TEST(ValueGap, SumsThatAreNotFiniteSayNothing) {
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(gapBetween(sum(nan), sum(nan)).kind, GapKind::Unknown);
  EXPECT_EQ(gapBetween(sum(infinity), sum(infinity)).kind, GapKind::Unknown);
  EXPECT_EQ(gapBetween(sum(infinity), sum(nan)).kind, GapKind::Wrong) << "a NaN on one side alone";
  EXPECT_EQ(gapBetween(sum(nan, "h:1"), sum(nan, "h:2")).kind, GapKind::Unequal);
  EXPECT_EQ(gapBetween(sum(nan, "h:1"), sum(nan, "h:1")).kind, GapKind::Equal);
  StepValue a = sum(0), b = sum(0);
  a.l1.reset();
  b.l1.reset();
  a.stats = b.stats = ElementStats{.min = 0, .max = 1, .mean = 0.5, .norm = 2, .nan = 1};
  EXPECT_EQ(gapBetween(a, b).kind, GapKind::Unknown);
  b.stats->nan = 2;
  EXPECT_EQ(gapBetween(a, b).kind, GapKind::Wrong);
}

/// Figures do not see what a sum of magnitudes does, nor the other way round.
TEST(ValueGap, IsTheWorseOfFiguresAndSum) {
  StepValue a = sum(815, {}, "bf16"), b = sum(915, {}, "bf16");
  a.stats = b.stats = ElementStats{.min = -1.9, .max = 1.8, .mean = 0, .norm = 22};
  EXPECT_EQ(gapBetween(a, b).kind, GapKind::Wrong);
  EXPECT_NEAR(gapBetween(a, b).relative, 100.0 / 915, 1e-12);
  b.l1 = 815;
  EXPECT_EQ(gapBetween(a, b).kind, GapKind::Equal);
  b.stats->max = 2.9;
  EXPECT_EQ(gapBetween(a, b).kind, GapKind::Wrong);
}

TEST(ValueGap, InfiniteFiguresAreNoScaleForOthers) {
  const double infinity = std::numeric_limits<double>::infinity();
  StepValue a = sum(infinity, {}, "bf16"), b = a;
  a.stats = b.stats = ElementStats{.min = -infinity, .max = 1.8, .mean = -infinity, .norm = infinity, .inf = 1};
  EXPECT_EQ(gapBetween(a, b).kind, GapKind::Unknown) << "as many, but where?";
  b.stats->max = 99;
  EXPECT_EQ(gapBetween(a, b).kind, GapKind::Wrong);
  b.stats->max = 1.801;
  EXPECT_EQ(gapBetween(a, b).kind, GapKind::Rounding);
  EXPECT_NEAR(gapBetween(a, b).relative, 0.001 / 1.801, 1e-9);
  b.stats->max = infinity;
  EXPECT_EQ(gapBetween(a, b).kind, GapKind::Wrong);
}

/// However often rounding may have grown, a hundredth of a float32 is none.
TEST(ValueGap, GrowthHasAnEnd) {
  EXPECT_EQ(gapBetween(sum(5), sum(5.01), {1}).kind, GapKind::Rounding);
  EXPECT_EQ(gapBetween(sum(5), sum(5.05), {1}).kind, GapKind::Wrong);
}

TEST(Alignment, OfTheSameRunIsTheSame) {
  for (const char* name : {"mlp-eager.json", "mlp-inductor.json", "mlp-eager.txt", "mlp-eager-train.json"}) {
    const Aligned same(name, name);
    EXPECT_EQ(same.all.verdict, AlignVerdict::Same) << name;
    EXPECT_EQ(same.all.firstUnequal, SIZE_MAX);
  }
}

TEST(Alignment, OfEagerAndInductorIsRoundingOnly) {
  const Aligned aligned("mlp-eager.json", "mlp-inductor.json");
  EXPECT_EQ(aligned.all.verdict, AlignVerdict::Rounding);
  bool fused = false;
  for (std::size_t i = 0; i < aligned.all.pairs.size(); ++i)
    if (aligned.namesOfB(i) == std::vector<std::string>{"triton_per_fused_gelu_native_layer_norm_0 #1"}) {
      EXPECT_THAT(aligned.namesOfA(i), testing::Contains("aten.gelu #1"));
      EXPECT_EQ(aligned.all.pairs[i].steps.evidence, PairEvidence::Values);
      fused = true;
    }
  EXPECT_TRUE(fused);
}

TEST(Alignment, NamesTheOpWithAFault) {
  const struct {
    const char *good, *bad, *op;
  } cases[] = {{"mlp-eager.json", "mlp-eager-f0.json", "aten.gelu #1"},
               {"mlp-eager.json", "mlp-eager-f1.json", "aten.native_layer_norm #1"},
               {"conv-eager.json", "conv-eager-f1.json", "aten.relu #1"},
               {"mlp-eager.json", "mlp-inductor-f0.json", "triton_per_fused_gelu_native_layer_norm_0 #1"},
               {"mlp-inductor.json", "mlp-inductor-f1.json", "triton_per_fused_gelu_native_layer_norm_0 #1"}};
  for (const auto& each : cases) {
    const Aligned aligned(each.good, each.bad);
    EXPECT_EQ(aligned.all.verdict, AlignVerdict::Different) << each.bad;
    ASSERT_NE(aligned.all.first, SIZE_MAX) << each.bad;
    EXPECT_THAT(aligned.namesOfB(aligned.all.first), testing::Contains(each.op)) << each.bad;
  }
}

TEST(Alignment, OfTorchtitansLogsNamesTheOpWithAFault) {
  const auto eager = recordedRun("titan-eager.log");
  const auto rounding = alignRecordings(eager, recordedRun("titan-traced.log"));
  EXPECT_EQ(rounding.verdict, AlignVerdict::Rounding);
  EXPECT_EQ(rounding.pairs.size(), eager.steps.size());
  const auto fault = alignRecordings(eager, recordedRun("titan-fault.log"));
  EXPECT_EQ(fault.verdict, AlignVerdict::Different);
  ASSERT_NE(fault.first, SIZE_MAX);
  EXPECT_EQ(eager.steps[fault.pairs[fault.first].steps.a.front()].op, "aten.silu");
  EXPECT_EQ(std::ranges::count(fault.pairs, PairRole::New, &AlignedPair::role), 0);
  EXPECT_EQ(std::ranges::count(fault.pairs, PairRole::Follows, &AlignedPair::role), 2);
}

std::string titanOp(const std::string& name, const std::string& lines, bool figures = true) {
  return "[layers.0/" + name + "]\n" +
         (figures ? "  Shape: torch.Size([32, 64]), Dtype: torch.bfloat16\n  L2 norm: 2.263e+01\n  Min: -1.9\n"
                    "  Max: 1.8\n  Mean: -2.4e-04\n"
                  : "") +
         lines + "\n";
}

RunRecording titan(const std::string& text) {
  auto recording = readTorchtitanLog(text);
  EXPECT_TRUE(recording);
  return recording ? *recording : RunRecording();
}

/// A further result that differs is wrong whether or not the log has a step that takes it.
TEST(Alignment, OfTorchtitansFurtherResultsNamesTheOpThatGivesThem) {
  const auto run = [](const std::string& second, const std::string& last) {
    return titan(titanOp("op_0_mm", "  Output hash: 8.15e+02\n  Input hashes: 1.63e+03, 1.0e+02\n") +
                 titanOp("op_0_max", "  Output hash: 8.15e+02, " + second +
                                         "\n  Input hashes: 8.15e+02\n  Input producers: layers.0/op_0_mm\n") +
                 titanOp("op_1_mul", "  Output hash: " + last + "\n  Input hashes: " + second +
                                         "\n  Input producers: layers.0/op_0_max\n"));
  };
  const auto right = run("3.0e+02", "6.0e+02"), wrong = run("9.0e+02", "1.0e+03");
  EXPECT_EQ(alignRecordings(right, right).verdict, AlignVerdict::Same);
  EXPECT_EQ(right.steps[2].inputs[0].id, right.steps[1].outputs[1].id);
  EXPECT_NE(right.steps[1].outputs[0].id, right.steps[1].outputs[1].id);
  const auto all = alignRecordings(right, wrong);
  EXPECT_EQ(all.verdict, AlignVerdict::Different);
  EXPECT_EQ(all.first, 1U);
  EXPECT_EQ(all.pairs[2].role, PairRole::Follows);
  const auto untaken = [](const std::string& second) {
    return titan(titanOp("op_0_mm", "  Output hash: 8.15e+02, " + second + "\n  Input hashes: 1.63e+03\n") +
                 titanOp("op_1_add_",
                         "  Output hash: 5.0\n  Input hashes: 8.15e+02\n"
                         "  Input producers: layers.0/op_0_mm\n",
                         false));
  };
  EXPECT_EQ(alignRecordings(untaken("3.0e+02"), untaken("9.0e+02")).first, 0U);
}

/// What may hold what nobody wrote is left out only where nothing can take it, and that is said.
TEST(Alignment, ResultsThatNobodyWroteAreLeftOutWhereNothingTakesThem) {
  const auto run = [](double reserve, bool taken) {
    RunRecording recording{.kind = "DebugMode log"};
    StepValue input = sum(1), first = sum(2), second = sum(reserve);
    input.id = 0, first.id = 1, second.id = 2;
    recording.steps = {step("aten.native_batch_norm", {input}, {first, second}),
                       step("aten.relu", {taken ? second : first}, {sum(7)})};
    return recording;
  };
  const auto aside = alignRecordings(run(3, false), run(5, false));
  EXPECT_EQ(aside.verdict, AlignVerdict::Same);
  EXPECT_THAT(aside.notes, ElementsAre("1 further results differ and are left out: they may hold what nobody wrote"));
  EXPECT_EQ(alignRecordings(run(3, true), run(5, true)).first, 0U);
  RunRecording a = run(3, false), b = run(5, false);
  b.steps[0].outputs[1].perhapsTaken = true;
  EXPECT_EQ(alignRecordings(a, b).first, 0U);
}

/// A kernel's result cannot be looked for where it is NaN, zero or of one element: it is judged all the same.
TEST(Alignment, KernelsResultsThatSayLittleAreNotPassedOver) {
  const auto run = [](StepValue result) {
    RunRecording recording{.kind = "DebugMode log"};
    StepValue input = sum(3, "h:1");
    input.id = 0, result.id = 1;
    recording.steps = {step("triton_poi_fused_relu_0", {input}, {std::move(result)}),
                       step("aten.cos", {input}, {sum(4)})};
    recording.steps[0].kernel = true;
    return recording;
  };
  const auto verdict = [&](double right, double wrong) { return alignRecordings(run(sum(right)), run(sum(wrong))); };
  EXPECT_EQ(verdict(5, 5).verdict, AlignVerdict::Same);
  EXPECT_EQ(verdict(5, std::nan("")).first, 0U);
  EXPECT_EQ(verdict(5, std::numeric_limits<double>::infinity()).first, 0U);
  EXPECT_EQ(verdict(5, 0).first, 0U);
  EXPECT_EQ(verdict(0, 0).verdict, AlignVerdict::Same);
  StepValue right = sum(5), wrong = sum(6);
  right.shape = wrong.shape = {};
  EXPECT_EQ(alignRecordings(run(right), run(right)).verdict, AlignVerdict::Same);
  EXPECT_EQ(alignRecordings(run(right), run(wrong)).first, 0U);
}

TEST(Alignment, ResultsWithoutAPartnerAreTold) {
  RunRecording a{.kind = "DebugMode log"}, b = a;
  a.steps = {step("aten.max", {sum(1)}, {sum(2), sum(3)})};
  b.steps = {step("aten.max", {sum(1)}, {sum(2)})};
  EXPECT_THAT(alignRecordings(a, b).notes,
              ElementsAre("1 results have no partner in the other run: nothing is said of them"));
  a.steps = {step("aten.split", {sum(1)}, {sum(2), sum(3), sum(4)})};
  b.steps = {step("aten.split", {sum(1)}, {sum(2), sum(3)})};
  EXPECT_THAT(alignRecordings(a, b).notes,
              ElementsAre("1 results have no partner in the other run: nothing is said of them"));
}

/// What an attention keeps for its gradient may hold what nobody wrote; the gradients themselves may not.
TEST(Alignment, GradientsOfAnAttentionAreNotLeftOut) {
  const auto run = [](const std::string& op, double second) {
    RunRecording recording{.kind = "DebugMode log"};
    recording.steps = {step(op, {sum(1)}, {sum(2), sum(second)})};
    return recording;
  };
  const auto verdict = [&](const std::string& op) { return alignRecordings(run(op, 3), run(op, 5)).verdict; };
  EXPECT_EQ(verdict("aten._scaled_dot_product_flash_attention"), AlignVerdict::Same);
  EXPECT_EQ(verdict("aten._scaled_dot_product_flash_attention_backward"), AlignVerdict::Different);
}

TEST(Alignment, OfAnotherBatchPairsEveryStepAndJudgesNone) {
  const Aligned aligned("mlp-eager.json", "mlp-eager-b2.json");
  EXPECT_EQ(aligned.all.first, SIZE_MAX);
  for (const AlignedPair& pair : aligned.all.pairs) {
    EXPECT_EQ(pair.steps.a, pair.steps.b);
    EXPECT_NE(pair.role, PairRole::Follows);
  }
}

TEST(Alignment, WithoutHashesOfInputsFollowsTensorsOrShapes) {
  const Aligned aligned("mlp-eager-plain.json", "mlp-eager-plain.json");
  EXPECT_EQ(aligned.all.verdict, AlignVerdict::Same);
}

TEST(Alignment, TheFirstOtherBitsAreTheFaultWhereAllBeforeIsEqual) {
  RunRecording a{.kind = "DebugMode log"}, b{.kind = "DebugMode log"};
  a.steps = {step("aten._softmax", {sum(3, "h:1")}, {sum(4, "h:2")}),
             step("aten.bmm", {sum(4, "h:2")}, {sum(7, "h:3")})};
  b.steps = {step("aten._softmax", {sum(3, "h:1")}, {sum(4, "h:8")}),
             step("aten.bmm", {sum(4, "h:8")}, {sum(9, "h:9")})};
  const auto all = alignRecordings(a, b);
  EXPECT_EQ(all.first, 0U);
  EXPECT_EQ(all.pairs[1].role, PairRole::Follows);
}

TEST(Alignment, SoftmaxWhoseSumSaysNothingIsNamedToo) {
  RunRecording a{.kind = "DebugMode log"}, b{.kind = "DebugMode log"};
  a.steps = {step("triton_per_fused__softmax_0", {sum(3, "h:1")}, {sum(4, "h:2")}),
             step("aten.bmm", {sum(4, "h:2")}, {sum(7, "h:3")})};
  b.steps = {step("triton_per_fused__softmax_0", {sum(3, "h:1")}, {sum(4, "h:8")}),
             step("aten.bmm", {sum(4, "h:8")}, {sum(9, "h:9")})};
  a.steps[0].kernel = b.steps[0].kernel = true;
  const auto all = alignRecordings(a, b);
  ASSERT_EQ(all.first, 1U);
  EXPECT_EQ(all.pairs[1].reachesBack, 0U);
}

/// A value that came to differ by rounding where it was given is no fault of what takes it.
TEST(Alignment, RoundingThatHasGrownIsNoFaultOfTheNextStep) {
  RunRecording a{.kind = "DebugMode log"}, b = a;
  a.steps = {step("aten.add", {sum(1, "h:1")}, {sum(2, "h:2")}), step("aten.cos", {sum(2, "h:2")}, {sum(3, "h:3")}),
             step("aten.sin", {sum(3, "h:3")}, {sum(4, "h:4")})};
  b.steps = {step("aten.add", {sum(1, "h:1")}, {sum(2 + 6e-7, "h:6")}),
             step("aten.cos", {sum(2 + 6e-7, "h:6")}, {sum(3 + 6e-6, "h:7")}),
             step("aten.sin", {sum(3 + 6e-6, "h:7")}, {sum(4 + 6e-6, "h:8")})};
  const auto grown = alignRecordings(a, b);
  EXPECT_EQ(grown.verdict, AlignVerdict::Rounding);
  EXPECT_EQ(grown.firstUnequal, 0U);
  EXPECT_EQ(grown.pairs[2].inputs.kind, GapKind::Rounding);
  b.steps[2].outputs = {sum(4.04, "h:8")};
  EXPECT_EQ(alignRecordings(a, b).first, 2U);
}

TEST(Alignment, WhatHidesItsValuesIsNamedBehindAProductToo) {
  RunRecording a{.kind = "DebugMode log"}, b = a;
  a.steps = {step("aten._scaled_dot_product_efficient_attention", {sum(3, "h:1")}, {sum(4, "h:2")}),
             step("aten.transpose", {sum(4, "h:2")}, {sum(4, "h:2")}),
             step("aten.mm", {sum(4, "h:2")}, {sum(7, "h:3")}), step("aten.cos", {sum(7, "h:3")}, {sum(5, "h:4")})};
  b.steps = {step("aten._scaled_dot_product_efficient_attention", {sum(3, "h:1")}, {sum(4 + 1e-7, "h:6")}),
             step("aten.transpose", {sum(4 + 1e-7, "h:6")}, {sum(4 + 1e-7, "h:6")}),
             step("aten.mm", {sum(4 + 1e-7, "h:6")}, {sum(7 + 4e-6, "h:7")}),
             step("aten.cos", {sum(7 + 4e-6, "h:7")}, {sum(5.1, "h:8")})};
  a.steps[0].kernel = b.steps[0].kernel = true;
  const auto all = alignRecordings(a, b);
  ASSERT_EQ(all.first, 3U);
  EXPECT_EQ(all.pairs[3].reachesBack, 0U);
}

TEST(Alignment, RandomNumbersAndShortProductsAreNamed) {
  RunRecording a{.kind = "DebugMode log"}, b = a;
  a.steps = {step("aten.bernoulli", {sum(3)}, {sum(4)})};
  b.steps = {step("aten.bernoulli", {sum(3)}, {sum(6)})};
  EXPECT_EQ(alignRecordings(a, b).pairs[0].cause, "random numbers, drawn anew");
  a.steps = {step("aten.mm", {sum(3)}, {sum(4)})};
  b.steps = {step("aten.mm", {sum(3)}, {sum(4.002)})};
  const auto products = alignRecordings(a, b);
  EXPECT_EQ(products.verdict, AlignVerdict::Rounding);
  EXPECT_NE(products.pairs[0].cause.find("TF32"), std::string_view::npos);
}

TEST(Alignment, AFurtherFaultIsNewAndNotWhatFollows) {
  RunRecording a{.kind = "DebugMode log"}, b = a;
  a.steps = {step("aten.relu", {sum(1, "h:1")}, {sum(2, "h:2")}), step("aten.tanh", {sum(2, "h:2")}, {sum(3, "h:3")}),
             step("aten.cos", {sum(1, "h:1")}, {sum(5, "h:4")})};
  b.steps = {step("aten.relu", {sum(1, "h:1")}, {sum(4, "h:7")}), step("aten.tanh", {sum(4, "h:7")}, {sum(6, "h:8")}),
             step("aten.cos", {sum(1, "h:1")}, {sum(9, "h:9")})};
  const auto all = alignRecordings(a, b);
  EXPECT_EQ(all.pairs[0].role, PairRole::First);
  EXPECT_EQ(all.pairs[1].role, PairRole::Follows);
  EXPECT_EQ(all.pairs[2].role, PairRole::New);
}

TEST(Alignment, EveryStepIsInOnePair) {
  const std::pair<const char*, const char*> pairs[] = {{"mlp-eager.json", "mlp-inductor.json"},
                                                       {"block-eager.json", "mlp-inductor-f0.json"},
                                                       {"mlp-eager-train.json", "block-eager-f2.json"}};
  for (const auto& [first, second] : pairs) {
    const Aligned aligned(first, second);
    std::vector<std::size_t> a, b;
    for (const AlignedPair& pair : aligned.all.pairs) {
      a.insert(a.end(), pair.steps.a.begin(), pair.steps.a.end());
      b.insert(b.end(), pair.steps.b.begin(), pair.steps.b.end());
    }
    std::ranges::sort(a);
    EXPECT_EQ(a.size(), aligned.a.steps.size()) << first;
    EXPECT_TRUE(std::ranges::adjacent_find(a) == a.end());
    EXPECT_TRUE(std::ranges::is_sorted(b));
    EXPECT_EQ(b.size(), aligned.b.steps.size());
  }
}

}  // namespace
}  // namespace kerf
