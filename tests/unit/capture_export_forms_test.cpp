// Repros of graphs that came with no repro: joint graphs, Dynamo's graphs, logs; and what their files must bind.
#include "engine/capture/audit/auditor.h"
#include "engine/capture/repro/export_text.h"
#include "engine/capture/repro/free_names.h"
#include "engine/capture/repro/graph_level.h"
#include "engine/capture/repro/usual_header.h"
#include "engine/capture/repro/writer.h"
#include "tests/unit/capture_testing.h"

namespace kerf {
namespace {

using testing::TemporaryFolder;

Capture opened(const std::string& text) {
  const TemporaryFolder folder;
  testing::writeFile(folder.path() / "graph.txt", text);
  auto capture = importCapture(folder.path() / "graph.txt");
  EXPECT_TRUE(capture) << capture.error().text();
  return capture ? std::move(*capture) : Capture{};
}

std::string exported(const Capture& capture) {
  const auto text = exportText(capture, 0, {});
  EXPECT_TRUE(text) << text.error().text();
  return text ? *text : std::string();
}

constexpr const char* jointText = R"(class inner_f(torch.nn.Module):
    def forward(self, primals, tangents):
        primals_1: "f32[4]"; tangents_1: "f32[4]";

        primals_1, tangents_1, = fx_pytree.tree_flatten_spec([primals, tangents], self._in_spec)
        relu: "f32[4]" = torch.ops.aten.relu.default(primals_1);  primals_1 = None
        mul: "f32[4]" = torch.ops.aten.mul.Tensor(tangents_1, relu);  tangents_1 = None
        return pytree.tree_unflatten([relu, mul, None], self._out_spec)
)";

TEST(ExportForms, AJointGraphTakesAndReturnsFlatLists) {
  const Capture capture = opened(jointText);
  ASSERT_EQ(capture.graphs.size(), 1u);
  EXPECT_FALSE(isDynamoGraph(capture.graphs[0]));
  const std::string text = exported(capture);
  EXPECT_NE(text.find("def forward(self, primals_1, tangents_1):"), std::string::npos) << text;
  EXPECT_NE(text.find("        return [relu, mul, None]\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("pytree"), std::string::npos);
  EXPECT_EQ(text.find("_spec"), std::string::npos);
  EXPECT_NE(text.find("from torch._dynamo.repro.after_aot import run_repro"), std::string::npos);
  const auto again = importRepro(text, {});
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(exported(*again), text);
}

TEST(ExportForms, AGraphOfDynamoIsForItsOwnRunner) {
  const Capture capture = opened(R"(class GraphModule(torch.nn.Module):
    def forward(self, L_x_: "f32[4]"):
        l_x_ = L_x_
        sin: "f32[4]" = l_x_.sin();  l_x_ = None
        return (sin,)
)");
  EXPECT_TRUE(isDynamoGraph(capture.graphs.at(0)));
  const std::string text = exported(capture);
  const auto module = text.find("\nmod = GraphModule()\n"), loader = text.find("\ndef load_args(");
  EXPECT_LT(module, loader) << text;
  EXPECT_EQ(text.find("mod = ", module + 5), std::string::npos);
  EXPECT_NE(text.find("    from torch._dynamo.repro.after_dynamo import run_repro\n"
                      "    run_repro(mod, load_args, accuracy=False, command='run',\n"
                      "        save_dir=None, autocast=False, backend='inductor')"),
            std::string::npos)
      << text;
  const auto again = importRepro(text, {});
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(again->envelope.runner, "after_dynamo");
  EXPECT_EQ(exported(*again), text);
}

TEST(ExportForms, ImportsWhatTheCodeNames) {
  EXPECT_EQ(importsFor("x = torch.ops.aten.full.default([2], nan)\n", "import torch\nfrom math import inf\n"),
            "from math import nan\n");
  EXPECT_EQ(importsFor("x = torch.ops.aten.full.default([2], inf)\n", "import torch\nfrom math import inf\n"), "");
  EXPECT_EQ(importsFor("x = a.nan\ny = 'nan'\n", ""), "");
  EXPECT_EQ(importsFor("x = f(device(type='cpu'))\n", "from torch import tensor, device\n"), "");
  EXPECT_EQ(importsFor("x = tensor(1)\n", "import tensorflow\n"), "from torch import tensor\n");
}

TEST(ExportForms, NamesWhatExistsOnlyWhilePyTorchCompiles) {
  const std::string code = "a = torch__dynamo_external_utils_f(x)\nb = torch__dynamo_external_utils_f(a)\n";
  EXPECT_EQ(compilerNames(code), std::vector<std::string>{"torch__dynamo_external_utils_f"});
  EXPECT_TRUE(compilerNames("a = torch.ops.aten.relu.default(x)\n").empty());
}

TEST(ExportForms, TakesEnvironmentConfigurationAndVersionsFromAnotherGraphOfTheProcess) {
  ReproEnvelope told;
  told.environmentLines = {"os.environ['TORCHINDUCTOR_COMPILE_THREADS'] = '2'", "os.environ['PATH'] = '/evil'"};
  told.configLines = {"torch._inductor.config.deterministic = False"};
  told.torchVersion = "2.11.0";
  told.headerLines = {"import torch", "# torch version: 2.11.0", "# CUDA Info: ", "import evil", "# no version"};
  const ReproEnvelope taken = environmentOf(told);
  const auto& lines = taken.headerLines;
  const auto has = [&](const std::string& line) { return std::ranges::count(lines, line); };
  EXPECT_EQ(has("os.environ['TORCHINDUCTOR_COMPILE_THREADS'] = '2'"), 1);
  EXPECT_EQ(has("torch._inductor.config.deterministic = False"), 1);
  EXPECT_EQ(has("# CUDA Info: "), 1);
  EXPECT_EQ(has("import torch"), 1);
  EXPECT_EQ(has("import evil") + has("# no version") + has("os.environ['PATH'] = '/evil'"), 0);
  EXPECT_TRUE(environmentOf({}).headerLines.empty());
}

TEST(ExportForms, ASeedIsALineThatAnExportMayHave) {
  EXPECT_TRUE(isAllowedBlock("import torch\ntorch.manual_seed(0)\n"));
  EXPECT_FALSE(isAllowedBlock("import torch\ntorch.manual_seed(open('x'))\n"));
  EXPECT_FALSE(isAllowedBlock("import torch\ntorch.load(0)\n"));
}

}  // namespace
}  // namespace kerf
