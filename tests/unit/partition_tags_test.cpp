// Tags that say on which side a call must be, in both ways to partition: kept, and contradictions told.
#include <gmock/gmock.h>

#include "engine/ir/parser.h"
#include "tests/support/graph_fixture.h"
#include "tests/support/partition_values.h"

namespace kerf {
namespace {

using namespace testing;
using ::testing::HasSubstr;
using testing_support::randomTensor;

/// The backward part computes mm_1 of inputs alone: where nothing is said, either side may have it.
constexpr const char* joint = R"(class joint(torch.nn.Module):
    def forward(self, primals_1: "f32[8, 8][8, 1]cpu", primals_2: "f32[8, 8][8, 1]cpu", tangents_1: "f32[8, 8][8, 1]cpu"):
        mm: "f32[8, 8][8, 1]cpu" = torch.ops.aten.mm.default(primals_1, primals_2)
        sin: "f32[8, 8][8, 1]cpu" = torch.ops.aten.sin.default(mm)
        permute: "f32[8, 8][1, 8]cpu" = torch.ops.aten.permute.default(primals_2, [1, 0])
        mm_1: "f32[8, 8][8, 1]cpu" = torch.ops.aten.mm.default(permute, primals_1)
        mul: "f32[8, 8][8, 1]cpu" = torch.ops.aten.mul.Tensor(tangents_1, mm_1)
        return [sin, mm_1, mul]
)";

struct Tag {
  const char *node, *key, *value;
};

GraphModule tagged(std::initializer_list<Tag> tags) {
  auto module = parseReadable(joint);
  EXPECT_TRUE(module) << module.error().text();
  for (const Tag& tag : tags) {
    const NodeId id = *module->graph.find(tag.node);
    NodeMeta meta = module->graph.node(id).meta();
    meta.extra.emplace_back(tag.key, tag.value);
    module->graph.setMeta(id, std::move(meta));
  }
  return std::move(*module);
}

Result<Partition> partitioned(const GraphModule& module, PartitionMethod method, double budget = 1) {
  PartitionOptions options;
  options.method = method;
  return partitionJoint(module, options, budget);
}

ValueList randomInputs() {
  std::mt19937 random(3);
  ValueList inputs;
  for (int i = 0; i < 3; ++i) inputs.emplace_back(randomTensor(DType::Float32, {8, 8}, random));
  return inputs;
}

bool hasCall(const GraphModule& module, const char* name) {
  const auto id = module.graph.find(name);
  return id && module.graph.node(*id).op() == Opcode::CallFunction;
}

/// It stands behind what was traced forward, and the backward graph returns it.
TEST(SideTags, KeepACallInTheForwardGraph) {
  const GraphModule module = tagged({{"mm_1", "partitioner_tag", "'must_be_in_forward'"}});
  const ValueList inputs = randomInputs();
  const RunValues expected = runJoint(module, inputs);
  for (const PartitionMethod method : {PartitionMethod::Default, PartitionMethod::MinCut})
    for (const double budget : {1.0, 0.5, 0.0}) {
      const auto partition = partitioned(module, method, budget);
      ASSERT_TRUE(partition) << partition.error().text();
      EXPECT_TRUE(hasCall(partition->forward, "mm_1"));
      EXPECT_FALSE(hasCall(partition->backward, "mm_1"));
      EXPECT_EQ(firstDifference(runPartition(module, *partition, inputs), expected), "");
    }
}

TEST(SideTags, KeepACallInTheBackwardGraph) {
  const GraphModule module = tagged({{"permute", "partitioner_tag", "must_be_in_backward"}});
  const ValueList inputs = randomInputs();
  const RunValues expected = runJoint(module, inputs);
  for (const PartitionMethod method : {PartitionMethod::Default, PartitionMethod::MinCut}) {
    const auto partition = partitioned(module, method);
    ASSERT_TRUE(partition) << partition.error().text();
    EXPECT_FALSE(hasCall(partition->forward, "permute"));
    EXPECT_TRUE(hasCall(partition->backward, "permute"));
    EXPECT_EQ(firstDifference(runPartition(module, *partition, inputs), expected), "");
  }
}

TEST(SideTags, AViewThatMustBeInTheForwardGraphIsSaved) {
  const auto partition =
      partitioned(tagged({{"permute", "partitioner_tag", "must_be_in_forward"}}), PartitionMethod::MinCut);
  ASSERT_TRUE(partition) << partition.error().text();
  EXPECT_TRUE(hasCall(partition->forward, "permute"));
  EXPECT_FALSE(hasCall(partition->backward, "permute"));
}

TEST(SideTags, WinOverAPreferenceToComputeAgain) {
  const auto partition = partitioned(tagged({{"mm_1", "partitioner_tag", "must_be_in_forward"},
                                             {"mm_1", "recompute", "CheckpointPolicy.PREFER_RECOMPUTE"}}),
                                     PartitionMethod::MinCut);
  ASSERT_TRUE(partition) << partition.error().text();
  EXPECT_FALSE(hasCall(partition->backward, "mm_1"));
}

void expectRefused(std::initializer_list<Tag> tags, const std::string& message, const char* node) {
  const GraphModule module = tagged(tags);
  for (const PartitionMethod method : {PartitionMethod::Default, PartitionMethod::MinCut}) {
    const auto partition = partitioned(module, method);
    ASSERT_FALSE(partition);
    EXPECT_EQ(partition.error().code, ErrorCode::BadInput);
    EXPECT_THAT(partition.error().message, HasSubstr(message));
    EXPECT_EQ(partition.error().node, node);
  }
}

TEST(SideTags, ThatContradictEachOtherAreErrors) {
  expectRefused({{"mm", "partitioner_tag", "must_be_in_backward"}},
                "the forward part returns sin, which needs mm, which must be in the backward part", "sin");
  expectRefused({{"sin", "partitioner_tag", "must_be_in_backward"}},
                "the forward part returns sin, which must be in the backward part", "sin");
  expectRefused({{"mul", "partitioner_tag", "must_be_in_forward"}},
                "must_be_in_forward is said of mul, which needs tangents_1, an input of the backward part", "mul");
  expectRefused(
      {{"permute", "partitioner_tag", "must_be_in_backward"}, {"mm_1", "partitioner_tag", "must_be_in_forward"}},
      "must_be_in_forward is said of mm_1, which needs permute, which must be in the backward part", "mm_1");
  expectRefused({{"mm_1", "partitioner_tag", "must_be_in_forward"}, {"mm_1", "recompute", "MUST_RECOMPUTE"}},
                "mm_1 must be in the forward part and be computed again, in the other", "mm_1");
}

TEST(SideTags, AnInputIsNotComputedAgain) {
  expectRefused({{"primals_1", "recompute", "MUST_RECOMPUTE"}}, "primals_1 is an input, which nothing computes again",
                "primals_1");
  EXPECT_TRUE(partitioned(tagged({{"primals_1", "recompute", "PREFER_RECOMPUTE"}}), PartitionMethod::MinCut));
}

TEST(SideTags, OfInputsSayNothing) {
  for (const char* input : {"primals_1", "tangents_1"})
    for (const char* place : {"must_be_in_forward", "must_be_in_backward"}) {
      const auto partition = partitioned(tagged({{input, "partitioner_tag", place}}), PartitionMethod::MinCut);
      EXPECT_TRUE(partition) << partition.error().text();
    }
}

}  // namespace
}  // namespace kerf
