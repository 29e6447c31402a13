// kerf patterns: the list, matches with their arguments, near misses, a user's file, and what is refused.
#include "engine/support/recordings.h"
#include "tests/support/cli_test.h"

namespace kerf::cli {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

class PatternsCommandTest : public CliTest {
 protected:
  /// relu(x) * 2, and the softmax of it as decompositions write it.
  std::string graph() const {
    return write("graph.txt",
                 "class Repro(torch.nn.Module):\n"
                 "    def forward(self, x: \"f32[4, 6][6, 1]cpu\"):\n"
                 "        relu = torch.ops.aten.relu.default(x);  x = None\n"
                 "        mul = torch.ops.aten.mul.Tensor(relu, 2.0);  relu = None\n"
                 "        amax = torch.ops.aten.amax.default(mul, [1], True)\n"
                 "        sub = torch.ops.aten.sub.Tensor(mul, amax);  mul = amax = None\n"
                 "        exp = torch.ops.aten.exp.default(sub);  sub = None\n"
                 "        sum_1 = torch.ops.aten.sum.dim_IntList(exp, [1], True)\n"
                 "        div = torch.ops.aten.div.Tensor(exp, sum_1);  exp = sum_1 = None\n"
                 "        return (div,)\n")
        .string();
  }
  std::string patterns() const {
    return write("mine.txt",
                 "pattern late_relu: relu behind the product\n"
                 "search\n"
                 "def forward(self, x, c):\n"
                 "    relu = torch.ops.aten.relu.default(x)\n"
                 "    mul = torch.ops.aten.mul.Tensor(relu, c)\n"
                 "    return mul\n"
                 "replace\n"
                 "def forward(self, x, c):\n"
                 "    mul = torch.ops.aten.mul.Tensor(x, c)\n"
                 "    relu = torch.ops.aten.relu.default(mul)\n"
                 "    return relu\n"
                 "pattern tanh_relu\n"
                 "search\n"
                 "def forward(self, x):\n"
                 "    tanh = torch.ops.aten.tanh.default(x)\n"
                 "    relu = torch.ops.aten.relu.default(tanh)\n"
                 "    return relu\n"
                 "replace\n"
                 "def forward(self, x):\n"
                 "    relu = torch.ops.aten.relu.default(x)\n"
                 "    tanh = torch.ops.aten.tanh.default(relu)\n"
                 "    return tanh\n")
        .string();
  }
};

TEST_F(PatternsCommandTest, ListsThePatterns) {
  const auto report = runJson({"patterns"});
  std::vector<std::string> names;
  for (const auto& pattern : report["patterns"]) names.push_back(pattern["name"]);
  for (const char* name : {"sfdp_pattern_1_training", "sfdp_pattern_28_half_inference", "softmax_inference",
                           "layer_norm_training", "addmm_gelu_viewed", "randperm_index_add"})
    EXPECT_THAT(names, Contains(name));
  EXPECT_THAT(run({"patterns", "--patterns", patterns()}).output, HasSubstr("late_relu  relu behind the product"));
}

TEST_F(PatternsCommandTest, FindsShippedOnesWithTheirArguments) {
  const auto report = runJson({"patterns", graph()});
  ASSERT_EQ(report["matches"].size(), 1u);
  const json& match = report["matches"][0];
  EXPECT_EQ(match["pattern"], "softmax_inference");
  EXPECT_EQ(match["result"], "div");
  EXPECT_EQ(match["nodes"], json({"amax", "sub", "exp", "sum_1", "div"}));
  EXPECT_EQ(match["arguments"], json({{"x", "mul"}, {"dim", "1"}}));
  EXPECT_EQ(report["near_misses"], json::array());
}

TEST_F(PatternsCommandTest, SaysWhyAPatternDoesNotMatch) {
  const auto report = runJson({"patterns", graph(), "--why", "sfdp_pattern_1_inference"});
  ASSERT_EQ(report["near_misses"].size(), 1u);
  EXPECT_EQ(report["near_misses"][0]["node"], nullptr);
  EXPECT_THAT(report["near_misses"][0]["reason"], HasSubstr("the graph has no call of "));
  const auto own = run({"patterns", graph(), "--patterns", patterns(), "--why", "tanh_relu"});
  EXPECT_EQ(own.status, 0) << own.errors;
  EXPECT_THAT(own.output, HasSubstr("tanh_relu came nearest at relu: 1 of its 2 calls fit, then\n"
                                    "  x is an input of the graph, the pattern has aten.tanh.default\n"));
}

TEST_F(PatternsCommandTest, MatchesThoseOfAFileInstead) {
  const auto report = runJson({"patterns", graph(), "--patterns", patterns()});
  ASSERT_EQ(report["matches"].size(), 1u);
  EXPECT_EQ(report["matches"][0]["pattern"], "late_relu");
  EXPECT_EQ(report["matches"][0]["arguments"], json({{"x", "x"}, {"c", "2.0"}}));
  EXPECT_EQ(report["matches"][0]["replacements"].size(), 2u);
}

TEST_F(PatternsCommandTest, AFileIsAPassToo) {
  const std::string file = "user_patterns.file=" + patterns();
  const auto report = runJson({"passes", graph(), "--passes", "user_patterns", "--config", file});
  ASSERT_EQ(report["passes"].size(), 1u);
  EXPECT_EQ(report["passes"][0]["changed"], true);
  EXPECT_THAT(std::string(report["config"]), HasSubstr("user_patterns.digest="));
  const auto checked = run({"passes", graph(), "--passes", "user_patterns", "--config", file, "--check-passes"});
  EXPECT_EQ(checked.status, 0) << checked.output << checked.errors;
}

TEST_F(PatternsCommandTest, RefusesWhatCannotBe) {
  const auto unknown = run({"patterns", graph(), "--why", "no_such_pattern"});
  EXPECT_NE(unknown.status, 0);
  EXPECT_THAT(unknown.errors, HasSubstr("there is no pattern 'no_such_pattern'"));
  const auto alone = run({"patterns", "--why", "softmax_inference"});
  EXPECT_EQ(alone.status, 2);
  EXPECT_THAT(alone.errors, HasSubstr("--why needs a graph"));
  const std::string bad = write("bad.txt", "pattern p\nsearch\n").string();
  const auto broken = run({"patterns", graph(), "--patterns", bad});
  EXPECT_EQ(broken.status, 2);
  EXPECT_THAT(broken.errors, HasSubstr("bad.txt: line 1: pattern p needs a \"search\" graph"));
  const auto missing = run({"patterns", graph(), "--patterns", bad + ".not"});
  EXPECT_EQ(missing.status, 2);
  EXPECT_THAT(missing.errors, HasSubstr("cannot read the patterns in"));
  const auto pass = run({"passes", graph(), "--config", "user_patterns.file=" + bad});
  EXPECT_EQ(pass.status, 2);
  EXPECT_THAT(pass.errors, HasSubstr("bad.txt: line 1"));
}

}  // namespace
}  // namespace kerf::cli
