// --repro-level: what is written when, and never twice.
#include "tests/support/cli_test.h"

namespace kerf::cli {
namespace {

using ::testing::HasSubstr;

class CliReproLevelTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    m_graph = write("g.txt",
                    "class GraphModule(torch.nn.Module):\n"
                    "    def forward(self, x: \"f32[4, 8][8, 1]cpu\"):\n"
                    "        y: \"f32[4, 8][8, 1]cpu\" = torch.ops.aten.relu.default(x);  x = None\n"
                    "        return (y,)\n")
                  .string();
  }
  std::string dumps() const { return (folder / "dumps").string(); }
  /// The file that a run with these options writes; empty if none.
  fs::path written(std::vector<std::string> arguments, int status) {
    fs::remove_all(dumps());
    arguments.insert(arguments.begin() + 1, m_graph);
    arguments.insert(arguments.end(), {"--repro-dir", dumps()});
    const auto result = run(arguments);
    EXPECT_EQ(result.status, status) << result.errors;
    if (!fs::exists(dumps())) return {};
    for (const auto& entry : fs::recursive_directory_iterator(dumps()))
      if (entry.path().extension() == ".py") return entry.path();
    return {};
  }
  std::string m_graph;
};

TEST_F(CliReproLevelTest, EachLevelWritesItsRepro) {
  EXPECT_EQ(written({"compare", "--plant", "relu=accuracy"}, 1), "");
  EXPECT_EQ(written({"compare", "--plant", "relu=accuracy", "--repro-level", "2"}, 1), "");
  const auto differing = written({"compare", "--plant", "relu=accuracy", "--repro-level", "4"}, 1);
  EXPECT_EQ(differing.filename(), "minifier_launcher.py");
  const std::string text = textOf(differing);
  EXPECT_THAT(text, HasSubstr("command='minify'"));
  EXPECT_THAT(text, HasSubstr("accuracy=True"));
  EXPECT_EQ(written({"compare", "--plant", "relu=compile_error", "--repro-level", "1"}, 1).filename(), "repro.py");
  EXPECT_EQ(written({"compare", "--repro-level", "3"}, 0).filename(), "minifier_launcher.py");
  EXPECT_EQ(written({"compare", "--repro-level", "4"}, 0), "");
  EXPECT_EQ(written({"run", "--repro-level", "3"}, 0).filename(), "minifier_launcher.py");
  EXPECT_EQ(run({"compare", m_graph, "--repro-level", "5"}).status, 2);
}

TEST_F(CliReproLevelTest, AGraphIsWrittenOnce) {
  const auto first = written({"compare", "--repro-level", "3"}, 0);
  const auto time = fs::last_write_time(first);
  const auto again = run({"compare", m_graph, "--repro-level", "3", "--repro-dir", dumps()});
  EXPECT_THAT(again.errors, HasSubstr("already"));
  EXPECT_EQ(fs::last_write_time(first), time);
  EXPECT_EQ(run({"compare", first.string()}).status, 0);  // it opens, with the data of that run
}

TEST_F(CliReproLevelTest, PyTorchsVariablesCount) {
  setenv("TORCHDYNAMO_REPRO_LEVEL", "3", 1);
  EXPECT_EQ(written({"compare"}, 0), "");
  setenv("TORCHDYNAMO_REPRO_AFTER", "aot", 1);
  EXPECT_EQ(written({"compare"}, 0).filename(), "minifier_launcher.py");
  unsetenv("TORCHDYNAMO_REPRO_LEVEL");
  EXPECT_EQ(written({"compare", "--plant", "relu=compile_error"}, 1).filename(), "minifier_launcher.py");
  EXPECT_EQ(written({"compare", "--plant", "relu=compile_error", "--repro-level", "0"}, 1), "");
  unsetenv("TORCHDYNAMO_REPRO_AFTER");
}

}  // namespace
}  // namespace kerf::cli
