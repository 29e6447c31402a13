// Prints of values, differences, and random numbers that all stages share.
#include <cmath>

#include <gtest/gtest.h>

#include "engine/ops/core/op_registry.h"
#include "engine/verification/shared_random.h"
#include "engine/verification/value_difference.h"
#include "engine/verification/value_print.h"

namespace kerf {
namespace {

Tensor counting(std::int64_t count, DType dtype = DType::Float64) {
  Tensor tensor = *Tensor::zeros(DType::Float64, {count});
  for (std::int64_t i = 0; i < count; ++i) tensor.data<double>()[i] = double(i) - 3.5;
  return *tensor.to(dtype);
}

ValuePrint printed(const Tensor& tensor) { return *printOf(Value(tensor)); }

TEST(ValuePrint, EqualTensorsAreAtDistanceZeroWhateverTheirShape) {
  const Tensor tensor = counting(12);
  EXPECT_EQ(distance(printed(tensor), printed(tensor.viewAs({3, 4}, {4, 1}, 0))), 0);
  EXPECT_EQ(distance(printed(tensor), printed(counting(12, DType::Float32))), 0);
  EXPECT_TRUE(std::isinf(distance(printed(tensor), printed(counting(13)))));
}

TEST(ValuePrint, DistanceEstimatesTheRelativeDifference) {
  const Tensor a = counting(100'000);
  Tensor b = *a.clone();
  for (std::int64_t i = 0; i < b.numel(); ++i) b.data<double>()[i] += (i % 2 ? 1.0 : -1.0) * 1e-3;
  const double expected = 1e-3 * std::sqrt(100'000.0) / printed(a).norm;
  EXPECT_GT(distance(printed(a), printed(b)), expected / 4);
  EXPECT_LT(distance(printed(a), printed(b)), expected * 4);
}

TEST(ValuePrint, AReorderedTensorIsFarAndMayBeReordered) {
  const Tensor a = counting(12).viewAs({3, 4}, {4, 1}, 0), b = counting(12).viewAs({4, 3}, {1, 4}, 0);
  EXPECT_GT(distance(printed(a), printed(b)), 0.01);
  EXPECT_TRUE(mayBeReordered(printed(a), printed(b), 1e-9));
  EXPECT_FALSE(mayBeReordered(printed(a), printed(counting(11)), 1e-9));
}

TEST(ValuePrint, NaNsMustStandAtTheSamePlace) {
  Tensor a = counting(8), b = counting(8);
  a.data<double>()[1] = b.data<double>()[2] = NAN;
  EXPECT_TRUE(std::isinf(distance(printed(a), printed(b))));
  b = *a.clone();
  EXPECT_EQ(distance(printed(a), printed(b)), 0);
}

TEST(ValueDifference, IsRelativeToTheFirst) {
  Tensor a = counting(4), b = counting(4);  // -3.5, -2.5, -1.5, -0.5
  b.data<double>()[0] += 0.35;
  const auto difference = *differenceOf(Value(a), Value(b));
  EXPECT_TRUE(difference.comparable());
  EXPECT_NEAR(difference.maxAbsError, 0.35, 1e-12);
  EXPECT_NEAR(difference.relativeError, 0.1, 1e-12);  // of the largest, 3.5; rms is 0.35 / 4.58
  EXPECT_EQ(difference.finite, 4);
}

TEST(ValueDifference, NamesWhatCannotBeCompared) {
  EXPECT_EQ(differenceOf(Value(counting(4)), Value(counting(5)))->reason, "shape [4] and [5]");
  EXPECT_EQ(differenceOf(Value(), Value(1.0))->reason, "None and a value");
  Tensor a = counting(4);
  a.data<double>()[2] = NAN;
  EXPECT_EQ(differenceOf(Value(a), Value(counting(4)))->reason, "1 elements are NaN or infinite on one side only");
  EXPECT_EQ(differenceOf(Value(a), Value(a))->relativeError, 0);
}

Value called(const SharedRandom& ops, const char* target, ValueList args, KeywordValues kwargs = {}) {
  auto value = ops.call(OpTarget(target), args, kwargs);
  EXPECT_TRUE(value) << (value ? "" : value.error().text());
  return value ? *value : Value();
}

/// dropout of Dynamo's graph, rand and gt of the joint graph, and Inductor's seeds: three ways to say the same.
TEST(SharedRandom, DropoutRandAndInductorRandomAgree) {
  RandomDraws dynamo, joint, inductor;
  const SharedRandom first(referenceOps(), dynamo), second(referenceOps(), joint), third(referenceOps(), inductor);
  Tensor ones = *Tensor::zeros(DType::Float32, {1000});
  std::fill_n(ones.data<float>(), 1000, 1.0f);
  const Value dropped =
      called(first, "torch.nn.functional.dropout", {Value(ones), Value(0.3), Value(true), Value(false)});
  const Value drawn = called(second, "torch.ops.aten.rand.default", {Value(ValueList{Value(std::int64_t(1000))})});
  const Value seeds =
      called(third, "torch.ops.prims.inductor_seeds.default", {Value(std::int64_t(1)), Value(Device())});
  const Value seed = called(third, "torch.ops.prims.inductor_lookup_seed.default", {seeds, Value(std::int64_t(0))});
  const Value random = called(third, "torch.ops.prims.inductor_random.default",
                              {Value(ValueList{Value(std::int64_t(1000))}), seed, Value(std::string("rand"))});
  std::int64_t kept = 0;
  for (std::int64_t i = 0; i < 1000; ++i) {
    EXPECT_EQ(drawn.tensor().itemAsDouble(i), random.tensor().itemAsDouble(i));
    EXPECT_EQ(dropped.tensor().itemAsDouble(i) != 0, drawn.tensor().itemAsDouble(i) > 0.3);
    kept += dropped.tensor().itemAsDouble(i) != 0;
  }
  EXPECT_NEAR(double(kept), 700, 60);
  EXPECT_EQ(dynamo.next, 1);
  EXPECT_EQ(inductor.next, 1);
}

TEST(SharedRandom, TheNextDrawIsAnother) {
  RandomDraws draws;
  const SharedRandom ops(referenceOps(), draws);
  const ValueList size{Value(ValueList{Value(std::int64_t(100))})};
  const Value a = called(ops, "torch.ops.aten.rand.default", size),
              b = called(ops, "torch.ops.aten.rand.default", size);
  EXPECT_GT(distance(*printOf(a), *printOf(b)), 0.1);
  const Value normal = called(ops, "torch.ops.aten.randn.default", {Value(ValueList{Value(std::int64_t(20000))})});
  EXPECT_NEAR(printOf(normal)->norm / std::sqrt(20000.0), 1, 0.03);
}

/// Without training nothing is drawn, so that later draws have the same numbers as in a graph without the op.
TEST(SharedRandom, DropoutInEvaluationDrawsNothing) {
  RandomDraws draws;
  const SharedRandom ops(referenceOps(), draws);
  const Value out =
      called(ops, "torch.nn.functional.dropout", {Value(counting(8)), Value(0.3), Value(false), Value(false)});
  EXPECT_EQ(draws.next, 0);
  EXPECT_EQ(distance(*printOf(out), printed(counting(8))), 0);
}

}  // namespace
}  // namespace kerf
