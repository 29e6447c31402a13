// What all gradients have in common, and that the check of them by differences finds what is wrong; flops; sharding.
#include <cmath>

#include "engine/conformance/step_recorder.h"
#include "engine/ops/core/cost.h"
#include "engine/ops/core/gradient.h"
#include "ops_gradient_samples.h"

namespace kerf {
namespace {

using namespace testing;
using Outcome = DifferenceCheck::Outcome;

/// One sample bound, with what it gives.
struct Evaluated {
  BoundArguments args;
  ValueList results;

  explicit Evaluated(const Sample& sample)
      : args(bindArguments(*findOp(sample.op), sample.args, sample.kwargs).value()) {
    const Value result = args.op->kernel(args).value();
    results = result.isList() ? result.list() : ValueList{result};
  }
  CallRecord record() const { return {args, results}; }
};

TEST(OpGradients, OfHalfPrecisionArgumentsHaveTheirType) {
  const Tensor half = counting({2, 2}, DType::Float16), wide = counting({2, 2});
  const Evaluated run({"aten.mul.Tensor", {half, wide}});
  const ValueList grads{counting({2, 2})};
  const auto gradients = run.args.op->gradient(run.record(), grads, OpRunner(referenceOps()));
  ASSERT_TRUE(gradients);
  EXPECT_EQ((*gradients)[0].tensor().dtype(), DType::Float16);
  EXPECT_EQ((*gradients)[1].tensor().dtype(), DType::Float32);
}

TEST(OpGradients, LeaveOutWhatNobodyWants) {
  const Evaluated run({"aten.mul.Tensor", {counting({2, 2}), counting({2})}});
  CallRecord call = run.record();
  call.wanted = {false, true};
  const auto gradients = call.args.op->gradient(call, {counting({2, 2})}, OpRunner(referenceOps()));
  ASSERT_TRUE(gradients);
  EXPECT_TRUE((*gradients)[0].isNone());
  EXPECT_EQ(valuesOf((*gradients)[1].tensor()), (std::vector<double>{4, 10}));
}

DifferenceCheck checked(const Sample& sample, NumberField field = NumberField::Real) {
  return checkByDifferences(*bindArguments(*findOp(sample.op), sample.args, sample.kwargs), field);
}

/// Fake quantization lets the gradient through though its result has steps: differences must say so.
TEST(DifferenceCheck, FindsAGradientThatIsNotTheSlope) {
  const Value x = signedTensor({3, 4}, 1);
  const DifferenceCheck check =
      checked({"aten.fake_quantize_per_tensor_affine_cachemask.default", {x, 0.1, whole(0), whole(-128), whole(127)}});
  EXPECT_EQ(check.outcome, Outcome::Differs);
  EXPECT_TRUE(check.text.starts_with("argument 'self': differences 0, gradient ")) << check.text;
}

TEST(DifferenceCheck, TellsWhatItDidNotCheck) {
  const Value x = signedTensor({3, 4}, 1), number = positions({2}, {1, 2});
  EXPECT_EQ(checked({"aten.floor.default", {x}}).outcome, Outcome::Constant);
  EXPECT_EQ(checked({"aten.add.Tensor", {number, number}}).text, "no floating-point argument");
  EXPECT_EQ(checked({"aten.gt.Scalar", {x, 0.0}}).text, "no floating-point result");
  EXPECT_EQ(checked({"aten.detach.default", {x}}).text, "nothing flows by definition");
  EXPECT_EQ(checked({"aten.nextafter.default", {x, x}}).text, "PyTorch has no derivative of the op");
  EXPECT_EQ(checked({"aten.relu.default", {signedTensor({0}, 1)}}).text, "results have no elements");
}

/// Recorded values may be ties and kinks; the check moves off them.
TEST(DifferenceCheck, MovesOffKinks) {
  const Tensor zeros = callTensor("aten.zeros.default", {ints({5})});
  EXPECT_EQ(checked({"aten.relu.default", {zeros}}).outcome, Outcome::Agrees);
  EXPECT_EQ(checked({"aten.max.default", {zeros}}).outcome, Outcome::Agrees);
  EXPECT_EQ(checked({"aten.log.default", {callTensor("aten.neg.default", {counting({4})})}}).outcome, Outcome::Agrees);
}

/// A program's gradient is that of its steps.
TEST(DifferenceCheck, WalksThroughPrograms) {
  ASSERT_EQ(findOp("aten.rot90.default")->gradient, nullptr);
  expectGradients({{"aten.rot90.default", {signedTensor({3, 4}, 1), whole(1), ints({0, 1})}}});
}

TEST(StepRecorder, AddsUpWhatFlowsToOneTensor) {
  const StepRecorder recorder(referenceOps());
  const Tensor x = recorder.leaf(tensorOf({2}, {3, 5}));
  const auto product = recorder.call("aten.mul.Tensor", {x, x}, {});
  ASSERT_TRUE(product);
  const auto flows = recorder.pullBack({{product->tensor().traced, tensorOf({2}, {1, 10})}});
  ASSERT_TRUE(flows) << flows.error().text();
  EXPECT_EQ(valuesOf(flows->at(x.traced)), (std::vector<double>{6, 100}));
  const auto tangents = recorder.pushForward({{x.traced, tensorOf({2}, {1, 10})}});
  ASSERT_TRUE(tangents) << tangents.error().text();
  EXPECT_EQ(valuesOf(tangents->at(product->tensor().traced)), (std::vector<double>{6, 100}));
}

TEST(StepRecorder, NamesTheOpThatHasNoRule) {
  const StepRecorder recorder(referenceOps());
  const Tensor x = recorder.leaf(tensorOf({2}, {3, 5}));
  ASSERT_TRUE(recorder.call("aten.nextafter.default", {x, x}, {}));
  const Tensor y = recorder.leaf(tensorOf({2}, {3, 5}));
  const auto result = recorder.call("aten.nextafter.default", {y, y}, {});
  const auto flows = recorder.pullBack({{result->tensor().traced, tensorOf({2}, {1, 1})}});
  ASSERT_FALSE(flows);
  EXPECT_EQ(flows.error().message,
            "the gradient of aten.nextafter.default: aten.nextafter.default has no derivative in PyTorch");
}

/// Straight through inside of the range.
TEST(QuantizationGradients, GoThroughTheRange) {
  const Tensor x = tensorOf({4}, {-20, -0.3, 0.4, 20});
  const OpRunner run(referenceOps());
  const Tensor grad = tensorOf({4}, {1, 2, 3, 4});
  for (const char* op :
       {"aten.fake_quantize_per_tensor_affine_cachemask.default", "aten.fake_quantize_per_tensor_affine.default"}) {
    const Evaluated one({op, {x, 0.1, whole(0), whole(-100), whole(100)}});
    ValueList grads(one.results.size());
    grads[0] = grad;
    const auto gradients = one.args.op->gradient(one.record(), grads, run);
    ASSERT_TRUE(gradients) << gradients.error().text();
    EXPECT_EQ(valuesOf((*gradients)[0].tensor()), (std::vector<double>{0, 2, 3, 0})) << op;
  }
}

TEST(OpCost, CountsAsTorchsFlopCounter) {
  const auto flops = [](const Sample& sample) {
    const Evaluated run(sample);
    return flopsOf(run.args, run.results);
  };
  EXPECT_EQ(flops({"aten.mm.default", {counting({3, 4}), counting({4, 5})}}), 2.0 * 3 * 4 * 5);
  EXPECT_EQ(flops({"aten.addmm.default", {counting({5}), counting({3, 4}), counting({4, 5})}}), 2.0 * 3 * 4 * 5);
  EXPECT_EQ(flops({"aten.bmm.default", {counting({2, 3, 4}), counting({2, 4, 5})}}), 2.0 * 2 * 3 * 4 * 5);
  const Value image = counting({2, 3, 8, 8}), filters = counting({4, 3, 3, 3}), none;
  const Sample convolution{
      "aten.convolution.default",
      {image, filters, none, ints({1, 1}), ints({0, 0}), ints({1, 1}), false, ints({0, 0}), std::int64_t{1}}};
  EXPECT_EQ(flops(convolution), 2.0 * 2 * 6 * 6 * 4 * 3 * 3 * 3);
  EXPECT_EQ(flops({"aten.relu.default", {counting({3, 4})}}), 12.0);
  EXPECT_EQ(flops({"aten.sum.default", {counting({3, 4})}}), 12.0);
  EXPECT_EQ(flops({"aten.view.default", {counting({3, 4}), ints({12})}}), 0.0);
}

TEST(OpCost, ClassesAreThePartitioners) {
  const auto cost = [](const char* op) { return recomputeCostOf(*findOp(op)); };
  EXPECT_EQ(cost("aten.view.default"), RecomputeCost::Free);
  EXPECT_EQ(cost("aten.relu.default"), RecomputeCost::Fusible);
  EXPECT_EQ(cost("aten.sum.default"), RecomputeCost::Reads);
  EXPECT_EQ(cost("aten.mm.default"), RecomputeCost::ComputeIntensive);
  EXPECT_EQ(cost("aten.rand.default"), RecomputeCost::Never);
  EXPECT_EQ(cost("aten.add_.Tensor"), RecomputeCost::Never);
}

/// The equation that shards an op is what the op computes.
TEST(OpSharding, EquationsAreWhatTheirOpsCompute) {
  const Sample cases[] = {{"aten.mm.default", {signedTensor({3, 4}, 1), signedTensor({4, 2}, 2)}},
                          {"aten.bmm.default", {signedTensor({2, 3, 4}, 1), signedTensor({2, 4, 2}, 2)}},
                          {"aten.mv.default", {signedTensor({3, 4}, 1), signedTensor({4}, 2)}},
                          {"aten.dot.default", {signedTensor({4}, 1), signedTensor({4}, 2)}},
                          {"aten.t.default", {signedTensor({3, 4}, 1)}}};
  std::size_t equations = 0;
  for (const OpInfo& op : allOps()) equations += op.sharding.kind == ShardingKind::Einsum;
  EXPECT_EQ(equations, std::size(cases));
  for (const Sample& sample : cases) {
    const std::string equation = findOp(sample.op)->sharding.text;
    const Tensor wanted = callTensor("aten.einsum.default", {equation, Value(sample.args)});
    const Tensor actual = callTensor(sample.op, sample.args);
    ASSERT_EQ(actual.sizes(), wanted.sizes()) << sample.op;
    const auto a = valuesOf(actual), b = valuesOf(wanted);
    for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-12) << sample.op;
  }
}

}  // namespace
}  // namespace kerf
