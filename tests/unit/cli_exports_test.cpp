// `kerf export` in all formats, and `kerf diff`.
#include "engine/support/recordings.h"
#include "engine/tensor/safetensors.h"
#include "tests/support/cli_test.h"
#include "tests/support/trace_fixture.h"

namespace kerf::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class ExportTest : public CliTest {
 protected:
  std::string out(const std::string& name) const { return (folder / name).string(); }
  fs::path variant(const std::string& name, const std::string& forward) const {
    const auto file = smallRepro(forward);
    fs::rename(file, folder / name);
    return folder / name;
  }
  /// Names of everything that lies in the test's folder.
  std::vector<std::string> entries() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename().string());
    return names;
  }
};

TEST_F(ExportTest, TheExtensionChoosesTheFormat) {
  const auto file = reluRepro().string();
  const std::map<std::string, std::string> heads{
      {"g.txt", "class "},   {"g.graph", "graph():"}, {"g.graph.txt", "graph():"}, {"g.tab", "opcode"},
      {"g.dot", "digraph "}, {"g.json", "{\n"},       {"g.zip", "PK\x03\x04"}};
  for (const auto& [name, head] : heads) {
    EXPECT_EQ(run({"export", file, "-o", out(name)}).status, 0) << name;
    EXPECT_THAT(textOf(out(name)), StartsWith(head)) << name;
  }
  EXPECT_EQ(runJson({"export", file, "-o", out("plain"), "--format", "text"})["format"], "text");
  EXPECT_THAT(textOf(out("plain")), StartsWith("graph():"));
  const auto unknown = run({"export", file, "-o", out("g.xyz")});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.errors, HasSubstr(".safetensors"));
  EXPECT_EQ(run({"export", file, "-o", out("g.txt"), "--format", "nonesuch"}).status, 2);
  EXPECT_EQ(run({"export", file, "-o", out("g.txt"), "--values", "relu"}).status, 2);
}

TEST_F(ExportTest, TheZipHoldsTheSameRepro) {
  ASSERT_EQ(run({"export", sample, "-o", out("small.zip")}).status, 0);
  EXPECT_EQ(run({"diff", sample, out("small.zip")}).status, 0);
  const auto capture = runJson({"import", out("small.zip")})["captures"][0];
  EXPECT_EQ(capture["kind"], "repro");
  EXPECT_EQ(capture["graphs"][0]["missing_storages"], json::array());
  EXPECT_EQ(run({"run", capture["graphs"][0]["id"].get<std::string>()}).status, 0);
}

TEST_F(ExportTest, WritesValuesAsSafetensors) {
  const auto file = reluRepro().string();
  ASSERT_EQ(run({"export", file, "-o", out("v.safetensors"), "--values", "relu,outputs,inputs"}).status, 0);
  const auto values = readSafetensors(out("v.safetensors"));
  ASSERT_TRUE(values) << values.error().text();
  ASSERT_EQ(values->tensors.size(), 3u);
  const auto *input = values->find("in0"), *relu = values->find("relu"), *output = values->find("out0");
  ASSERT_TRUE(input != nullptr && relu != nullptr && output != nullptr);
  for (std::int64_t i = 0; i < relu->numel(); ++i) {
    EXPECT_EQ(relu->itemAsDouble(i), std::max(0.0, input->itemAsDouble(i)));
    EXPECT_EQ(output->itemAsDouble(i), 2 * relu->itemAsDouble(i));
  }
  const auto unknown = run({"export", file, "-o", out("w.safetensors"), "--values", "nonesuch"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.errors, HasSubstr("nonesuch"));
  EXPECT_FALSE(fs::exists(out("w.safetensors")));
  EXPECT_EQ(run({"run", file, "--inputs", out("v.safetensors"), "--expect", out("v.safetensors")}).status, 0);
}

TEST_F(ExportTest, GivenInputsMustFit) {
  SafetensorsFile wrong;
  wrong.tensors.emplace_back("in0", Tensor::zeros(DType::Float32, {3, 4}).value());
  ASSERT_TRUE(writeSafetensors(out("wrong.safetensors"), wrong));
  const auto shape = run({"run", reluRepro().string(), "--inputs", out("wrong.safetensors")});
  EXPECT_EQ(shape.status, 2);
  EXPECT_THAT(shape.errors, HasSubstr("[3, 4]"));
  wrong.tensors.front().first = "in1";
  ASSERT_TRUE(writeSafetensors(out("wrong.safetensors"), wrong));
  EXPECT_EQ(run({"run", reluRepro().string(), "--inputs", out("wrong.safetensors")}).status, 2);
  wrong.tensors.front().first = "other";
  ASSERT_TRUE(writeSafetensors(out("wrong.safetensors"), wrong));
  EXPECT_EQ(run({"run", reluRepro().string(), "--inputs", out("wrong.safetensors")}).status, 2);
}

TEST_F(ExportTest, GivenInputsSettleSymbols) {
  const auto graph = write("t.log", traceFixture).string() + "#aot_forward_graph";
  SafetensorsFile file;
  file.tensors.emplace_back("in0", Tensor::scalarInt(5, DType::Int64));
  file.tensors.emplace_back("in1", Tensor::zeros(DType::Float32, {5, 4}).value());
  ASSERT_TRUE(writeSafetensors(out("in.safetensors"), file));
  EXPECT_EQ(runJson({"run", graph, "--inputs", out("in.safetensors")})["outputs"], json::array({"f32[5, 4]"}));
  EXPECT_EQ(run({"run", graph, "--inputs", out("in.safetensors"), "--sym", "s0=6"}).status, 2);
}

TEST_F(ExportTest, WritesAnExportedProgramThatReadsBack) {
  const auto file = reluRepro().string();
  ASSERT_EQ(run({"export", file, "-o", out("g.pt2")}).status, 0);
  const auto capture = runJson({"import", out("g.pt2")})["captures"][0];
  EXPECT_EQ(capture["kind"], "pt2");
  EXPECT_EQ(capture["graphs"][0]["nodes"], 4);
  const auto shown = runJson({"show", out("g.pt2")});
  EXPECT_EQ(shown["signature"]["inputs"][0]["kind"], "user_input");
  EXPECT_EQ(shown["signature"]["outputs"][0]["name"], "add");
  EXPECT_THAT(run({"show", out("g.pt2"), "--format", "signature"}).output, HasSubstr("user_input"));
  EXPECT_EQ(run({"show", file, "--format", "signature"}).status, 2);
  ASSERT_EQ(run({"export", file, "-o", out("v.safetensors"), "--values", "all"}).status, 0);
  EXPECT_EQ(run({"run", out("g.pt2"), "--expect", out("v.safetensors")}).status, 0);
}

TEST_F(ExportTest, AFailureLeavesNothing) {
  const auto odd =
      smallRepro("        odd = torch.ops.mylib.odd.default(arg0_1);  arg0_1 = None\n        return (odd,)\n");
  const auto before = entries();
  EXPECT_NE(run({"export", odd.string(), "-o", out("v.safetensors")}).status, 0);
  EXPECT_EQ(run({"export", out("absent.py"), "-o", out("x")}).status, 2);
  EXPECT_EQ(entries(), before);
}

TEST_F(ExportTest, DiffSeesARename) {
  const auto a = variant("a.py",
                         "        relu = torch.ops.aten.relu.default(arg0_1);  arg0_1 = None\n"
                         "        add = torch.ops.aten.add.Tensor(relu, relu);  relu = None\n        return (add,)\n");
  const auto b = variant("b.py",
                         "        act = torch.ops.aten.relu.default(arg0_1);  arg0_1 = None\n"
                         "        add = torch.ops.aten.add.Tensor(act, act);  act = None\n        return (add,)\n");
  const auto difference = runJson({"diff", a.string(), b.string()}, 1);
  EXPECT_EQ(difference["renamed"], json::array({{{"before", "relu"}, {"after", "act"}}}));
  for (const char* key : {"removed", "added", "moved", "changed", "meta_changed"})
    EXPECT_EQ(difference[key], json::array()) << key;
  EXPECT_THAT(run({"diff", a.string(), b.string()}).output, HasSubstr("relu → act"));
}

TEST_F(ExportTest, DiffStandsSideBySide) {
  const auto a = variant("a.py",
                         "        relu = torch.ops.aten.relu.default(arg0_1);  arg0_1 = None\n"
                         "        add = torch.ops.aten.add.Tensor(relu, relu);  relu = None\n        return (add,)\n");
  const auto b =
      variant("b.py",
              "        relu = torch.ops.aten.relu.default(arg0_1);  arg0_1 = None\n"
              "        sin = torch.ops.aten.sin.default(relu)\n"
              "        add = torch.ops.aten.add.Tensor(relu, sin);  relu = sin = None\n        return (add,)\n");
  setenv("COLUMNS", "100", 1);
  const auto result = run({"diff", a.string(), b.string(), "--side-by-side"});
  unsetenv("COLUMNS");
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.output, HasSubstr(" > sin"));
  EXPECT_THAT(result.output, HasSubstr(" | add"));
  EXPECT_THAT(result.output, Not(HasSubstr("\033[")));
  std::istringstream lines(result.output);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 104u) << line;
  EXPECT_THAT(run({"diff", a.string(), a.string(), "-y"}).output, HasSubstr("same"));
}

TEST_F(ExportTest, RunsEveryExportedProgramAgainstItsRecording) {
  for (const auto& entry : fs::directory_iterator(recordingsFolder() / "golden")) {
    const auto recording = entry.path() / "eval_io.safetensors";
    for (const char* name : {"model.pt2", "model_core_aten.pt2"}) {
      if (!fs::exists(entry.path() / name)) continue;
      const auto result = run({"run", (entry.path() / name).string(), "--expect", recording.string()});
      EXPECT_EQ(result.status, 0) << entry.path() / name << result.output << result.errors;
    }
  }
}

}  // namespace
}  // namespace kerf::cli
