// Forms of pasted graphs beyond classes and forward methods: functions of other names, single statements, the printers of
// torch 2.0.
#include "engine/capture/text/capture.h"
#include "tests/unit/capture_testing.h"

namespace kerf {
namespace {

Capture imported(const std::string& text) {
  auto capture = importGraphText(text, "pasted.txt");
  EXPECT_TRUE(capture) << (capture ? "" : capture.error().text()) << "\n" << text;
  return capture ? std::move(*capture) : Capture{};
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

const std::string graph =
    "class GraphModule(torch.nn.Module):\n    def forward(self, arg0_1: \"f32[4]\"):\n"
    "        mul: \"f32[4]\" = torch.ops.aten.mul.Tensor(arg0_1, arg0_1);  arg0_1 = None\n        return (mul,)\n";

TEST(PastedForms, FunctionsOfOtherNamesAreGraphs) {
  const Capture capture = imported(
      "It traces to\n\n    def f(x_1: \"f32[3]\", y_1: \"f32[3]\"):\n"
      "        # No stacktrace found for following nodes\n"
      "        sin: \"f32[3]\" = torch.ops.aten.sin.default(x_1);  x_1 = None\n"
      "        sub: \"f32[3]\" = torch.ops.aten.sub.Tensor(sin, y_1);  sin = y_1 = None\n        return sub\n\n"
      "[rank0]: def inner_f(self, arg0_1):\n[rank0]:     neg = torch.ops.aten.neg.default(arg0_1);  arg0_1 = None\n"
      "[rank0]:     return (neg,)\n");
  EXPECT_EQ(namesOf(capture), (std::vector<std::string>{"f", "inner_f"}));
  EXPECT_EQ(targetsOf(capture.graphs[0]), "sin=sin.default sub=sub.Tensor ");
  EXPECT_EQ(capture.graphs[0].module.graph.placeholders().size(), 2u);
  EXPECT_EQ(capture.graphs[0].origin.line, 3);
  EXPECT_FALSE(says(capture, "does not define"));
  EXPECT_FALSE(importGraphText("def test_f(x):\n    y = torch.sin(x)\n    return y\n", "t.py"));
  const Capture inTest = imported("def test_it(self):\n    expected = \"\"\"\n" + graph + "\"\"\"\n");
  EXPECT_EQ(targetsOf(inTest.graphs.at(0)), "mul=mul.Tensor ");
}

TEST(PastedForms, SingleStatementsAreGraphsWhereTheTextHasNoOther) {
  const Capture lone =
      imported("import torch\n\nlinear_72 = torch.ops.aten.linear.default(gelu, w, b);  gelu = w = b = None\n");
  ASSERT_EQ(lone.graphs.size(), 1u);
  EXPECT_EQ(targetsOf(lone.graphs[0]), "linear_72=linear.default ");
  EXPECT_TRUE(says(lone, "the text does not define gelu, w, b: they are inputs"));
  const Capture two = imported(
      "before:\n\nadd_3: \"f32[4, 9]\" = torch.ops.aten.add.Tensor(mul_3, arg)\n\nafter:\n\n"
      "add_3: \"f32[4, 9]\" = torch.ops.aten.add.Tensor(mul_3, mul_4)\n\n"
      "def forward(self, x):\n    if x is None:\n        return 1\n    return self.f(x)\n");
  EXPECT_EQ(namesOf(two), (std::vector<std::string>{"forward", "forward_1"}));
  EXPECT_FALSE(importGraphText("y = torch.sin(x)\n", "s.py"));
}

TEST(PastedForms, BareAnnotationsStandInFragmentsAndLists) {
  const Capture fragment = imported(
      "sym_size_16: Sym(s3) = torch.ops.aten.sym_size(arg34_1, 0)\n"
      "view_33: f32[8, 4, 49] = torch.ops.aten.view.default(add_12, [sym_size_16, 4, 49]);  add_12 = None\n");
  ASSERT_EQ(fragment.graphs.size(), 1u);
  const Graph& view = fragment.graphs[0].module.graph;
  ASSERT_NE(view.node(*view.find("view_33")).meta().value.tensor(), nullptr);
  EXPECT_EQ(view.node(*view.find("view_33")).meta().value.tensor()->sizes.size(), 3u);
  const Capture exported = imported(
      "class GraphModule(torch.nn.Module):\n    def forward(self, x, y):\n"
      "        arg0: f32[6], arg1: i64[], = fx_pytree.tree_flatten_spec(([x, y], {}), self._in_spec)\n"
      "        view_default: f32[3, 2] = torch.ops.aten.view.default(arg0, [3, 2])\n"
      "        return pytree.tree_unflatten([view_default, arg1], self._out_spec)\n");
  ASSERT_EQ(exported.graphs.size(), 1u);
  EXPECT_FALSE(says(exported, "left out"));
  const Graph& graph = exported.graphs[0].module.graph;
  const std::vector<NodeId> inputs = graph.placeholders();
  ASSERT_EQ(inputs.size(), 2u);
  EXPECT_EQ(graph.node(inputs[0]).name(), "arg0");
  ASSERT_NE(graph.node(inputs[1]).meta().value.tensor(), nullptr);
  EXPECT_EQ(graph.node(inputs[1]).meta().value.tensor()->dtype, DType::Int64);
}

TEST(PastedForms, OperatorsAreKnownByTheSchemaInTheText) {
  const std::string code =
      "def forward(self, arg0_1: \"f32[4, 8]\", arg1_1: \"f32[4, 8]\"):\n"
      "    norm = torch.ops.mylib.norm.default(arg0_1, 1e-05, out = arg1_1);  arg0_1 = arg1_1 = None\n"
      "    relu: \"f32[4, 8]\" = torch.ops.aten.relu.default(norm);  norm = None\n    return (relu,)\n";
  for (const char* schema : {"mylib::norm(Tensor x, float eps=1e-6, *, Tensor(a!) out) -> Tensor(a!)",
                             "  torch.library.define(\"mylib::norm\", \"(Tensor x, float eps, *, Tensor(a!) out) -> "
                             "Tensor(a!)\")"}) {
    const Capture capture = imported(std::string(schema) + "\n\n" + code);
    ASSERT_EQ(capture.graphs.size(), 1u);
    EXPECT_TRUE(says(capture, "mylib::norm is known by its schema in the text, which writes to out")) << schema;
    const Graph& graph = capture.graphs[0].module.graph;
    const TensorMeta* norm = graph.node(*graph.find("norm")).meta().value.tensor();
    ASSERT_NE(norm, nullptr) << schema;
    EXPECT_EQ(norm->sizes.at(1).hint, 8);
  }
  const Capture other = imported("other::norm(Tensor x) -> Tensor\n\n" + code);
  EXPECT_FALSE(says(other, "known by its schema"));
  EXPECT_FALSE(other.graphs[0].module.graph.node(*other.graphs[0].module.graph.find("norm")).meta().value.known());
}

TEST(PastedForms, TablesOfLogsBeginBehindTheNameOfTheirFunction) {
  const std::string log = "[2023-03-01 10:00:00,123] torch._dynamo.output_graph: [DEBUG] ";
  const Capture capture = imported(
      log + " __compiled_fn_0 <eval_with_key>.0 opcode         name     target                  args      kwargs\n" +
      log + "-------------  -------  ----------------------  --------  --------\n" + log +
      "placeholder    l_x_     L_x_                    ()        {}\n" + log +
      "call_function  relu     aten.relu.default       (l_x_,)   {}\n" + log +
      "output         output   output                  ((relu,),)  {}\n");
  ASSERT_EQ(capture.graphs.size(), 1u);
  EXPECT_EQ(targetsOf(capture.graphs[0]), "relu=relu.default ");
  EXPECT_FALSE(says(capture, "not opened"));
}

TEST(PastedForms, NestedClassesOfOneNameStandInTheOrderOfTheirModules) {
  const Capture capture = imported(
      "class GraphModule(torch.nn.Module):\n    def forward(self, x):\n"
      "        # No stacktrace found for following nodes\n        submod_2 = self.submod_2(x)\n"
      "        submod_1 = self.submod_1(x);  x = None\n        return (submod_1, submod_2)\n\n"
      "    class GraphModule(torch.nn.Module):\n        def forward(self, x):\n            add = x + 2;  x = None\n"
      "            return add\n\n"
      "    class GraphModule(torch.nn.Module):\n        def forward(self, x):\n            mul = x * 2;  x = None\n"
      "            return mul\n");
  ASSERT_EQ(capture.graphs.size(), 1u);
  const Submodule* second = capture.graphs[0].module.submodule("submod_2");
  const Submodule* first = capture.graphs[0].module.submodule("submod_1");
  ASSERT_TRUE(first != nullptr && first->graph && second != nullptr && second->graph);
  EXPECT_TRUE(second->graph->graph.find("add"));
  EXPECT_TRUE(first->graph->graph.find("mul"));
  EXPECT_FALSE(says(capture, "only mentioned"));
}

}  // namespace
}  // namespace kerf
