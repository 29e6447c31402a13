// Whatever forward method the reader accepts is written so that it reads the same: random graphs of odd constructs.
#include <array>
#include <random>

#include "engine/capture/repro/writer.h"
#include "tests/unit/capture_testing.h"

namespace kerf {
namespace {

using Texts = std::vector<std::string>;

class OddForward {
 public:
  explicit OddForward(unsigned seed) : m_random(seed) {}

  std::string text() {
    std::string body;
    const int count = 1 + pick(m_random() % 3 == 0 ? 6 : 2);
    for (int i = 0; i < count; ++i) body += "        " + statement() + "\n";
    return "    def forward(self, x, y, " + one(parameters()) + "):\n" + body + "        return " + expression(2) +
           "\n";
  }

 private:
  static const Texts& parameters() {
    static const Texts names = {"z", "s0", "torch", "args_list", "inf", "device", "output", "x_1", "sum"};
    return names;
  }
  static const Texts& names() {
    static const Texts all = {"x",
                              "y",
                              "a",
                              "b",
                              "a_1",
                              "s0",
                              "torch",
                              "self",
                              "inf",
                              "nan",
                              "device",
                              "operator",
                              "math",
                              "builtins",
                              "sum",
                              "slice",
                              "float",
                              "getattr",
                              "output",
                              "iter",
                              "args_list",
                              "Ellipsis",
                              "inductor_prims",
                              "getitem",
                              "u7",
                              "add",
                              "_operator"};
    return all;
  }
  static const Texts& callees() {
    static const Texts all = {"torch.ops.aten.relu.default",
                              "torch.ops.aten.random.from",
                              "operator.add",
                              "_operator.mul",
                              "_operator_neg",
                              "_operator_iadd",
                              "operator.getitem",
                              "builtins.getattr",
                              "builtins.gxyz",
                              "getattr",
                              "math.sqrt",
                              "math.a.b",
                              "inductor_prims.seed",
                              "foo",
                              "_operator_add",
                              "torch._dynamo.utils.f",
                              "slice",
                              "float",
                              "complex",
                              "torch.Size",
                              "torch.device",
                              "iter",
                              "next",
                              "globals()['<f>']",
                              "globals()['len']",
                              "getattr(torch.ops, 'in')",
                              "x.relu",
                              "getattr(x, 'class')",
                              "y.a.b",
                              "self.mod",
                              "self.w",
                              "getattr(self, '0')",
                              "torch.relu",
                              "a.f",
                              "_operator_matmul",
                              "operator.pow",
                              "hasattr",
                              "pytree.tree_leaves",
                              "s0.f"};
    return all;
  }
  static const Texts& literals() {
    static const Texts all = {"0",
                              "-1",
                              "99999999999999999999",
                              "-99999999999999999999",
                              "0x1f",
                              "1_0",
                              "1.5",
                              "-0.0",
                              "1e400",
                              "-inf",
                              "nan",
                              "2j",
                              "-2j",
                              "(1+2j)",
                              "(-0-2j)",
                              "1e999j",
                              "None",
                              "True",
                              "...",
                              "'a'",
                              "'it\\'s \"q\"'",
                              "b'\\xff'",
                              "'\\ud800\\n'",
                              "r'\\d'",
                              "torch.float32",
                              "torch.strided",
                              "torch.preserve_format",
                              "device(type='cuda', index=1)",
                              "torch.foo.bar",
                              "s3",
                              "2*s3 + 1",
                              "-s3",
                              "(s3 - (s3 + 2))",
                              "s3//2",
                              "Max(1, s3)",
                              "inf",
                              "()",
                              "[]",
                              "{}",
                              "torch.contiguous_format",
                              "slice(None, 2)",
                              "math.pi"};
    return all;
  }
  static const Texts& binaries() {
    static const Texts all = {"+", "-", "*", "/", "//", "%", "**", "@", "<<", "&", "|", "^", "==", "<", "!="};
    return all;
  }

  int pick(int count) { return int(m_random() % unsigned(count)); }
  const std::string& one(const Texts& from) { return from[std::size_t(pick(int(from.size())))]; }

  std::string value(int depth) {
    return pick(3) != 0                ? (pick(3) == 0 ? one(names()) : std::string(pick(2) == 0 ? "x" : "y"))
           : depth > 0 && pick(3) == 0 ? expression(depth - 1)
                                       : one(literals());
  }

  std::string list(int depth) {
    std::string out;
    const int count = pick(3);
    for (int i = 0; i < count; ++i) out += value(depth) + ", ";
    return out;
  }

  std::string call(int depth) {
    std::string text = one(callees()) + "(" + list(depth);
    if (pick(4) == 0) text += "alpha = " + value(depth) + ", ";
    if (pick(8) == 0) text += "from = " + value(depth) + ", ";
    if (pick(8) == 0) text += "**{'a b': " + value(depth) + "}, ";
    return text + ")";
  }

  std::string expression(int depth) {
    if (depth <= 0) return value(0);
    switch (pick(9)) {
      case 0:
        return "(" + value(depth) + ") " + one(binaries()) + " (" + value(depth) + ")";
      case 1:
        return std::string(pick(2) == 0 ? "-" : "~") + "(" + value(depth) + ")";
      case 2:
        return "(" + value(depth) + ")[" + value(depth) + "]";
      case 3:
        return "(" + value(depth) + ",)";
      case 4:
        return "[" + list(depth) + "]";
      case 5:
        return "{'k': " + value(depth) + "}";
      case 6:
        return "(" + value(depth) + ")." + (pick(2) == 0 ? "shape" : "class");
      default:
        return call(depth - 1);
    }
  }

  std::string statement() {
    switch (pick(9)) {
      case 0:
        return one(names()) + ", " + one(names()) + " = " + expression(2);
      case 1:
        return one(names()) + " += " + expression(1);
      case 2:
        return one(names()) + " *= " + expression(1) + ";  " + one(names()) + " = " + one(names());
      case 3:
        return one(names()) + "[" + value(1) + "] = " + value(1);
      case 4:
        return call(1);
      case 5:
        return one(names()) + " : torch.Tensor = " + expression(2) + "  # note";
      case 6:
        return one(names()) + " = " + one(names());
      default:
        return one(names()) + " = " + expression(2);
    }
  }

  std::mt19937 m_random;
};

constexpr const char* init =
    "        self.mod = Linear(in_features=3, out_features=4, bias=True)\n"
    "        self.register_buffer('w', tensor([1.0, 2.0]))\n        self.__dict__['0'] = Linear(3, 4)\n";
constexpr const char* loader =
    "    buf0 = reader.storage(None, 64)\n    reader.tensor(buf0, (4, 4))  # x\n    reader.tensor(buf0, (4, 4))  # y\n"
    "    reader.tensor(buf0, (4, 4))  # z\n";

TEST(OddGraphs, WhatImportsIsWrittenBackTheSame) {
  int accepted = 0;
  for (unsigned seed = 0; seed < 20000; ++seed) {
    const std::string text = testing::reproAround(init, OddForward(seed).text(), loader);
    const auto capture = importRepro(text, "odd.py");
    if (!capture) {
      ASSERT_FALSE(capture.error().message.empty());
      continue;
    }
    ++accepted;
    const CapturedGraph& graph = capture->graphs[0];
    ASSERT_TRUE(graph.module.graph.lint()) << "seed " << seed << "\n" << text;
    const std::string written = reproText(*capture, 0);
    const auto again = importRepro(written, "odd.py");
    ASSERT_TRUE(again) << "seed " << seed << ": " << again.error().text() << "\n" << text << "\n" << written;
    ASSERT_EQ(again->graphs[0].contentHash(), graph.contentHash()) << "seed " << seed << "\n"
                                                                   << text << "\n"
                                                                   << written;
  }
  EXPECT_GT(accepted, 500);
}

/// The forward body that reading and writing `body` gives.
std::string rewritten(const std::string& parameters, const std::string& body) {
  std::string loaderLines;
  for (const char c : parameters)
    if (c == ',') loaderLines += "    reader.symint(3)\n";
  const auto capture = importRepro(
      testing::reproAround(init, "    def forward(self" + parameters + "):\n        " + body + "\n", loaderLines),
      "odd.py");
  if (!capture) return capture.error().message;
  const std::string text = reproText(*capture, 0);
  const std::size_t begin = text.find('\n', text.find("def forward")) + 1;
  return text.substr(begin, text.find("\ndef load_args") - begin);
}

TEST(OddGraphs, NameTheirTargetsSo) {
  struct Case {
    std::string parameters, body, written;
  };
  const Case cases[] = {
      {", x", "return builtins.gxyz(x)", "        gxyz = builtins.gxyz(x);  x = None\n        return gxyz\n"},
      {", x", "a = torch.ops.aten.random.from(x, from = 1); return a",
       "        a = getattr(torch.ops.aten.random, 'from')(x, **{'from': 1});  x = None\n        return a\n"},
      {", x", "a = (-1) ** x; return a", "        a = (-1) ** x;  x = None\n        return a\n"},
      {", x", "a = _operator_neg(1); return (a, x)", "        a = _operator_neg(1)\n        return (a, x)\n"},
      {", s0", "a = s0 * 2; return a", "        a = s0 * 2;  s0 = None\n        return a\n"},
      {", x", "a = f(s0 - (s0 + 1)); return (a, x)", "        a = f(s0 - (s0 + 1))\n        return (a, x)\n"},
      {", x", "self = f(x); return self", "        self_1 = f(x);  x = None\n        return self_1\n"},
      {", x", "a = f(x, k = 1, k = 2)", "the keyword argument 'k' is given twice"},
      {", class", "return 1", "expected a parameter, found 'class'"},
      {", x", "t = torch.foo; a = t.bar(x)", "the method 'bar' is called on something that no node computes"}};
  for (const Case& expected : cases) EXPECT_EQ(rewritten(expected.parameters, expected.body), expected.written);
}

}  // namespace
}  // namespace kerf
