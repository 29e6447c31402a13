// A random call that is computed again draws the same numbers: the forward graph saves the generator's state.
#include <gmock/gmock.h>

#include "engine/ir/interpreter.h"
#include "engine/ir/parser.h"
#include "engine/ir/printer.h"
#include "engine/ops/core/op_registry.h"
#include "engine/ops/random/state.h"
#include "engine/partition/partition.h"

namespace kerf {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* joint = R"(class joint(torch.nn.Module):
    def forward(self, primals_1: "f32[8, 8][8, 1]cpu", tangents_1: "f32[8, 8][8, 1]cpu"):
        rand: "f32[8, 8][8, 1]cpu" = torch.ops.aten.rand.default([8, 8], dtype = torch.float32, device = device(type='cpu'), pin_memory = False)
        mul: "f32[8, 8][8, 1]cpu" = torch.ops.aten.mul.Tensor(primals_1, rand)
        rand_1: "f32[8, 8][8, 1]cpu" = torch.ops.aten.rand.default([8, 8], dtype = torch.float32, device = device(type='cpu'), pin_memory = False)
        add: "f32[8, 8][8, 1]cpu" = torch.ops.aten.add.Tensor(mul, rand_1)
        mul_1: "f32[8, 8][8, 1]cpu" = torch.ops.aten.mul.Tensor(tangents_1, rand)
        return [add, mul_1]
)";

Partition partitioned(const JointOptions& options) {
  const auto module = parseReadable(joint);
  EXPECT_TRUE(module) << module.error().text();
  auto partition = partitionJoint(*module, {.joint = options});
  EXPECT_TRUE(partition) << partition.error().text();
  return partition ? std::move(*partition) : Partition();
}

ValueList run(const GraphModule& module, const ValueList& inputs) {
  const auto result = Interpreter(module, referenceOps()).run(inputs);
  EXPECT_TRUE(result) << result.error().text();
  return result ? result->list() : ValueList();
}

std::vector<double> valuesOf(const Value& value) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < value.tensor().numel(); ++i) values.push_back(value.tensor().itemAsDouble(i));
  return values;
}

TEST(RepeatedDraws, AreSavedWithoutAPolicy) {
  const Partition partition = partitioned({});
  ASSERT_EQ(partition.saved.size(), 1u);
  EXPECT_EQ(partition.saved[0].name, "rand");
  EXPECT_EQ(partition.saved[0].rule, "random");
  EXPECT_THAT(printGraphText(partition.forward.graph), Not(HasSubstr("rng_state")));
}

TEST(RepeatedDraws, SaveTheGeneratorsStateWithAPolicy) {
  const Partition partition = partitioned({.policies = {{"rand", RecomputePolicy::MustRecompute}}});
  ASSERT_EQ(partition.saved.size(), 1u);
  EXPECT_EQ(partition.saved[0].name, "rng_state_output_0");
  EXPECT_EQ(partition.saved[0].rule, "rng_state");
  EXPECT_EQ(partition.savedBytes, 5056);
  EXPECT_THAT(partition.recomputed, ElementsAre("rand"));
  const std::string forward = printGraphText(partition.forward.graph),
                    backward = printGraphText(partition.backward.graph);
  EXPECT_THAT(forward, HasSubstr("run_and_save_rng_state](args = (torch.ops.aten.rand.default, [8, 8])"));
  EXPECT_THAT(backward,
              HasSubstr("run_with_rng_state](args = (%rng_state_output_0, torch.ops.aten.rand.default, [8, 8])"));
  std::vector<std::string> inputs;
  for (const NodeId id : partition.backward.graph.placeholders())
    inputs.push_back(partition.backward.graph.node(id).name());
  EXPECT_THAT(inputs, ElementsAre("rng_state_output_0", "tangents_1"));
}

TEST(RepeatedDraws, GiveTheValuesOfTheJointGraph) {
  const auto module = parseReadable(joint);
  ASSERT_TRUE(module);
  Tensor x = *Tensor::zeros(DType::Float32, {8, 8}), tangent = *Tensor::zeros(DType::Float32, {8, 8});
  for (int i = 0; i < 64; ++i) {
    x.data<float>()[i] = float(i) - 20;
    tangent.data<float>()[i] = float(i % 7);
  }
  const Partition partition = partitioned({.policies = {{"rand", RecomputePolicy::MustRecompute}}});
  const RandomScope random;
  const ValueList expected = run(*module, {x, tangent});
  seedRandom();
  const ValueList forward = run(partition.forward, {x});
  ASSERT_EQ(forward.size(), 2u);
  const std::uint32_t next = CpuGenerator(randomState().cpu).random();
  const ValueList backward = run(partition.backward, {forward[1], tangent});
  EXPECT_EQ(valuesOf(forward[0]), valuesOf(expected[0]));
  EXPECT_EQ(valuesOf(backward[0]), valuesOf(expected[1]));
  EXPECT_EQ(randomState().cpu.random(), next) << "the backward graph leaves the generator as it was";
}

TEST(RandomStateTensor, HoldsTheWholeState) {
  RandomState state;
  state.cpu.reseed(7);
  for (int i = 0; i < 1000; ++i) (void)state.cpu.random();
  (void)state.cpu.normal();  // the second of the pair waits
  RandomState again;
  ASSERT_TRUE(setStateTensor(again, *stateTensor(state, false)));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(again.cpu.normal(), state.cpu.normal());
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(again.cpu.random(), state.cpu.random());
  state.cudaSeed = 5;
  state.cudaOffset = 12;
  ASSERT_TRUE(setStateTensor(again, *stateTensor(state, true)));
  EXPECT_EQ(again.cudaSeed, 5u);
  EXPECT_EQ(again.cudaOffset, 12u);
  EXPECT_EQ(setStateTensor(again, *Tensor::zeros(DType::UInt8, {7})).error().code, ErrorCode::ShapeMismatch);
  EXPECT_EQ(setStateTensor(again, *Tensor::zeros(DType::Float32, {5056})).error().code, ErrorCode::ShapeMismatch);
}

}  // namespace
}  // namespace kerf
