// kerf diff: graphs, whole captures, and the life of a node.
#include <gmock/gmock.h>

#include "engine/support/recordings.h"
#include "tests/support/cli_test.h"
#include "tests/support/recordings.h"
#include "tests/support/trace_fixture.h"

namespace kerf::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

class DiffTest : public CliTest {
 protected:
  /// A recorded log; empty where it is left out.
  std::string recorded(const std::string& folder_) const {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(recordingsFolder() / folder_, ignored))
      if (entry.path().extension() == ".log") return entry.path().string();
    return {};
  }
};

TEST_F(DiffTest, TheSummaryComesFirst) {
  const auto a =
      write("a.txt",
            "graph():\n"
            "    %x : [num_users=1] = placeholder[target=x]\n"
            "    %relu : [num_users=1] = call_function[target=torch.ops.aten.relu.default](args = (%x,), kwargs = {})\n"
            "    %sum_1 : [num_users=1] = call_function[target=torch.ops.aten.sum.dim_IntList](args = (%relu, [0]), "
            "kwargs = {})\n"
            "    return (sum_1,)\n");
  const auto b =
      write("b.txt",
            "graph():\n"
            "    %x : [num_users=1] = placeholder[target=x]\n"
            "    %tanh : [num_users=1] = call_function[target=torch.ops.aten.tanh.default](args = (%x,), kwargs = {})\n"
            "    %sum_1 : [num_users=1] = call_function[target=torch.ops.aten.sum.dim_IntList](args = (%tanh, [1]), "
            "kwargs = {})\n"
            "    return (sum_1,)\n");
  const auto result = run({"diff", a.string(), b.string()});
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.output, HasSubstr("4 nodes before, 4 after, 3 the same computation\n"
                                       "0 nodes removed, 0 added, 1 rewritten, 1 changed,"));
  EXPECT_THAT(result.output, HasSubstr("calls: relu 1 → 0, tanh 0 → 1\n"));
  EXPECT_THAT(result.output, HasSubstr("rewritten\n  relu → tanh: relu\n"));
  EXPECT_THAT(result.output, HasSubstr("changed\n  other arguments of aten.sum.dim_IntList: sum_1\n"));
  EXPECT_LT(result.output.find("rewritten"), result.output.find("-    %relu"));
  const auto columns = run({"diff", a.string(), b.string(), "--side-by-side"}).output;
  EXPECT_THAT(columns, HasSubstr(" * tanh"));
  const auto object = runJson({"diff", a.string(), b.string()}, 1);
  EXPECT_EQ(object["nodes_before"], 4);
  EXPECT_EQ(object["paired"], 3);
  EXPECT_EQ(object["rewritten"][0]["calls_after"], json::array({"tanh"}));
  EXPECT_EQ(object["rewritten"][0]["kind"], "rewritten");
}

TEST_F(DiffTest, ACaptureAgainstItselfIsTheSame) {
  const auto log = write("a.log", traceFixture).string();
  const auto object = runJson({"diff", log, log});
  EXPECT_EQ(object["same"], true);
  ASSERT_EQ(object["compiles"].size(), 2u);
  EXPECT_EQ(object["compiles"][0]["before"], "[0/0]");
  EXPECT_EQ(object["compiles"][0]["frame"], "/home/user/model.py:12 in forward");
  EXPECT_THAT(run({"diff", log, log}).output, HasSubstr("2 compilations: 2 the same, 0 differ"));
}

TEST_F(DiffTest, TwoCapturesDifferInGraphsStatusAndTime) {
  const auto yesterday = write("yesterday.log", traceFixture).string();
  std::string text = replaced(traceFixture, "aten.relu.default(primals_2)", "aten.tanh.default(primals_2)");
  text = replaced(text, "\"entire_frame_compile_time_s\": 0.25", "\"entire_frame_compile_time_s\": 0.75");
  text = replaced(text, "\"fail_type\": \"BackendCompilerFailed\", \"fail_reason\": \"no kernel\"",
                  "\"fail_type\": null, \"fail_reason\": null");
  const auto today = write("today.log", text).string();
  const auto object = runJson({"diff", yesterday, today}, 1);
  EXPECT_EQ(object["same"], false);
  const auto& first = object["compiles"][0];
  ASSERT_EQ(first["graphs"].size(), 1u);
  EXPECT_EQ(first["graphs"][0]["graph"], "aot_forward_graph");
  EXPECT_EQ(first["graphs"][0]["difference"]["rewritten"][0]["calls_after"], json::array({"tanh"}));
  ASSERT_EQ(first["figures"].size(), 1u);
  EXPECT_EQ(first["figures"][0]["figure"], "entire_frame_compile_time_s");
  EXPECT_EQ(first["figures"][0]["after"], 0.75);
  const auto& second = object["compiles"][1];
  EXPECT_EQ(second["status_before"], "failed");
  EXPECT_EQ(second["status_after"], "ok");
  const auto words = run({"diff", yesterday, today}).output;
  EXPECT_THAT(words, HasSubstr("2 compilations: 0 the same, 2 differ, 0 only in the first, 0 only in the second"));
  EXPECT_THAT(words, HasSubstr("entire_frame_compile_time_s 0.25 → 0.75 (+200 %)"));
  EXPECT_THAT(words, HasSubstr("failed → ok"));
}

TEST_F(DiffTest, ACompilationThatIsNotThereAnyMoreIsNamed) {
  const std::string text = traceFixture;
  const auto both = write("both.log", text).string();
  const auto one = write("one.log", text.substr(0, text.find("V1121 10:00:02.000000"))).string();
  const auto words = run({"diff", both, one}).output;
  EXPECT_THAT(words, HasSubstr("[1/0]  /home/user/model.py:20 in tail  only in the first capture"));
  EXPECT_THAT(run({"diff", one, both}).output, HasSubstr("only in the second capture"));
}

TEST_F(DiffTest, FollowsANodeToTheLineOfTheOutputCode) {
  const auto log = recorded("traces/mobilenet_v3_small");
  if (log.empty()) GTEST_SKIP() << kerf::testing::leftOut(recordingsFolder() / "traces/mobilenet_v3_small");
  const auto life = runJson({"diff", log + "#dynamo_output_graph", "--follow", "input_3"});
  EXPECT_EQ(life["compile_id"], "[0/0]");
  EXPECT_THAT(life["source"].get<std::string>(), HasSubstr("mobilenetv3.py:"));
  std::vector<std::string> stages, last;
  for (const auto& stage : life["stages"]) stages.push_back(stage["graph"]);
  EXPECT_THAT(stages, ::testing::ElementsAre("dynamo_output_graph", "before_pre_grad_graph", "after_pre_grad_graph",
                                             "aot_inference_graph", "before_joint_graph", "after_joint_graph",
                                             "before_post_grad_graph", "inductor_post_grad_graph"));
  for (const auto& node : life["stages"].back()["nodes"]) last.push_back(node["name"]);
  EXPECT_THAT(last, ::testing::ElementsAre("add_2", "clamp_min", "clamp_max", "mul_3", "div"));
  ASSERT_EQ(life["kernels"].size(), 1u);
  EXPECT_EQ(life["kernels"][0]["kernel"], "cpp_fused__native_batch_norm_legit_no_training_hardswish_1:3");
  EXPECT_EQ(life["kernels"][0]["call"],
            "cpp_fused__native_batch_norm_legit_no_training_hardswish_1(buf4, arg2_1, arg3_1, arg4_1, arg5_1)");
  EXPECT_GT(life["kernels"][0]["called_at"].get<int>(), life["kernels"][0]["defined_at"].get<int>());
  // The other way: what that node of the last graph came from.
  const auto back = runJson({"diff", log + "#inductor_post_grad_graph", "--follow", "clamp_max"});
  EXPECT_EQ(back["stages"][0]["nodes"][0]["name"], "input_3");
}

TEST_F(DiffTest, FollowsGradientsOfATrainingStep) {
  const auto log = recorded("traces/convnext_seed");
  if (log.empty()) GTEST_SKIP() << kerf::testing::leftOut(recordingsFolder() / "traces/convnext_seed");
  const auto life = runJson({"diff", log + "#dynamo_output_graph", "--follow", "input_4"});
  int gradients = 0;
  for (const auto& stage : life["stages"])
    if (stage["stage"] == "joint")
      for (const auto& node : stage["nodes"]) gradients += node["how"] == "gradient";
  EXPECT_GT(gradients, 5);
  EXPECT_LT(gradients, 30) << "those of one layer_norm, not of all that stand in that line";
  std::set<std::string> parts;
  for (const auto& kernel : life["kernels"]) parts.insert(kernel["part"].get<std::string>());
  EXPECT_EQ(parts, (std::set<std::string>{"backward", "forward"}));
}

TEST_F(DiffTest, RefusesWhatItCannotDo) {
  const auto log = write("a.log", traceFixture).string();
  EXPECT_EQ(run({"diff", log}).status, 2);
  const auto unknown = run({"diff", log, "--follow", "nonesuch"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.errors, HasSubstr("has a node \"nonesuch\""));
  EXPECT_EQ(run({"diff", log + "#nonesuch", "--follow", "relu"}).status, 2);
  EXPECT_EQ(run({"diff", log, log + "#aot_forward_graph"}).status, 2) << "a capture of two graphs against one";
}

}  // namespace
}  // namespace kerf::cli
