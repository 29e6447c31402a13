// Joint graphs whose random numbers are functions of seeds that are inputs.
#include <gmock/gmock.h>

#include "autograd_testing.h"
#include "engine/autograd/decompose.h"
#include "engine/autograd/functional_rng.h"
#include "engine/ir/parser.h"
#include "engine/ops/random/state.h"

namespace kerf {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Two dropouts of a tensor on `device`, traced with its gradients.
AotGraph twoDropouts(const std::string& device) {
  const auto module =
      parseReadable("class GraphModule(torch.nn.Module):\n    def forward(self, x: \"f32[40, 30]" + device +
                    "\"):\n"
                    "        native_dropout = torch.ops.aten.native_dropout.default(x, 0.25, True)\n"
                    "        getitem = native_dropout[0]\n        sin = torch.ops.aten.sin.default(getitem)\n"
                    "        native_dropout_1 = torch.ops.aten.native_dropout.default(sin, 0.5, True)\n"
                    "        getitem_1 = native_dropout_1[0]\n        return (getitem_1,)\n");
  EXPECT_TRUE(module) << module.error().text();
  auto joint = aotTrace(*module, plainInputs(*module));
  EXPECT_TRUE(joint) << joint.error().text();
  return std::move(*joint);
}

Tensor onCuda(Tensor tensor) {
  tensor.setDevice({"cuda", 0});
  return tensor;
}

Value number(std::int64_t value) { return onCuda(Tensor::scalar(double(value), DType::Int64)); }

ValueList dataFor(const Graph& graph, std::size_t count) {
  ValueList inputs;
  for (std::size_t i = 0; i < count; ++i)
    inputs.push_back(onCuda(*randomTensor({40, 30}, std::uint32_t(i + 1)).to(DType::Float32)));
  EXPECT_GE(graph.placeholders().size(), count);
  return inputs;
}

std::vector<std::string> namesOf(const Graph& graph, const std::vector<NodeId>& ids) {
  std::vector<std::string> names;
  for (const NodeId id : ids) names.push_back(graph.node(id).name());
  return names;
}

std::size_t callsOf(const Graph& graph, std::string_view target) {
  return std::size_t(
      std::ranges::count_if(graph.order(), [&](NodeId id) { return graph.node(id).target() == target; }));
}

constexpr std::string_view philoxRand = "torch.ops.rngprims.philox_rand.default";

TEST(FunctionalRng, SeedsAreInputsAndTheNumbersAreTheGenerators) {
  AotGraph joint = twoDropouts("cuda:0");
  joint.module = *decomposeGraph(joint.module, DecompositionTable::Inductor);
  const GraphModule before = joint.module;
  ASSERT_EQ(
      callsOf(before.graph, "torch.ops.aten.rand.default") + callsOf(before.graph, "torch.ops.aten.rand_like.default"),
      2u);
  const auto done = functionalizeRng(joint);
  ASSERT_TRUE(done) << done.error().text();
  const Graph& graph = joint.module.graph;
  EXPECT_THAT(
      namesOf(graph, graph.placeholders()),
      ElementsAre("primals_1", "tangents_1", "fwd_seed_1", "fwd_base_offset_1", "bwd_seed_1", "bwd_base_offset_1"));
  EXPECT_EQ(callsOf(graph, philoxRand), 2u);

  ValueList inputs = dataFor(before.graph, 2);
  const GraphRun drawn = [&] {
    const RandomScope scope(77);
    return runGraph(before, inputs);
  }();
  for (const std::int64_t value : {77, 0, 5, 12}) inputs.push_back(number(value));
  const GraphRun given = runGraph(joint.module, inputs);
  ASSERT_EQ(drawn.outputs.size(), 2u);
  ASSERT_EQ(given.outputs.size(), 4u);
  EXPECT_EQ(largestDifference(given.outputs[0], drawn.outputs[0]), 0);
  EXPECT_EQ(given.outputs[1].tensor().itemAsInt(), 8);  // 1,200 numbers are one call of four a thread, twice
  EXPECT_EQ(largestDifference(given.outputs[2], drawn.outputs[1]), 0);
  EXPECT_EQ(given.outputs[3].tensor().itemAsInt(), 12);  // the backward part draws nothing
  EXPECT_EQ(largestDifference(runGraph(joint.module, inputs).outputs[0], given.outputs[0]), 0);

  inputs[3] = number(4);
  EXPECT_GT(largestDifference(runGraph(joint.module, inputs).outputs[0], given.outputs[0]), 0.1);
}

TEST(FunctionalRng, DropoutKeepsWhatIsDrawnAboveItsProbability) {
  AotGraph joint = twoDropouts("cuda:0");
  ASSERT_TRUE(functionalizeRng(joint));
  EXPECT_EQ(callsOf(joint.module.graph, "torch.ops.aten.native_dropout.default"), 0u);
  ValueList inputs = dataFor(joint.module.graph, 2);
  for (const std::int64_t value : {77, 0, 0, 0}) inputs.push_back(number(value));
  const auto out = valuesOf(runGraph(joint.module, inputs).outputs[0].tensor());
  const auto x = valuesOf(inputs[0].tensor());
  int kept = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (out[i] == 0) continue;
    ++kept;
    EXPECT_NEAR(out[i], 2 * std::sin(float(x[i] / 0.75)), 1e-5);
  }
  EXPECT_NEAR(kept / double(x.size()), 0.75 * 0.5, 0.05);
}

TEST(FunctionalRng, ACpuHasNoOffsets) {
  AotGraph joint = twoDropouts("");
  const auto done = functionalizeRng(joint);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::UnsupportedOp);
  EXPECT_EQ(done.error().node, "native_dropout");
}

TEST(FunctionalRng, WhatHasNoFormKeepsItsGeneratorAndSaysSo) {
  const auto module = parseReadable(
      "class GraphModule(torch.nn.Module):\n    def forward(self, x: \"f32[4]cuda:0\"):\n"
      "        randn_like = torch.ops.aten.randn_like.default(x)\n"
      "        mul = torch.ops.aten.mul.Tensor(x, randn_like)\n        return (mul,)\n");
  ASSERT_TRUE(module);
  auto joint = aotTrace(*module, plainInputs(*module));
  ASSERT_TRUE(joint);
  const std::size_t size = joint->module.graph.size();
  ASSERT_TRUE(functionalizeRng(*joint));
  EXPECT_EQ(joint->module.graph.size(), size);
  ASSERT_EQ(joint->metadata.notes.size(), 1u);
  EXPECT_THAT(joint->metadata.notes[0], HasSubstr("randn_like draws from the generator still"));
}

TEST(FunctionalRng, PhiloxRandIsRandInThatState) {
  const KeywordValues options{{"device", Device{"cuda", 0}}, {"dtype", DType::Float32}};
  const RandomScope scope(1234);
  const Value first = call("aten.rand.default", {Value(ValueList{std::int64_t{50}})}, options);
  const Value second = call("aten.rand.default", {Value(ValueList{std::int64_t{50}})}, options);
  const Value both = call("rngprims.philox_rand.default", {Value(ValueList{std::int64_t{50}}), number(1234), number(4),
                                                           Value(), Device{"cuda", 0}, DType::Float32});
  EXPECT_EQ(largestDifference(both.list()[0], second), 0);
  EXPECT_GT(largestDifference(both.list()[0], first), 0.01);
  EXPECT_EQ(both.list()[1].tensor().itemAsInt(), 4);
  EXPECT_EQ(randomState().cudaOffset, 8u);  // the generator itself did not move
}

}  // namespace
}  // namespace kerf
