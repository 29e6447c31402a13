// Commands that run graphs: run, compare, bisect, demo.
#include "engine/tensor/safetensors.h"
#include "tests/support/cli_test.h"

namespace kerf::cli {
namespace {

using ::testing::HasSubstr;

class CliRunTest : public CliTest {
 protected:
  std::string outputs() const { return (folder / "out.safetensors").string(); }
  /// Saved outputs of the sample with `change` applied to the file.
  void saveChanged(const std::function<void(SafetensorsFile&)>& change) {
    ASSERT_EQ(run({"run", sample, "--save", outputs()}).status, 0);
    auto file = readSafetensors(outputs()).value();
    SafetensorsFile copy;
    for (auto& [name, tensor] : file.tensors) copy.tensors.emplace_back(name, tensor.clone().value());
    change(copy);
    file = {};
    ASSERT_TRUE(writeSafetensors(outputs(), copy));
  }
};

TEST_F(CliRunTest, SavedOutputsAreExpectedAgainOnBothBackends) {
  ASSERT_EQ(run({"run", sample, "--save", outputs()}).status, 0);
  for (const char* backend : {"interp", "llvm"}) {
    const auto report = runJson({"run", sample, "--backend", backend, "--expect", outputs()});
    EXPECT_EQ(report["same"], true);
    EXPECT_LT(report["expected"][0]["relative_error"], 1e-5);
  }
  EXPECT_EQ(runJson({"ls", "runs"})["runs"].size(), 3u);
}

TEST_F(CliRunTest, WideRunsHaveOutputsOfTheirOwn) {
  ASSERT_EQ(run({"run", sample, "--dtype", "f64", "--save", outputs()}).status, 0);
  EXPECT_NE(readSafetensors(outputs())->find("out64_0"), nullptr);
  EXPECT_EQ(readSafetensors(outputs())->find("out64_0")->dtype(), DType::Float64);
  EXPECT_EQ(run({"run", sample, "--dtype", "f64", "--expect", outputs()}).status, 0);
  EXPECT_EQ(run({"run", sample, "--expect", outputs()}).status, 2) << "a file without out<i> does not fit";
}

TEST_F(CliRunTest, NarrowTypesRunNearTheRecordedValues) {
  ASSERT_EQ(run({"run", sample, "--save", outputs()}).status, 0);
  for (const char* dtype : {"bf16", "f16"}) {
    const auto result = run({"run", sample, "--dtype", dtype, "--expect", outputs(), "--rtol", "0.2"});
    EXPECT_EQ(result.status, 0) << dtype << result.output << result.errors;
  }
}

TEST_F(CliRunTest, AWrongValueIsADifference) {
  saveChanged([](SafetensorsFile& file) { file.tensors[0].second.data<float>()[0] += 1.0f; });
  const auto report = runJson({"run", sample, "--expect", outputs()}, 1);
  EXPECT_EQ(report["same"], false);
  EXPECT_EQ(runJson({"ls", "runs"})["runs"][1]["status"], "different");
}

TEST_F(CliRunTest, AFileThatDoesNotFitIsBadInput) {
  saveChanged([](SafetensorsFile& file) { file.tensors.emplace_back("out99", Tensor::scalar(1, DType::Float32)); });
  const auto extra = run({"run", sample, "--expect", outputs()});
  EXPECT_EQ(extra.status, 2);
  EXPECT_THAT(extra.errors, HasSubstr("out99"));
  saveChanged([](SafetensorsFile& file) { file.tensors[0].second = Tensor::zeros(DType::Float32, {1, 7}).value(); });
  EXPECT_THAT(run({"run", sample, "--expect", outputs()}).errors, HasSubstr("f32[1, 7]"));
  saveChanged([](SafetensorsFile& file) { file.tensors[0].first = "other"; });
  EXPECT_EQ(run({"run", sample, "--expect", outputs()}).status, 2);
}

TEST_F(CliRunTest, CompareFindsNothingWithoutAFault) {
  const auto report = runJson({"compare", sample});
  EXPECT_EQ(report["same"], true);
  EXPECT_EQ(report["have_fp64"], true);
  EXPECT_EQ(report["outputs"][0]["nan_res"], 0);
}

TEST_F(CliRunTest, CompareNamesTheFirstBadNodeOfAPlantedFault) {
  const auto report = runJson({"compare", sample, "--plant", "relu=accuracy", "--nodes"}, 1);
  EXPECT_EQ(report["same"], false);
  ASSERT_FALSE(report["first_bad"].empty());
  const auto first = report["first_bad"][0].get<std::string>();
  EXPECT_THAT(first, ::testing::StartsWith("relu"));
  EXPECT_EQ(report["nodes"][0]["first_bad"], true) << "worst first";
  EXPECT_EQ(runJson({"ls", "runs"})["runs"][0]["status"], "different");
  EXPECT_THAT(run({"bisect", sample, "--by", "node", "--plant", "relu=accuracy"}).output, HasSubstr("node " + first));
}

class PlantedFault : public CliRunTest, public ::testing::WithParamInterface<const char*> {};

TEST_P(PlantedFault, IsAReportedFailure) {
  const auto report = runJson({"compare", reluRepro().string(), "--plant", fmt::format("relu={}", GetParam())}, 1);
  EXPECT_EQ(report["same"], false);
  EXPECT_NE(report["failure"], "");
  EXPECT_EQ(runJson({"ls", "runs"})["runs"][0]["status"], "failed");
}

INSTANTIATE_TEST_SUITE_P(Kinds, PlantedFault, ::testing::Values("compile_error", "runtime_error", "crash", "hang"),
                         [](const auto& parameter) { return std::string(parameter.param); });

TEST_F(CliRunTest, BisectFindsThePlantedPass) {
  const auto good = runJson({"bisect", sample, "--by", "pass"});
  EXPECT_EQ(good["culprits"], json::array());
  const auto bad = runJson({"bisect", sample, "--by", "pass", "--plant", "pass:cse=accuracy"}, 1);
  EXPECT_EQ(bad["culprits"], json::array({"cse"}));
}

TEST_F(CliRunTest, BisectFindsTheSubsystemOfAPlantedPass) {
  EXPECT_EQ(runJson({"bisect", sample, "--by", "subsystem"})["culprits"], json::array());
  const std::pair<const char*, const char*> cases[] = {
      {"remove_identity", "pre-grad passes"}, {"pointless_view", "joint passes"}, {"cse", "post-grad passes"}};
  for (const auto& [pass, subsystem] : cases) {
    const auto bad =
        runJson({"bisect", sample, "--by", "subsystem", "--plant", fmt::format("pass:{}=accuracy", pass)}, 1);
    EXPECT_EQ(bad["culprits"], json::array({subsystem})) << pass;
  }
}

TEST_F(CliRunTest, BisectFindsThePartOfTheCompilerThatIsNoPass) {
  const std::pair<const char*, const char*> cases[] = {{"codegen", "lowering and code generation"},
                                                       {"fusion", "fusion"},
                                                       {"memory_plan", "memory plan"},
                                                       {"optimisation", "LLVM optimisation"}};
  for (const auto& [part, subsystem] : cases) {
    const auto bad =
        runJson({"bisect", sample, "--by", "subsystem", "--plant", fmt::format("pass:{}=accuracy", part)}, 1);
    EXPECT_EQ(bad["culprits"], json::array({subsystem})) << part;
  }
  EXPECT_EQ(run({"bisect", sample, "--by", "subsystem", "--backend", "interp", "--plant", "pass:memory_plan=accuracy"})
                .status,
            2);
}

TEST_F(CliRunTest, DecompositionsAreASubsystem) {
  const std::string graph = (folder / "silu.txt").string();
  std::ofstream(graph) << "class GraphModule(torch.nn.Module):\n"
                          "    def forward(self, x: \"f32[4, 8][8, 1]cpu\"):\n"
                          "        silu: \"f32[4, 8][8, 1]cpu\" = torch.ops.aten.silu.default(x);  x = None\n"
                          "        neg: \"f32[4, 8][8, 1]cpu\" = torch.ops.aten.neg.default(silu);  silu = None\n"
                          "        return (neg,)\n";
  const auto bisect = [&](std::vector<std::string> more, int status) {
    std::vector<std::string> arguments{"bisect", graph, "--by", "subsystem"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return runJson(arguments, status)["culprits"];
  };
  EXPECT_EQ(bisect({"--decompositions", "inductor"}, 0), json::array());
  EXPECT_EQ(bisect({"--decompositions", "inductor", "--plant", "exp=accuracy"}, 1), json::array({"decompositions"}));
  EXPECT_EQ(bisect({"--decompositions", "inductor", "--plant", "pass:cse=accuracy"}, 1),
            json::array({"post-grad passes"}));
  EXPECT_EQ(run({"bisect", graph, "--by", "subsystem", "--plant", "exp=accuracy"}).status, 2);
  EXPECT_EQ(run({"bisect", graph, "--by", "pass", "--decompositions", "core"}).status, 2);
}

TEST_F(CliRunTest, BisectFindsTheModuleOfAPlantedFault) {
  EXPECT_EQ(runJson({"bisect", sample, "--by", "module"})["culprits"], json::array());
  const auto bad = runJson({"bisect", sample, "--by", "module", "--plant", "relu=accuracy"}, 1);
  ASSERT_FALSE(bad["culprits"].empty());
  EXPECT_GT(bad["trials"].size(), 1u);
  EXPECT_THAT(run({"bisect", sample, "--by", "module", "--plant", "relu=accuracy"}).output,
              HasSubstr("the fault begins at module " + bad["culprits"][0].get<std::string>()));
}

TEST_F(CliRunTest, TheInterpreterStandsBehindTheBackendDoorToo) {
  EXPECT_EQ(runJson({"compare", sample, "--backend", "interp"})["same"], true);
  EXPECT_EQ(runJson({"compare", sample, "--backend", "interp", "--plant", "pass:cse=accuracy"}, 1)["same"], false);
  EXPECT_EQ(run({"compare", sample, "--disable-pass", "cse", "--plant", "pass:cse=accuracy"}).status, 2);
}

TEST_F(CliRunTest, DemoDoesTheWholeJob) {
  unsetenv("DISPLAY");
  unsetenv("WAYLAND_DISPLAY");
  setenv("QT_QPA_PLATFORM", "offscreen", 1);
  const auto report = runJson({"demo", "-o", (folder / "demo").string()});
  EXPECT_EQ(report["minified_nodes"], 3);
  EXPECT_EQ(report["clean_same"], true);
  EXPECT_GT(report["planted_different"], 0);
  EXPECT_THAT(textOf(report["report"].get<std::string>()), HasSubstr("## Minify"));
  EXPECT_TRUE(fs::exists(folder / "demo/repro/repro.py"));
}

}  // namespace
}  // namespace kerf::cli
