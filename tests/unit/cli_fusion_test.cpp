// Recorded fusion groups on the command line: shown, and their rounding told apart from faults.
#include "tests/support/cli_test.h"
#include "tests/unit/fusion_captures.h"

namespace kerf::cli {
namespace {

using ::testing::HasSubstr;

class FusionTest : public CliTest {
 protected:
  std::string log(const std::string& text) const {
    return write("dedicated_log_torch_trace_a.log", text).string() + "#aot_inference_graph";
  }
  std::vector<std::string> verdicts(const json& comparison) const {
    std::vector<std::string> result;
    for (const json& row : comparison["outputs"])
      if (row["kind"] == "output") result.push_back(row["emulated"]["verdict"]);
    return result;
  }
};

TEST_F(FusionTest, ShowsTheGroupsOfTheOutputCode) {
  const json shown = runJson({"show", log(kerf::testing::attentionLog()), "--format", "fusion"});
  ASSERT_EQ(shown["fusion_groups"].size(), 3u);
  const json& group = shown["fusion_groups"][1];
  EXPECT_EQ(group["kernel"], "triton_per_fused__softmax_add_mul_0:2");
  EXPECT_EQ(group["post_grad_nodes"], json({"mul", "add", "to_float", "amax", "sub", "exp", "sum_1", "div", "probs"}));
  EXPECT_EQ(group["pre_grad_nodes"], json({"p"}));
  EXPECT_EQ(group["loads"], json({"bmm", "arg3_1"}));
  EXPECT_EQ(group["stores"], json({"amax", "sum_1", "probs"}));
  EXPECT_EQ(group["stage"], "inductor_output_code");
  EXPECT_EQ(shown["fusion_groups"][2]["post_grad_nodes"], json({"bmm_1"}));
}

TEST_F(FusionTest, ADifferenceOfRoundingIsExpected) {
  const std::string graph = log(kerf::testing::chainLog());
  const json plain = runJson({"compare", graph, "--strict-accuracy"});
  EXPECT_EQ(plain["same"], true);  // Kerf's kernels round as eager
  EXPECT_FALSE(plain.contains("emulation"));
  const json fused = runJson({"compare", graph, "--strict-accuracy", "--emulate", "inductor"});
  EXPECT_EQ(fused["same"], false);
  EXPECT_EQ(fused["have_fp64"], false);
  EXPECT_EQ(verdicts(fused), std::vector<std::string>(2, "expected from fusion"));
  EXPECT_EQ(fused["outputs"][0]["emulated"]["same"], true);
  EXPECT_EQ(fused["outputs"][0]["emulated"]["ratio"], 0);
  EXPECT_EQ(fused["emulation"]["groups_of"], "inductor");
  EXPECT_EQ(fused["emulation"]["kernels"], 1);
  EXPECT_EQ(fused["emulation"]["fused_nodes"], 7);
  EXPECT_EQ(fused["emulation"]["unrounded_nodes"], 6);
  EXPECT_EQ(fused["emulation"]["explained"], true);
  const auto text = run({"compare", graph, "--strict-accuracy", "--emulate", "kerf"});
  EXPECT_EQ(text.status, 0) << text.errors;
  EXPECT_THAT(text.output, HasSubstr("2 differences expected from fusion, none beyond it"));
}

TEST_F(FusionTest, AFaultIsNot) {
  const std::string graph = log(kerf::testing::chainLog());
  const json fault =
      runJson({"compare", graph, "--strict-accuracy", "--emulate", "inductor", "--plant", "sigmoid=accuracy"}, 1);
  EXPECT_EQ(verdicts(fault), std::vector<std::string>(2, "not explained"));
  EXPECT_EQ(fault["emulation"]["explained"], false);
  const auto crash = run({"compare", graph, "--emulate", "inductor", "--plant", "sigmoid=crash"});
  EXPECT_EQ(crash.status, 1) << crash.errors;
  EXPECT_THAT(crash.output, HasSubstr("the compiled side failed"));
}

TEST_F(FusionTest, WithoutGroupsItIsBadUsage) {
  const auto plain = run({"compare", reluRepro().string(), "--emulate", "inductor"});
  EXPECT_EQ(plain.status, 2) << plain.output;
  EXPECT_THAT(plain.errors, HasSubstr("no recorded fusion groups"));
  EXPECT_EQ(run({"compare", reluRepro().string(), "--emulate", "kerf"}).status, 0);
  const auto unknown = run({"compare", reluRepro().string(), "--emulate", "eager"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.errors, HasSubstr("inductor or kerf"));
  EXPECT_EQ(run({"compare", reluRepro().string(), "--results", "x.safetensors"}).status, 2);
  EXPECT_EQ(run({"compare", reluRepro().string(), "--emulate", "kerf", "--results", "x.safetensors"}).status, 2);
}

TEST_F(FusionTest, RunRoundsAsAsked) {
  const std::string graph = write("chain.py",
                                  "def forward(self, x: \"bf16[64, 64]\", y: \"bf16[64, 64]\"):\n"
                                  "    a = torch.ops.aten.mul.Tensor(x, y)\n"
                                  "    b = torch.ops.aten.sigmoid.default(a)\n"
                                  "    c = torch.ops.aten.add.Tensor(b, x)\n"
                                  "    d = torch.ops.aten.mul.Tensor(c, c)\n"
                                  "    e = torch.ops.aten.tanh.default(d)\n"
                                  "    return (e,)\n")
                                .string();
  const std::string file = write("eager.txt", "").replace_filename("eager.safetensors").string();
  EXPECT_EQ(runJson({"run", graph, "--save", file})["rounding"], "eager");
  const auto errorOf = [&](const char* rounding) {
    const json run =
        runJson({"run", graph, "--backend", "llvm", "--rounding", rounding, "--expect", file, "--rtol", "1"});
    EXPECT_EQ(run["rounding"], rounding);
    return run["expected"][0]["max_abs_error"].get<double>();
  };
  EXPECT_LT(errorOf("eager"), errorOf("inductor"));
  const auto interpreted = run({"run", graph, "--rounding", "inductor"});
  EXPECT_EQ(interpreted.status, 2);
  EXPECT_THAT(interpreted.errors, HasSubstr("--backend llvm"));
}

}  // namespace
}  // namespace kerf::cli
