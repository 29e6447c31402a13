// Graphs pasted as text: every form, log prefixes, several at once, and where nodes come from.
#include "engine/capture/common/capture.h"
#include "engine/capture/inputs/annotation_inputs.h"
#include "engine/capture/repro/writer.h"
#include "engine/capture/text/capture.h"
#include "engine/ir/printer.h"
#include "tests/unit/capture_testing.h"

namespace kerf {
namespace {

Capture imported(const std::string& text) {
  auto capture = importGraphText(text, "pasted.txt");
  EXPECT_TRUE(capture) << (capture ? "" : capture.error().text());
  return capture ? std::move(*capture) : Capture{};
}

std::string seed(const std::string& name) {
  return testing::readFile(std::filesystem::path(KERF_SOURCE_DIR) / "tests/fuzz/seeds/graph_text" / name);
}

const Node& node(const CapturedGraph& graph, const std::string& name) {
  const auto id = graph.module.graph.find(name);
  EXPECT_TRUE(id) << name;
  return graph.module.graph.node(id.value_or(graph.module.graph.order().front()));
}

TEST(GraphText, ReadsAllFormsOfOnePaste) {
  const Capture capture = imported(seed("forms.txt"));
  ASSERT_EQ(capture.graphs.size(), 3u);
  const CapturedGraph& logged = capture.graphs[0];
  EXPECT_EQ(logged.origin.line, 5);
  EXPECT_EQ(node(logged, "l_x_").target(), "L_x_");
  EXPECT_EQ(node(logged, "mul").target(), "operator.mul");
  EXPECT_EQ(node(logged, "mul").meta().sourceFile, "/p/m.py");
  EXPECT_EQ(node(logged, "mul").meta().sourceLine, 79);
  EXPECT_EQ(node(logged, "s77").meta().sourceLine, 6);
  const CapturedGraph& dumped = capture.graphs[1];
  EXPECT_EQ(node(dumped, "add").kwargs().size(), 1u);
  EXPECT_EQ(node(dumped, "add").args().size(), 2u);
  EXPECT_EQ(node(dumped, "relu").op(), Opcode::CallMethod);
  EXPECT_EQ(node(dumped, "add").meta().sourceLine, 20);
  EXPECT_EQ(node(dumped, "relu").meta().sourceLine, 22);
  const CapturedGraph& table = capture.graphs[2];
  EXPECT_EQ(node(table, "add").target(), "operator.add");
  EXPECT_EQ(node(table, "relu").target(), "torch.ops.aten.relu.default");
  EXPECT_EQ(node(table, "gelu").target(), "torch.nn.functional.gelu");
  EXPECT_EQ(node(table, "gelu").meta().sourceLine, 30);
}

TEST(GraphText, ReadsEverySignature) {
  const Capture capture = imported(seed("variants.txt"));
  ASSERT_EQ(capture.graphs.size(), 4u);
  const CapturedGraph& plain = capture.graphs[0];
  EXPECT_EQ(node(plain, "getattr_1").target(), "layers.0");
  EXPECT_EQ(node(plain, "iadd").target(), "operator.iadd");
  EXPECT_EQ(node(plain, "arg").meta().annotation, "DTensor(f32[2, 2][2, 1], S(0))");
  ASSERT_NE(plain.module.attribute("_tensor_constant0"), nullptr);
  EXPECT_EQ(plain.module.attribute("_tensor_constant0")->tensor.sizes(), (Sizes{7}));
  const CapturedGraph& boxed = capture.graphs[1];
  EXPECT_EQ(boxed.name, "Outer");
  EXPECT_EQ(boxed.module.codegen.kind, CodeGen::Kind::Boxed);
  ASSERT_NE(boxed.module.submodule("true_graph"), nullptr);
  EXPECT_NE(boxed.module.submodule("true_graph")->graph, nullptr);
  EXPECT_EQ(node(capture.graphs[2], "primals_2").meta().description, "ParamAOTInput(target='w')");
  EXPECT_EQ(capture.graphs[3].module.codegen.kind, CodeGen::Kind::Export);
  ASSERT_NE(capture.graphs[3].module.submodule("sub"), nullptr);
}

TEST(GraphText, InputsComeFromAnnotations) {
  const Capture capture = imported(
      "def forward(self, s0: \"Sym(s0)\", x: \"bf16[s0, 4][4, 1]cuda:0\", y: \"i64[2*s0]\", z):\n    return (x,)\n");
  const AnnotationInputs made = inputsFromAnnotations(capture.graphs.at(0).module);
  ASSERT_EQ(made.inputs.size(), 4u);
  EXPECT_EQ(made.inputs[0].kind, GraphInput::Kind::SymInt);
  EXPECT_EQ(made.inputs[0].sym.hint, made.symbols.at("s0"));
  EXPECT_EQ(made.inputs[1].dtype, DType::BFloat16);
  EXPECT_EQ(made.inputs[1].sizeTexts, (std::vector<std::string>{"s0", "4"}));
  EXPECT_EQ(made.inputs[1].device.text(), "cuda:0");
  EXPECT_EQ(made.inputs[2].sizes, (Sizes{2 * made.symbols.at("s0")}));
  EXPECT_EQ(made.inputs[3].kind, GraphInput::Kind::Unsupported);
  const std::string text = reproText(capture, 0);
  EXPECT_TRUE(text.starts_with(fmt::format("s0 = {}\n", made.symbols.at("s0")))) << text.substr(0, 80);
  EXPECT_NE(text.find("reader.tensor(buf0, (s0, 4), (4, 1), dtype=torch.bfloat16, is_leaf=True)  # x"),
            std::string::npos)
      << text;
}

TEST(GraphText, PrintedTablesAndDumpsReadBack) {
  const Capture first = imported(seed("mlp_forward.txt"));
  const Graph& graph = first.graphs.at(0).module.graph;
  for (const std::string& text : {printTabular(graph), printGraphText(graph)}) {
    const Capture again = imported(text);
    EXPECT_EQ(printGraphText(again.graphs.at(0).module.graph), printGraphText(graph));
  }
}

TEST(GraphText, RefusesWhatIsNoGraph) {
  struct Case {
    std::string text, message;
    int line;
  };
  const Case cases[] = {
      {"hello\n", "there is no graph in the text: no 'def forward', 'graph():' or table", 1},
      {"graph():\n    %x : [num_users=0] = placeholder[target=x]\n", "the graph returns nothing: truncated?", 1},
      {"\n\ndef forward(self, x):\n    y = x +\n    return y\n", "expected a value", 4},
      {"def forward(self, x, x):\n    return x\n", "forward has two arguments named 'x'", 1},
      {"opcode  name\n", "there is no graph", 1}};
  for (const Case& expected : cases) {
    const auto capture = importGraphText(expected.text, "pasted.txt");
    ASSERT_FALSE(capture) << expected.text;
    EXPECT_NE(capture.error().message.find(expected.message), std::string::npos) << capture.error().text();
    EXPECT_EQ(capture.error().line, expected.line) << capture.error().text();
    EXPECT_EQ(capture.error().file, "pasted.txt");
    EXPECT_EQ(exitCode(capture.error().code), 2);
  }
}

TEST(GraphText, HostileTextIsRefusedQuickly) {
  const std::string deep =
      "def forward(self, x):\n    return " + std::string(100'000, '(') + "x" + std::string(100'000, ')') + "\n";
  EXPECT_FALSE(importGraphText(deep, "deep.txt"));
  EXPECT_FALSE(importGraphText("graph():\n    return " + std::string(100'000, '['), "deep.txt"));
  EXPECT_FALSE(importGraphText(std::string("def forward(self, x):\n    return (x\0,)\n", 40), "nul.txt"));
  EXPECT_FALSE(importGraphText("def forward(self, x):\n    y = \xff\xfe(x)\n    return y\n", "utf8.txt"));
  ImportLimits limits;
  limits.lineBytes = 1 << 20;
  const auto longLine = importGraphText("def forward(self, x):\n    return \"" + std::string(100 << 20, 'a') + "\"\n",
                                        "long.txt", limits);
  ASSERT_FALSE(longLine);
  EXPECT_EQ(longLine.error().code, ErrorCode::TooLarge);
  EXPECT_EQ(longLine.error().line, 2);
  const std::string whole = seed("mlp_forward.txt");
  for (std::size_t cut = 0; cut < whole.size(); cut += 7) {
    const auto capture = importGraphText(std::string_view(whole).substr(0, cut), "cut.txt");
    if (!capture) {
      EXPECT_EQ(exitCode(capture.error().code), 2);
    }
  }
}

}  // namespace
}  // namespace kerf
