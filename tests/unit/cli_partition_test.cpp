// kerf partition: what is saved and why, the texts of both graphs, budgets beside each other, and what is refused.
#include "engine/support/recordings.h"
#include "tests/support/cli_test.h"

namespace kerf::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class PartitionCommandTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    if (!fs::exists(mlp)) GTEST_SKIP() << "no golden models";
  }
  const fs::path mlp = recordingsFolder() / "golden/mlp";
  const std::string joint = (mlp / "train_joint.txt").string();
};

json namesOf(const json& rows) {
  json names = json::array();
  for (const auto& row : rows) names.push_back(row["name"]);
  return names;
}

TEST_F(PartitionCommandTest, SavesWhatPyTorchSaves) {
  const auto recorded = json::parse(textOf(mlp / "partition.json"));
  for (const char* budget : {"1.0", "0.5", "0.0"}) {
    const auto report = runJson({"partition", joint, "--budget", budget});
    EXPECT_EQ(report["saved"], recorded[budget]["saved"]) << budget;
    EXPECT_EQ(report["saved_bytes"], recorded[budget]["bytes"]) << budget;
    EXPECT_EQ(report["forward_nodes"], recorded[budget]["fw_nodes"]) << budget;
    EXPECT_EQ(report["backward_nodes"], recorded[budget]["bw_nodes"]) << budget;
    EXPECT_EQ(namesOf(report["cut"]), report["saved"]) << budget;
    EXPECT_EQ(report["static_inputs_from"], "gradients");
    EXPECT_THAT(report["static_inputs"].get<std::vector<std::string>>(), ::testing::Contains("primals_1"));
  }
  const auto everything = runJson({"partition", joint, "--method", "default"});
  EXPECT_EQ(everything["saved"], recorded["default_partition"]["saved"]);
  EXPECT_EQ(everything["cut"][0]["why"], "forward");
}

TEST_F(PartitionCommandTest, SaysWhyAValueIsSaved) {
  const auto report = runJson({"partition", joint});
  const json expected = {
      {"name", "addmm_1"}, {"value", "f32[4, 32]"}, {"bytes", 512}, {"why", "banned"}, {"rule", "allow_list"}};
  EXPECT_EQ(report["cut"][4], expected);
  EXPECT_THAT(report["recomputed"], ElementsAre("permute_2", "mul_1", "erf", "add", "permute_1"));
  const auto shown = run({"partition", joint});
  EXPECT_THAT(shown.output, HasSubstr("relu       f32[4, 32]     512  banned: materialized\n"));
  EXPECT_THAT(shown.output, HasSubstr("saved: 6 values, 6912 bytes\n"));
  EXPECT_THAT(shown.output, HasSubstr("forward: 20 nodes, backward: 48 nodes\n"));
  EXPECT_THAT(shown.errors, HasSubstr("does not say which inputs are parameters"));
}

TEST_F(PartitionCommandTest, PoliciesOfNodesAreKept) {
  const auto kept = runJson({"partition", joint, "--policy", "erf=must_save", "--policy", "relu=must_recompute"});
  EXPECT_THAT(kept["recomputed"], ::testing::Not(::testing::Contains("erf")));
  EXPECT_THAT(kept["saved"], ::testing::Not(::testing::Contains("relu")));
  EXPECT_THAT(kept["recomputed"], ::testing::Contains("relu"));
  const auto wrong = run({"partition", joint, "--policy", "erf=sometimes"});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_THAT(wrong.errors, HasSubstr("is not a NODE=POLICY"));
  EXPECT_THAT(run({"partition", joint, "--policy", "nobody=must_save"}).errors, HasSubstr("no node nobody"));
}

TEST_F(PartitionCommandTest, WritesTwoGraphsThatReadBack) {
  const std::string parts = (folder / "parts").string();
  ASSERT_EQ(run({"partition", joint, "-o", parts}).status, 0);
  EXPECT_EQ(runJson({"show", parts + "/forward.txt"})["node_count"], 20);
  EXPECT_EQ(runJson({"show", parts + "/backward.txt"})["node_count"], 48);
  const auto same = run({"diff", parts + "/forward.txt", (mlp / "train_forward.txt").string()});
  EXPECT_EQ(same.status, 0) << same.output;
}

TEST_F(PartitionCommandTest, OurOwnJointGraphKnowsItsParameters) {
  const auto report = runJson({"partition", (mlp / "model.pt2").string() + "@stage:joint"});
  EXPECT_EQ(report["static_inputs_from"], "traced");
  EXPECT_EQ(report["static_inputs"].size(), 6u);
  EXPECT_EQ(report["saved_bytes"], 6912);
}

TEST_F(PartitionCommandTest, LogsKnowTheirParameters) {
  const auto trace = recordingsFolder() / "traces/convnext_seed";
  if (!fs::exists(trace)) GTEST_SKIP() << "no recorded traces";
  const auto report = runJson({"partition", trace.string() + "#aot_joint_graph"});
  EXPECT_EQ(report["static_inputs_from"], "recorded");
  const auto forward = runJson({"show", trace.string() + "#aot_forward_graph"});
  EXPECT_EQ(report["forward_nodes"], forward["node_count"]);
}

TEST_F(PartitionCommandTest, ParetoTradesBytesForOperations) {
  const std::string plot = (folder / "pareto.svg").string();
  const auto report = runJson({"partition", joint, "--pareto", "-o", plot});
  const auto& points = report["pareto"];
  ASSERT_EQ(points.size(), 21u);
  EXPECT_EQ(points[0]["budget"], 0);
  EXPECT_EQ(points[20]["budget"], 1);
  EXPECT_EQ(points[20]["saved_bytes"], 6912);
  EXPECT_EQ(points[0]["saved_bytes"], 7680) << "all inputs, whether the backward part would use them or not";
  for (std::size_t i = 2; i < points.size(); ++i) {
    EXPECT_LE(points[i - 1]["saved_bytes"], points[i]["saved_bytes"]) << i;
    EXPECT_GE(points[i - 1]["recomputed_flops"], points[i]["recomputed_flops"]) << i;
  }
  const std::string svg = textOf(plot);
  EXPECT_THAT(svg, ::testing::StartsWith("<svg "));
  EXPECT_THAT(svg, HasSubstr("<title>1: 6912 B</title>"));
  EXPECT_THAT(run({"partition", joint, "--pareto"}).output, HasSubstr("  1.00"));
}

TEST_F(PartitionCommandTest, RefusesWhatItCannotDo) {
  for (const char* budget : {"1.5", "-0.1", "nan"}) {
    const auto result = run({"partition", joint, "--budget", budget});
    EXPECT_EQ(result.status, 2) << budget;
    EXPECT_THAT(result.errors, HasSubstr(fmt::format("a memory budget lies between 0 (save the inputs alone) and 1; {} "
                                                     "does not",
                                                     budget)));
  }
  EXPECT_EQ(run({"partition", joint, "--knapsack", "random"}).status, 2);
  EXPECT_EQ(run({"partition", joint, "--pareto", "--method", "default"}).status, 2);
  const auto forward = run({"partition", (mlp / "train_forward.txt").string()});
  EXPECT_EQ(forward.status, 2);
  EXPECT_THAT(forward.errors, HasSubstr("is not a joint graph"));
  const auto many = run({"partition", joint, "--static-inputs", "8"});
  EXPECT_THAT(many.errors, HasSubstr("more than the joint graph has primals (7)"));
  const auto bare = run({"partition", (mlp / "train_joint.graph.txt").string()});
  EXPECT_EQ(bare.status, 2);
  EXPECT_THAT(bare.errors, HasSubstr("primals_1"));
  EXPECT_THAT(bare.errors, HasSubstr("shape and dtype are missing"));
}

TEST_F(PartitionCommandTest, StaticInputsAreFreeToSave) {
  const auto none = runJson({"partition", joint, "--static-inputs", "0"});
  EXPECT_EQ(none["static_inputs_from"], "given");
  EXPECT_NE(none["saved"], runJson({"partition", joint})["saved"]);
  const auto all = runJson({"partition", joint, "--static-inputs", "7"});
  EXPECT_EQ(all["static_inputs"].size(), 7u);
}

}  // namespace
}  // namespace kerf::cli
