#include <gtest/gtest.h>

#include "engine/ir/parser.h"
#include "engine/ir/printer.h"
#include "engine/ir/python_expression.h"
#include "tests/support/cpu_time.h"

namespace kerf {
namespace {

Argument literal(std::string_view text) {
  const auto expression = parsePythonExpression(text);
  EXPECT_TRUE(expression.has_value()) << text << ": " << expression.error().text();
  const auto value = pythonToArgument(*expression);
  EXPECT_TRUE(value.has_value()) << text << ": " << value.error().text();
  return *value;
}

std::string reprinted(std::string_view text) { return printArgument(Graph(), literal(text), ArgumentStyle::Python); }

TEST(PythonExpression, LiteralsSurviveARoundTrip) {
  for (const std::string_view text : {"None",
                                      "True",
                                      "3",
                                      "-9223372036854775808",
                                      "0.5",
                                      "-1e-05",
                                      "inf",
                                      "-inf",
                                      "nan",
                                      "'tanh'",
                                      "\"it's\"",
                                      "(1,)",
                                      "()",
                                      "[1, [2.0, None]]",
                                      "{'a': 1, 'b': (2, 3)}",
                                      "slice(None, 2, None)",
                                      "torch.float32",
                                      "torch.strided",
                                      "torch.channels_last",
                                      "device(type='cuda', index=0)",
                                      "device(type='cpu')",
                                      "(1+2j)",
                                      "2j",
                                      "torch.ops.aten.add.Tensor",
                                      "Ellipsis",
                                      "18446744073709551616",
                                      "'a\\n\\x00\\\\'"})
    EXPECT_EQ(reprinted(text), text);
}

TEST(PythonExpression, UnderstandsOtherSpellings) {
  EXPECT_EQ(literal("0x1F"), Argument(31));
  EXPECT_EQ(literal("1_000"), Argument(1000));
  EXPECT_EQ(literal("1e999"), Argument(std::numeric_limits<double>::infinity()));
  EXPECT_EQ(literal("float('-inf')"), Argument(-std::numeric_limits<double>::infinity()));
  EXPECT_EQ(literal("torch.device('cuda:1')"), Argument(Device{"cuda", 1}));
  EXPECT_EQ(literal("torch.Size([2, 3])"), Argument::tuple({2, 3}));
  EXPECT_EQ(literal("'a' \"b\""), Argument("ab"));
  EXPECT_EQ(literal("r'\\n'"), Argument("\\n"));
  EXPECT_EQ(literal("'\\u00e9'"), Argument("é"));
  EXPECT_EQ(literal("1, 2"), Argument::tuple({1, 2}));
  EXPECT_EQ(literal("[  # a comment\n  1,\n]"), Argument::list({1}));
}

TEST(PythonExpression, KeepsCallsAsATree) {
  const auto call = parsePythonExpression("reader.tensor(buf0, (4,), dtype=torch.int64, is_leaf=True)", 7);
  ASSERT_TRUE(call.has_value());
  EXPECT_EQ(call->kind, PythonKind::Call);
  EXPECT_EQ(call->items[0].text, "reader.tensor");
  EXPECT_EQ(call->positionalCount(), 2u);
  EXPECT_EQ(call->line, 7);
  ASSERT_NE(call->keyword("dtype"), nullptr);
  EXPECT_EQ(call->keyword("dtype")->text, "torch.int64");
  EXPECT_EQ(call->keyword("stride"), nullptr);
}

struct BadText {
  std::string text;
  ErrorCode code;
  int line;
};

TEST(PythonExpression, RefusesWhatIsNotPython) {
  const std::vector<BadText> cases = {{"(1, 2", ErrorCode::BadInput, 1},
                                      {"1 +", ErrorCode::BadInput, 1},
                                      {"[1,\n 2}", ErrorCode::BadInput, 2},
                                      {"'abc", ErrorCode::BadInput, 1},
                                      {"f'{x}'", ErrorCode::BadInput, 1},
                                      {std::string("a\0b", 3), ErrorCode::BadInput, 1},
                                      {"\n'\xff'", ErrorCode::BadInput, 2},
                                      {"[x for x in y]", ErrorCode::BadInput, 1},
                                      {"lambda: 1", ErrorCode::BadInput, 1},
                                      {"1 2", ErrorCode::BadInput, 1},
                                      {"f(a=1, 2)", ErrorCode::BadInput, 1},
                                      {"?", ErrorCode::BadInput, 1},
                                      {"", ErrorCode::BadInput, 1},
                                      {std::string(300, '[') + std::string(300, ']'), ErrorCode::TooLarge, 1},
                                      {std::string(5000, '('), ErrorCode::TooLarge, 1},
                                      {std::string(5000, '-') + "1", ErrorCode::TooLarge, 1}};
  for (const BadText& bad : cases) {
    const auto result = parsePythonExpression(bad.text);
    ASSERT_FALSE(result.has_value()) << bad.text.substr(0, 40);
    EXPECT_EQ(result.error().code, bad.code) << bad.text.substr(0, 40) << ": " << result.error().message;
    EXPECT_EQ(result.error().line, bad.line) << bad.text.substr(0, 40) << ": " << result.error().message;
  }
}

TEST(PythonExpression, BoundsLongChains) {
  std::string chain = "x";
  for (int i = 0; i < 100'000; ++i) chain += "[0]";
  EXPECT_EQ(parsePythonExpression(chain).error().code, ErrorCode::TooLarge);
  std::string sum = "1";
  for (int i = 0; i < 100'000; ++i) sum += "+1";
  EXPECT_EQ(parsePythonExpression(sum).error().code, ErrorCode::TooLarge);
}

TEST(PythonExpression, RefusesAHugeLineQuickly) {
  std::string line = "[";
  while (line.size() < 20'000'000) line += "1,";
  const double seconds = testing::cpuSecondsOf([&] {
    EXPECT_EQ(parsePythonExpression(line).error().code, ErrorCode::TooLarge);
    EXPECT_EQ(parsePythonExpression(std::string(20'000'000, 'a') + " b").error().code, ErrorCode::BadInput);
    EXPECT_EQ(parsePythonExpression("'" + std::string(20'000'000, 'a')).error().code, ErrorCode::BadInput);
  });
  EXPECT_LT(seconds, 20 * testing::slowdown);
}

TEST(PythonExpression, UndefinedNamesAreNamed) {
  const auto value = pythonToArgument(*parsePythonExpression("\n[1, missing]"));
  ASSERT_FALSE(value.has_value());
  EXPECT_EQ(value.error().line, 2);
  EXPECT_NE(value.error().message.find("'missing'"), std::string::npos);
}

GraphModule read(const std::string& text) {
  auto module = parseReadable(text);
  EXPECT_TRUE(module.has_value()) << module.error().line << ": " << module.error().text();
  return module ? std::move(*module) : GraphModule();
}

TEST(ParseReadable, ReadsEveryKindOfNode) {
  const std::string text = R"(    def forward(self, L_x_ : torch.Tensor, input, *args):
        l_x_ = L_x_
        w = self.layers.w
        sub = getattr(self.layers, "0").w
        linear = self.fc(l_x_, bias = None)
        out = getattr(self.blocks, "1")(linear);  linear = None
        view = out.view(-1, 2);  out = None
        add = view + w;  view = w = None
        lt = add < 3
        neg = -add
        getitem = add[(slice(None, None, None), 1)]
        getitem_1 = add[0]
        shape = add.shape
        add += 1;  iadd = add;  add = None
        l_x_[0] = neg;  setitem = l_x_;  l_x_ = neg = setitem = None
        foo = torch.ops.foo.bar.default(iadd, [lt, None], mode = 'a', memory_format = torch.contiguous_format);  iadd = lt = foo = None
        _operator_index = _operator_index(input);  input = None
        int_1 = int(_operator_index);  _operator_index = None
        return [getitem, {'k': getitem_1}, shape, sub, int_1, args]
)";
  const GraphModule module = read(text);
  EXPECT_EQ(printPythonCode(module), text);
  const Graph& graph = module.graph;
  const auto node = [&](std::string_view name) -> const Node& { return graph.node(*graph.find(name)); };
  EXPECT_EQ(node("l_x_").target(), "L_x_");
  EXPECT_EQ(node("l_x_").meta().typeText, "torch.Tensor");
  EXPECT_EQ(node("input").op(), Opcode::Placeholder);
  EXPECT_EQ(node("args").target(), "*args");
  EXPECT_EQ(node("sub").target(), "layers.0.w");
  EXPECT_EQ(node("linear").op(), Opcode::CallModule);
  EXPECT_EQ(node("out").target(), "blocks.1");
  EXPECT_EQ(node("view").op(), Opcode::CallMethod);
  EXPECT_EQ(node("add").target(), "operator.add");
  EXPECT_EQ(node("neg").target(), "operator.neg");
  EXPECT_EQ(node("shape").target(), "builtins.getattr");
  EXPECT_EQ(node("iadd").target(), "operator.iadd");
  EXPECT_EQ(node("setitem").args().size(), 3u);
  EXPECT_EQ(node("foo").target(), "torch.ops.foo.bar.default");
  EXPECT_EQ(node("int_1").target(), "builtins.int");
  EXPECT_TRUE(graph.lint().has_value());
}

TEST(ParseReadable, ReadsMetadata) {
  const GraphModule module = read(R"py(class GraphModule(torch.nn.Module):
    def forward(self, n: "Sym(s0)", x: "f32[s0, 3][3, 1]cuda:0", d: "DTensor(f32[2][1]cpu, S(0))"):
         # File: /a/b.py:12 in f, code: y = x + 1
        y: "bf16[2*s0 + 1]" = torch.ops.aten.add.Tensor(x, n);  x = n = None
        return (y, d)
)py");
  const auto meta = [&](std::string_view name) { return module.graph.node(*module.graph.find(name)).meta(); };
  EXPECT_EQ(meta("n").value.sym()->expr.text, "s0");
  const NodeMeta x = meta("x");
  ASSERT_NE(x.value.tensor(), nullptr);
  EXPECT_EQ(x.value.tensor()->dtype, DType::Float32);
  EXPECT_EQ(x.value.tensor()->sizes, (std::vector<Dim>{{"s0", {}}, dim(3)}));
  EXPECT_EQ(x.value.tensor()->strides, (std::vector<Dim>{dim(3), dim(1)}));
  EXPECT_EQ(x.value.tensor()->device, (Device{"cuda", 0}));
  const NodeMeta y = meta("y");
  EXPECT_EQ(y.value.tensor()->sizes[0].text, "2*s0 + 1");
  EXPECT_EQ(y.sourceFile, "/a/b.py");
  EXPECT_EQ(y.sourceLine, 12);
  EXPECT_EQ(y.stackTrace, "File: /a/b.py:12 in f, code: y = x + 1");
  EXPECT_EQ(meta("d").annotation, "DTensor(f32[2][1]cpu, S(0))");
  EXPECT_EQ(printReadable(module, {true, true, true, true, 4}), R"py(class GraphModule(torch.nn.Module):
    def forward(self, n: "Sym(s0)", x: "f32[s0, 3][3, 1]cuda:0", d: "DTensor(f32[2][1]cpu, S(0))"):
        # File: /a/b.py:12 in f, code: y = x + 1
        y: "bf16[2*s0 + 1]cpu" = torch.ops.aten.add.Tensor(x, n);  x = n = None
        return (y, d)
)py");
}

TEST(ParseReadable, RebindsNamesAsPythonDoes) {
  const GraphModule module =
      read("def forward(self, x):\n    x = torch.relu(x)\n    x = torch.tanh(x)\n    return x\n");
  EXPECT_EQ(printPythonCode(module), R"(    def forward(self, x):
        x_1 = torch.relu(x);  x = None
        x_2 = torch.tanh(x_1);  x_1 = None
        return x_2
)");
}

TEST(ParseReadable, FlattensHandWrittenExpressions) {
  const GraphModule module =
      read("def forward(self, x, n=2):\n    a, b = torch.split(x * 2 + 1, n)\n    return (a - b).sum()\n");
  EXPECT_EQ(printPythonCode(module), R"(    def forward(self, x, n = 2):
        mul = x * 2;  x = None
        add = mul + 1;  mul = None
        split = torch.split(add, n);  add = n = None
        a = split[0]
        b = split[1];  split = None
        sub = a - b;  a = b = None
        sum_1 = sub.sum();  sub = None
        return sum_1
)");
}

TEST(ParseReadable, ReadsExportAndBoxedSignatures) {
  const std::string exported = R"(class GraphModule(torch.nn.Module):
    def forward(self, x):
        x, = pytree.tree_leaves((self, x,))
        p_w, x_1, = self._in_shuffle_graph(x)
        add = torch.ops.aten.add.Tensor(p_w, x_1);  p_w = x_1 = None
        return pytree.tree_unflatten(self._out_shuffle_graph(x, add), self._out_spec)
)";
  EXPECT_EQ(printReadable(read(exported), {}), exported);
  const std::string boxed = R"(class GraphModule(torch.nn.Module):
    def forward(self, args_list):
        args_iter = iter(args_list)
        a = next(args_iter)
        b = next(args_iter)
        args_list.clear()
        add = torch.ops.aten.add.Tensor(a, b);  a = b = None
        return (add,)
)";
  EXPECT_EQ(printReadable(read(boxed), {}), boxed);
}

TEST(ParseReadable, KeepsInitAndNestedClasses) {
  const GraphModule module = read(R"(class body_0(torch.nn.Module):
    def forward(self, a):
        return (a,)

class Repro(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer('_tensor_constant0', tensor(1.0))
        self.inner_0 = body_0()
        self.weird = <lambda>()

    def forward(self, x):
        return (x,)

    class other_0(torch.nn.Module):
        def forward(self, b):
            return b
)");
  EXPECT_EQ(module.className, "Repro");
  EXPECT_NE(module.initText.find("self.weird = <lambda>()"), std::string::npos);
  EXPECT_EQ(module.initLine, 7);
  ASSERT_NE(module.submodule("inner_0"), nullptr);
  ASSERT_NE(module.submodule("other_0"), nullptr);
  EXPECT_EQ(module.submodule("inner_0")->graph->className, "body_0");
}

TEST(ParseReadable, ExplainsWhatIsWrong) {
  const std::vector<BadText> cases = {
      {"def forward(self, x):\n    y = torch.relu(z)\n    return y\n", ErrorCode::BadInput, 2},
      {"def forward(self, x):\n    y = torch.add(y, x)\n    return y\n", ErrorCode::BadInput, 2},
      {"def forward(self, x):\n    y = undefined.thing(x)\n    return y\n", ErrorCode::BadInput, 2},
      {"def forward(self, x):\n    y = x + 1\n", ErrorCode::BadInput, 3},
      {"def forward(self, x):\n    for i in x:\n        pass\n    return x\n", ErrorCode::BadInput, 2},
      {"def forward(self, x):\n    y = torch.relu(x\n    return y\n", ErrorCode::BadInput, 3},
      {"def forward(self, x:\n    return x\n", ErrorCode::BadInput, 2},
      {"import os\n", ErrorCode::BadInput, 1},
      {"class A(torch.nn.Module):\n    pass\n", ErrorCode::BadInput, 1},
      {"", ErrorCode::BadInput, 1},
      {"def forward(self, x):\n    return x\n    y = x\n", ErrorCode::BadInput, 3},
      {"def forward(self, x):\n    return " + std::string(400, '(') + std::string(400, ')') + "\n", ErrorCode::TooLarge,
       2},
  };
  for (const BadText& bad : cases) {
    const auto result = parseReadable(bad.text);
    ASSERT_FALSE(result.has_value()) << bad.text.substr(0, 60);
    EXPECT_EQ(result.error().code, bad.code) << bad.text.substr(0, 60) << result.error().message;
    EXPECT_EQ(result.error().line, bad.line) << bad.text.substr(0, 60) << result.error().message;
  }
}

TEST(ParseReadable, StaysLinearWithManyRebindings) {
  std::string text = "def forward(self, a_1):\n";
  for (int i = 0; i < 50'000; ++i) text += "    a_1 = torch.relu(a_1)\n";
  text += "    return a_1\n";
  const double seconds = testing::cpuSecondsOf([&] { EXPECT_TRUE(parseReadable(text).has_value()); });
  EXPECT_LT(seconds, 10 * testing::slowdown);
}

TEST(ParseGraphText, ReadsOldAndOddForms) {
  const auto graph = parseGraphText(R"(graph(y : torch.Tensor):
    %x : torch.Tensor [#users=2] = placeholder[target=L_x_](default=None)
    %einsum : [num_users=1] = call_function[target=torch.functional.einsum](args = (ij,jk->ik, %x, %y), kwargs = {})
    %div : [num_users=1] = call_function[target=torch.ops.aten.div.Tensor_mode](args = (%einsum, (1+2j)), kwargs = {rounding_mode: floor, device: cuda:0})
    %odd : [num_users=1] = call_function[target=torch.ops.foo.bar.default](args = (%div, [], (%x,), slice(None, x, None), s0 + 1, inf), kwargs = {})
    return {'a': odd})");
  ASSERT_TRUE(graph.has_value()) << graph.error().text();
  EXPECT_EQ(printGraphText(*graph), R"(graph():
    %y : torch.Tensor [num_users=1] = placeholder[target=y]
    %x : torch.Tensor [num_users=2] = placeholder[target=L_x_](default=None)
    %einsum : [num_users=1] = call_function[target=torch.functional.einsum](args = (ij,jk->ik, %x, %y), kwargs = {})
    %div : [num_users=1] = call_function[target=torch.ops.aten.div.Tensor_mode](args = (%einsum, (1+2j)), kwargs = {rounding_mode: floor, device: cuda:0})
    %odd : [num_users=1] = call_function[target=torch.ops.foo.bar.default](args = (%div, [], (%x,), slice(None, x, None), s0 + 1, inf), kwargs = {})
    return {'a': odd})");
  const Node& odd = graph->node(*graph->find("odd"));
  EXPECT_EQ(odd.args()[3].asSlice()->items[1], Argument(*graph->find("x")));
  EXPECT_EQ(odd.args()[4], Argument(SymExpr{"s0 + 1", {}}));
  EXPECT_EQ(graph->node(*graph->find("div")).kwargs()[1].second, Argument(Device{"cuda", 0}));
}

TEST(ParseGraphText, ExplainsWhatIsWrong) {
  const std::string head = "graph():\n    %x : [num_users=1] = placeholder[target=x]\n";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "no graph"},
      {"grph():\n", "expected 'graph():'"},
      {head + "    garbage\n", "expected a node"},
      {head + "    %y : [num_users=1] = call_nothing[target=a](args = (), kwargs = {})\n", "not an opcode"},
      {head + "    %y : [num_users=1] = call_function[target=a](args = (%z,), kwargs = {})\n", "'z' is not defined"},
      {head + "    %y : [num_users=1] = call_function[target=a](args = (%y,), kwargs = {})\n", "before it is defined"},
      {head + "    %y : [num_users=1] = call_function[target=a](args = (%x,, kwargs = {})\n", "expected"},
      {head + "    %y : [num_users=1] = call_function[target=a](args = " + std::string(500, '[') + ", kwargs = {})\n",
       "nest deeper"},
      {head + "    return nothing\n", "'nothing' is not defined"}};
  for (const auto& [text, message] : cases) {
    const auto graph = parseGraphText(text);
    ASSERT_FALSE(graph.has_value()) << text;
    EXPECT_NE(graph.error().message.find(message), std::string::npos) << text << graph.error().message;
  }
}

}  // namespace
}  // namespace kerf
