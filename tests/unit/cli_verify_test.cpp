// kerf verify from the command line: logs, folders of graph transforms, two graphs, and what goes wrong.
#include "engine/support/recordings.h"
#include "tests/support/cli_test.h"
#include "tests/support/recordings.h"

namespace kerf::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* before = R"(class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[4, 8][8, 1]cpu", w: "f32[8, 8][8, 1]cpu"):
        mm: "f32[4, 8][8, 1]cpu" = torch.ops.aten.mm.default(x, w)
        relu: "f32[4, 8][8, 1]cpu" = torch.ops.aten.relu.default(mm);  mm = None
        mul: "f32[4, 8][8, 1]cpu" = torch.ops.aten.mul.Tensor(relu, 0.7071);  relu = None
        sum_1: "f32[8][1]cpu" = torch.ops.aten.sum.dim_IntList(mul, [0])
        return (mul, sum_1)
)";

std::string changed(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

class VerifyTest : public CliTest {
 protected:
  std::string graph(const std::string& name, const std::string& text) const { return write(name, text).string(); }
};

TEST_F(VerifyTest, TwoGraphsThatMeanTheSame) {
  const auto a = graph("a.txt", before);
  // Another order of operands, and a sum over the transposed matrix.
  const auto b =
      graph("b.txt", changed(changed(before, "mul.Tensor(relu, 0.7071)", "div.Tensor(relu, 1.4142271248762551)"),
                             "sum.dim_IntList(mul, [0])", "sum.dim_IntList(mul, [-2])"));
  const auto result = runJson({"verify", a, "--against", b});
  EXPECT_EQ(result["same"], true);
  const auto& pair = result["compiles"][0]["pairs"][0];
  EXPECT_EQ(pair["verdict"], "same");
  EXPECT_EQ(pair["values"].size(), 2u);
  EXPECT_EQ(pair["mapped"], 6);
  EXPECT_EQ(pair["map"]["mul"], "mul");
  EXPECT_EQ(pair["first_bad"], nullptr);
  EXPECT_EQ(pair["values"][0]["finite"].get<int>() + pair["values"][1]["finite"].get<int>(), 40);
}

TEST_F(VerifyTest, AConstantThatChangedIsNamed) {
  const auto a = graph("a.txt", before), b = graph("b.txt", changed(before, "0.7071", "0.7171"));
  const auto result = runJson({"verify", a, "--against", b}, 1);
  EXPECT_EQ(result["same"], false);
  const auto& pair = result["compiles"][0]["pairs"][0];
  EXPECT_EQ(pair["verdict"], "different");
  EXPECT_EQ(pair["first_bad"]["node"], "mul");
  EXPECT_THAT(pair["first_bad"]["call"], HasSubstr("0.7171"));
  EXPECT_THAT(pair["first_bad"]["call_before"], HasSubstr("0.7071"));
  EXPECT_NEAR(pair["values"][0]["relative_error_fp64"].get<double>(), 0.0100 / 0.7071, 1e-3);
  const auto text = run({"verify", a, "--against", b});
  EXPECT_EQ(text.status, 1);
  EXPECT_THAT(text.output, HasSubstr("first bad node: mul of"));
}

TEST_F(VerifyTest, CompareAgainstAnotherGraph) {
  const auto a = graph("a.txt", before), b = graph("b.txt", changed(before, "0.7071", "0.7171"));
  EXPECT_EQ(run({"compare", a, "--against", a}).status, 0);
  const auto result = run({"compare", a, "--against", b});
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.output, HasSubstr("first bad node: mul of"));
  EXPECT_EQ(run({"compare", a, "--against", b, "--nodes"}).status, 2);
}

TEST_F(VerifyTest, InputsBelongTogetherByName) {
  const auto a = graph("a.txt", before);
  const auto b = graph("b.txt", changed(before, "x: \"f32[4, 8][8, 1]cpu\", w: \"f32[8, 8][8, 1]cpu\"",
                                        "w: \"f32[8, 8][8, 1]cpu\", x: \"f32[4, 8][8, 1]cpu\""));
  EXPECT_EQ(runJson({"verify", a, "--against", b})["same"], true);
}

TEST_F(VerifyTest, SaysWhichGraphsCannotBeCompared) {
  const auto a = graph("a.txt", before);
  const auto b = graph("b.txt", changed(before, "return (mul, sum_1)", "return (mul,)"));
  const auto result = run({"verify", a, "--against", b});
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.errors, HasSubstr("returns 2 values"));
  EXPECT_EQ(run({"verify", a, "--against", b, "--stage", "x"}).status, 2);
  EXPECT_EQ(run({"verify", (folder / "none.log").string()}).status, 2);
}

TEST_F(VerifyTest, AStageThatDoesNotRunIsNotCompared) {
  const auto a = graph("a.txt", before);
  const auto b = graph("b.txt", changed(before, "aten.relu.default", "mylib.unheard.default"));
  const auto result = runJson({"verify", a, "--against", b}, 2);
  EXPECT_EQ(result["same"], false);
  const auto& pair = result["compiles"][0]["pairs"][0];
  EXPECT_EQ(pair["verdict"], "not compared");
  EXPECT_THAT(pair["why"], HasSubstr("mylib"));
}

/// pass_<n>_<name>_input_graph and _output_graph: the pass that changes values is named.
TEST_F(VerifyTest, TheGraphTransformThatChangesValues) {
  fs::create_directories(folder / "xform");
  const auto put = [&](const std::string& name, const std::string& text) { write("xform/" + name, text); };
  put("pass_1_remove_noop_ops_input_graph.txt", before);
  put("pass_1_remove_noop_ops_output_graph.txt", before);
  put("pass_2_fuse_scale_input_graph.txt", before);
  put("pass_2_fuse_scale_output_graph.txt", changed(before, "mul.Tensor(relu, 0.7071)", "mul.Tensor(mm, 0.7071)"));
  const auto result = runJson({"verify", (folder / "xform").string()}, 1);
  ASSERT_EQ(result["compiles"].size(), 2u) << result.dump(1);
  EXPECT_EQ(result["compiles"][0]["pairs"][0]["verdict"], "identical");
  EXPECT_EQ(result["compiles"][1]["compile_id"], "2_fuse_scale");
  EXPECT_EQ(result["compiles"][1]["pairs"][0]["verdict"], "different");
  EXPECT_EQ(result["compiles"][1]["pairs"][0]["first_bad"]["node"], "mul");
}

fs::path recordedLog(const std::string& name) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(recordingsFolder() / "variety" / name / "trace", ignored))
    if (entry.path().extension() == ".log") return entry.path();
  return {};
}

TEST_F(VerifyTest, ARecordedTrainingStep) {
  const auto log = recordedLog("dropout_rng");
  if (log.empty()) GTEST_SKIP() << kerf::testing::leftOut(recordingsFolder() / "variety/dropout_rng");
  const auto result = runJson({"verify", log.string()});
  const auto& compile = result["compiles"][0];
  EXPECT_EQ(compile["compile_id"], "[0/0]");
  ASSERT_EQ(compile["pairs"].size(), 10u);
  EXPECT_EQ(compile["pairs"][2]["gradients"]["agrees"], true);
  EXPECT_EQ(compile["pairs"][2]["gradients"]["inputs"], 2);
  EXPECT_EQ(compile["pairs"][3]["after"], "aot_forward_graph + aot_backward_graph");
  EXPECT_EQ(compile["pairs"][3]["verdict"], "same");
  const auto one = runJson({"verify", log.string(), "--compile-id", "0/0", "--stage", "aot_joint_graph"});
  EXPECT_EQ(one["compiles"][0]["pairs"].size(), 2u);
  EXPECT_THAT(run({"verify", log.string(), "--stage", "nothing"}).errors, HasSubstr("there is no stage nothing"));
  EXPECT_THAT(run({"verify", log.string(), "--compile-id", "9/9"}).errors, HasSubstr("[0/0]"));
}

TEST_F(VerifyTest, SymbolsTakeOtherValues) {
  const auto log = recordedLog("dynamic_mlp");
  if (log.empty()) GTEST_SKIP() << kerf::testing::leftOut(recordingsFolder() / "variety/dynamic_mlp");
  const auto result = runJson({"verify", log.string(), "--sym", "s33=9", "--seed", "5"});
  EXPECT_EQ(result["compiles"][0]["symbols"]["s33"], 9);
  EXPECT_EQ(result["same"], true);
  const auto joint = result["compiles"][0]["pairs"][2];
  EXPECT_EQ(joint["values"][0]["name"], "out:0");
  EXPECT_EQ(joint["values"][0]["finite"], 36);  // [9, 4]
  EXPECT_THAT(run({"verify", log.string(), "--sym", "q7=9"}).errors, HasSubstr("no graph has a symbol q7"));
}

/// A stage that is wrong by itself: its neighbours agree.
TEST_F(VerifyTest, TheOddStageIsNamed) {
  const auto log = recordedLog("dropout_rng");
  if (log.empty()) GTEST_SKIP() << kerf::testing::leftOut(recordingsFolder() / "variety/dropout_rng");
  auto text = textOf(log);
  const auto joint = text.find("mul.Tensor(mul, 1.4285714285714286)", text.find("\"aot_joint_graph\""));
  ASSERT_NE(joint, std::string::npos);
  text.replace(joint, 35, "mul.Tensor(mul, 1.4385714285714286)");
  const auto result = run({"verify", write("odd.log", text).string()});
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.output, HasSubstr("aot_joint_graph differs from the stage before it and from the one after it"));
  EXPECT_THAT(result.output, HasSubstr("first bad node: mul_1 of aot_joint_graph"));
}

/// A record that is cut or damaged is a failure of its stage, and the stages around it are judged.
TEST_F(VerifyTest, AStageThatCannotBeReadIsAFailure) {
  const auto log = recordedLog("dropout_rng");
  if (log.empty()) GTEST_SKIP() << kerf::testing::leftOut(recordingsFolder() / "variety/dropout_rng");
  auto text = textOf(log);
  const auto header = text.find("\"aot_forward_graph\"");
  const auto from = text.find("def forward(", header), to = text.find("\nV", header);
  ASSERT_LT(from, to);
  text.replace(from, to - from, "def forward(self, (((");
  const auto path = write("unread.log", text).string();
  const auto result = runJson({"verify", path}, 1);
  EXPECT_EQ(result["same"], false);
  std::vector<std::string> bad;
  for (const auto& pair : result["compiles"][0]["pairs"])
    if (pair["verdict"] == "different") bad.push_back(pair["after"]);
  EXPECT_THAT(bad, ::testing::ElementsAre("aot_forward_graph"));
  EXPECT_THAT(run({"verify", path}).output, HasSubstr("aot_forward_graph cannot be read"));
}

}  // namespace
}  // namespace kerf::cli
