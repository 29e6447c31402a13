// Graphs as people paste them: cut, in fragments, behind prefixes of every kind, in pages and issues.
#include "engine/capture/inputs/annotation_inputs.h"
#include "engine/capture/text/capture.h"
#include "engine/ir/printer.h"
#include "tests/unit/capture_testing.h"

namespace kerf {
namespace {

Capture imported(const std::string& text) {
  auto capture = importGraphText(text, "pasted.txt");
  EXPECT_TRUE(capture) << (capture ? "" : capture.error().text()) << "\n" << text;
  return capture ? std::move(*capture) : Capture{};
}

/// A graph of two calls, a line for each string.
const std::vector<std::string>& graphLines() {
  static const std::vector<std::string> lines = {
      "class GraphModule(torch.nn.Module):",
      "    def forward(self, arg0_1: \"f32[4, 8]\", arg1_1: \"f32[8]\"):",
      "        # File: /home/ann/net.py:12 in forward, code: y = x * w",
      "        mul: \"f32[4, 8]\" = torch.ops.aten.mul.Tensor(arg0_1, arg1_1);  arg0_1 = arg1_1 = None",
      "        relu: \"f32[4, 8]\" = torch.ops.aten.relu.default(mul);  mul = None",
      "        return (relu,)"};
  return lines;
}

template <typename Change>
std::string changed(Change change) {
  std::string text;
  for (const std::string& line : graphLines()) text += change(line) + "\n";
  return text;
}

std::string plain() {
  return changed([](const std::string& line) { return line; });
}

std::string targetsOf(const CapturedGraph& graph) {
  std::string text;
  for (const NodeId id : graph.module.graph.order()) {
    const Node& node = graph.module.graph.node(id);
    if (node.op() == Opcode::CallFunction) text += node.name() + "=" + node.target().substr(15) + " ";
  }
  return text;
}

bool says(const Capture& capture, std::string_view part) {
  return std::ranges::any_of(capture.notes, [&](const std::string& note) { return note.find(part) != note.npos; });
}

std::vector<std::string> namesOf(const Capture& capture) {
  std::vector<std::string> names;
  for (const CapturedGraph& graph : capture.graphs) names.push_back(graph.name);
  return names;
}

constexpr std::string_view whole = "mul=mul.Tensor relu=relu.default ";

TEST(PastedText, PrefixesAreFoundByStandingBeforeEveryLine) {
  const std::string glog = "V0113 10:01:52.7870 14045 torch/_dynamo/output_graph.py:1291] [0/0] [__graph_code] ";
  int second = 0;
  const std::vector<std::function<std::string(const std::string&)>> cases = {
      [&](const std::string& line) { return glog + line; },
      [](const std::string& line) { return "[rank3]:" + line; },
      [&](const std::string& line) { return "[rank1]:" + glog + line; },
      [](const std::string& line) { return "[__graph_code] " + line; },
      [&](const std::string& line) { return fmt::format("2026-01-31T13:54:{:02}.12345{}Z ", ++second, second) + line; },
      [](const std::string& line) { return "DEBUG:torch._functorch:" + (" " + line); },
      [](const std::string& line) { return "> " + line; },
      [](const std::string& line) { return ">> " + line; },
      [](const std::string& line) { return "# " + line; },
      [](const std::string& line) { return "// " + line; },
      [](const std::string& line) { return "+" + line; },
      [&](const std::string& line) { return fmt::format("{:>4} | ", 95 + ++second) + line; },
      [](const std::string& line) { return "app-1  | (Worker_TP0 pid=81) INFO 01-02 11:29:30 [core.py:824] " + line; },
      [](const std::string& line) { return "\t" + line; },
  };
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Capture capture = imported("some words before\n" + changed(cases[i]));
    ASSERT_EQ(capture.graphs.size(), 1u) << i;
    EXPECT_EQ(targetsOf(capture.graphs[0]), whole) << i;
    EXPECT_EQ(capture.graphs[0].origin.line, 2) << i;
    const auto mul = capture.graphs[0].module.graph.find("mul");
    ASSERT_TRUE(mul) << i;
    EXPECT_EQ(capture.graphs[0].module.graph.node(*mul).meta().sourceFile, "/home/ann/net.py") << i;
  }
}

TEST(PastedText, LinesOfSeveralWritersAreToldApart) {
  std::string text;
  for (const std::string& line : graphLines()) {
    text += "[rank0]: " + line + "\n";
    std::string other = line;
    if (const std::size_t at = other.find("relu.default"); at != std::string::npos) other.replace(at, 4, "tanh");
    text += "[rank1]: " + other + "\n";
    text += "WARNING something else\n";
  }
  const Capture capture = imported(text);
  ASSERT_EQ(capture.graphs.size(), 2u);
  EXPECT_EQ(targetsOf(capture.graphs[0]), whole);
  EXPECT_EQ(targetsOf(capture.graphs[1]), "mul=mul.Tensor relu=tanh.default ");
  EXPECT_EQ(capture.graphs[0].origin.rank, 0);
  EXPECT_EQ(capture.graphs[1].origin.rank, 1);
}

TEST(PastedText, CharactersBecomePlainAgain) {
  const auto replacing = [](std::string_view from, std::string_view to) {
    return changed([&](std::string line) {
      for (std::size_t at = line.find(from); at != std::string::npos; at = line.find(from, at + to.size()))
        line.replace(at, from.size(), to);
      return line;
    });
  };
  std::string escaped = "'";
  for (const std::string& line : graphLines()) escaped += line + "\\n";
  const std::string cases[] = {replacing(" ", "\xc2\xa0"),
                               replacing("\"", "\xe2\x80\x9d"),
                               replacing("\"", "&quot;"),
                               "<pre><code>" + replacing("\"", "&quot;") + "</code></pre>\n",
                               replacing("torch.ops", "<span class=\"n\">torch</span>.ops"),
                               escaped + "'\n",
                               "expected = \"\"\"\n" + plain() + "\"\"\"\n"};
  for (const std::string& text : cases) {
    const Capture capture = imported(text);
    ASSERT_EQ(capture.graphs.size(), 1u) << text;
    EXPECT_EQ(targetsOf(capture.graphs[0]), whole) << text;
    EXPECT_EQ(namesOf(capture), namesOf(imported(plain())));
  }
}

TEST(PastedText, ADiffIsReadAsItIsAfterwards) {
  std::string text = "```diff\n@@ -1,6 +1,6 @@\n";
  for (const std::string& line : graphLines()) {
    const std::size_t at = line.find("relu.default");
    if (at == std::string::npos) {
      text += " " + line + "\n";
      continue;
    }
    std::string old = line;
    old.replace(at, 4, "tanh");
    text += "-" + old + "\n+" + line + "\n";
  }
  const Capture capture = imported(text + "```\n");
  ASSERT_EQ(capture.graphs.size(), 1u);
  EXPECT_EQ(targetsOf(capture.graphs[0]), whole);
}

TEST(PastedText, WhatIsCutOpensUpToTheCut) {
  const std::string text = plain();
  const Capture atLine = imported(text.substr(0, text.find("        return")));
  ASSERT_EQ(atLine.graphs.size(), 1u);
  EXPECT_EQ(targetsOf(atLine.graphs[0]), whole);
  EXPECT_TRUE(says(atLine, "cut at line 5, before it returns anything: what nothing uses is returned: relu"));
  const Capture within = imported(text.substr(0, text.find("relu.default") + 6));
  ASSERT_EQ(within.graphs.size(), 1u);
  EXPECT_EQ(targetsOf(within.graphs[0]), "mul=mul.Tensor ");
  EXPECT_TRUE(says(within, "cut at line 5, before it returns anything: what nothing uses is returned: mul"));
  EXPECT_TRUE(says(within, "returned: mul; that line is left out: it is cut within the name of what is called"));
  EXPECT_FALSE(says(within, "line 5 is left out"));
  EXPECT_FALSE(importGraphText(text.substr(0, text.find("mul: ")), "pasted.txt"));
}

TEST(PastedText, EllipsesAndStrangeStatementsAreLeftOut) {
  const Capture capture = imported(
      "def forward(self, primals_1: \"f32[4]\", ..., primals_9: \"f32[4]\"):\n"
      "    add: \"f32[4]\" = torch.ops.aten.add.Tensor(primals_1, primals_9);  primals_1 = None\n"
      "    ...\n"
      "    while something: pass\n"
      "    sin: \"f32[4]\" = torch.ops.aten.sin.default(neg_4);  neg_4 = None\n"
      "    return (add, sin)\n");
  ASSERT_EQ(capture.graphs.size(), 1u);
  EXPECT_EQ(targetsOf(capture.graphs[0]), "add=add.Tensor sin=sin.default ");
  EXPECT_TRUE(says(capture, "the text does not define neg_4: it is an input"));
  EXPECT_TRUE(says(capture, "line 4 is left out"));
  EXPECT_EQ(capture.graphs[0].module.graph.placeholders().size(), 3u);
}

TEST(PastedText, FragmentsHaveWhatTheyMentionAsInputs) {
  const Capture code = imported(
      "it ends so:\n\n        permute_3: \"f32[8, 4]\" = torch.ops.aten.permute.default(addmm_1, [1, 0])\n"
      "        mm_2: \"f32[8, 8]\" = torch.ops.aten.mm.default(permute_3, where);  permute_3 = where = None\n");
  ASSERT_EQ(code.graphs.size(), 1u);
  EXPECT_EQ(targetsOf(code.graphs[0]), "permute_3=permute.default mm_2=mm.default ");
  EXPECT_TRUE(says(code, "the text does not define addmm_1, where: they are inputs"));
  EXPECT_EQ(code.graphs[0].origin.line, 3);
  const Capture nodes = imported(
      "10:22 || graph.py:793 || lowering %view : [num_users=2] = "
      "call_function[target=torch.ops.aten.view.default](args = (%arg0_1, [-1, 4]), kwargs = {})\n"
      "10:23 || graph.py:690 ||   via <function view at 0x7ff1>\n"
      "10:23 || graph.py:793 || lowering %exp : [num_users=1] = "
      "call_function[target=torch.ops.aten.exp.default](args = (%view,), kwargs = {})\n");
  ASSERT_EQ(nodes.graphs.size(), 1u);
  EXPECT_EQ(targetsOf(nodes.graphs[0]), "view=view.default exp=exp.default ");
  const Capture rows = imported(
      "call_function  add_1   aten.add.Tensor    (mul, 1)   {}\n"
      "call_function  sin_1   aten.sin.default   (add_1,)   {}\n");
  ASSERT_EQ(rows.graphs.size(), 1u);
  EXPECT_EQ(targetsOf(rows.graphs[0]), "add_1=add.Tensor sin_1=sin.default ");
  EXPECT_TRUE(says(rows, "the text does not define mul"));
}

TEST(PastedText, OldFormsOfTorchOpen) {
  const Capture bare = imported(
      "def forward(self, primals_1: f32[2, s0], primals_2: Sym(s0), primals_3: f32[]):\n"
      "    mul: f32[2, s0] = torch.ops.aten.mul.Tensor(primals_1, primals_3);  primals_1 = None\n"
      "    return [mul]\n");
  ASSERT_EQ(bare.graphs.size(), 1u);
  const Graph& graph = bare.graphs[0].module.graph;
  const TensorMeta* mul = graph.node(*graph.find("mul")).meta().value.tensor();
  ASSERT_NE(mul, nullptr);
  EXPECT_EQ(mul->sizes.size(), 2u);
  EXPECT_EQ(mul->sizes[1].text, "s0");
  const Capture oldest = imported(
      "graph(x):\n    %add_1 : [uses=1] = call_function[target=operator.add](args = (%x, 3.0), kwargs = {})\n"
      "    return %add_1\n");
  ASSERT_EQ(oldest.graphs.size(), 1u);
  EXPECT_EQ(oldest.graphs[0].module.graph.placeholders().size(), 1u);
}

TEST(PastedText, LabelsBecomeNamesAndStages) {
  const Capture capture = imported(" ===== Forward graph 0 =====\n" + plain() + "\n===== Backward graph 0 =====\n" +
                                   plain() + "\nTRACED GRAPH [2/1]\n===== __compiled_fn_4_ab12 =====\n" + plain() +
                                   "\nJoint graph:\n```\n" + plain() + "```\n");
  EXPECT_EQ(namesOf(capture), (std::vector<std::string>{"forward_0", "backward_0", "__compiled_fn_4", "joint"}));
  EXPECT_EQ(capture.graphs[0].origin.stage, "aot_forward_graph");
  EXPECT_EQ(capture.graphs[2].origin.stage, "dynamo_output_graph");
  EXPECT_EQ(capture.graphs[3].origin.stage, "aot_joint_graph");
}

TEST(PastedText, AModelsSourceIsNoGraph) {
  const std::string model =
      "import torch.nn as nn\n\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
      "        self.fc = nn.Linear(4, 2)\n\n    def forward(self, x):\n        return self.fc(x)\n";
  const auto refused = importGraphText(model, "net.py");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "class Net is a model's source, no captured graph: torch.compile and torch.export capture one");
  EXPECT_EQ(refused.error().line, 3);
  const Capture issue =
      imported("### Describe the bug\n```python\n" + model + "```\nIt gives\n```\n" + plain() + "```\n");
  ASSERT_EQ(issue.graphs.size(), 1u);
  EXPECT_EQ(targetsOf(issue.graphs[0]), whole);
  for (const char* text : {"def forward(self, x):\n    x = x + 1\n    x = x * 2\n    return x\n",
                           "def forward(self, x):\n    if x.sum() > 0:\n        y = x\n    return y\n",
                           "def forward(ctx, x):\n    y = torch.ops.lib.f.default(x)\n    return y\n",
                           "def forward(self, x):\n    return torch.relu(torch.sin(x))\n"})
    EXPECT_FALSE(importGraphText(text, "net.py")) << text;
}

TEST(PastedText, VeryManySymbolsAreTaken) {
  std::string inputs;
  for (int i = 0; i < 20'000; ++i) inputs += fmt::format(", x{0}: \"f32[s{0}, 2]\"", i);
  const Capture capture = imported("def forward(self" + inputs + "):\n    y = x7 + 1\n    return (y,)\n");
  ASSERT_EQ(capture.graphs.size(), 1u);
  const std::vector<GraphInput> taken = withInputs(capture.graphs[0]).inputs;
  ASSERT_EQ(taken.size(), 20'000u);
  EXPECT_EQ(taken[19'999].sizeTexts, (std::vector<std::string>{"s19999", "2"}));
  EXPECT_EQ(taken[19'999].sizes, (Sizes{8, 2}));
}

TEST(PastedText, HostilePastesEndSoon) {
  std::string prefixes, nodes, open, undefined = "def forward(self):\n";
  for (int i = 0; i < 20'000; ++i) {
    prefixes += fmt::format("p{} def forward(self, x):\n", i);
    nodes += "% % % % users= %a : %b : [";
    undefined += fmt::format("    a{0}: \"f32[2]\" = torch.ops.aten.sin.default(b{0})\n", i);
  }
  for (int i = 0; i < 3'000; ++i) open += "    a: \"f32[1]\" = torch.ops.aten.sin.default((((\n";
  (void)importGraphText(prefixes, "p.txt");
  (void)importGraphText(nodes + "\n" + nodes, "n.txt");
  EXPECT_FALSE(importGraphText("def forward(self, x):\n" + open, "o.txt"));
  EXPECT_FALSE(importGraphText(undefined, "u.txt"));
  (void)importGraphText(std::string(200'000, '>') + plain(), "q.txt");
  (void)importGraphText("x: f32[" + std::string(300'000, '[') + ": f32[\n" + plain(), "b.txt");
}

}  // namespace
}  // namespace kerf
