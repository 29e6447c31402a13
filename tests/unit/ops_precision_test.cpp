// Precision on demand: upcast runs, exact sums, and rounding of narrow floats op by op.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "engine/ir/interpreter.h"
#include "engine/ir/parser.h"
#include "engine/mathlib/exact_sums.h"
#include "engine/ops/core/op_call.h"
#include "engine/ops/core/upcast.h"

namespace kerf {
namespace {

Tensor tensorOf(DType dtype, const std::vector<double>& values) {
  const auto wide = Tensor::zeros(DType::Float64, {std::int64_t(values.size())}).value();
  std::copy(values.begin(), values.end(), wide.data<double>());
  return wide.to(dtype).value();
}

double sumOf(const Tensor& tensor) { return callTensorOp("aten.sum.default", {tensor}).value().itemAsDouble(); }

/// x → convert to `first` → add 1 → convert to float32, as a graph.
GraphModule roundingGraph() {
  GraphModule module;
  Graph& graph = module.graph;
  const NodeId x = graph.placeholder("x");
  const NodeId narrow = graph.callFunction("torch.ops.prims.convert_element_type.default", {x, DType::BFloat16});
  const NodeId sum = graph.callFunction("torch.ops.aten.mul.Tensor", {narrow, narrow});
  const NodeId wide = graph.callFunction("torch.ops.prims.convert_element_type.default", {sum, DType::Float32});
  graph.output(wide);
  return module;
}

TEST(ExactSums, GiveTheCorrectlyRoundedSumAndMean) {
  const Tensor cancelling = tensorOf(DType::Float64, {1e16, 1, -1e16, 1e-30, 3});
  const ExactSums scope;
  EXPECT_EQ(sumOf(cancelling), 4.0);
  EXPECT_EQ(callTensorOp("aten.mean.default", {cancelling}).value().itemAsDouble(), 4.0 / 5);
  const Tensor floats = tensorOf(DType::Float32, {16777216, 1, 1, -16777216, 0x1p-30});
  EXPECT_EQ(sumOf(floats), double(2.0f));  // 2 + 2^-30 rounds to 2 once
}

TEST(ExactSums, DoNotDependOnTheOrder) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> draw(0, 1e8);
  std::vector<double> values(3000);
  for (double& value : values) value = std::pow(10.0, std::fmod(draw(random), 30));
  const ExactSums scope;
  const double first = sumOf(tensorOf(DType::Float64, values));
  for (int i = 0; i < 5; ++i) {
    std::shuffle(values.begin(), values.end(), random);
    EXPECT_EQ(sumOf(tensorOf(DType::Float64, values)), first);
  }
}

TEST(Precision, NarrowFloatsRoundToNearestEvenOpByOp) {
  for (const DType dtype : {DType::BFloat16, DType::Float16}) {
    const int bits = formatOf(dtype).bits;
    const double step = std::ldexp(1.0, 1 - bits);  // distance of neighbours above 1
    const Tensor one = tensorOf(dtype, {1, 1 + step, 1, -1});
    const Tensor half = tensorOf(dtype, {step / 2, step / 2, 0.75 * step, -step / 2});
    const Tensor sums = callTensorOp("aten.add.Tensor", {one, half}).value();
    ASSERT_EQ(sums.dtype(), dtype);
    EXPECT_EQ(sums.itemAsDouble(0), 1);             // a tie goes to the even neighbour below
    EXPECT_EQ(sums.itemAsDouble(1), 1 + 2 * step);  // and above
    EXPECT_EQ(sums.itemAsDouble(2), 1 + step);
    EXPECT_EQ(sums.itemAsDouble(3), -1);
  }
}

TEST(Precision, Float8RoundsToNearestEven) {
  const Tensor values = tensorOf(DType::Float32, {1.0625, 1.1875, 1.07, 448, -0.0009765625});
  const Tensor e4m3 = values.to(DType::Float8E4M3FN).value().to(DType::Float32).value();
  EXPECT_EQ(e4m3.itemAsDouble(0), 1.0);   // a tie between 1 and 1.125
  EXPECT_EQ(e4m3.itemAsDouble(1), 1.25);  // a tie between 1.125 and 1.25
  EXPECT_EQ(e4m3.itemAsDouble(2), 1.125);
  EXPECT_EQ(e4m3.itemAsDouble(3), 448.0);
  EXPECT_EQ(e4m3.itemAsDouble(4), 0.0);  // half of the smallest subnormal, 2^-9, ties to zero
}

TEST(Upcast, ComputesInFp64AndKeepsTheGraphsOwnRoundings) {
  const GraphModule module = roundingGraph();
  const double x = 1 + 0x1p-9;  // bfloat16 rounds it to 1
  const ValueList inputs{tensorOf(DType::Float32, {x})};
  const auto kept = runUpcast(module, inputs, {.keepRounding = true, .roundOutputs = false}).value();
  EXPECT_EQ(kept.tensor().dtype(), DType::Float64);
  EXPECT_EQ(kept.tensor().itemAsDouble(), 1.0);
  const auto free = runUpcast(module, inputs, {.keepRounding = false, .roundOutputs = false}).value();
  EXPECT_EQ(free.tensor().itemAsDouble(), x * x);
}

TEST(Upcast, SumsWhatFloatsLose) {
  GraphModule module;
  const NodeId x = module.graph.placeholder("x");
  const NodeId scaled = module.graph.callFunction("torch.ops.aten.mul.Tensor", {x, 0.1});
  module.graph.output(module.graph.callFunction("torch.ops.aten.sum.default", {scaled}));
  const float third = 1.0f / 3;
  const auto result = runUpcast(module, {tensorOf(DType::Float32, {third, third})}, {.roundOutputs = false}).value();
  EXPECT_EQ(result.tensor().itemAsDouble(), double(third) * 0.1 * 2);
}

/// A graph over one input of float32: `kind` of each line's result, or none.
GraphModule parsed(const std::string& body) {
  auto module = parseReadable("def forward(self, x: \"f32[3]\"):\n" + body);
  EXPECT_TRUE(module) << module.error().text();
  return std::move(*module);
}

/// In float32 y is a copy of x; it must not become x itself where both are float64.
TEST(Upcast, ConversionsStayCopies) {
  const GraphModule module = parsed(
      "    y: \"f64[3]\" = x.double()\n    w: \"f64[3]\" = y.add_(1)\n    z: \"f64[3]\" = torch.ops.aten.to.dtype(x, "
      "torch.float64)\n"
      "    v: \"f64[3]\" = z.mul_(3)\n    s: \"f32[3]\" = x.float()\n    t: \"f32[3]\" = s.mul_(2)\n    return (y, z, "
      "x)\n");
  const auto result = runUpcast(module, {tensorOf(DType::Float32, {1, 2, 3})}).value();
  const auto expect = [&](std::size_t i, const std::vector<double>& values) {
    for (std::size_t k = 0; k < values.size(); ++k)
      EXPECT_EQ(result.list()[i].tensor().itemAsDouble(std::int64_t(k)), values[k]) << i;
  };
  expect(0, {2, 3, 4});
  expect(1, {3, 6, 9});
  expect(2, {2, 4, 6});  // s is x
}

/// Draws are narrow; what is drawn reaches the memory that was written.
TEST(Upcast, DrawsReachWhatTheyWrite) {
  const GraphModule module = parsed("    y = torch.zeros_like(x)\n    w = y.uniform_(2, 3)\n    return (y,)\n");
  const auto result = runUpcast(module, {tensorOf(DType::Float32, {1, 2, 3})}).value();
  for (std::int64_t k = 0; k < 3; ++k) {
    EXPECT_GE(result.list()[0].tensor().itemAsDouble(k), 2);
    EXPECT_LT(result.list()[0].tensor().itemAsDouble(k), 3);
  }
}

}  // namespace
}  // namespace kerf
