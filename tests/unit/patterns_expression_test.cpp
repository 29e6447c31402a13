// Pattern expressions: each kind where it fits, and a near miss with the reason that is given.
#include "patterns_testing.h"

namespace kerf {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// x, y: float32 [4, 4]; add = x + y; relu = relu(add); mul = relu * 2.0
struct Chain : GraphFixture {
  Chain() {
    x = input("x", DType::Float32, {4, 4});
    y = input("y", DType::Float32, {4, 4});
    add = call("aten.add.Tensor", {x, y});
    relu = call("aten.relu.default", {add});
    mul = call("aten.mul.Tensor", {relu, 2.0});
    output({mul});
  }
  NodeId x, y, add, relu, mul;
};

const auto addOp = "aten.add.Tensor"_op, reluOp = "aten.relu.default"_op, mulOp = "aten.mul.Tensor"_op;

std::string reasonAt(const Graph& graph, const Pattern& pattern, NodeId node) {
  const auto match = matchPattern(graph, pattern, node);
  return match ? "it matches" : match.error().reason;
}

TEST(PatternExpression, CallsMatchWithTheirArguments) {
  const Chain g;
  const auto pattern =
      callFunction(mulOp, {callFunction(reluOp, {callFunction(addOp, {keywordArg("a"), arg()})}), literal(2)});
  const auto match = matchPattern(g.module.graph, pattern, g.mul);
  ASSERT_TRUE(match) << match.error().reason;
  EXPECT_THAT(match->nodes, ElementsAre(g.add, g.relu, g.mul));
  ASSERT_NE(match->find("a"), nullptr);
  EXPECT_EQ(*match->find("a"), Argument(g.x));
  EXPECT_THAT(match->positional, ElementsAre(Argument(g.y)));
}

TEST(PatternExpression, NearMissesSayWhy) {
  const Chain g;
  const Graph& graph = g.module.graph;
  EXPECT_EQ(reasonAt(graph, callFunction(mulOp, {callFunction(addOp, {arg(), arg()}), ignored()}), g.mul),
            "relu is aten.relu.default, the pattern has aten.add.Tensor");
  EXPECT_EQ(reasonAt(graph, callFunction(mulOp, {ignored(), literal(1.5)}), g.mul),
            "mul: other is 2.0, the pattern has 1.5");
  EXPECT_EQ(reasonAt(graph, callFunction(mulOp, {arg(), callFunction(reluOp, {arg()})}), g.mul),
            "mul has 2.0 where the pattern has aten.relu.default");
  EXPECT_EQ(reasonAt(graph, callFunction(addOp, {callFunction(reluOp, {arg()}), arg()}), g.add),
            "x is an input of the graph, the pattern has aten.relu.default");
  const auto same = keywordArg("a");
  EXPECT_EQ(reasonAt(graph, callFunction(addOp, {same, same}), g.add), "y stands where the pattern has x again");
  EXPECT_EQ(reasonAt(graph, callFunction(addOp, {keywordArg("a"), keywordArg("a")}), g.add),
            "a is y here and x elsewhere");
}

TEST(PatternExpression, UsersAreCountedExceptOfResults) {
  GraphFixture g;
  const NodeId x = g.input("x", DType::Float32, {4});
  const NodeId relu = g.call("aten.relu.default", {x});
  const NodeId neg = g.call("aten.neg.default", {relu});
  g.output({neg, relu});
  const auto pattern = [](UserCount users) {
    return callFunction("aten.neg.default"_op, {callFunction(reluOp, {arg()}, {}, users)});
  };
  EXPECT_EQ(reasonAt(g.module.graph, pattern(1), neg), "relu has 2 users (neg, output), the pattern allows 1");
  EXPECT_TRUE(matchPattern(g.module.graph, pattern(2), neg));
  EXPECT_TRUE(matchPattern(g.module.graph, pattern(anyUsers), neg));
}

TEST(PatternExpression, SeveralOpsAndWildcardsForNumbers) {
  const Chain g;
  const auto either = callFunction(std::vector<OpId>{addOp, mulOp}, {ignored(), keywordArg("by")}, {}, anyUsers);
  const auto match = matchPattern(g.module.graph, either, g.mul);
  ASSERT_TRUE(match);
  EXPECT_EQ(*match->find("by"), Argument(2.0));
  EXPECT_TRUE(matchPattern(g.module.graph, either, g.add));
  EXPECT_FALSE(matchPattern(g.module.graph, either, g.relu));
}

TEST(PatternExpression, ArgumentsAreFoundByPlaceAndByName) {
  GraphFixture g;
  const NodeId x = g.input("x", DType::Float32, {4, 4});
  const NodeId sum = g.call("aten.sum.dim_IntList", {x, Argument::list({1})}, {{"keepdim", true}});
  const NodeId plain = g.call("aten.sum.dim_IntList", {x, Argument::list({1})});
  g.output({sum, plain});
  const auto op = "aten.sum.dim_IntList"_op;
  const auto keeps = callFunction(op, {arg(), literal(Argument::list({1})), literal(true)});
  EXPECT_TRUE(matchPattern(g.module.graph, keeps, sum));
  EXPECT_EQ(reasonAt(g.module.graph, keeps, plain), "sum_2: keepdim is False, the pattern has True");
  EXPECT_TRUE(matchPattern(g.module.graph, callFunction(op, {arg(), ignored(), literal(false)}), plain))
      << "the default";
  EXPECT_EQ(reasonAt(g.module.graph, callFunction(op, {arg(), ignored()}), sum),
            "sum_1 is given keepdim = True, the pattern leaves it out");
}

TEST(PatternExpression, ListsOfAnyLength) {
  GraphFixture g;
  const NodeId x = g.input("x", DType::Float32, {4});
  const NodeId a = g.call("aten.relu.default", {x}), b = g.call("aten.relu.default", {x}),
               c = g.call("aten.neg.default", {x});
  const NodeId both = g.call("aten.cat.default", {Argument::list({a, b})});
  const NodeId mixed = g.call("aten.cat.default", {Argument::list({a, c})});
  g.output({both, mixed});
  const auto relus = [](bool partial) {
    return callFunction("aten.cat.default"_op,
                        {listOf(callFunction(reluOp, {keywordArg("of")}, {}, anyUsers), partial)});
  };
  const auto match = matchPattern(g.module.graph, relus(false), both);
  ASSERT_TRUE(match) << match.error().reason;
  EXPECT_EQ(*match->find("of"), Argument::list({x, x}));
  EXPECT_EQ(reasonAt(g.module.graph, relus(false), mixed),
            "neg is aten.neg.default, the pattern has aten.relu.default");
  EXPECT_TRUE(matchPattern(g.module.graph, relus(true), mixed));
  const auto two = callFunction("aten.cat.default"_op, {listPattern({arg(), arg()})});
  EXPECT_TRUE(matchPattern(g.module.graph, two, mixed));
}

TEST(PatternExpression, SeveralResultsAreFoundThroughWhatTheyShare) {
  GraphFixture g;
  const NodeId x = g.input("x", DType::Float32, {4});
  const NodeId exp = g.call("aten.exp.default", {x});
  const NodeId sin = g.call("aten.sin.default", {exp}), cos = g.call("aten.cos.default", {exp});
  g.output({sin, cos});
  const auto shared = callFunction("aten.exp.default"_op, {keywordArg("x")}, {}, 2);
  const auto results = [&](OpId second) {
    return multiOutput({callFunction("aten.sin.default"_op, {shared}), callFunction(second, {shared})});
  };
  const auto match = matchPattern(g.module.graph, results("aten.cos.default"_op), sin);
  ASSERT_TRUE(match) << match.error().reason;
  EXPECT_THAT(match->outputs, ElementsAre(sin, cos));
  EXPECT_EQ(reasonAt(g.module.graph, results("aten.tan.default"_op), sin),
            "no aten.tan.default among the users of what is matched");
}

TEST(PatternExpression, RepeatedFormsMustAllFit) {
  GraphFixture g;
  const NodeId x = g.input("x", DType::Float32, {4});
  const NodeId exp = g.call("aten.exp.default", {x});
  const NodeId a = g.call("aten.mul.Tensor", {exp, 2.0}), b = g.call("aten.mul.Tensor", {exp, 2.0});
  g.output({a, b});
  const auto shared = callFunction("aten.exp.default"_op, {ignored()}, {}, anyUsers);
  const auto times = [&](double by) { return repeatedExpr(callFunction(mulOp, {shared, literal(by)})); };
  const auto match = matchPattern(g.module.graph, times(2), a);
  ASSERT_TRUE(match) << match.error().reason;
  EXPECT_THAT(match->nodes, ElementsAre(exp, a, b));
  g.module.graph.setArgs(b, {exp, 3.0});
  EXPECT_THAT(reasonAt(g.module.graph, times(2), a), HasSubstr("is 3.0, the pattern has 2.0"));
}

TEST(PatternExpression, ExclusiveArgumentsAreValuesOfTheirOwn) {
  GraphFixture g;
  const NodeId x = g.input("x", DType::Float32, {4});
  const NodeId twice = g.call("aten.add.Tensor", {x, x});
  g.output({twice});
  EXPECT_TRUE(matchPattern(g.module.graph, callFunction(addOp, {keywordArg("a"), keywordArg("b")}), twice));
  EXPECT_EQ(reasonAt(g.module.graph, callFunction(addOp, {keywordArg("a", true), keywordArg("b", true)}), twice),
            "x would be b, which must be a value of its own");
}

/// Replaces relu by neg.
PatternEntry negForRelu(std::string name, Pattern pattern) {
  return {.name = std::move(name), .pattern = std::move(pattern), .replace = [](const MatchContext& context) {
            Graph& graph = context.module.graph;
            graph.setTarget(context.anchor, "torch.ops.aten.neg.default");
            return Result<std::vector<NodeId>>(std::vector<NodeId>());
          }};
}

TEST(PatternMatcherPass, HundredPatternsCostOneWalk) {
  Chain g;
  PatternMatcherPass pass;
  for (int i = 0; i < 100; ++i)
    pass.add(
        negForRelu(fmt::format("p{}", i), callFunction(mulOp, {callFunction(reluOp, {ignored()}), literal(100 + i)})));
  WalkCount count;
  const auto replaced = pass.apply(g.module, &count);
  ASSERT_TRUE(replaced);
  EXPECT_TRUE(replaced->empty());
  EXPECT_EQ(count.nodes, g.module.graph.size());
  EXPECT_EQ(count.tries, 100u) << "all at mul, none at add or relu";
}

TEST(PatternMatcherPass, WritesKeepPatternsApart) {
  GraphFixture g;
  const NodeId x = g.input("x", DType::Float32, {4});
  const NodeId exp = g.call("aten.exp.default", {x});
  g.call("aten.copy_.default", {x, exp});
  const NodeId relu = g.call("aten.relu.default", {exp});
  g.output({relu});
  PatternMatcherPass pass;
  pass.add(negForRelu("p", callFunction(reluOp, {callFunction("aten.exp.default"_op, {ignored()}, {}, anyUsers)})));
  EXPECT_TRUE(pass.apply(g.module)->empty());
  const auto miss = pass.explain(g.module, "p");
  ASSERT_TRUE(miss && *miss);
  EXPECT_EQ((*miss)->reason, "copy_ writes to memory between exp and relu");
  const auto unknown = pass.explain(g.module, "q");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::NotFound);
}

TEST(PatternMatcherPass, TheLargerOfTwoPatternsIsFoundFirst) {
  Chain g;
  PatternMatcherPass pass;
  pass.add(negForRelu("small", callFunction(reluOp, {ignored()})));
  PatternEntry large = negForRelu("large", callFunction(mulOp, {callFunction(reluOp, {ignored()}), ignored()}));
  pass.add(std::move(large));
  const auto replaced = pass.apply(g.module);
  ASSERT_TRUE(replaced);
  ASSERT_EQ(replaced->size(), 2u);
  EXPECT_EQ((*replaced)[0].pattern, "large");
  EXPECT_EQ((*replaced)[1].pattern, "small") << "what is left of it is searched too";
}

TEST(PatternMatcherPass, ExplainsThePlaceWhereAPatternGotFarthest) {
  GraphFixture g;
  const NodeId x = g.input("x", DType::Float32, {4});
  const NodeId shallow = g.call("aten.relu.default", {x});
  const NodeId mul = g.call("aten.mul.Tensor", {shallow, 2.0});
  const NodeId deep = g.call("aten.relu.default", {g.call("aten.tanh.default", {mul})});
  g.output({deep, g.call("aten.relu.default", {g.call("aten.neg.default", {x})})});
  PatternMatcherPass pass;
  pass.add(negForRelu("p", callFunction(reluOp, {callFunction("aten.tanh.default"_op,
                                                              {callFunction(addOp, {ignored(), ignored()})})})));
  const auto miss = pass.explain(g.module, "p");
  ASSERT_TRUE(miss && *miss);
  EXPECT_EQ((*miss)->result, g.module.graph.node(deep).name());
  EXPECT_EQ((*miss)->node, "mul");
  EXPECT_EQ((*miss)->matched, 2u);
  EXPECT_EQ((*miss)->calls, 3u);
}

TEST(PatternMatcherPass, ExplainsTheLastOfPlacesThatAreAlike) {
  GraphFixture g;
  const NodeId x = g.input("x", DType::Float32, {4});
  const NodeId first = g.call("aten.relu.default", {x}), last = g.call("aten.relu.default", {first});
  g.output({last});
  PatternMatcherPass pass;
  pass.add(negForRelu("p", callFunction(reluOp, {callFunction("aten.tanh.default"_op, {ignored()})})));
  const auto miss = pass.explain(g.module, "p");
  ASSERT_TRUE(miss && *miss);
  EXPECT_EQ((*miss)->result, g.module.graph.node(last).name());
}

TEST(PatternMatcherPass, SaysThatNoCallHasTheResultsOp) {
  const Chain g;
  PatternMatcherPass pass;
  pass.add(negForRelu("p", callFunction("aten.tanh.default"_op, {ignored()})));
  const auto miss = pass.explain(g.module, "p");
  ASSERT_TRUE(miss && *miss);
  EXPECT_EQ((*miss)->reason, "the graph has no call of aten.tanh.default, which gives the pattern's result");
}

}  // namespace
}  // namespace kerf
