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

TEST(MemoryBudget, AggressiveRulesLeaveTheListOut) {
  PartitionOptions options;
  options.budget.aggressive = true;
  EXPECT_EQ(savedOf(options, 1), (Names{"mm compute_intensive", "permute min_cut"}));
}

TEST(MemoryBudget, ViewsAreSavedUnlessTheyAreMadeAgain) {
  PartitionOptions options;
  options.budget.rules.recomputesViews = true;
  EXPECT_EQ(savedOf(options, 1), (Names{"primals_2 input", "mm allow_list"}));
}

TEST(MemoryBudget, StaticInputsAreFreeUnlessTheyCountAsOthers) {
  PartitionOptions options;
  options.joint.staticInputs = {"primals_2"};
  EXPECT_EQ(savedOf(options, 1), (Names{"primals_2 input", "mm allow_list"}));
  options.budget.rules.freeParameters = false;
  EXPECT_EQ(savedOf(options, 1), savedOf({}, 1));
}

TEST(MemoryBudget, RuntimesAreCountedMeasuredOrAllAlike) {
  const auto read = readJointGraph(*parseReadable(joint), {});
  ASSERT_TRUE(read) << read.error().text();
  int mm = 0;
  while (read->name(mm) != "mm") ++mm;
  EXPECT_EQ(estimateRuntime(*read, mm, *estimatorFromName("flops")), 2 * 8 * 8 * 8);
  EXPECT_GT(estimateRuntime(*read, mm, *estimatorFromName("profile")), 0);
  EXPECT_EQ(estimateRuntime(*read, mm, *estimatorFromName("testing")), 1);
  EXPECT_EQ(estimatorFromName("cycles").error().code, ErrorCode::BadUsage);
}

/// By name, of a joint graph's primals.
Names staticInputsOf(const std::string& arguments, const std::string& gradients) {
  const auto module =
      parseReadable(fmt::format("class joint(torch.nn.Module):\n    def forward(self, {}):\n"
                                "        return [tangents_1, {}]\n",
                                arguments, gradients));
  EXPECT_TRUE(module) << module.error().text();
  const auto read = readJointGraph(*module, {});
  EXPECT_TRUE(read) << read.error().text();
  Names names;
  for (int place = 0; place < int(read->nodes.size()); ++place)
    if (read->nodes[std::size_t(place)].isStatic) names.push_back(read->name(place));
  return names;
}

TEST(StaticInputs, AreTrainedOrNoBatch) {
  const std::string primals =
      "primals_1: \"f32[8][1]cpu\", primals_2: \"i64[1, 8][8, 1]cpu\", "
      "primals_3: \"i64[][]cpu\", primals_4: \"f32[2, 8][8, 1]cpu\", ";
  EXPECT_EQ(staticInputsOf(primals + "tangents_1: \"f32[2, 3][3, 1]cpu\"", "tangents_1, None, None, None"),
            (Names{"primals_1", "primals_2", "primals_3"}));
  EXPECT_EQ(staticInputsOf(primals + "tangents_1: \"f32[][]cpu\"", "tangents_1, None, None, None"),
            (Names{"primals_1"}))
      << "a loss has no batch";
}

TEST(SavedSymbols, BindTheSizesThatTheBackwardPartSees) {
  const auto module = parseReadable(R"py(class joint(torch.nn.Module):
    def forward(self, primals_1: "Sym(s0)", primals_2: "f32[s0, 8][8, 1]cpu", tangents_1: "f32[s0, 8][8, 1]cpu"):
        sin: "f32[s0, 8][8, 1]cpu" = torch.ops.aten.sin.default(primals_2)
        cos: "f32[s0, 8][8, 1]cpu" = torch.ops.aten.cos.default(primals_2)
        mul: "f32[s0, 8][8, 1]cpu" = torch.ops.aten.mul.Tensor(tangents_1, cos)
        return [sin, None, mul]
)py");
  ASSERT_TRUE(module) << module.error().text();
  const auto partition = partitionJoint(*module);
  ASSERT_TRUE(partition) << partition.error().text();
  ASSERT_EQ(partition->saved.size(), 1u);
  EXPECT_EQ(partition->saved[0].name, "primals_2");
  EXPECT_EQ(partition->symbols, Names{"primals_1"});
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
