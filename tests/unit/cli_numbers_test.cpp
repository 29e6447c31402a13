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

}  // namespace
}  // namespace kerf::cli
