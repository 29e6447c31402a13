// What is saved of a small joint graph: the cut, the rules that ban computing again, budgets, tags.
#include <gtest/gtest.h>

#include "engine/ir/parser.h"
#include "engine/partition/partition.h"

namespace kerf {
namespace {

constexpr const char* joint = R"(class joint(torch.nn.Module):
    def forward(self, primals_1: "f32[8, 8][8, 1]cpu", primals_2: "f32[8, 8][8, 1]cpu", tangents_1: "f32[8, 8][8, 1]cpu"):
        mm: "f32[8, 8][8, 1]cpu" = torch.ops.aten.mm.default(primals_2, primals_1)
        sin: "f32[8, 8][8, 1]cpu" = torch.ops.aten.sin.default(mm)
        cos: "f32[8, 8][8, 1]cpu" = torch.ops.aten.cos.default(mm)
        mul: "f32[8, 8][8, 1]cpu" = torch.ops.aten.mul.Tensor(tangents_1, cos)
        permute: "f32[8, 8][1, 8]cpu" = torch.ops.aten.permute.default(primals_2, [1, 0])
        mm_1: "f32[8, 8][8, 1]cpu" = torch.ops.aten.mm.default(permute, mul)
        return [sin, mm_1, None]
)";

std::vector<std::string> savedOf(const PartitionOptions& options, double budget) {
  const auto module = parseReadable(joint);
  EXPECT_TRUE(module) << module.error().text();
  const auto partition = partitionJoint(*module, options, budget);
  EXPECT_TRUE(partition) << partition.error().text();
  std::vector<std::string> saved;
  if (partition)
    for (const SavedValue& value : partition->saved) saved.push_back(value.name + " " + value.rule);
  return saved;
}

using Names = std::vector<std::string>;

TEST(MemoryBudget, SavesHeavyValuesAndComputesCheapOnesAgain) {
  EXPECT_EQ(savedOf({}, 1), (Names{"mm allow_list", "permute min_cut"}));
}

TEST(MemoryBudget, SavesTheInputsAloneAtZero) {
  EXPECT_EQ(savedOf({}, 0), (Names{"primals_1 input", "primals_2 input"}));
}

TEST(MemoryBudget, IsAPartOfOne) {
  const auto module = parseReadable(joint);
  ASSERT_TRUE(module);
  for (const double budget : {-0.1, 1.5}) {
    const auto partition = partitionJoint(*module, {}, budget);
    ASSERT_FALSE(partition);
    EXPECT_EQ(partition.error().code, ErrorCode::BadUsage);
  }
}

TEST(DefaultPartition, SavesAllElementsOfAForwardTuple) {
  const auto module = parseReadable(R"(class joint(torch.nn.Module):
    def forward(self, primals_1: "f32[8, 8][8, 1]cpu", tangents_1: "f32[8, 8][8, 1]cpu"):
        native_layer_norm = torch.ops.aten.native_layer_norm.default(primals_1, [8], None, None, 1e-05)
        getitem: "f32[8, 8][8, 1]cpu" = native_layer_norm[0]
        getitem_1: "f32[8, 1][1, 1]cpu" = native_layer_norm[1]
        getitem_2: "f32[8, 1][1, 1]cpu" = native_layer_norm[2]
        sub: "f32[8, 8][8, 1]cpu" = torch.ops.aten.sub.Tensor(primals_1, getitem_1)
        mul: "f32[8, 8][8, 1]cpu" = torch.ops.aten.mul.Tensor(sub, getitem_2)
        mul_1: "f32[8, 8][8, 1]cpu" = torch.ops.aten.mul.Tensor(tangents_1, mul)
        return [getitem, mul_1]
)");
  ASSERT_TRUE(module) << module.error().text();
  const auto partition = partitionJoint(*module, {.method = PartitionMethod::Default});
  ASSERT_TRUE(partition) << partition.error().text();
  Names saved;
  for (const SavedValue& value : partition->saved) saved.push_back(value.name);
  EXPECT_EQ(saved, (Names{"primals_1", "getitem_1", "getitem_2"}));
}

TEST(RecomputeTags, DecideOverTheCut) {
  PartitionOptions options;
  options.joint.policies = {{"mm", RecomputePolicy::MustRecompute}};
  EXPECT_EQ(savedOf(options, 1), (Names{"primals_1 input", "primals_2 input"}));
  options.joint.policies = {{"cos", RecomputePolicy::MustSave}};
  EXPECT_EQ(savedOf(options, 1), savedOf({}, 1)) << "only the backward part needs cos";
}

TEST(RecomputeTags, NameNodesThatAreThere) {
  const auto module = parseReadable(joint);
  ASSERT_TRUE(module);
  PartitionOptions options;
  options.joint.policies = {{"tan", RecomputePolicy::MustSave}};
  const auto partition = partitionJoint(*module, options);
  ASSERT_FALSE(partition);
  EXPECT_EQ(partition.error().code, ErrorCode::NotFound);
  EXPECT_EQ(policyFromName("<CheckpointPolicy.PREFER_SAVE: 1>"), RecomputePolicy::PreferSave);
}

}  // namespace
}  // namespace kerf
