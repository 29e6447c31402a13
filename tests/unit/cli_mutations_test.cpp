// Mutated inputs, aliases and options of same_two_models through the commands.
#include "engine/tensor/safetensors.h"
#include "tests/support/cli_test.h"

namespace kerf::cli {
namespace {

using ::testing::HasSubstr;

constexpr const char* momentum = R"(class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[4, 4]", m: "f32[4, 4]"):
        relu: "f32[4, 4]" = torch.ops.aten.relu.default(x)
        mul: "f32[4, 4]" = torch.ops.aten.mul.Tensor(relu, 2.0)
        add: "f32[4, 4]" = torch.ops.aten.add.Tensor(mul, m)
        copy_: "f32[4, 4]" = torch.ops.aten.copy_.default(m, add)
        return ()
)";

class CliMutationTest : public CliTest {
 protected:
  std::string graph() const { return write("momentum.txt", momentum).string(); }
};

TEST_F(CliMutationTest, CompareShowsAndJudgesThem) {
  const auto good = runJson({"compare", graph()});
  ASSERT_EQ(good["outputs"].size(), 1u);
  EXPECT_EQ(good["outputs"][0]["name"], "mutates m");
  EXPECT_EQ(good["outputs"][0]["kind"], "mutation");
  for (const char* fault : {"mul=accuracy", "copy_=accuracy", "relu=accuracy"}) {
    const auto bad = run({"compare", graph(), "--plant", fault, "--nodes"});
    EXPECT_EQ(bad.status, 1) << fault;
    EXPECT_THAT(bad.output, HasSubstr("mutates m  DIFFERENT")) << fault;
    EXPECT_THAT(bad.output, HasSubstr("1 mutated value different")) << fault;
  }
}

TEST_F(CliMutationTest, SeveralFaultsOfOneOpArePlanted) {
  const auto both = run({"compare", graph(), "--plant", "relu=accuracy", "--plant", "relu=crash"});
  EXPECT_EQ(both.status, 1);
  EXPECT_THAT(both.output, HasSubstr("SIG"));
  EXPECT_THAT(both.output, HasSubstr("planted: relu=accuracy, relu=crash"));
}

TEST_F(CliMutationTest, MinifiesToAReproThatReturnsTheValue) {
  const auto repro = folder / "small";
  const auto minified = runJson({"minify", graph(), "--plant", "relu=accuracy", "-o", repro.string()});
  EXPECT_THAT(std::string(minified["fingerprint"]), ::testing::StartsWith("accuracy:mutation:magnitude:10^"));
  EXPECT_THAT(std::string(minified["rechecked"]), ::testing::StartsWith("accuracy:magnitude:"));
  EXPECT_LE(minified["nodes"], 5);
  std::ifstream file(repro / "repro.py");
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  EXPECT_THAT(text, HasSubstr("run_repro compares outputs only"));
  EXPECT_THAT(text, HasSubstr("copy_"));
  EXPECT_EQ(run({"minify", (repro / "repro.py").string(), "--plant", "relu=accuracy", "--judge"}).status, 1);
}

TEST_F(CliMutationTest, RunSavesAndExpectsThem) {
  const auto saved = (folder / "out.safetensors").string();
  const auto report = runJson({"run", graph(), "--save", saved});
  EXPECT_EQ(report["mutated"][0]["name"], "m");
  EXPECT_EQ(report["mutated"][0]["value"], "f32[4, 4]");
  ASSERT_NE(readSafetensors(saved)->find("mutated_m"), nullptr);
  EXPECT_EQ(runJson({"run", graph(), "--backend", "llvm", "--expect", saved})["expected"][0]["name"], "mutated_m");
  auto file = readSafetensors(saved).value();
  SafetensorsFile changed;
  for (auto& [name, tensor] : file.tensors) changed.tensors.emplace_back(name, tensor.clone().value());
  changed.tensors[0].second.data<float>()[3] += 1;
  file = {};
  ASSERT_TRUE(writeSafetensors(saved, changed));
  EXPECT_EQ(runJson({"run", graph(), "--expect", saved}, 1)["expected"][0]["same"], false);
  changed.tensors[0].first = "mutated_x";
  ASSERT_TRUE(writeSafetensors(saved, changed));
  EXPECT_THAT(run({"run", graph(), "--expect", saved}).errors, HasSubstr("does not mutate"));
}

TEST_F(CliMutationTest, TolerancesOfSingleResults) {
  EXPECT_EQ(run({"compare", graph(), "--plant", "mul=accuracy", "--tolerance", "m=10"}).status, 0);
  const auto unknown = run({"compare", graph(), "--tolerance", "out7=1e-2"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.errors, HasSubstr("no result of that name"));
  EXPECT_EQ(run({"compare", graph(), "--tolerance", "m=-1"}).status, 2);
  EXPECT_EQ(run({"minify", graph(), "--plant", "mul=accuracy", "--tolerance", "m=1"}).status, 2);
}

TEST_F(CliMutationTest, FaultsInPythonsInPlaceCallsAreInTheMemoryTheyWrite) {
  const auto path = write("python.txt", R"(class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[4]", p: "f32[4]", o: "f32[4]", n: "i64[4]"):
        relu = torch.relu(x)
        add_ = p.add_(relu, alpha = -0.1)
        add = torch.add(relu, x, out = o)
        mul = o * 2
        add__1 = n.add_(1)
        return (mul,)
)");
  const auto firstBad = [&](const char* fault) {
    const auto report = runJson({"compare", path.string(), "--nodes", "--plant", fault}, 1);
    std::vector<std::string> names;
    for (const auto& row : report["nodes"])
      if (row["first_bad"]) names.push_back(row["node"]);
    return names;
  };
  EXPECT_THAT(firstBad("add_=accuracy"), ::testing::ElementsAre("add_"));
  EXPECT_THAT(firstBad("torch.add=accuracy"), ::testing::ElementsAre("add"));
}

TEST_F(CliMutationTest, FaultsThatCanChangeNothingAreBadUsage) {
  const auto path = write("whole.txt", R"(class GraphModule(torch.nn.Module):
    def forward(self, n: "i64[4]", z: "c64[4]"):
        add: "i64[4]" = torch.ops.aten.add.Tensor(n, 1)
        copy_: "i64[4]" = torch.ops.aten.copy_.default(n, add)
        mul: "c64[4]" = torch.ops.aten.mul.Tensor(z, 2.0)
        return (mul,)
)");
  const auto whole = run({"compare", path.string(), "--plant", "add=accuracy"});
  EXPECT_EQ(whole.status, 2);
  EXPECT_THAT(whole.errors, HasSubstr("nothing to plant add=accuracy in"));
  EXPECT_EQ(run({"compare", path.string(), "--plant", "add=crash"}).status, 1);
  EXPECT_EQ(run({"compare", path.string(), "--plant", "mul=accuracy"}).status, 1) << "complex numbers too";
}

TEST_F(CliMutationTest, ADifferenceThatNanExcusesIsSaid) {
  const auto path = write("nan.txt", R"(class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[4]"):
        full: "f32[4]" = torch.ops.aten.full.default([4], float('nan'), dtype = torch.float32)
        relu: "f32[4]" = torch.ops.aten.relu.default(x)
        cat: "f32[8]" = torch.ops.aten.cat.default([full, relu])
        return (cat,)
)");
  const auto clean = run({"compare", path.string()});
  EXPECT_EQ(clean.status, 0);
  EXPECT_EQ(clean.output.find("only by NaN"), std::string::npos);
  const auto excused = run({"compare", path.string(), "--plant", "relu=accuracy", "--torch-same"});
  EXPECT_EQ(excused.status, 0);
  EXPECT_THAT(excused.output, HasSubstr("same (only by NaN)"));
  const auto measured = run({"compare", path.string(), "--plant", "relu=accuracy"});
  EXPECT_EQ(measured.status, 1) << "the finite elements differ";
  EXPECT_THAT(measured.output, HasSubstr("RMSE of the 4 finite elements"));
}

TEST_F(CliMutationTest, AGraphWithoutResultsHasNodeRowsForWhatItWrites) {
  const auto path = write("fused.txt", R"(class GraphModule(torch.nn.Module):
    def forward(self, p: "f32[4]", g: "f32[4]", m: "f32[4]", v: "f32[4]", step: "f32[]"):
        _fused_adam_ = torch.ops.aten._fused_adam_.default([p], [g], [m], [v], [], [step], lr = 0.01, beta1 = 0.9, beta2 = 0.999, weight_decay = 0.0, eps = 1e-08, amsgrad = False, maximize = False)
        return ()
)");
  EXPECT_EQ(run({"compare", path.string(), "--nodes"}).status, 0);
  const auto bad = runJson({"compare", path.string(), "--nodes", "--plant", "_fused_adam_=accuracy"}, 1);
  ASSERT_FALSE(bad["nodes"].empty());
  EXPECT_EQ(bad["nodes"][0]["first_bad"], true);
}

TEST_F(CliMutationTest, AReferenceThatCannotRunIsBadInput) {
  const auto path = write("assert.txt", R"(class GraphModule(torch.nn.Module):
    def forward(self, y: "f32[4]"):
        lt: "b8[4]" = torch.ops.aten.lt.Scalar(y, -1e30)
        any_1: "b8[]" = torch.ops.aten.any.default(lt)
        _assert_async = torch.ops.aten._assert_async.msg(any_1, 'too large')
        relu: "f32[4]" = torch.ops.aten.relu.default(y)
        return (relu,)
)");
  const auto result = run({"compare", path.string()});
  EXPECT_EQ(result.status, 2) << result.output << result.errors;
  EXPECT_THAT(result.errors, HasSubstr("_assert_async"));
}

TEST_F(CliMutationTest, AnExportedProgramsOutputsAreCountedWithoutWhatItMutates) {
  const std::string program = std::string(KERF_SOURCE_DIR) + "/tests/fuzz/seeds/pt2/linear.pt2";
  const auto compared = runJson({"compare", program, "--tol", "out0=0.5", "--tol", "n=0.25"});
  EXPECT_EQ(compared["outputs"][0]["name"], "mutates n");
  EXPECT_EQ(compared["outputs"][0]["kind"], "mutation");
  EXPECT_EQ(compared["outputs"][1]["name"], "out0");
  EXPECT_EQ(run({"compare", program, "--tol", "out1=0.5"}).status, 2);
}

TEST_F(CliMutationTest, AGraphWithoutResultsIsNotCalledTheSame) {
  const auto path = write("none.txt", R"(class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[4]"):
        relu: "f32[4]" = torch.ops.aten.relu.default(x)
        return ()
)");
  const auto result = run({"compare", path.string()});
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.output, HasSubstr("nothing to compare"));
}

}  // namespace
}  // namespace kerf::cli
