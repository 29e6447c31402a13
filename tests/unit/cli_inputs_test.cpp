// --inputs and --seed: what stands in for missing data, in run, compare, minify, export and show.
#include <fstream>

#include "engine/tensor/safetensors.h"
#include "tests/support/cli_test.h"

namespace kerf::cli {
namespace {

using ::testing::HasSubstr;

constexpr const char* batchNorm = R"py(
import torch
class Repro(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()

    def forward(self, x, var, ids):
        add = torch.ops.aten.add.Tensor(var, 1e-05)
        rsqrt = torch.ops.aten.rsqrt.default(add)
        mul = torch.ops.aten.mul.Tensor(x, rsqrt)
        relu = torch.ops.aten.relu.default(mul)
        index = torch.ops.aten.index.Tensor(relu, [ids])
        return (index,)

def load_args(reader):
    buf0 = reader.storage('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', 48)
    reader.tensor(buf0, (4, 3), is_leaf=True)  # x
    buf1 = reader.storage('bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb', 12)
    reader.tensor(buf1, (3,), is_leaf=True)  # var
    buf2 = reader.storage('cccccccccccccccccccccccccccccccccccccccc', 40, dtype_hint=torch.int64)
    reader.tensor(buf2, (5,), dtype=torch.int64, is_leaf=True)  # ids
load_args._version = 0
mod = Repro()
if __name__ == '__main__':
    from torch._dynamo.repro.after_aot import run_repro
    with torch.no_grad():
        run_repro(mod, load_args, accuracy=True, command='run', save_dir=None, tracing_mode='real', check_str=None)
)py";

class CliInputsTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    graph = (folder / "launcher.py").string();
    std::ofstream(graph) << batchNorm;
  }
  std::string saved(const std::vector<std::string>& more, const char* name) {
    const std::string file = (folder / name).string();
    std::vector<std::string> arguments{"run", graph, "--save", file};
    arguments.insert(arguments.end(), more.begin(), more.end());
    EXPECT_EQ(run(arguments).status, 0);
    return file;
  }
  std::string graph;
};

TEST_F(CliInputsTest, ShowSaysWhy) {
  const auto shown = runJson({"show", graph, "--format", "inputs"});
  ASSERT_EQ(shown["inputs"].size(), 3u);
  EXPECT_EQ(shown["inputs"][1]["name"], "var");
  EXPECT_EQ(shown["inputs"][1]["value"], "f32[3]");
  EXPECT_EQ(shown["inputs"][1]["source"], "generated");
  EXPECT_EQ(shown["inputs"][1]["why"], "positive (rsqrt at rsqrt)");
  EXPECT_EQ(shown["inputs"][2]["why"], "an index below 4 (index at index)");
  EXPECT_THAT(run({"show", graph, "--format", "inputs"}).output, HasSubstr("3 inputs, 3 made up"));
  EXPECT_EQ(runJson({"show", graph, "--format", "inputs", "--inputs", "zeros"})["inputs"][0]["why"], "zeros");
}

TEST_F(CliInputsTest, PlausibleOnesAreFinite) {
  const auto report = runJson({"compare", graph});
  EXPECT_EQ(report["outputs"][0]["nan_ref"], 0);
  EXPECT_EQ(report["inputs"][1]["source"], "generated");
  EXPECT_EQ(runJson({"compare", graph, "--inputs", "random"})["inputs"][1]["why"], "PyTorch's rule: normal");
  EXPECT_EQ(runJson({"run", graph})["inputs"][2]["why"], "an index below 4 (index at index)");
}

TEST_F(CliInputsTest, SeedsRepeat) {
  const auto usual = saved({}, "a.safetensors");
  EXPECT_EQ(run({"run", graph, "--expect", usual, "--rtol", "0"}).status, 0);
  EXPECT_EQ(run({"run", graph, "--expect", usual, "--seed", "5"}).status, 1);
  const auto other = saved({"--seed", "5"}, "b.safetensors");
  EXPECT_EQ(run({"run", graph, "--seed", "5", "--expect", other, "--rtol", "0"}).status, 0);
}

TEST_F(CliInputsTest, BadValuesAreBadUsage) {
  for (const char* command : {"run", "compare"}) {
    const auto wrong = run({command, graph, "--inputs", "normal"});
    EXPECT_EQ(wrong.status, 2);
    EXPECT_THAT(wrong.errors, HasSubstr("plausible, random, zeros nor ones"));
    EXPECT_EQ(run({command, graph, "--seed", "-3"}).status, 2);
    EXPECT_EQ(run({command, graph, "--seed", "x"}).status, 2);
  }
}

TEST_F(CliInputsTest, FilesGiveInputsByPlaceAndName) {
  const std::string path = (folder / "in.safetensors").string();
  SafetensorsFile file;
  file.tensors.emplace_back("in0", Tensor::zeros(DType::Float32, {4, 3}).value());
  file.tensors.emplace_back("var", Tensor::zeros(DType::Float32, {3}).value());
  ASSERT_TRUE(writeSafetensors(path, file));
  const auto report = runJson({"compare", graph, "--inputs", path});
  EXPECT_EQ(report["inputs"][0]["source"], "file");
  EXPECT_EQ(report["inputs"][1]["source"], "file");
  EXPECT_EQ(report["inputs"][2]["source"], "generated");
}

TEST_F(CliInputsTest, ExportedReproHasTheData) {
  const auto expected = saved({}, "a.safetensors");
  const std::string target = (folder / "out").string();
  ASSERT_EQ(run({"export", graph, "-o", target}).status, 0);
  const std::string repro = target + "/repro.py";
  EXPECT_EQ(run({"run", repro, "--expect", expected, "--rtol", "0"}).status, 0);
  for (const auto& row : runJson({"show", repro, "--format", "inputs"})["inputs"]) EXPECT_EQ(row["source"], "stored");
  const std::string bare = (folder / "bare").string();
  ASSERT_EQ(run({"export", graph, "-o", bare, "--inputs", "random"}).status, 0);
  for (const auto& row : runJson({"show", bare + "/repro.py", "--format", "inputs"})["inputs"])
    EXPECT_EQ(row["source"], "generated");
}

TEST_F(CliInputsTest, MinifiesWithoutStorages) {
  const std::string target = (folder / "small").string();
  const auto minified = runJson({"minify", graph, "--plant", "relu=accuracy", "-o", target});
  EXPECT_EQ(minified["nodes"], 3);
}

}  // namespace
}  // namespace kerf::cli
