// Numbers on the command line: finite, and within what their option holds.
#include "tests/support/cli_test.h"

namespace kerf::cli {
namespace {

using ::testing::HasSubstr;

constexpr const char* graphText =
    "class GraphModule(torch.nn.Module):\n    def forward(self, x: \"f32[4]\"):\n"
    "        y: \"f32[4]\" = torch.ops.aten.sin.default(x);  x = None\n        return (y,)\n";

struct NumbersTest : CliTest {
  std::string graph() const { return write("g.txt", graphText).string(); }
};

TEST_F(NumbersTest, NanInfinityAndTooLargeNumbersAreRefused) {
  for (const auto& [option, value] :
       {std::pair("--timeout", "nan"), std::pair("--timeout", "inf"), std::pair("--timeout", "0"),
        std::pair("--timeout", "1e300"), std::pair("--rtol", "inf"), std::pair("--rtol", "nan"),
        std::pair("--rtol", "-1"), std::pair("--seed", "18446744073709551616"), std::pair("--seed", "-1")}) {
    const auto result = run({"run", graph(), option, value});
    EXPECT_EQ(result.status, 2) << option << " " << value;
    EXPECT_THAT(result.errors, HasSubstr(option)) << value;
  }
  for (const char* value : {"inf", "nan", "1e999"})
    EXPECT_EQ(run({"compare", graph(), "--tol", value}).status, 2) << value;
  EXPECT_EQ(run({"run", graph(), "--seed", "18446744073709551615", "--timeout", "60"}).status, 0);
}

TEST_F(NumbersTest, ARunHasAMemoryLimit) {
  std::string text = "class GraphModule(torch.nn.Module):\n    def forward(self, x: \"f32[65536]\"):\n";
  std::string last = "x";
  for (int i = 0; i < 10; ++i) {
    text += fmt::format("        y{} = torch.ops.aten.cat.default([{}, {}])\n", i, last, last);
    last = fmt::format("y{}", i);
  }
  const auto path = write("doubling.txt", text + "        return (" + last + ",)\n").string();
  const auto limited = run({"run", path, "--memory-limit", "16M"});
  EXPECT_EQ(limited.status, 2);
  EXPECT_THAT(limited.errors, HasSubstr("exceed the limit of"));
  EXPECT_EQ(run({"run", path, "--memory-limit", "2G"}).status, 0);
}

TEST_F(NumbersTest, RecordedStridesThatAnOpDoesNotGiveAreSaid) {
  const auto path =
      write("s.txt",
            "class GraphModule(torch.nn.Module):\n    def forward(self, x: \"f32[4, 2][2, 1]cpu\"):\n"
            "        s: \"f32[4, 2][1, 4]cpu\" = torch.ops.aten.neg.default(x);  x = None\n        return (s,)\n")
          .string();
  const auto result = runJson({"run", path});
  ASSERT_EQ(result["annotations"].size(), 1u);
  EXPECT_EQ(result["annotations"][0]["node"], "s");
  EXPECT_EQ(result["annotations"][0]["what"], "stride");
  EXPECT_EQ(result["annotations"][0]["computed"], "f32[4, 2][2, 1]");
  EXPECT_THAT(run({"compare", path}).output, HasSubstr("recorded stride of s"));
  EXPECT_THAT(run({"show", path, "--format", "readable"}).output, HasSubstr("s: \"f32[4, 2][1, 4]cpu\""));
}

TEST_F(NumbersTest, LinearizedGraphsRun) {
  const auto result = runJson({"run", graph() + "@stage:linearize"});
  EXPECT_EQ(result["outputs"].size(), 2u);
  EXPECT_THAT(run({"joint", graph(), "--jvp"}).output, HasSubstr("tangents_1"));
}

/// <Jv, w> = <v, J^T w>, and a graph whose gradient is cut off does not hold it.
TEST_F(NumbersTest, ForwardModeAndJointGraphAreTransposes) {
  const auto path =
      write("mlp.txt",
            "class GraphModule(torch.nn.Module):\n    def forward(self, x: \"f32[4, 8]\", w: \"f32[8, 8]\"):\n"
            "        m: \"f32[4, 8]\" = torch.ops.aten.mm.default(x, w)\n"
            "        t: \"f32[4, 8]\" = torch.ops.aten.tanh.default(m)\n"
            "        s: \"f32[8]\" = torch.ops.aten.sum.dim_IntList(t, [0])\n        return (t, s)\n")
          .string();
  const auto result = runJson({"joint", path, "--jvp", "--check"});
  EXPECT_EQ(result["agrees"], true);
  EXPECT_THAT(std::string(result["text"]), HasSubstr("2 inputs with directions, 2 outputs with tangents"));
  EXPECT_THAT(run({"joint", path, "--jvp", "--check"}).output, HasSubstr("<Jv, w> = "));
  EXPECT_EQ(run({"joint", path, "--check"}).status, 2);  // needs --jvp
}

/// The figures come before any memory is taken.
TEST_F(NumbersTest, WhatCannotFitIsRefusedBeforeInputsAreMade) {
  const std::string text =
      "class GraphModule(torch.nn.Module):\n    def forward(self, x: \"f32[4000000, 1]\", y: \"f32[1, 4000000]\"):\n"
      "        a: \"f32[4000000, 4000000]\" = torch.ops.aten.mul.Tensor(x, y)\n"
      "        s: \"f32[4000000]\" = torch.ops.aten.sum.dim_IntList(a, [0])\n        return (s,)\n";
  const auto path = write("large.txt", text).string();
  const auto compared = run({"compare", path});
  EXPECT_EQ(compared.status, 2);
  EXPECT_THAT(compared.errors, HasSubstr("the graph needs at least 6.4e+04 GB"));
  EXPECT_THAT(compared.errors, HasSubstr("for a"));
  const auto inputs = write("inputs.txt",
                            "class GraphModule(torch.nn.Module):\n"
                            "    def forward(self, s0: \"Sym(s0)\", x: \"f32[s0, 2000000]\"):\n"
                            "        a: \"f32[s0]\" = torch.ops.aten.sum.dim_IntList(x, [1])\n        return (a,)\n")
                          .string();
  const auto sized = run({"run", inputs, "--sym", "s0=2000000"});
  EXPECT_EQ(sized.status, 2);
  EXPECT_THAT(sized.errors, HasSubstr("for its inputs"));
  EXPECT_THAT(sized.errors, HasSubstr("--sym s0=8"));
}

/// A loop that grows its values with the first made-up matrix, and ends with gentler ones.
TEST_F(NumbersTest, MadeUpInputsLetALoopEnd) {
  const auto path = write("loop.txt",
                          "class G(torch.nn.Module):\n"
                          "    def forward(self, x: \"f32[4]\", m: \"f32[4, 4]\"):\n"
                          "        cond_fn = self.cond_fn\n"
                          "        body_fn = self.body_fn\n"
                          "        w = torch.ops.higher_order.while_loop(cond_fn, body_fn, (x,), (m,));  cond_fn = "
                          "body_fn = x = m = None\n"
                          "        r: \"f32[4]\" = w[0];  w = None\n"
                          "        return (r,)\n"
                          "\n"
                          "    class cond_fn(torch.nn.Module):\n"
                          "        def forward(self, a: \"f32[4]\", m: \"f32[4, 4]\"):\n"
                          "            s: \"f32[]\" = torch.ops.aten.sum.default(a)\n"
                          "            n: \"f32[]\" = torch.ops.aten.abs.default(s)\n"
                          "            g: \"b8[]\" = torch.ops.aten.gt.Scalar(n, 0.001)\n"
                          "            return g\n"
                          "\n"
                          "    class body_fn(torch.nn.Module):\n"
                          "        def forward(self, a: \"f32[4]\", m: \"f32[4, 4]\"):\n"
                          "            v: \"f32[4]\" = torch.ops.aten.mv.default(m, a)\n"
                          "            d: \"f32[4]\" = torch.ops.aten.mul.Tensor(v, 4.0)\n"
                          "            t: \"f32[4]\" = torch.ops.aten.sub.Tensor(d, a)\n"
                          "            h: \"f32[4]\" = torch.ops.aten.mul.Tensor(t, 0.5)\n"
                          "            return (h,)\n")
                        .string();
  const auto result = run({"run", path});
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.errors, HasSubstr("does not end with the inputs that were made up first"));
}

}  // namespace
}  // namespace kerf::cli
