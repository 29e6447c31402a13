#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "engine/accuracy/same.h"

namespace kerf {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

Tensor tensor(DType dtype, const std::vector<double>& values) {
  Tensor t = Tensor::zeros(DType::Float64, {std::int64_t(values.size())}).value();
  std::ranges::copy(values, t.data<double>());
  return t.to(dtype).value();
}

Tensor filled(DType dtype, std::int64_t count, double value) {
  return tensor(dtype, std::vector<double>(std::size_t(count), value));
}

OutputVerdict verdict(const Value& ref, const Value& res, const Value& fp64 = {}, const SameOptions& options = {}) {
  return same(ref, res, fp64, options).outputs.at(0);
}

TEST(Same, DtypesMustMatchUnlessTold) {
  const Tensor ref = tensor(DType::Float32, {1, 2}), res = tensor(DType::Float64, {1, 2});
  EXPECT_EQ(verdict(ref, res).reason, "dtype mismatch torch.float32, torch.float64");
  EXPECT_TRUE(verdict(ref, res, {}, {.exactDtype = false}).same);
}

TEST(Same, ToleranceIsRelativeToTheResult) {
  const Tensor ref = tensor(DType::Float64, {100}), res = tensor(DType::Float64, {100.0101});
  const Value noTruth = tensor(DType::Float32, {0});
  EXPECT_TRUE(verdict(ref, res, noTruth).same);
  const auto failed = verdict(ref, tensor(DType::Float64, {100.0102}), noTruth);
  EXPECT_FALSE(failed.same);
  EXPECT_EQ(failed.reason, "Accuracy failed: allclose not within tol=0.0001");
  EXPECT_GT(failed.ratioToLimit, 1);
  EXPECT_NEAR(failed.maxAbsError, 0.0102, 1e-9);
}

TEST(Same, RmseRuleUsesTheMultiplierForTheSize) {
  // ref is off by 0.01 and res by k * 0.01 from the truth: res passes up to the multiplier (and tol/10).
  struct Row {
    std::int64_t numel;
    bool larger;
    double multiplier;
  };
  for (const auto& row : {Row{5, true, 10}, Row{10, true, 10}, Row{11, true, 8}, Row{500, true, 8}, Row{501, true, 3},
                          Row{999, false, 3}, Row{1000, false, 2}}) {
    const Tensor truth = filled(DType::Float64, row.numel, 0), ref = filled(DType::Float32, row.numel, 0.01);
    SameOptions options;
    options.useLargerMultiplierForSmallerTensor = row.larger;
    const auto good = verdict(ref, filled(DType::Float32, row.numel, row.multiplier * 0.01 + 0.9e-5), truth, options);
    EXPECT_TRUE(good.same) << row.numel;
    EXPECT_EQ(good.multiplier, row.multiplier);
    const auto bad = verdict(ref, filled(DType::Float32, row.numel, row.multiplier * 0.01 + 1.1e-5), truth, options);
    EXPECT_FALSE(bad.same) << row.numel;
    EXPECT_NEAR(bad.ratioToLimit, 1, 1e-3);
    EXPECT_GT(bad.ratioToLimit, 1);
  }
}

TEST(Same, MultiplierGrowsForPixelsToleranceReducedFloatsAndOnDemand) {
  const auto multiplier = [](DType dtype, const Sizes& sizes, const SameOptions& options) {
    const Tensor zeros = Tensor::zeros(dtype, sizes).value();
    return verdict(zeros, zeros, Tensor::zeros(DType::Float64, sizes).value(), options).multiplier;
  };
  EXPECT_EQ(multiplier(DType::Float32, {2, 1000}, {}), 2);
  EXPECT_EQ(multiplier(DType::Float32, {2, 1000, 1, 1}, {}), 3);
  EXPECT_EQ(multiplier(DType::Float32, {2, 1000}, {.tolerance = 2e-2}), 3);
  EXPECT_EQ(multiplier(DType::BFloat16, {2, 1000}, {}), 3);
  EXPECT_EQ(multiplier(DType::Float32, {2, 1000}, {.forceMaxMultiplier = true}), 10);
}

TEST(Same, FailureLineIsPyTorchs) {
  const auto failed =
      verdict(filled(DType::Float32, 4, 0.5), filled(DType::Float32, 4, 7), filled(DType::Float64, 4, 1));
  EXPECT_EQ(failed.reason,
            "RMSE (res-fp64): 6.00000, (ref-fp64): 0.50000 and shape=torch.Size([4]). res.dtype: torch.float32, "
            "multiplier: 3.000000, tol: 0.000100, use_larger_multiplier_for_smaller_tensor: 0");
}

TEST(Same, NansFollowEqualNan) {
  const Tensor both = tensor(DType::Float32, {1, nan}), truth = tensor(DType::Float64, {1, nan});
  EXPECT_FALSE(verdict(both, both).same);
  EXPECT_TRUE(verdict(both, both, {}, {.equalNan = true}).same);
  const Tensor off = tensor(DType::Float32, {2, nan});
  EXPECT_FALSE(verdict(both, off, truth).same);
  EXPECT_TRUE(verdict(both, off, truth, {.equalNan = true}).same);  // rule 5c: both errors are NaN
  const auto counts = verdict(both, tensor(DType::Float32, {nan, infinity}), truth);
  EXPECT_EQ(counts.nanRef, 1);
  EXPECT_EQ(counts.nanRes, 1);
  EXPECT_EQ(counts.infRes, 1);
  EXPECT_FALSE(counts.same);
}

TEST(Same, ResultThatIsBetterThanANanReferencePasses) {
  const Tensor ref = tensor(DType::Float32, {nan, 1}), truth = tensor(DType::Float64, {2, 1});
  EXPECT_TRUE(verdict(ref, tensor(DType::Float32, {2.05, 1}), truth).same);
  EXPECT_FALSE(verdict(ref, tensor(DType::Float32, {2.2, 1}), truth).same);
}

TEST(Same, InfinitiesMustAgree) {
  const Tensor ref = tensor(DType::Float32, {infinity});
  EXPECT_TRUE(verdict(ref, ref).same);
  EXPECT_FALSE(verdict(ref, tensor(DType::Float32, {-infinity})).same);
  EXPECT_FALSE(verdict(ref, tensor(DType::Float32, {3e38})).same);
}

TEST(Same, TruthThatIsNotFp64DoesNotHelp) {
  const Tensor ref = tensor(DType::Float32, {1}), res = tensor(DType::Float32, {1.001});
  EXPECT_FALSE(verdict(ref, res, tensor(DType::Float32, {1.0005})).same);
  EXPECT_TRUE(verdict(ref, res, tensor(DType::Float64, {1.0005})).same);
  EXPECT_TRUE(verdict(ref, res, {}, {.ignoreNonFloat = true}).same);
}

TEST(Same, IntegersAndBoolsAreExactUnlessIgnored) {
  const Tensor ints = tensor(DType::Int64, {3, 4}), flags = tensor(DType::Bool, {1, 0});
  EXPECT_TRUE(verdict(ints, ints).same);
  EXPECT_FALSE(verdict(ints, tensor(DType::Int64, {3, 5})).same);
  EXPECT_TRUE(verdict(ints, tensor(DType::Int64, {3, 5}), {}, {.ignoreNonFloat = true}).same);
  EXPECT_FALSE(verdict(flags, tensor(DType::Bool, {1, 1})).same);
  EXPECT_TRUE(verdict(flags, tensor(DType::Bool, {1, 1}), {}, {.ignoreNonFloat = true}).same);
}

TEST(Same, BoolIouAcceptsNearlyEqualMasks) {
  std::vector<double> mask(200, 1);
  const Tensor ref = tensor(DType::Bool, mask);
  mask[0] = mask[1] = 0;
  EXPECT_TRUE(verdict(ref, tensor(DType::Bool, mask), {}, {.boolIou = true}).same);
  mask[2] = 0;
  EXPECT_FALSE(verdict(ref, tensor(DType::Bool, mask), {}, {.boolIou = true}).same);
  const Tensor none = filled(DType::Bool, 5, 0);
  EXPECT_TRUE(verdict(none, none, {}, {.boolIou = true}).same);
}

TEST(Same, CosineModeLooksAtTheDirectionOnly) {
  const SameOptions cosine{.cosineSimilarity = true};
  const Tensor ref = tensor(DType::Float32, {1, 2, 3});
  EXPECT_TRUE(verdict(ref, tensor(DType::Float32, {10, 20, 30}), {}, cosine).same);
  EXPECT_FALSE(verdict(ref, tensor(DType::Float32, {3, 2, 1}), {}, cosine).same);
  const Tensor zeros = tensor(DType::Float32, {0, 0, 0});
  EXPECT_TRUE(verdict(zeros, zeros, {}, cosine).same);
  EXPECT_FALSE(verdict(zeros, ref, {}, cosine).same);
}

TEST(Same, EmptyTensorsAndStridedViewsCompare) {
  const Tensor empty = Tensor::zeros(DType::Float32, {0, 3}).value();
  EXPECT_TRUE(verdict(empty, empty).same);
  const Tensor flat = tensor(DType::Float32, {1, 2, 3, 4});
  const Tensor turned = flat.viewAs({2, 2}, {1, 2}, 0);
  EXPECT_TRUE(verdict(turned, turned.clone().value()).same);
  EXPECT_FALSE(verdict(turned, flat.viewAs({2, 2}, {2, 1}, 0)).same);
}

TEST(Same, ShapesThatDoNotBroadcastFail) {
  const auto failed = verdict(filled(DType::Float32, 3, 1), filled(DType::Float32, 2, 1));
  EXPECT_FALSE(failed.same);
  EXPECT_EQ(failed.reason, "shape [3] does not fit [2]");
  EXPECT_TRUE(verdict(filled(DType::Float32, 3, 1), filled(DType::Float32, 1, 1)).same);  // as torch.allclose does
}

TEST(Same, ListsRecurseAndNameTheirItems) {
  const Tensor one = filled(DType::Float32, 1, 1), two = filled(DType::Float32, 1, 2);
  const Value ref(ValueList{one, Value(ValueList{one, Value()})});
  const auto report = same(ref, Value(ValueList{one, Value(ValueList{two, Value()})}), Value(), {});
  EXPECT_FALSE(report.same);
  ASSERT_EQ(report.outputs.size(), 3u);
  EXPECT_EQ(report.outputs[1].name, "out1.0");
  EXPECT_FALSE(report.outputs[1].same);
  EXPECT_TRUE(report.outputs[2].same);
  const auto shorter = same(ref, Value(ValueList{one}), Value(), {});
  EXPECT_EQ(shorter.outputs.at(0).reason, "Length mismatch");
  EXPECT_FALSE(shorter.same);
  EXPECT_TRUE(same(Value(ValueList{}), Value(ValueList{}), Value(), {}).same);
}

TEST(Same, ScalarsFollowPython) {
  EXPECT_TRUE(verdict(Value(std::int64_t{3}), Value(3.0)).same);
  EXPECT_FALSE(verdict(Value(std::int64_t{3}), Value(std::int64_t{4})).same);
  EXPECT_TRUE(verdict(Value(1.0), Value(1.00001)).same);
  EXPECT_FALSE(verdict(Value(1.0), Value(std::int64_t{1})).same);  // torch.tensor(1) is int64
  EXPECT_TRUE(verdict(Value(), Value()).same);
  EXPECT_FALSE(verdict(Value(), filled(DType::Float32, 1, 1)).same);
  EXPECT_EQ(verdict(filled(DType::Float32, 1, 1), Value()).reason, "type mismatch");
}

TEST(ExactSpecials, NanWhereReferenceAndTruthHaveNumbersIsDifferent) {
  const Tensor ref = tensor(DType::Float32, {0, 0, nan, nan, 0.5, 0.5});
  const Tensor res = tensor(DType::Float32, {nan, nan, nan, nan, 0.5, 0.5});
  const Tensor truth = tensor(DType::Float64, {0, 0, nan, nan, 0.5, 0.5});
  EXPECT_TRUE(verdict(ref, res, truth, {.equalNan = true}).same) << "PyTorch's own answer";
  const auto failed = verdict(ref, res, truth, {.equalNan = true, .exactSpecials = true});
  EXPECT_FALSE(failed.same);
  EXPECT_EQ(failed.reason, "Accuracy failed: NaN at 2 places where the reference and fp64 have none");
  EXPECT_EQ(failed.ratioToLimit, infinity);
  EXPECT_TRUE(verdict(ref, ref, truth, {.equalNan = true, .exactSpecials = true}).same);
}

TEST(ExactSpecials, InfinitiesThatReferenceAndTruthAgreeOnMustBeThere) {
  const SameOptions exact{.equalNan = true, .exactSpecials = true};
  const Tensor ref = tensor(DType::Float32, {infinity, nan}), truth = tensor(DType::Float64, {infinity, nan});
  EXPECT_TRUE(verdict(ref, tensor(DType::Float32, {-infinity, nan}), truth, {.equalNan = true}).same);
  for (const double wrong : {-infinity, 7.0, nan})
    EXPECT_FALSE(verdict(ref, tensor(DType::Float32, {wrong, nan}), truth, exact).same) << wrong;
  EXPECT_FALSE(verdict(tensor(DType::Float32, {3, nan}), tensor(DType::Float32, {infinity, nan}),
                       tensor(DType::Float64, {3, nan}), exact)
                   .same);
}

TEST(ExactSpecials, ABetterResultAndOneBeyondTheRangeAreTheSame) {
  const SameOptions exact{.equalNan = true, .exactSpecials = true};
  const auto same = [&](DType dtype, double ref, double res, double truth) {
    return verdict(tensor(dtype, {ref, nan}), tensor(dtype, {res, nan}), tensor(DType::Float64, {truth, nan}), exact)
        .same;
  };
  EXPECT_TRUE(same(DType::Float32, nan, 2, 2));
  EXPECT_TRUE(same(DType::Float32, infinity, 2, 2));
  EXPECT_TRUE(same(DType::Float32, 2, 3, nan)) << "fp64 knows nothing";
  EXPECT_TRUE(same(DType::Float16, 65504, infinity, 65510)) << "beyond the largest number of float16";
  EXPECT_FALSE(same(DType::Float16, 60000, infinity, 60000));
  EXPECT_TRUE(same(DType::BFloat16, 3e38, infinity, 3.4e38));
}

TEST(ExactSpecials, ANumberWhereReferenceAndTruthHaveNanIsDifferent) {
  const SameOptions exact{.equalNan = true, .exactSpecials = true};
  const Tensor ref = tensor(DType::Float32, {nan, 1}), truth = tensor(DType::Float64, {nan, 1});
  for (const double wrong : {0.0, infinity, -infinity}) {
    const Tensor res = tensor(DType::Float32, {wrong, 1});
    EXPECT_TRUE(verdict(ref, res, truth, {.equalNan = true}).same) << "PyTorch's own answer";
    EXPECT_EQ(verdict(ref, res, truth, exact).reason,
              "Accuracy failed: a number at 1 place where the reference and fp64 have NaN");
  }
  EXPECT_FALSE(verdict(tensor(DType::Float32, {infinity, 1}), tensor(DType::Float32, {nan, 1}),
                       tensor(DType::Float64, {2, 1}), exact)
                   .same);
}

TEST(ExactSpecials, OneNanDoesNotHideTheErrorsOfFiniteElements) {
  const SameOptions exact{.equalNan = true, .exactSpecials = true};
  const Tensor ref = tensor(DType::Float32, {nan, 1, 2}), truth = tensor(DType::Float64, {nan, 1, 2});
  EXPECT_TRUE(verdict(ref, tensor(DType::Float32, {nan, 1, 5}), truth, {.equalNan = true}).same);
  const auto failed = verdict(ref, tensor(DType::Float32, {nan, 1, 5}), truth, exact);
  EXPECT_FALSE(failed.same);
  EXPECT_TRUE(failed.reason.starts_with("RMSE of the 2 finite elements (res-fp64): 2.12132, (ref-fp64): 0.00000"))
      << failed.reason;
  EXPECT_TRUE(verdict(ref, tensor(DType::Float32, {nan, 1, 2.00001}), truth, exact).same);
  const Tensor overflow = tensor(DType::Float32, {infinity, 1}), finite = tensor(DType::Float64, {9, 1});
  EXPECT_TRUE(verdict(overflow, tensor(DType::Float32, {9, 3}), finite, {.equalNan = true}).same);
  EXPECT_FALSE(verdict(overflow, tensor(DType::Float32, {9, 3}), finite, exact).same);
}

TEST(Same, BFloat16TolerancesAreAsCoarseAsTheDtype) {
  // At 1.0 the allowed 0.0002 is finer than a bfloat16 step of 0.0078, so one step is already different …
  const Tensor one = filled(DType::BFloat16, 2000, 1), step = filled(DType::BFloat16, 2000, 1.0078125);
  EXPECT_FALSE(verdict(one, step, {}, {.tolerance = 1e-4}).same);
  // … and with 0.004 the sum 0.004 + 0.004 * 1.0078 rounds up to 0.00805 in bfloat16, above the step.
  EXPECT_TRUE(verdict(one, step, {}, {.tolerance = 4e-3}).same);
}

}  // namespace
}  // namespace kerf
