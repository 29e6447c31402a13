// kerf joint, and --train of run, compare and passes: from a captured graph to its gradients.
#include "engine/support/recordings.h"
#include "tests/support/cli_test.h"

namespace kerf::cli {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class JointTest : public CliTest {
 protected:
  /// Two modules that the repro knows by their reprs.
  std::string modulesRepro() const {
    return write("modules.py",
                 "import torch\nfrom torch.nn import *\nclass Repro(torch.nn.Module):\n"
                 "    def __init__(self):\n        super().__init__()\n"
                 "        self.fc = Linear(in_features=4, out_features=3, bias=True)\n"
                 "        self.norm = LayerNorm((3,), eps=1e-05, elementwise_affine=True)\n"
                 "    def forward(self, x : torch.Tensor):\n        fc = self.fc(x);  x = None\n"
                 "        norm = self.norm(fc);  fc = None\n        return (norm.relu(),)\n"
                 "mod = Repro()\ndef load_args(reader):\n    buf0 = reader.storage(None, 32)\n"
                 "    reader.tensor(buf0, (2, 4))  # x\nload_args._version = 0\nif __name__ == '__main__':\n"
                 "    from torch._dynamo.repro.after_dynamo import run_repro\n"
                 "    run_repro(mod, load_args, accuracy=False, command='run', save_dir=None, autocast=False,\n"
                 "              backend='inductor')\n")
        .string();
  }
  static std::vector<std::string> columnOf(const json& rows, const char* key) {
    std::vector<std::string> values;
    for (const auto& row : rows) values.push_back(row[key]);
    return values;
  }
};

TEST_F(JointTest, ModulesHaveTheirParametersAsPrimals) {
  const auto report = runJson({"joint", modulesRepro()});
  EXPECT_THAT(columnOf(report["stages"], "stage"), ElementsAre("dynamo", "aten", "functional", "joint"));
  EXPECT_THAT(columnOf(report["inputs"], "source"),
              ElementsAre("fc.weight", "fc.bias", "norm.weight", "norm.bias", "x"));
  EXPECT_EQ(report["stages"][3]["calls"]["torch.ops.aten.native_layer_norm_backward.default"], 1);
  EXPECT_EQ(report["stages"][3]["calls"]["torch.ops.aten.threshold_backward.default"], 1);
}

TEST_F(JointTest, TrainingGivesTheLossAndGradientsByName) {
  const auto result = run({"run", modulesRepro(), "--train"});
  ASSERT_EQ(result.status, 0) << result.errors;
  for (const char* name : {"loss  f32[]", "grad.fc.weight  f32[3, 4]", "grad.fc.bias  f32[3]",
                           "grad.norm.weight  f32[3]", "grad.norm.bias  f32[3]"})
    EXPECT_THAT(result.output, HasSubstr(name));
  EXPECT_THAT(result.output, Not(HasSubstr("grad.x")));
}

TEST_F(JointTest, ComparesGradientsWithTheirFp64References) {
  const auto result = run({"compare", modulesRepro(), "--train"});
  EXPECT_EQ(result.status, 0) << result.output << result.errors;
  EXPECT_THAT(result.output, HasSubstr("grad.fc.weight"));
  EXPECT_THAT(result.output, HasSubstr("all outputs are the same"));
  const auto forward = run({"compare", modulesRepro()});
  EXPECT_EQ(forward.status, 0) << forward.output << forward.errors;
  EXPECT_THAT(forward.output, Not(HasSubstr("no fp64 reference")));
}

TEST_F(JointTest, AStageIsAnAddressAndAFile) {
  const std::string joint = (folder / "joint.txt").string();
  ASSERT_EQ(run({"joint", modulesRepro(), "--format", "text", "-o", joint}).status, 0);
  const auto shown = runJson({"show", modulesRepro() + "@stage:joint"});
  const auto read = runJson({"show", joint});
  EXPECT_EQ(columnOf(read["nodes"], "name"), columnOf(shown["nodes"], "name"));
  EXPECT_THAT(columnOf(shown["nodes"], "name"), Contains("tangents_1"));
  EXPECT_THAT(run({"show", modulesRepro() + "@stage:jnt"}).errors, HasSubstr("there is no stage \"jnt\""));
}

TEST_F(JointTest, DecompositionsAreTables) {
  const auto core = runJson({"joint", modulesRepro(), "--decompositions", "inductor"});
  const auto& calls = core["stages"].back()["calls"];
  EXPECT_FALSE(calls.contains("torch.ops.aten.native_layer_norm_backward.default")) << calls;
  EXPECT_TRUE(calls.contains("torch.ops.aten.rsqrt.default")) << calls;
  EXPECT_EQ(run({"joint", modulesRepro(), "--decompositions", "some"}).status, 2);
}

TEST_F(JointTest, PassesListTheStagesFirst) {
  const auto listed = runJson({"passes", modulesRepro(), "--train"});
  std::vector<std::string> stages;  // each once, in order
  for (const auto& row : listed["passes"]) {
    const std::string part = row["part"].is_null() ? "" : row["part"].get<std::string>() + " ";
    const std::string stage = part + row["stage"].get<std::string>();
    if (stages.empty() || stages.back() != stage) stages.push_back(stage);
  }
  EXPECT_THAT(stages, ElementsAre("pre_grad", "aot", "joint", "forward partition", "backward partition",
                                  "forward post_grad", "forward lowering", "forward backend", "backward post_grad",
                                  "backward lowering", "backward backend"));
  std::vector<std::string> traced;
  for (const auto& row : listed["passes"])
    if (row["stage"] == "aot") traced.push_back(row["name"]);
  EXPECT_THAT(traced, ::testing::IsSupersetOf({"aten", "functional", "joint"}));
  EXPECT_TRUE(listed["failure"].is_null());
  for (const auto& row : listed["passes"]) {
    if (row["stage"] != "partition") continue;
    EXPECT_EQ(row["name"], "min_cut");
    EXPECT_EQ(row["changed"], true);
    EXPECT_LT(row["nodes_after"], row["nodes_before"]);
  }
}

TEST_F(JointTest, PassesOfATrainingStepDumpEachPart) {
  const auto result = run({"passes", modulesRepro(), "--train", "--dump-after", "min_cut"});
  ASSERT_EQ(result.status, 0) << result.errors;
  EXPECT_THAT(result.output, HasSubstr("# after forward min_cut\ngraph():\n    %primals_1 "));
  EXPECT_THAT(result.output, HasSubstr("# after backward min_cut\ngraph():\n"));
  const auto checked = runJson({"passes", modulesRepro(), "--train", "--check-passes"});
  EXPECT_EQ(checked["check"]["pass"], json());
  EXPECT_GT(checked["check"]["checked"], 0);
  EXPECT_EQ(run({"passes", modulesRepro(), "--train", "--passes", "no_such_pass"}).status, 2);
}

TEST_F(JointTest, TrainingIsTheSameInMachineCode) {
  const auto result = run({"run", modulesRepro(), "--train", "--backend", "llvm"});
  ASSERT_EQ(result.status, 0) << result.errors;
  EXPECT_THAT(result.output, HasSubstr("grad.fc.weight  f32[3, 4]"));
}

TEST_F(JointTest, RecordedGradientsOfAProgram) {
  const auto mlp = recordingsFolder() / "golden/mlp";
  if (!fs::exists(mlp)) GTEST_SKIP() << "no golden models";
  const auto expect = (mlp / "train_ref64.safetensors").string();
  const auto result =
      run({"run", (mlp / "model.pt2").string(), "--train", "--dtype", "f64", "--expect", expect, "--rtol", "1e-9"});
  EXPECT_EQ(result.status, 0) << result.output << result.errors;
  EXPECT_THAT(result.output, HasSubstr("8 of 8 outputs equal the recorded ones"));
}

TEST_F(JointTest, SeedsOfRandomNumbersBecomeInputs) {
  const std::string graph =
      write("dropout.txt",
            "class GraphModule(torch.nn.Module):\n    def forward(self, x: \"f32[8, 4]cuda:0\"):\n"
            "        native_dropout = torch.ops.aten.native_dropout.default(x, 0.5, True)\n"
            "        getitem = native_dropout[0]\n        return (getitem,)\n")
          .string();
  const auto report = runJson({"joint", graph, "--functionalize-rng"});
  EXPECT_EQ(report["stages"].back()["stage"], "joint, seeds as inputs");
  EXPECT_EQ(report["stages"].back()["calls"]["torch.ops.rngprims.philox_rand.default"], 1);
  const auto shown = runJson({"show", graph + "@stage:joint/inductor/rng"});
  EXPECT_THAT(columnOf(shown["nodes"], "name"), Contains("bwd_base_offset_1"));
  EXPECT_EQ(run({"compare", graph + "@stage:joint/inductor/rng"}).status, 0);
  const auto refused = run({"joint", graph, "--functionalize-rng", "--stage", "aten"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.errors, HasSubstr("--functionalize-rng is for the stages functional and joint"));
}

}  // namespace
}  // namespace kerf::cli
