// Forms of ops that training graphs hold: batch norm as functionalisation writes it, and _foreach_ ops whose list comes
// second, whose other operand is one tensor, or that reduce.
#include <cmath>

#include "engine/ops/core/op_call.h"
#include "engine/ops/python/python_level.h"
#include "ops_testing.h"

namespace kerf {
namespace {

using namespace testing;

const Value input(tensorOf({2, 1, 2}, {1, 2, 3, 6}));  // mean 3, variance 3.5, unbiased 14/3

TEST(BatchNormForms, FunctionalOnesGiveTheStatisticsBack) {
  const Tensor mean = tensorOf({1}, {1}), variance = tensorOf({1}, {2});
  const Value result = callOp("aten._native_batch_norm_legit_functional.default",
                              {input, Value(), Value(), mean, variance, true, 0.5, 0.0})
                           .value();
  ASSERT_EQ(result.list().size(), 5u);
  EXPECT_NEAR(result.list()[0].tensor().itemAsDouble(3), 3 / std::sqrt(3.5), 1e-6);
  EXPECT_NEAR(result.list()[3].tensor().itemAsDouble(), 2, 1e-6);
  EXPECT_NEAR(result.list()[4].tensor().itemAsDouble(), 1 + 7.0 / 3, 1e-6);
  EXPECT_EQ(mean.itemAsDouble(), 1) << "the argument stays";
  const Value updated =
      callOp("aten._batch_norm_with_update_functional.default", {input, Value(), Value(), mean, variance, 0.5, 0.0})
          .value();
  ASSERT_EQ(updated.list().size(), 6u);
  EXPECT_NEAR(updated.list()[4].tensor().itemAsDouble(), 2, 1e-6);
  const Value still =
      callOp("aten._batch_norm_no_update.default", {input, Value(), Value(), mean, variance, 0.5, 0.0}).value();
  EXPECT_NEAR(still.list()[0].tensor().itemAsDouble(3), 5 / std::sqrt(2.0), 1e-6);
  EXPECT_EQ(variance.itemAsDouble(), 2);
}

TEST(BatchNormForms, TrainingNeedsNoRunningStatistics) {
  const Value result = callPythonLevel("torch.nn.functional.batch_norm",
                                       {input, Value(), Value(), Value(), Value(), true, 0.1, 0.0}, {}, referenceOps())
                           .value();
  EXPECT_NEAR(result.tensor().itemAsDouble(3), 3 / std::sqrt(3.5), 1e-6);
}

TEST(ForeachForms, TakeAListSecondAndOneTensorForAll) {
  const Value pair(ValueList{Value(tensorOf({2}, {1, 2})), Value(tensorOf({1}, {3}))});
  const auto item = [](const Value& list, std::size_t i, std::int64_t at) {
    return list.list()[i].tensor().itemAsDouble(at);
  };
  const Value powers = callOp("aten._foreach_pow.ScalarAndTensor", {2.0, pair}).value();
  EXPECT_EQ(item(powers, 0, 1), 4);
  EXPECT_EQ(item(powers, 1, 0), 8);
  const Value sums = callOp("aten._foreach_add.Tensor", {pair, tensorOf({}, {10})}, {{"alpha", Value(2.0)}}).value();
  EXPECT_EQ(item(sums, 0, 0), 21);
  const Value norms = callOp("aten._foreach_norm.Scalar", {pair, 1.0}).value();
  EXPECT_EQ(item(norms, 0, 0), 3);
  EXPECT_EQ(item(callOp("aten._foreach_max.default", {pair}).value(), 0, 0), 2);
  ASSERT_TRUE(callOp("aten._foreach_mul_.Tensor", {pair, tensorOf({}, {10})}));
  EXPECT_EQ(item(pair, 1, 0), 30);
  const Value python = callPythonLevel("torch._foreach_pow", {2.0, pair}, {}, referenceOps()).value();
  EXPECT_EQ(item(python, 0, 0), 1024);
}

TEST(PythonLevelOut, WritesTheResultThere) {
  const Tensor out = tensorOf({2}, {0, 0}), x = tensorOf({2}, {1, 2});
  const Value result = callPythonLevel("torch.add", {x, x}, {{"out", Value(out)}}, referenceOps()).value();
  EXPECT_EQ(out.itemAsDouble(1), 4);
  EXPECT_EQ(result.tensor().storage(), out.storage());
  const Value grown =
      callPythonLevel("torch.add", {x, x}, {{"out", Value(tensorOf({1}, {0}))}}, referenceOps()).value();
  EXPECT_EQ(grown.tensor().numel(), 2);
  EXPECT_EQ(grown.tensor().itemAsDouble(1), 4);
}

}  // namespace
}  // namespace kerf
