// kerf value: a node's value as text and JSON.
#include "tests/support/cli_test.h"
#include "tests/support/small_repro.h"

namespace kerf::cli {
namespace {

using ::testing::HasSubstr;

class ValueCommandTest : public CliTest {
 protected:
  std::string graph() {
    const auto path = folder / "small.py";
    std::ofstream(path) << test::smallRepro(
        "        full = torch.ops.aten.full.default([2, 3], 1.5)\n"
        "        log = torch.ops.aten.log.default(arg0_1)\n        return (full, log)\n");
    return path.string();
  }
};

TEST_F(ValueCommandTest, PrintsFiguresAndCells) {
  const auto shown = run({"value", graph(), "full", "--side", "interpreter"});
  ASSERT_EQ(shown.status, 0) << shown.errors;
  EXPECT_THAT(shown.output, HasSubstr("full, interpreter: f32[2, 3], strides [3, 1]\n"));
  EXPECT_THAT(shown.output, HasSubstr("minimum 1.5, maximum 1.5, mean 1.5, standard deviation 0\n"));
  EXPECT_THAT(shown.output, HasSubstr("NaN 0, +inf 0, -inf 0, zeros 0, subnormal 0\n"));
}

TEST_F(ValueCommandTest, TellsWhereAValueIsNotFinite) {
  const auto report = runJson({"value", graph(), "log", "--inputs", "zeros", "--side", "compiled"});
  EXPECT_EQ(report["figures"]["negative_infinities"], 8);
  EXPECT_EQ(report["next_not_finite"], json::parse("[0, 0]"));
  EXPECT_EQ(report["window"]["cells"][0], "-inf");
  const auto difference =
      runJson({"value", graph(), "log", "--inputs", "zeros", "--minus", "fp64", "--save", (folder / "d.npy").string()});
  EXPECT_EQ(difference["figures"]["zeros"], 8);
  EXPECT_EQ(difference["dtype"], "f64");
  EXPECT_EQ(fs::file_size(folder / "d.npy"), 128u + 64u);
}

TEST_F(ValueCommandTest, RefusesWhatIsNotThere) {
  EXPECT_EQ(run({"value", graph(), "nowhere"}).status, 2);
  EXPECT_EQ(run({"value", graph(), "log", "--slice", "1"}).status, 2);
  EXPECT_EQ(run({"value", graph(), "log", "--side", "gpu"}).status, 2);
}

}  // namespace
}  // namespace kerf::cli
