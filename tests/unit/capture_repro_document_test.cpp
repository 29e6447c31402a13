// Repros as people have them: symbols without values, emptied storages, arguments of other kinds, several in one text.
#include "engine/capture/common/capture.h"
#include "engine/capture/repro/aoti_repro.h"
#include "engine/capture/repro/document.h"
#include "engine/capture/repro/writer.h"
#include "tests/unit/capture_testing.h"

namespace kerf {
namespace {

using testing::reluRepro;
using testing::reproAround;

Capture opened(const std::string& text) {
  auto capture = importReproText(text, "repro.py", {});
  EXPECT_TRUE(capture) << (capture ? "" : capture.error().text()) << "\n" << text;
  return capture ? std::move(*capture) : Capture{};
}

bool says(const Capture& capture, std::string_view part) {
  return std::ranges::any_of(capture.notes, [&](const std::string& note) { return note.find(part) != note.npos; });
}

/// What is exported is the same graph with the same inputs.
void expectReadsBack(const Capture& capture, std::size_t index = 0) {
  const std::string written = reproText(capture, index);
  const auto again = importRepro(written, {});
  ASSERT_TRUE(again) << again.error().text() << "\n" << written;
  EXPECT_EQ(again->graphs[0].contentHash(), capture.graphs[index].contentHash()) << written;
}

const std::string twoInputs =
    "    def forward(self, a, x, b, y):\n        cat = torch.ops.aten.cat.default([x, y]);  x = y = None\n"
    "        return (cat,)\n";

TEST(ReproDocument, SymbolsThatNothingDefinesGetTheValuesOfTheirSymints) {
  const Capture capture =
      opened(reproAround("", twoInputs,
                         "    reader.symint(6)  # a\n    buf0 = reader.storage(None, 8*s64, dtype_hint=torch.int64)\n"
                         "    reader.tensor(buf0, (1, s64), dtype=torch.int64)  # x\n    reader.symint(9)  # b\n"
                         "    buf1 = reader.storage(None, 8*s3, dtype_hint=torch.int64)\n"
                         "    reader.tensor(buf1, (1, s3), dtype=torch.int64)  # y\n"));
  ASSERT_EQ(capture.graphs.size(), 1u);
  EXPECT_EQ(capture.graphs[0].inputs[1].sizes, (Sizes{1, 6}));
  EXPECT_EQ(capture.graphs[0].inputs[3].sizes, (Sizes{1, 9}));
  EXPECT_EQ(capture.graphs[0].inputs[3].sizeTexts, (std::vector<std::string>{"1", "s3"}));
  EXPECT_TRUE(says(capture, "s64 is not defined in the file: 6 is taken, the value of its reader.symint"));
  EXPECT_EQ(reproText(capture, 0).substr(0, 16), "s64 = 6\ns3 = 9\n\n");
  expectReadsBack(capture);
}

TEST(ReproDocument, WhatHasNoValueIsMadeUpAndSaid) {
  const Capture capture =
      opened(reproAround("", twoInputs,
                         "    reader.symint(None)  # a\n    buf0 = reader.storage(None, 0)\n"
                         "    reader.tensor(buf0, (3, 4))  # x\n    reader.symint(2)  # b\n"
                         "    buf1 = reader.storage(None, 4*u7)\n    reader.tensor(buf1, (u7,))  # y\n"));
  ASSERT_EQ(capture.graphs.size(), 1u);
  EXPECT_EQ(capture.graphs[0].inputs[0].sym.hint, 8);
  EXPECT_EQ(capture.graphs[0].storages[0].bytes, 48);
  EXPECT_EQ(capture.graphs[0].inputs[3].sizes, (Sizes{2}));
  EXPECT_TRUE(says(capture, "1 storages have 0 bytes in the file"));
  EXPECT_TRUE(says(capture, "1 integer inputs have no value in the file"));
  expectReadsBack(capture);
}

const std::string model =
    "class Repro(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n\n"
    "    def forward(self, x : torch.Tensor, y : torch.Tensor):\n"
    "        add = torch.add(x, y);  x = y = None\n        return (add,)\n\n";

TEST(ReproDocument, ArgumentsStandInAListOfAnyKind) {
  const std::string import = "import torch\nfrom torch._dynamo.testing import rand_strided\n\n";
  const std::string pair = "((2, 3), (3, 1), torch.float32, 'cpu', False)";
  const std::string cases[] = {
      import + "args = [" + pair + ", " + pair +
          "]\nargs = [rand_strided(sh, st, dt, dev).requires_grad_(rg) for (sh, st, dt, dev, rg) in args]\n\n" + model +
          "mod = Repro()\n",
      import + model + "args = [torch.randn(2, 3), torch.ones((2, 3), requires_grad=True)]\nmod = Repro()\n",
      import +
          "def make_inputs():\n"
          "    return [rand_strided((2, 3), (3, 1), torch.float32, 'cpu'), torch.zeros([2, 3])]\n\n" +
          model + "mod = Repro()\n",
      import + model + "args = []\nargs.append(torch.empty(2, 3))\nargs.append(torch.rand(size=(2, 3)))\n"};
  for (const std::string& text : cases) {
    const Capture capture = opened(text);
    ASSERT_EQ(capture.graphs.size(), 1u) << text;
    ASSERT_EQ(capture.graphs[0].inputs.size(), 2u) << text;
    for (const GraphInput& input : capture.graphs[0].inputs) EXPECT_EQ(input.sizes, (Sizes{2, 3})) << text;
    expectReadsBack(capture);
  }
}

TEST(ReproDocument, LoadArgsMayComeFirst) {
  const std::string loader =
      "def load_args(reader):\n    buf0 = reader.storage(None, 24)\n"
      "    reader.tensor(buf0, (2, 3))  # x\n    buf1 = reader.storage(None, 24)\n"
      "    reader.tensor(buf1, (2, 3))  # y\nload_args._version = 0\n\n";
  const Capture capture = opened("import torch\n\n" + loader + model +
                                 "mod = Repro()\nif __name__ == '__main__':\n"
                                 "    from torch._dynamo.repro.after_aot import run_repro\n"
                                 "    run_repro(mod, load_args, accuracy=False, command='run')\n");
  ASSERT_EQ(capture.graphs.size(), 1u);
  EXPECT_EQ(capture.graphs[0].inputs.size(), 2u);
  expectReadsBack(capture);
}

TEST(ReproDocument, AnIssueGivesAllItsGraphs) {
  const std::string relu = reluRepro("    buf0 = reader.storage(None, 64)\n    reader.tensor(buf0, (4, 4))  # x\n");
  const std::string other = reluRepro("    buf0 = reader.storage(None, 36)\n    reader.tensor(buf0, (3, 3))  # x\n");
  const std::string graph =
      "def forward(self, x: \"f32[2]\"):\n    sin: \"f32[2]\" = torch.ops.aten.sin.default(x);  x = None\n"
      "    return (sin,)\n";
  const Capture fenced = opened("### Bug\n\n```python\n" + relu + "\n```\nand\n```\n" + graph + "```\nor\n\n```py\n" +
                                other + "\n```\n### Versions\n| a | b |\n");
  ASSERT_EQ(fenced.graphs.size(), 3u);
  EXPECT_EQ(fenced.kind, "text");
  EXPECT_EQ(fenced.torchVersion, "2.11.0+cu130");
  EXPECT_EQ(fenced.graphs[0].inputs.at(0).sizes, (Sizes{4, 4}));
  EXPECT_TRUE(fenced.graphs[1].inputs.empty());
  EXPECT_EQ(fenced.graphs[2].inputs.at(0).sizes, (Sizes{3, 3}));
  EXPECT_EQ(fenced.graphs[2].name, "forward_2");
  EXPECT_LT(fenced.graphs[0].origin.line, fenced.graphs[1].origin.line);
  for (std::size_t i = 0; i < 3; ++i) expectReadsBack(fenced, i);
  const Capture one = opened("Bug:\n```\n" + relu + "\n```\n");
  ASSERT_EQ(one.graphs.size(), 1u);
  ASSERT_NE(one.graphs[0].envelope, nullptr);
  EXPECT_EQ(one.graphs[0].envelope->headerLines.front(), "import torch");
  const Capture beside = opened(relu + "\n\n" + graph);
  EXPECT_EQ(beside.graphs.size(), 2u);
  const Capture joined = opened(relu + "\n" + other);
  ASSERT_EQ(joined.graphs.size(), 2u);
  EXPECT_EQ(joined.graphs[1].inputs.at(0).sizes, (Sizes{3, 3}));
}

TEST(ReproDocument, ACutReproIsAGraphWithoutItsInputs) {
  const std::string text = reluRepro("    buf0 = reader.storage(None, 64)\n    reader.tensor(buf0, (4, 4))  # x\n");
  const Capture capture = opened(text.substr(0, text.find("def load_args")));
  ASSERT_EQ(capture.graphs.size(), 1u);
  EXPECT_TRUE(capture.graphs[0].inputs.empty());
  EXPECT_TRUE(
      says(capture, "this is not a whole repro, its inputs are made up: the file has no load_args: truncated?"));
  const auto user = importReproText(
      "import torch\nclass Repro(torch.nn.Module):\n    def forward(self, x):\n"
      "        if x.sum() > 0:\n            return x\n        return x + 1\n",
      "user.py", {});
  ASSERT_FALSE(user);
  EXPECT_EQ(user.error().message,
            "class Repro is a model's source, no captured graph: torch.compile and torch.export capture one");
}

TEST(AotiRepro, SaysWhichArchiveItNeeds) {
  const std::string text =
      "import torch\n"
      "exported_program = torch.export.load('/tmp/run/checkpoints/exported_program.pt2')\n"
      "if __name__ == '__main__':\n    from torch._dynamo.repro.aoti import run_repro\n"
      "    run_repro(exported_program, config_patches=None, accuracy=False, command='run')\n";
  const testing::TemporaryFolder folder;
  testing::writeFile(folder.path() / "repro.py", text);
  EXPECT_TRUE(looksLikeAotiRepro(text));
  const auto missing = importCapture(folder.path() / "repro.py");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::NotFound);
  EXPECT_NE(missing.error().message.find("put exported_program.pt2 beside the script"), std::string::npos);
  testing::writeFile(folder.path() / "exported_program.pt2", "no archive");
  const auto damaged = importCapture(folder.path() / "repro.py");
  ASSERT_FALSE(damaged);
  EXPECT_EQ(damaged.error().code, ErrorCode::BadInput);
}

}  // namespace
}  // namespace kerf
