// --exact: which kernels of a compilation can have eager mode's bits, and why others need not.
#include "tests/support/cli_test.h"
#include "tests/unit/fusion_captures.h"

namespace kerf::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class ExactTest : public CliTest {
 protected:
  std::string softmax() const {
    return write("graph.txt",
                 "class GraphModule(torch.nn.Module):\n"
                 "    def forward(self, x: \"f32[64, 257][257, 1]cpu\"):\n"
                 "        mul: \"f32[64, 257][257, 1]cpu\" = torch.ops.aten.mul.Tensor(x, x)\n"
                 "        exp: \"f32[64, 257][257, 1]cpu\" = torch.ops.aten.exp.default(mul)\n"
                 "        sum_1: \"f32[64][1]cpu\" = torch.ops.aten.sum.dim_IntList(exp, [1])\n"
                 "        return (mul, sum_1)\n")
        .string();
  }
};

TEST_F(ExactTest, CompareSaysWhichKernelsCanBeEqual) {
  const auto ended = run({"compare", softmax(), "--exact", "--json"});
  const json doc = json::parse(ended.output);
  ASSERT_FALSE(doc["kernels"].empty()) << ended.errors;
  bool sums = false;
  for (const auto& kernel : doc["kernels"]) {
    EXPECT_EQ(kernel["code"], "Kerf");
    EXPECT_EQ(kernel["can_be_equal"], kernel["known"] == true && kernel["reasons"].empty());
    for (const auto& reason : kernel["reasons"])
      sums = sums || (reason["cause"] == "order of sums" && reason["nodes"] == json({"sum_1"}));
  }
  EXPECT_TRUE(sums) << doc["kernels"].dump();
  const auto text = run({"compare", softmax(), "--exact"});
  EXPECT_THAT(text.output, HasSubstr("bits of eager mode: "));
  EXPECT_THAT(text.output, HasSubstr("order of sums (sum_1)"));
  const auto plain = run({"compare", softmax(), "--json"});
  EXPECT_FALSE(json::parse(plain.output).contains("kernels"));
  EXPECT_THAT(run({"compare", softmax()}).output, Not(HasSubstr("bits of eager mode")));
}

TEST_F(ExactTest, MinifySaysItOfTheSmallestGraph) {
  const json doc =
      runJson({"minify", softmax(), "--exact", "--plant", "mul=accuracy", "-o", (folder / "small").string()});
  ASSERT_EQ(doc["kernels"].size(), 1U) << doc.dump();
  EXPECT_EQ(doc["kernels"][0]["can_be_equal"], true);
  EXPECT_EQ(doc["kernels"][0]["nodes"], json({"mul"}));
}

TEST_F(ExactTest, VerifySaysItOfRecordedKernels) {
  const std::string log = write("dedicated_log_torch_trace_a.log", kerf::testing::attentionLog()).string();
  const auto ended = run({"verify", log, "--exact", "--json"});
  const json doc = json::parse(ended.output);
  const json& kernels = doc["kernels"];
  ASSERT_EQ(kernels.size(), 3U) << kernels.dump();
  EXPECT_EQ(kernels[0]["can_be_equal"], true);
  EXPECT_EQ(kernels[1]["kernel"], "triton_per_fused__softmax_add_mul_0:2");
  EXPECT_EQ(kernels[1]["code"], "Triton");
  EXPECT_EQ(kernels[1]["can_be_equal"], false);
}

}  // namespace
}  // namespace kerf::cli
