// Patterns of a user's file: both ways of writing graphs, arguments that stand for numbers, near misses, and what is
// refused with which line.
#include "engine/patterns/user_patterns.h"
#include "patterns_testing.h"

namespace kerf {
namespace {

using namespace testing;
using ::testing::HasSubstr;

constexpr const char* scaledRelu = R"(# two ways to write it
pattern scaled_relu: relu(x) * c as relu(x * c)
search
def forward(self, x, c):
    relu = torch.ops.aten.relu.default(x)
    mul = torch.ops.aten.mul.Tensor(relu, c)
    return mul
replace
graph():
    %x : [num_users=1] = placeholder[target=x]
    %c : [num_users=1] = placeholder[target=c]
    %mul : [num_users=1] = call_function[target=torch.ops.aten.mul.Tensor](args = (%x, %c), kwargs = {})
    %relu : [num_users=1] = call_function[target=torch.ops.aten.relu.default](args = (%mul,), kwargs = {})
    return relu

pattern flat
search
def forward(self, x, rows, columns):
    view = torch.ops.aten.view.default(x, [rows, columns])
    exp = torch.ops.aten.exp.default(view)
    return exp
replace
def forward(self, x, rows, columns):
    exp = torch.ops.aten.exp.default(x)
    view = torch.ops.aten.view.default(exp, [rows, columns])
    return view
)";

/// sum(relu(x) * factor)
GraphModule scaled(Argument factor) {
  GraphFixture g;
  const NodeId x = g.input("x", DType::Float32, {4, 3});
  const NodeId relu = g.call("aten.relu.default", {x});
  g.output({g.call("aten.sum.default", {g.call("aten.mul.Tensor", {relu, std::move(factor)})})});
  return g.module;
}

TEST(UserPatterns, ReplaceWithNumbersForArguments) {
  const auto matcher = userMatcher(scaledRelu);
  ASSERT_TRUE(matcher) << matcher.error().text();
  ASSERT_EQ(matcher->entries().size(), 2u);
  EXPECT_EQ(matcher->entries()[0].description, "relu(x) * c as relu(x * c)");
  const GraphModule before = scaled(2.5);
  GraphModule after = before;
  const auto replaced = matcher->apply(after);
  ASSERT_TRUE(replaced) << replaced.error().text();
  ASSERT_EQ(replaced->size(), 1u);
  EXPECT_EQ((*replaced)[0].pattern, "scaled_relu");
  EXPECT_EQ((*replaced)[0].arguments, (std::vector<std::pair<std::string, std::string>>{{"x", "x"}, {"c", "2.5"}}));
  EXPECT_TRUE(after.graph.lint());
  std::vector<std::string> names;
  for (const NodeId id : after.graph.order()) names.push_back(after.graph.node(id).name());
  EXPECT_LT(std::ranges::find(names, "mul_1"), std::ranges::find(names, "relu_1"));
  expectSameValues(before, after, 1e-6);
}

TEST(UserPatterns, ReplaceWithSizesForArguments) {
  GraphFixture g;
  const NodeId x = g.input("x", DType::Float32, {4, 3});
  g.output({g.call("aten.exp.default", {g.call("aten.view.default", {x, Argument::list({2, 6})})})});
  GraphModule after = g.module;
  const auto replaced = userMatcher(scaledRelu)->apply(after);
  ASSERT_TRUE(replaced) << replaced.error().text();
  ASSERT_EQ(replaced->size(), 1u);
  EXPECT_EQ((*replaced)[0].pattern, "flat");
  expectSameValues(g.module, after, 0);
}

TEST(UserPatterns, RefuseAReplacementOfAnotherShape) {
  constexpr const char* wrong =
      "pattern wrong\nsearch\ndef forward(self, x):\n    relu = torch.ops.aten.relu.default(x)\n    return relu\n"
      "replace\ndef forward(self, x):\n    t = torch.ops.aten.t.default(x)\n    return t\n";
  const auto matcher = userMatcher(wrong);
  ASSERT_TRUE(matcher) << matcher.error().text();
  GraphModule module = scaled(2.0);
  EXPECT_TRUE(matcher->apply(module)->empty());
  const auto miss = matcher->explain(module, "wrong");
  ASSERT_TRUE(miss && *miss);
  EXPECT_EQ((*miss)->reason, "the replacement of relu would have other sizes");
}

/// a = relu(x); b = a * y, where y comes from a or not.
GraphModule twoResults(bool yComesFromA) {
  GraphFixture g;
  const NodeId x = g.input("x", DType::Float32, {4, 3}), z = g.input("z", DType::Float32, {4, 3});
  const NodeId a = g.call("aten.relu.default", {x});
  const NodeId y = g.call("aten.exp.default", {yComesFromA ? a : z});
  g.output({a, g.call("aten.mul.Tensor", {a, y})});
  return g.module;
}

TEST(UserPatterns, SeveralResultsMustLeaveAnOrder) {
  const std::string search =
      "search\ndef forward(self, x, y):\n    relu = torch.ops.aten.relu.default(x)\n"
      "    mul = torch.ops.aten.mul.Tensor(relu, y)\n    return (relu, mul)\n";
  const std::string tangled = "pattern tangled\n" + search +
                              "replace\ndef forward(self, x, y):\n    zero = torch.ops.aten.mul.Tensor(y, 0)\n"
                              "    relu = torch.ops.aten.relu.default(x)\n"
                              "    add = torch.ops.aten.add.Tensor(relu, zero)\n"
                              "    mul = torch.ops.aten.mul.Tensor(relu, y)\n    return (add, mul)\n";
  const std::string turned = "pattern turned\n" + search +
                             "replace\ndef forward(self, x, y):\n    relu = torch.ops.aten.relu.default(x)\n"
                             "    mul = torch.ops.aten.mul.Tensor(y, relu)\n    return (relu, mul)\n";
  for (const bool yComesFromA : {false, true}) {
    const GraphModule before = twoResults(yComesFromA);
    for (const std::string& text : {tangled, turned}) {
      GraphModule after = before;
      const auto matcher = userMatcher(text);
      ASSERT_TRUE(matcher) << matcher.error().text();
      const auto replaced = matcher->apply(after);
      ASSERT_TRUE(replaced) << replaced.error().text();
      EXPECT_EQ(replaced->size(), yComesFromA && text == tangled ? 0u : 1u);
      EXPECT_TRUE(after.graph.lint());
      expectSameValues(before, after, 0);
    }
  }
  const auto miss = userMatcher(tangled)->explain(twoResults(true), "tangled");
  ASSERT_TRUE(miss && *miss);
  EXPECT_EQ((*miss)->reason, "the replacement of relu would need a value that is computed from it");
}

TEST(UserPatterns, SayWhatIsWrongWithAFile) {
  const auto error = [](const std::string& text) {
    const auto matcher = userMatcher(text);
    return matcher ? std::string("it is read") : matcher.error().message;
  };
  const std::string graph = "def forward(self, x):\n    relu = torch.ops.aten.relu.default(x)\n    return relu\n";
  EXPECT_EQ(error("# nothing\n"), "there is no \"pattern NAME\" in it");
  EXPECT_EQ(error("pattern p\nsearch\n" + graph),
            "line 1: pattern p needs a \"search\" graph and then a \"replace\" graph");
  EXPECT_EQ(error("\nfoo\n"), "line 2: \"foo\" is no \"pattern NAME\", \"search\" or \"replace\"");
  const std::string other = "def forward(self, y):\n    relu = torch.ops.aten.relu.default(y)\n    return relu\n";
  EXPECT_EQ(error("pattern p\nsearch\n" + graph + "replace\n" + other),
            "line 1: the replacement of pattern p has an argument y, its search graph not");
  const std::string whole = "pattern p\nsearch\n" + graph + "replace\n" + graph;
  EXPECT_EQ(error(whole + whole), "line 10: there is a pattern p already");
  const std::string two = "def forward(self, x):\n    relu = torch.ops.aten.relu.default(x)\n    return (relu, relu)\n";
  EXPECT_EQ(error("pattern p\nsearch\n" + graph + "replace\n" + two),
            "line 1: pattern p has 1 result, its replacement 2");
  EXPECT_THAT(error("pattern p\nsearch\ndef forward(self, x):\n    return x +\nreplace\n" + graph),
              HasSubstr("line 4"));
  const std::string given = "def forward(self, x):\n    relu = torch.ops.aten.relu.default(x)\n    return (relu, x)\n";
  EXPECT_EQ(error("pattern p\nsearch\n" + given + "replace\n" + given),
            "line 1: pattern p returns something that is not a call");
  std::string deep = "def forward(self, x):\n    v0 = torch.ops.aten.relu.default(x)\n";
  for (int i = 1; i < 1200; ++i) deep += fmt::format("    v{} = torch.ops.aten.relu.default(v{})\n", i, i - 1);
  EXPECT_EQ(error("pattern p\nsearch\n" + deep + "    return v1199\nreplace\n" + graph),
            "line 1: a graph of pattern p has 1202 nodes; 1000 are allowed");
  EXPECT_EQ(readPatternFile("/dev/zero").error().code, ErrorCode::BadInput);
  EXPECT_EQ(readPatternFile("/nowhere/patterns.txt").error().code, ErrorCode::NotFound);
}

}  // namespace
}  // namespace kerf
