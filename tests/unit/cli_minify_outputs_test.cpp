// What kerf minify leaves beside the repro: issue.md, PyTorch's folder of checkpoints, and what PyTorch says.
#include "tests/support/cli_test.h"

namespace kerf::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class CliMinifyOutputsTest : public CliTest {
 protected:
  std::string out(const char* name = "small") const { return (folder / name).string(); }
  /// A Python that has a PyTorch 9.9 and ends repros as told.
  std::string python(const std::string& ending) const {
    const auto file = write("python",
                            "#!/bin/sh\n[ \"$1\" = -c ] && { echo 9.9; exit 0; }\n"
                            "[ \"$2\" = run ] && [ -f repro.py ] || exit 77\n" +
                                ending + "\n");
    fs::permissions(file, fs::perms::owner_all);
    return file.string();
  }
};

TEST_F(CliMinifyOutputsTest, WritesAnIssueBesideTheRepro) {
  ASSERT_EQ(run({"minify", sample, "--plant", "relu=accuracy", "-o", out()}).status, 0);
  const auto issue = textOf(folder / "small" / "issue.md");
  EXPECT_THAT(issue, StartsWith("# torch.compile: wrong result in aten.relu.default\n"));
  EXPECT_THAT(issue, HasSubstr("## The closest graph that passes"));
  EXPECT_THAT(issue, HasSubstr("\n+        relu = torch.ops.aten.relu.default("));
  EXPECT_THAT(issue, HasSubstr("# torch version: 2.11.0"));
  EXPECT_THAT(issue, HasSubstr("- planted by Kerf, no fault of PyTorch: `relu=accuracy`"));
  EXPECT_THAT(issue, HasSubstr(textOf(folder / "small" / "repro.py")));

  ASSERT_EQ(run({"export", "p1", "-o", out("issue.md")}).status, 0);  // the extension says which format
  const auto stored = textOf(folder / "issue.md");
  EXPECT_THAT(stored, HasSubstr("## The closest graph that passes"));
  EXPECT_THAT(stored, HasSubstr("relu=accuracy"));
  ASSERT_EQ(run({"export", "m1", "-o", out("m.md")}).status, 0);
  EXPECT_THAT(textOf(folder / "m.md"), Not(HasSubstr("os.environ['TORCHDYNAMO_REPRO_AFTER'] =")));

  const auto refused = run({"export", sample, "-o", out("no.md")});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.errors, HasSubstr("not a minified failure"));
  EXPECT_FALSE(fs::exists(folder / "no.md"));
}

TEST_F(CliMinifyOutputsTest, AZipOfAReproHasTheIssueAndTheSameBytesAgain) {
  ASSERT_EQ(run({"minify", sample, "--plant", "relu=accuracy", "-o", out()}).status, 0);
  ASSERT_EQ(run({"export", "p1", "-o", out("a/p.zip")}).status, 0);
  ASSERT_EQ(run({"export", "p1", "-o", out("b/p.zip")}).status, 0);
  EXPECT_THAT(textOf(folder / "a" / "p.zip"), HasSubstr("p/issue.md"));
  EXPECT_EQ(textOf(folder / "a" / "p.zip"), textOf(folder / "b" / "p.zip"));
  EXPECT_EQ(run({"diff", "p1", out("a/p.zip")}).status, 0);
}

TEST_F(CliMinifyOutputsTest, KeepsCheckpointsAsPyTorchDoes) {
  ASSERT_EQ(run({"minify", sample, "--plant", "relu=accuracy", "-o", out(), "--checkpoints", out("cp")}).status, 0);
  const auto steps = folder / "cp" / "checkpoints";
  const auto nodes = runJson({"show", sample})["node_count"].get<int>();
  const std::vector<fs::path> files{folder / "cp" / "minifier_launcher.py", folder / "cp" / "repro.py", steps / "3.py",
                                    steps / fmt::format("{}.py", nodes)};
  for (const auto& file : files) {
    ASSERT_TRUE(fs::exists(file)) << file;
    EXPECT_EQ(run({"minify", file.string(), "--plant", "relu=accuracy", "--judge"}).status, 1) << file;
    EXPECT_THAT(textOf(file), Not(HasSubstr("os.environ['TORCHDYNAMO_REPRO_AFTER'] ="))) << file;
  }
  EXPECT_THAT(textOf(files[0]), HasSubstr("command='minify', save_dir='checkpoints'"));
  EXPECT_THAT(textOf(files[1]), HasSubstr("command='run', save_dir='checkpoints'"));
  EXPECT_THAT(textOf(files[2]), HasSubstr("command='run', save_dir='.'"));
  EXPECT_EQ(run({"diff", files[1].string(), out()}).status, 0);
  EXPECT_EQ(run({"diff", files[0].string(), sample}).status, 0);
}

TEST_F(CliMinifyOutputsTest, SaysWhatPyTorchMakesOfTheRepro) {
  const std::vector<std::string> search{"minify", sample,      "--plant",  "relu=accuracy", "-o",
                                        out(),    "--confirm", "--python", python("exit 0")};
  EXPECT_EQ(runJson(search)["torch_says"], "PyTorch 9.9 runs it without failure: the fault is Kerf's planted one");
  (void)python("echo 'AccuracyError: Bad accuracy detected' >&2; exit 1");
  EXPECT_EQ(runJson(search)["torch_says"], "PyTorch 9.9 fails on it: AccuracyError: Bad accuracy detected");
  EXPECT_THAT(textOf(folder / "small" / "issue.md"), HasSubstr("- PyTorch 9.9 fails on it: AccuracyError"));
  auto missing = search;
  missing.back() = out("nowhere");
  EXPECT_EQ(run(missing).status, 3);
}

}  // namespace
}  // namespace kerf::cli
