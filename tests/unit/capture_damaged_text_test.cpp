// Graphs that stand in tests' strings, lost their indentation, were shortened or cut, and what is printed below them.
#include "engine/capture/text/capture.h"
#include "engine/ir/interpreter.h"
#include "engine/ir/printer.h"
#include "engine/ops/core/op_registry.h"
#include "tests/unit/capture_testing.h"

namespace kerf {
namespace {

Capture imported(const std::string& text) {
  auto capture = importGraphText(text, "pasted.txt");
  EXPECT_TRUE(capture) << (capture ? "" : capture.error().text()) << "\n" << text;
  return capture ? std::move(*capture) : Capture{};
}

bool says(const Capture& capture, std::string_view text) {
  return std::ranges::any_of(capture.notes, [&](const std::string& note) { return note.find(text) != note.npos; });
}

std::string names(const Graph& graph) {
  std::string text;
  for (const NodeId id : graph.order()) text += (text.empty() ? "" : " ") + graph.node(id).name();
  return text;
}

std::string returned(const Graph& graph) {
  std::string text;
  for (const NodeId id : graph.node(graph.outputNode()).inputs())
    text += (text.empty() ? "" : " ") + graph.node(id).name();
  return text;
}

std::string nestedText(const std::string& behind) {
  return "        expect(shown, \"\"\"\\\n"
         "class Net(torch.nn.Module):\n"
         "    def forward(self, x: \"f32[3, 3]\"):\n"
         "        body = self.body\n"
         "        hop = torch.ops.higher_order.invoke_subgraph(body, 'p0', x);  body = x = None\n"
         "        r: \"f32[3, 3]\" = hop[0];  hop = None\n"
         "        return (r,)\n\n"
         "    class body(torch.nn.Module):\n"
         "        def forward(self, a: \"f32[3, 3]\"):\n"
         "            c: \"f32[3, 3]\" = torch.ops.aten.cos.default(a);  a = None\n"
         "            return (c,)\n" +
         behind;
}

TEST(DamagedText, NestedGraphsKeepTheirAnnotationsWhateverFollows) {
  for (const char* behind :
       {"        \"\"\",\n            strict=True,\n        )\n", "            )\n", "        assert done\n",
        "            print(c)\n", "            \"\"\")\n", "", "\"\"\")\n        self.assertEqual(a, b)\n"}) {
    const Capture capture = imported(nestedText(behind));
    ASSERT_EQ(capture.graphs.size(), 1u) << behind;
    const Submodule* body = capture.graphs[0].module.submodule("body");
    ASSERT_TRUE(body != nullptr && body->graph) << behind;
    const Graph& graph = body->graph->graph;
    EXPECT_EQ(names(graph), "a c output") << behind;
    for (const char* name : {"a", "c"}) {
      const TensorMeta* meta = graph.node(*graph.find(name)).meta().value.tensor();
      ASSERT_NE(meta, nullptr) << name << behind;
      EXPECT_EQ(meta->sizes.size(), 2u);
    }
  }
}

TEST(DamagedText, StatementsBehindTheReturnAreTold) {
  const Capture capture = imported(
      "class GraphModule(torch.nn.Module):\n    def forward(self, x: \"f32[4]\"):\n"
      "        y: \"f32[4]\" = torch.ops.aten.sin.default(x)\n        return (y,)\n"
      "        z: \"f32[4]\" = torch.ops.aten.cos.default(x)\n");
  ASSERT_EQ(capture.graphs.size(), 1u);
  EXPECT_EQ(names(capture.graphs[0].module.graph), "x y output");
  EXPECT_TRUE(says(capture, "what stands behind its return, from line 5 on, is left out"));
}

TEST(DamagedText, LostIndentationIsThatOfTheMethodAbove) {
  const std::string text =
      "class GraphModule(torch.nn.Module):\ndef forward(self, n: \"Sym(s37)\", t: \"f32[s99]\"):\n"
      "# File: /a/b.py:16 in forward, code: return n + t\n"
      "f: \"Sym(ToFloat(s37))\" = torch.sym_float(n); n = None\n"
      "r: \"f32[s99]\" = torch.ops.aten.add.Tensor(t, f); t = f = None\nreturn (r,)\nGraph signature:\n# inputs\n";
  const Capture capture = imported(text);
  ASSERT_EQ(capture.graphs.size(), 1u);
  EXPECT_EQ(names(capture.graphs[0].module.graph), "n t f r output");
  const Capture bare = imported(text.substr(text.find("def ")));
  ASSERT_EQ(bare.graphs.size(), 1u);
  EXPECT_EQ(names(bare.graphs[0].module.graph), "n t f r output");
  EXPECT_EQ(bare.graphs[0].module.graph.node(*bare.graphs[0].module.graph.find("r")).meta().sourceFile, "/a/b.py");
}

TEST(DamagedText, LostIndentationOfClassesWithoutAName) {
  const Capture capture = imported(
      "class <lambda>(torch.nn.Module):\ndef forward(self, x: \"f32[4]\"):\n"
      "y: \"f32[4]\" = torch.ops.aten.relu.default(x); x = None\nreturn (y,)\n");
  ASSERT_EQ(capture.graphs.size(), 1u);
  EXPECT_EQ(names(capture.graphs[0].module.graph), "x y output");
}

TEST(DamagedText, LostIndentationKeepsNestedGraphsAndTheGraphBehind) {
  const Capture capture = imported(
      "class GraphModule(torch.nn.Module):\n\ndef forward(\nself,\nx: \"f32[3]\",\n):\nbody_0 = self.body_0\n"
      "hop = torch.ops.higher_order.invoke_subgraph(body_0, 'p', x); body_0 = x = None\nr: \"f32[3]\" = hop[0]; hop = "
      "None\n"
      "return (r,)\nclass body_0(torch.nn.Module):\ndef forward(self, a: \"f32[3]\"):\n"
      "c: \"f32[3]\" = torch.ops.aten.cos.default(a); a = None\nreturn (c,)\n"
      "class GraphModule(torch.nn.Module):\ndef forward(self, z: \"f32[5]\"):\n"
      "q: \"f32[5]\" = torch.ops.aten.sin.default(z); z = None\nreturn (q,)\n");
  ASSERT_EQ(capture.graphs.size(), 2u);
  EXPECT_EQ(names(capture.graphs[0].module.graph), "x body_0 hop r output");
  ASSERT_TRUE(capture.graphs[0].module.submodule("body_0") != nullptr);
  EXPECT_EQ(names(capture.graphs[1].module.graph), "z q output");
}

TEST(DamagedText, GraphsInTheStringsOfTests) {
  const std::string graph =
      "graph():\n    %x : [num_users=1] = placeholder[target=x]\n"
      "    %r : [num_users=1] = call_function[target=torch.relu](args = (%x,), kwargs = {})\n    return r\n";
  for (const std::string& head :
       {std::string("class T:\n    def test_a(self):\n        expected = \"\"\"\n"),
        std::string(
            "class TestGraphs(TestCase):\n    def test_a(self):\n        self.assertExpectedInline(text, \"\"\"\\\n"),
        std::string("class M(torch.nn.Module):\n    def forward(self, x):\n        return torch.relu(x)\n\n"
                    "class T(TestCase):\n    def test_a(self):\n        expected = \"\"\"\n"),
        std::string("class T(TestCase):\n    def test_a(self):\n        class M(torch.nn.Module):\n"
                    "            def forward(self, x):\n                return torch.relu(x) + 1\n"
                    "        expected = \"\"\"\n")}) {
    const Capture capture = imported(head + graph + "\"\"\"\n        self.assertEqual(a, b)\n");
    ASSERT_EQ(capture.graphs.size(), 1u) << head;
    EXPECT_EQ(names(capture.graphs[0].module.graph), "x r output") << head;
  }
}

TEST(DamagedText, ShortenedNodesAreReadAsFarAsTheyAreTold) {
  const Capture capture = imported(
      "graph():\n    %x : [num_users=1] = placeholder[target=x]\n"
      "    %a : [num_users=1] = call_function[target=torch.relu](args = (%x,), ...\n    ...\n"
      "    %b : [num_users=1] = call_function[target=torch.ops.aten.add.Tensor](args = (%a, 2), kwargs = {al...\n"
      "    return b\n");
  ASSERT_EQ(capture.graphs.size(), 1u);
  const Graph& graph = capture.graphs[0].module.graph;
  EXPECT_EQ(names(graph), "x a b output");
  EXPECT_EQ(graph.node(*graph.find("a")).inputs().size(), 1u);
  EXPECT_TRUE(says(capture, "line 3 is shortened with '...'"));
  EXPECT_TRUE(says(capture, "line 5 is shortened with '...'"));
}

TEST(DamagedText, ShortenedTablesKeepTheirRows) {
  const Capture capture = imported(
      "opcode         name    target            args          kwargs\n"
      "-------------  ------  ----------------  ------------  --------\n"
      "placeholder    x       x                 ()            {}\n"
      "call_function  a       aten.sin.default  (x,)          {}\n"
      "...\n"
      "call_function  b       aten.add.Tensor   (a, 1...\n"
      "output         output  output            ((b,),)       {}\n");
  ASSERT_EQ(capture.graphs.size(), 1u);
  EXPECT_EQ(names(capture.graphs[0].module.graph), "x a b output");
  EXPECT_TRUE(says(capture, "line 5 is shortened"));
  EXPECT_TRUE(says(capture, "line 6 is shortened"));
}

TEST(DamagedText, ACutTextReturnsWhatItDoesNotFree) {
  const Capture capture = imported(
      "class GraphModule(torch.nn.Module):\n    def forward(self, x: \"f32[4]\"):\n"
      "        _guards_fn = self._guards_fn(x);  _guards_fn = None\n"
      "        probe = torch.ops.aten.cos.default(x);  probe = None\n"
      "        a: \"f32[4]\" = torch.ops.aten.sin.default(x);  x = None\n"
      "        b: \"f32[4]\" = torch.ops.aten.add.Tensor(a, 1.\n");
  ASSERT_EQ(capture.graphs.size(), 1u);
  EXPECT_EQ(returned(capture.graphs[0].module.graph), "a");
  EXPECT_FALSE(says(capture, "cut within the name"));
  const Capture allFreed =
      imported("def forward(self, x: \"f32[4]\"):\n    a: \"f32[4]\" = torch.ops.aten.sin.default(x);  x = a = None\n");
  ASSERT_EQ(allFreed.graphs.size(), 1u);
  EXPECT_EQ(returned(allFreed.graphs[0].module.graph), "a");
}

TEST(DamagedText, GuardsOfAnExportAreAskedNothingWhereTheTextLacksThem) {
  const Capture capture = imported(
      "class GraphModule(torch.nn.Module):\n    def forward(self, x: \"f32[4]\"):\n"
      "        _guards_fn = self._guards_fn(x);  _guards_fn = None\n"
      "        a: \"f32[4]\" = torch.ops.aten.sin.default(x);  x = None\n        return (a,)\n");
  ASSERT_EQ(capture.graphs.size(), 1u);
  const GraphModule& module = capture.graphs[0].module;
  ASSERT_TRUE(module.submodule("_guards_fn"));
  EXPECT_TRUE(module.submodule("_guards_fn")->graph);
  EXPECT_TRUE(says(capture, "does not say what _guards_fn asks"));
  Tensor x = *Tensor::zeros(DType::Float32, {4});
  const auto result = Interpreter(module, referenceOps()).run({x});
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(result->list()[0].tensor().sizes(), (Sizes{4}));
}

TEST(DamagedText, OfAMergeTheFirstSideIsRead) {
  const Capture capture = imported(
      "class GraphModule(torch.nn.Module):\n    def forward(self, x: \"f32[4]\"):\n<<<<<<< HEAD\n"
      "        a: \"f32[4]\" = torch.ops.aten.sin.default(x);  x = None\n=======\n"
      "        a: \"f32[4]\" = torch.ops.aten.cos.default(x);  x = None\n>>>>>>> topic\n        return (a,)\n");
  ASSERT_EQ(capture.graphs.size(), 1u);
  const Graph& graph = capture.graphs[0].module.graph;
  EXPECT_EQ(graph.node(*graph.find("a")).target(), "torch.ops.aten.sin.default");
  EXPECT_TRUE(says(capture, "a merge left both its sides"));
}

constexpr const char* program =
    "ExportedProgram:\n    class GraphModule(torch.nn.Module):\n"
    "        def forward(self, p_w: \"f32[3, 3]\", b_m: \"f32[3]\", t: \"f32[s9, 3]\"):\n"
    "            mm: \"f32[s9, 3]\" = torch.ops.aten.mm.default(t, p_w);  t = p_w = None\n"
    "            add: \"f32[3]\" = torch.ops.aten.add.Tensor(b_m, 1);  b_m = None\n            return (add, mm)\n\n";

void expectSignature(const Capture& capture) {
  ASSERT_EQ(capture.graphs.size(), 1u);
  const CapturedGraph& graph = capture.graphs[0];
  ASSERT_TRUE(graph.signature);
  ASSERT_EQ(graph.signature->inputs.size(), 3u);
  EXPECT_EQ(graph.signature->inputs[0].kind, "parameter");
  EXPECT_EQ(graph.signature->inputs[0].target, "lin.weight");
  EXPECT_EQ(graph.signature->inputs[1].kind, "buffer");
  EXPECT_FALSE(graph.signature->inputs[1].persistent);
  EXPECT_EQ(graph.signature->inputs[2].kind, "user_input");
  ASSERT_EQ(graph.signature->outputs.size(), 2u);
  EXPECT_EQ(graph.signature->outputs[0].kind, "buffer_mutation");
  EXPECT_EQ(graph.signature->outputs[0].target, "m");
  ASSERT_EQ(graph.module.symbolRanges.size(), 1u);
  EXPECT_EQ(graph.module.symbolRanges[0].name, "s9");
  EXPECT_EQ(graph.module.symbolRanges[0].lower, 2);
  EXPECT_EQ(graph.module.symbolRanges[0].upper, 64);
}

TEST(PrintedSignature, LinesAndOldObjects) {
  expectSignature(imported(std::string(program) +
                           "Graph signature:\n    # inputs\n    p_w: PARAMETER target='lin.weight'\n"
                           "    b_m: BUFFER target='m' persistent=False\n    t: USER_INPUT\n\n    # outputs\n"
                           "    add: BUFFER_MUTATION target='m'\n    mm: USER_OUTPUT\n\n"
                           "Range constraints: {s9: VR[2, 64]}\n"));
  expectSignature(imported(
      std::string(program) +
      "Graph signature: ExportGraphSignature(input_specs=[InputSpec(kind=<InputKind.PARAMETER: 2>, "
      "arg=TensorArgument(name='p_w'), target='lin.weight', persistent=None), InputSpec(kind=<InputKind.BUFFER: 3>, "
      "arg=TensorArgument(name='b_m'), target='m', persistent=False), InputSpec(kind=<InputKind.USER_INPUT: 1>, "
      "arg=TensorArgument(name='t'), target=None, persistent=None)], "
      "output_specs=[OutputSpec(kind=<OutputKind.BUFFER_MUTATION: 3>, arg=TensorArgument(name='add'), target='m'), "
      "OutputSpec(kind=<OutputKind.USER_OUTPUT: 1>, arg=TensorArgument(name='mm'), target=None)])\n"
      "Range constraints: {s9: ValueRanges(lower=2, upper=64, is_bool=False)}\n"));
  const Capture other =
      imported(std::string(program) + "Graph signature:\n    # inputs\n    w: PARAMETER target='w'\n");
  EXPECT_FALSE(other.graphs[0].signature);
  EXPECT_TRUE(says(other, "which are not the graph's own"));
}

TEST(ToldDevices, InputsAreWhereTheCallsAre) {
  const auto text = [](const char* annotation, const char* device) {
    return fmt::format(
        "class <lambda>(torch.nn.Module):\n    def forward(self, x: \"{}\"):\n"
        "        ones: \"f32[4]\" = torch.ops.aten.full.default([4], 1, device = {}, pin_memory = False)\n"
        "        y: \"f32[8, 4]\" = torch.ops.aten.add.Tensor(x, ones);  x = ones = None\n        return (y,)\n",
        annotation, device);
  };
  const auto deviceOf = [](const Capture& capture, const char* name) {
    const Graph& graph = capture.graphs.at(0).module.graph;
    return graph.node(*graph.find(name)).meta().value.tensor()->device.text();
  };
  const Capture cuda = imported(text("f32[8, 4]", "device(type='cuda', index=0)"));
  EXPECT_EQ(deviceOf(cuda, "x"), "cuda:0");
  EXPECT_EQ(deviceOf(cuda, "y"), "cuda:0");
  EXPECT_TRUE(says(cuda, "the graph's calls name cuda:0"));
  EXPECT_EQ(deviceOf(imported(text("f32[8, 4]", "device(type='npu', index=1)")), "x"), "npu:1");
  const Capture told = imported(text("f32[8, 4]cpu", "device(type='cuda', index=0)"));
  EXPECT_EQ(deviceOf(told, "x"), "cpu");
  EXPECT_FALSE(says(told, "the graph's calls name"));
}

TEST(OddCalls, RecordedValuesThatTheOpDoesNotGiveAreNoted) {
  const auto text = [](const char* annotation) {
    return fmt::format(
        "class GraphModule(torch.nn.Module):\n    def forward(self, t: \"f32[4, 33][33, 1]cuda:0\"):\n"
        "        u: \"f32[4, 1, 33][33, 33, 1]cuda:0\" = torch.ops.aten.unsqueeze.default(t, 1);  t = None\n"
        "        e: \"f32[4, 13, 33][33, 0, 1]cuda:0\" = torch.ops.aten.expand.default(u, [4, 13, 33]);  u = None\n"
        "        z: \"f32[4, 6, 33][198, 33, 1]cuda:0\" = torch.ops.aten.full.default([4, 6, 33], 0, dtype = "
        "torch.float32, device = device(type='cuda', index=0), pin_memory = False)\n"
        "        s: \"{}\" = torch.ops.aten.slice_scatter.default(e, z, 1, 0, 6);  e = z = None\n"
        "        n: \"f32[4, 13, 33][429, 33, 1]cuda:0\" = torch.ops.aten.neg.default(s);  s = None\n"
        "        return (n,)\n",
        annotation);
  };
  EXPECT_FALSE(says(imported(text("f32[4, 13, 33][429, 33, 1]cuda:0")), "recorded"));
  EXPECT_TRUE(says(imported(text("f32[4, 13, 33][33, 0, 1]cuda:0")),
                   "s: recorded f32[4, 13, 33][33, 0, 1], aten.slice_scatter.default gives f32[4, 13, 33][429, 33, 1] "
                   "(stride)"));
  EXPECT_TRUE(says(imported(text("f32[4, 12, 33][429, 33, 1]cuda:0")), "(shape)"));
  EXPECT_TRUE(says(imported(text("f32[13, 33][33, 1]cuda:0")), "(shape)"));
  EXPECT_TRUE(says(imported(text("bf16[4, 13, 33][429, 33, 1]cuda:0")), "(dtype)"));
}

TEST(OddCalls, ACallOfAnotherReleasesSchemaKeepsItsAnnotation) {
  Capture capture = imported(
      "class GraphModule(torch.nn.Module):\n    def forward(self, x: \"bf16[128]\", y: \"f32[2, 8]\"):\n"
      "        cp = torch.ops.fsdp.all_gather_copy_in.default([x], [128], 128, 2, 1, torch.bfloat16, "
      "device(type='cuda', index=1));  x = None\n"
      "        g0: \"bf16[128]\" = cp[0];  cp = None\n"
      "        m: \"f32[2]\" = torch.ops.aten.mean.dim(y, [-1], _extra_args = [y]);  y = None\n"
      "        return (g0, m)\n");
  ASSERT_EQ(capture.graphs.size(), 1u);
  EXPECT_TRUE(says(capture, "cp: fsdp.all_gather_copy_in.default takes at most 5 positional arguments, got 7"));
  EXPECT_TRUE(says(capture, "m: aten.mean.dim has no argument '_extra_args'"));
  CapturedGraph& graph = capture.graphs[0];
  const auto shaped = graph.annotateShapes();
  EXPECT_TRUE(shaped) << shaped.error().text();
  EXPECT_EQ(graph.module.graph.node(*graph.module.graph.find("m")).meta().value.tensor()->sizes.size(), 1u);
}

TEST(OddCalls, ExecutorchNamesAreReadAsAten) {
  const Capture capture = imported(
      "class GraphModule(torch.nn.Module):\n    def forward(self, x: \"f32[4]\", y: \"f32[4]\"):\n"
      "        alloc: \"f32[4]\" = executorch_exir_memory_alloc(((4,), torch.float32))\n"
      "        m: \"f32[4]\" = torch.ops.aten.mul.out(x, y, out = alloc);  alloc = None\n"
      "        alloc_1: \"f32[]\" = executorch_exir_memory_alloc(((), torch.float32))\n"
      "        s: \"f32[]\" = torch.ops.aten.sum.IntList_out(m, [-1], False, out = alloc_1);  m = alloc_1 = None\n"
      "        v = executorch_exir_dialects_edge__ops_aten_view_copy_default(y, [2, 2])\n"
      "        e: \"f32[4]\" = executorch_exir_dialects_edge__ops_aten_add_Tensor(x, y);  x = y = None\n"
      "        return (s, v, e)\n");
  ASSERT_EQ(capture.graphs.size(), 1u);
  const Graph& graph = capture.graphs[0].module.graph;
  const auto target = [&](const char* name) { return graph.node(*graph.find(name)).target(); };
  EXPECT_EQ(target("alloc"), "torch.ops.aten.empty.memory_format");
  EXPECT_EQ(target("m_value"), "torch.ops.aten.mul.Tensor");
  EXPECT_EQ(target("m"), "torch.ops.aten.copy_.default");
  EXPECT_EQ(target("s_value"), "torch.ops.aten.sum.dim_IntList");
  EXPECT_EQ(target("v"), "torch.ops.aten.view_copy.default");
  EXPECT_EQ(target("e"), "torch.ops.aten.add.Tensor");
}

TEST(ExecutorchText, OrdersOfDimensionsAreMemoryFormats) {
  const auto graph = capturedFromReadable(
      "class GraphModule(torch.nn.Module):\n    def forward(self, x: \"f32[1, 2, 3, 4]\"):\n"
      "        a = executorch_exir_dialects_edge__ops_dim_order_ops__to_dim_order_copy_default(x, dtype = "
      "torch.float16, "
      "dim_order = [0, 2, 3, 1])\n"
      "        b = torch.ops.dim_order_ops._clone_dim_order.default(x, dim_order = [0, 1, 2, 3])\n"
      "        c = torch.ops.dim_order_ops._clone_dim_order.default(x, dim_order = [3, 1, 2, 0]);  x = None\n"
      "        return (a, b, c)\n",
      {});
  ASSERT_TRUE(graph) << graph.error().text();
  const Graph& read = graph->module.graph;
  EXPECT_EQ(read.node(*read.find("a")).target(), "torch.ops.aten._to_copy.default");
  EXPECT_EQ(*read.node(*read.find("a")).kwargs().back().second.as<MemoryFormat>(), MemoryFormat::ChannelsLast);
  EXPECT_EQ(read.node(*read.find("b")).target(), "torch.ops.aten.clone.default");
  EXPECT_EQ(read.node(*read.find("c")).target(), "torch.ops.dim_order_ops._clone_dim_order.default");
}

TEST(DamagedText, DotsAmongArgumentsAreLeftOut) {
  const Capture capture = imported(
      "graph():\n    %x : [num_users=2] = placeholder[target=x]\n"
      "    %a : [num_users=1] = call_function[target=torch.ops.aten.add.Tensor](args = (%x, ...), kwargs = {})\n"
      "    %b : [num_users=1] = call_function[target=torch.ops.aten.cat.default](args = ([%a, ..., %x], 0), kwargs = "
      "{...})\n"
      "    return (b,)\n");
  ASSERT_EQ(capture.graphs.size(), 1u);
  const Graph& graph = capture.graphs[0].module.graph;
  ASSERT_TRUE(graph.find("a") && graph.find("b"));
  EXPECT_EQ(graph.node(*graph.find("a")).args().size(), 1u);
  EXPECT_EQ(graph.node(*graph.find("b")).args()[0].asList()->items.size(), 2u);
  EXPECT_TRUE(graph.node(*graph.find("b")).kwargs().empty());
}

TEST(DamagedText, AStringMayEndOnTheLineOfTheReturn) {
  const Capture capture = imported(
      "class TestThing(TestCase):\n    def test_a(self):\n        self.check(str(gm.graph).strip(), '''\\\n"
      "graph():\n    %x : [num_users=1] = placeholder[target=x]\n"
      "    %r : [num_users=1] = call_function[target=torch.relu](args = (%x,), kwargs = {})\n    return r''')\n");
  ASSERT_EQ(capture.graphs.size(), 1u);
  EXPECT_EQ(names(capture.graphs[0].module.graph), "x r output");
}

TEST(DamagedText, ADeviceMayBeToldAsText) {
  const Capture capture = imported(
      "class <lambda>(torch.nn.Module):\n    def forward(self, x: \"f32[8, 4]\"):\n"
      "        ones: \"f32[4]\" = torch.ops.aten.ones.default([4], dtype = torch.float32, device = 'xpu:1')\n"
      "        y: \"f32[8, 4]\" = torch.ops.aten.add.Tensor(x, ones);  x = ones = None\n        return (y,)\n");
  ASSERT_EQ(capture.graphs.size(), 1u);
  const Graph& graph = capture.graphs[0].module.graph;
  EXPECT_EQ(graph.node(*graph.find("x")).meta().value.tensor()->device.text(), "xpu:1");
}

}  // namespace
}  // namespace kerf
