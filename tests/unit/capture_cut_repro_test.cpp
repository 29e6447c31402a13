// Repros that are not whole, and those of torch 2.0: what is there of them opens, with the inputs that they tell.
#include "engine/capture/audit/auditor.h"
#include "engine/capture/repro/document.h"
#include "engine/capture/repro/writer.h"
#include "tests/unit/capture_testing.h"

namespace kerf {
namespace {

Capture opened(const std::string& text) {
  auto capture = importReproText(text, "pasted.txt", {});
  EXPECT_TRUE(capture) << (capture ? "" : capture.error().text()) << "\n" << text;
  return capture ? std::move(*capture) : Capture{};
}

bool says(const Capture& capture, std::string_view part) {
  return std::ranges::any_of(capture.notes, [&](const std::string& note) { return note.find(part) != note.npos; });
}

void expectReadsBack(const Capture& capture) {
  const std::string written = reproText(capture, 0);
  const auto again = importRepro(written, {});
  ASSERT_TRUE(again) << again.error().text() << "\n" << written;
  EXPECT_EQ(again->graphs[0].contentHash(), capture.graphs[0].contentHash()) << written;
}

const std::string model =
    "import torch\nfrom torch.nn import *\nclass Repro(torch.nn.Module):\n    def __init__(self) -> None:\n"
    "        super().__init__()\n\n    def forward(self, a, b, c):\n"
    "        add = torch.ops.aten.add.Tensor(a, b);  a = b = None\n"
    "        mul = torch.ops.aten.mul.Tensor(add, c);  add = c = None\n        return (mul,)\n\n";
const std::string twoInputs =
    "def load_args(reader):\n    buf0 = reader.storage(None, 512)\n    reader.tensor(buf0, (8, 16))  # a\n"
    "    buf1 = reader.storage(None, 64)\n    reader.tensor(buf1, (16,))  # b\n";

TEST(CutRepro, InputsBeforeTheCutKeepTheirShapes) {
  for (const char* rest : {"    buf2 = reader.stor", "    buf2 = reader.storage(None, 64, device=device(type='cu",
                           "    buf2 = reader.storage(None, 64)\n    reader.ten", ""}) {
    const Capture capture = opened(model + twoInputs + rest);
    ASSERT_EQ(capture.graphs.size(), 1u) << rest;
    const std::vector<GraphInput>& inputs = capture.graphs[0].inputs;
    ASSERT_EQ(inputs.size(), 3u) << rest;
    EXPECT_EQ(inputs[0].sizes, (Sizes{8, 16}));
    EXPECT_EQ(inputs[1].sizes, (Sizes{16}));
    EXPECT_EQ(inputs[2].kind, GraphInput::Kind::Unsupported) << rest;
    EXPECT_TRUE(says(capture, "load_args says nothing of the last 1 of 3 inputs")) << rest;
    EXPECT_TRUE(says(capture, "the repro is read as far as it is there")) << rest;
    expectReadsBack(capture);
  }
}

TEST(CutRepro, OnlyTheCallOfRunReproMayBeMissing) {
  const Capture capture = opened(model + twoInputs +
                                 "    buf2 = reader.storage(None, 64)\n    reader.tensor(buf2, (16,))  # c\n"
                                 "load_args._version = 0\nmod = Repro()\n");
  ASSERT_EQ(capture.graphs.size(), 1u);
  ASSERT_EQ(capture.graphs[0].inputs.size(), 3u);
  EXPECT_EQ(capture.graphs[0].inputs[2].sizes, (Sizes{16}));
  EXPECT_TRUE(says(capture, "the file ends without a call of run_repro"));
  expectReadsBack(capture);
}

TEST(CutRepro, AForwardWithAnEllipsisKeepsItsInputs) {
  std::string text = model + twoInputs + "    buf2 = reader.storage(None, 64)\n    reader.tensor(buf2, (16,))  # c\n";
  const std::size_t at = text.find("        return (mul,)");
  text.replace(at, 21, "        ...");
  const Capture capture = opened(text);
  ASSERT_EQ(capture.graphs.size(), 1u);
  EXPECT_EQ(capture.graphs[0].inputs.size(), 3u);
  EXPECT_TRUE(capture.graphs[0].module.graph.find("mul"));
  EXPECT_TRUE(says(capture, "what nothing uses is returned: mul"));
}

TEST(CutRepro, LinesOfTheReaderStandWithoutLoadArgsInTorch20) {
  const std::string reader =
      "import torch._dynamo.repro.after_aot\n"
      "reader = torch._dynamo.repro.after_aot.InputReader(save_dir='/tmp/minifier')\n"
      "buf0 = reader.storage(None, 512)\nt0 = reader.tensor(buf0, (8, 16))\n"
      "buf1 = reader.storage(None, 64)\nt1 = reader.tensor(buf1, (16,))\nt2 = reader.tensor(buf1, (1, 16))\n"
      "args = [t0, t1, t2]\nmod = make_fx(Repro(), tracing_mode='symbolic')(*args)\n";
  const Capture capture = opened(model + reader);
  EXPECT_EQ(capture.kind, "repro");
  ASSERT_EQ(capture.graphs.size(), 1u);
  ASSERT_EQ(capture.graphs[0].inputs.size(), 3u);
  EXPECT_EQ(capture.graphs[0].inputs[2].sizes, (Sizes{1, 16}));
  EXPECT_EQ(capture.graphs[0].inputs[2].storageIndex, 1);
  expectReadsBack(capture);
}

TEST(CutRepro, AGraphWithoutInputsHasAnEmptyLoadArgs) {
  const Capture capture = opened(
      "import torch\nclass Repro(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
      "        self.register_buffer('w', torch.randn([2, 3], dtype=torch.float32))\n\n    def forward(self):\n"
      "        w = self.w\n        cat = torch.ops.aten.cat.default([w, w], 1);  w = None\n        return (cat,)\n\n"
      "def load_args(reader):\n    load_args._version = 0\n\nmod = Repro()\nif __name__ == '__main__':\n"
      "    from torch._dynamo.repro.after_aot import run_repro\n"
      "    run_repro(mod, load_args, accuracy=False, command='run', save_dir=None, tracing_mode='real')\n");
  ASSERT_EQ(capture.graphs.size(), 1u);
  EXPECT_TRUE(capture.graphs[0].inputs.empty());
  expectReadsBack(capture);
}

TEST(CutRepro, ModulesOfTorch20MayBeOnADevice) {
  const Capture capture = opened(
      "import torch\nfrom torch._dynamo.testing import rand_strided\nargs = [((2, 8), (8, 1), torch.float32, 'cuda', "
      "False)]\nargs = [rand_strided(sh, st, dt, dev).requires_grad_(rg) for (sh, st, dt, dev, rg) in args]\n"
      "from torch.nn import *\nclass Repro(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
      "        self.self_fc = Linear(in_features=8, out_features=4, bias=True).cuda()\n\n"
      "    def forward(self, x : torch.Tensor):\n        self_fc = self.self_fc(x);  x = None\n"
      "        return (self_fc,)\n\nmod = Repro()\n");
  ASSERT_EQ(capture.graphs.size(), 1u);
  EXPECT_EQ(capture.graphs[0].inputs.at(0).sizes, (Sizes{2, 8}));
  const std::string written = reproText(capture, 0);
  EXPECT_NE(written.find("self.self_fc = Linear(in_features=8, out_features=4, bias=True).cuda()"), std::string::npos);
  const auto audited = auditExport(written);
  EXPECT_TRUE(audited) << audited.error().text();
  std::string other = written;
  other.replace(other.find(".cuda()"), 7, ".weight");
  EXPECT_FALSE(auditExport(other));
  expectReadsBack(capture);
}

TEST(CutRepro, TheModelThatWasTracedMayStandAboveIt) {
  const std::string user =
      "import torch\nimport torch.nn.functional as F\n\nclass Net(torch.nn.Module):\n    def __init__(self):\n"
      "        super().__init__()\n\n    def forward(self, x):\n        x = F.relu(self.conv1(x))\n"
      "        return x\n\n";
  const Capture capture = opened(user + testing::reluRepro("    buf0 = reader.storage(None, 64)\n"
                                                           "    reader.tensor(buf0, (4, 4))  # x\n"));
  ASSERT_EQ(capture.graphs.size(), 1u);
  EXPECT_EQ(capture.graphs[0].inputs.at(0).sizes, (Sizes{4, 4}));
  EXPECT_TRUE(capture.graphs[0].module.graph.find("relu"));
}

TEST(CutRepro, AUsersModelIsNone) {
  const auto refused = importReproText(
      "import torch\nclass Repro(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
      "        self.fc = torch.nn.Linear(4, 4)\n    def forward(self, x):\n        x = self.fc(x)\n"
      "        x = self.fc(x)\n        return x\n",
      "net.py", {});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("class Repro is a model's source"), std::string::npos);
}

}  // namespace
}  // namespace kerf
