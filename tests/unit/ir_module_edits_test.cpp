// torch.fx's tools on whole modules: submodule edits, splitting and putting together, symbolic traces, one node at a
// time.
#include <gtest/gtest.h>

#include "engine/ir/graph_copy.h"
#include "engine/ir/interpreter.h"
#include "engine/ir/printer.h"
#include "engine/ir/split_module.h"
#include "engine/ir/subgraph_rewriter.h"
#include "engine/ir/submodules.h"
#include "engine/ir/symbolic_trace.h"
#include "engine/ir/tracer.h"

namespace kerf {
namespace {

/// Doubles: add, mul, neg, relu, split into a number and its negation.
class NumberOps : public OpCaller {
 public:
  Result<Value> call(const OpTarget& target, const ValueList& args, const KeywordValues&) const override {
    const auto number = [&](std::size_t i) {
      const auto* whole = args[i].as<std::int64_t>();
      return whole ? double(*whole) : *args[i].as<double>();
    };
    if (target.text == "torch.ops.aten.add.Tensor") return Value(number(0) + number(1));
    if (target.text == "torch.ops.aten.mul.Tensor") return Value(number(0) * number(1));
    if (target.text == "torch.ops.aten.neg.default") return Value(-number(0));
    if (target.text == "torch.ops.aten.split.Tensor") return Value(ValueList{Value(number(0)), Value(-number(0))});
    if (target.text == "operator.getitem") return args[0].list()[std::size_t(*args[1].as<std::int64_t>())];
    return fail(ErrorCode::UnsupportedOp, "no op {}", target.text);
  }
};

double ran(const GraphModule& module, const ValueList& inputs) {
  const NumberOps ops;
  const auto result = Interpreter(module, ops).run(inputs);
  EXPECT_TRUE(result.has_value()) << result.error().text();
  if (!result) return 0;
  return *(result->isList() ? result->list()[0] : *result).as<double>();
}

Submodule nested(GraphModule module) { return {std::make_shared<const GraphModule>(std::move(module)), {}}; }

TEST(GraphCopy, TakesConstantsForNodes) {
  Tracer t;
  const Proxy a = t.placeholder("a"), b = t.placeholder("b");
  t.output(Argument::tuple({a * b, b}));
  const GraphModule source = t.finish();
  Graph graph;
  const NodeId x = graph.placeholder("x");
  NodeArguments map{{a.node(), x}, {b.node(), Argument(2)}};
  const Argument value = copyGraph(graph, source.graph, map);
  ASSERT_TRUE(value.asList());
  EXPECT_EQ(value.asList()->items[1], Argument(2));
  graph.output(value);
  EXPECT_EQ(printGraphText(graph), R"(graph():
    %x : [num_users=1] = placeholder[target=x]
    %mul : [num_users=1] = call_function[target=torch.ops.aten.mul.Tensor](args = (%x, 2), kwargs = {})
    return (mul, 2))");
  EXPECT_TRUE(graph.lint().has_value());
}

TEST(Submodules, AreAddedReplacedAndDeletedWithWhatLiesBelow) {
  GraphModule module;
  ASSERT_TRUE(addSubmodule(module, "layers.0", {nullptr, "ReLU()"}));
  ASSERT_TRUE(addSubmodule(module, "layers.0.inner", {nullptr, "ReLU()"}));
  ASSERT_TRUE(addSubmodule(module, "layers.0", {nullptr, "Identity()"}));
  EXPECT_EQ(module.submodules.size(), 2u);
  EXPECT_EQ(module.submodule("layers.0")->repr, "Identity()");
  EXPECT_EQ(addSubmodule(module, "a..b", {}).error().code, ErrorCode::BadUsage);
  module.attributes.add("weight", {});
  EXPECT_EQ(addSubmodule(module, "weight", {}).error().code, ErrorCode::BadUsage);
  EXPECT_FALSE(deleteSubmodule(module, "layer"));
  EXPECT_TRUE(deleteSubmodule(module, "layers"));
  EXPECT_TRUE(module.submodules.empty());
}

TEST(Submodules, ThatNothingUsesGo) {
  GraphModule module;
  for (const char* path : {"called", "called.inner", "holds", "branch", "spare", "called_too"})
    ASSERT_TRUE(addSubmodule(module, path, {nullptr, "ReLU()"}));
  const NodeId x = module.graph.placeholder("x");
  const NodeId call = module.graph.callModule("called", {x});
  module.graph.getAttr("holds.weight");
  module.graph.output(module.graph.callFunction("torch.ops.higher_order.cond", {call, SubgraphRef{"branch"}}));
  EXPECT_EQ(deleteAllUnusedSubmodules(module), 2u);
  EXPECT_FALSE(module.submodule("spare"));
  EXPECT_FALSE(module.submodule("called_too"));
  EXPECT_TRUE(module.submodule("called.inner"));
  EXPECT_TRUE(module.submodule("branch"));
}

/// ((x + y) * 2, -(x + y) * (x + y)), with the tangle that parts may have.
GraphModule threeSteps() {
  Tracer t;
  const Proxy x = t.placeholder("x"), y = t.placeholder("y");
  const Proxy sum = x + y;
  const Proxy twice = sum * 2;
  const Proxy negative = -sum;
  t.output(Argument::tuple({twice * negative, twice}));
  return t.finish();
}

std::int64_t halves(const Node& node) { return node.name() == "add" || node.name() == "neg" ? 7 : 3; }

TEST(Submodules, UnusedTensorsGo) {
  GraphModule module;
  for (const char* path : {"weight", "unused", "block.weight", "other.weight", "layers.0.bias"})
    module.attributes.add(path, {*Tensor::zeros(DType::Float32, {1}), true, {}});
  for (const char* path : {"block", "other"}) module.submodules.add(path, {nullptr, "ReLU()"});
  const NodeId x = module.graph.placeholder("x");
  const NodeId weight = module.graph.getAttr("weight");
  const NodeId bias = module.graph.getAttr("layers.0.bias");
  const NodeId called = module.graph.callModule("block", {x});
  module.graph.output(Argument::tuple({weight, bias, called}));
  EXPECT_EQ(deleteAllUnusedAttributes(module), 2u);
  std::vector<std::string> left;
  for (const auto& [path, attribute] : module.attributes) left.push_back(path);
  EXPECT_EQ(left, (std::vector<std::string>{"weight", "block.weight", "layers.0.bias"}));
  EXPECT_EQ(deleteAllUnusedAttributes(module), 0u);
}

TEST(GraphCopy, KeepsNamesWhereAsked) {
  Graph from, to;
  const NodeId x = from.placeholder("x");
  const NodeId sum = from.createNamed(Opcode::CallFunction, "torch.ops.aten.sum.default", {x}, {}, "sum");
  const NodeId y = to.placeholder("y");
  const auto map = [&](NodeId) { return Argument(y); };
  EXPECT_EQ(to.node(copyNode(to, from.node(sum), map, CopyName::Same)).name(), "sum");
  const NodeId named = copyNode(to, from.node(sum), map);
  EXPECT_EQ(to.node(named).name(), "sum_1");
  EXPECT_EQ(to.node(named).args(), ArgumentList{y});
}

TEST(SplitModule, GivesCallsOfPartsAndTheSameValues) {
  const GraphModule module = threeSteps();
  const auto split = splitModule(module, halves);
  ASSERT_TRUE(split.has_value()) << split.error().text();
  EXPECT_EQ(split->parts, (std::vector<std::string>{"submod_7", "submod_3"}));
  EXPECT_EQ(printGraphText(split->module.graph), R"(graph():
    %x : [num_users=1] = placeholder[target=x]
    %y : [num_users=1] = placeholder[target=y]
    %submod_7 : [num_users=2] = call_module[target=submod_7](args = (%x, %y), kwargs = {})
    %getitem : [num_users=1] = call_function[target=operator.getitem](args = (%submod_7, 0), kwargs = {})
    %getitem_1 : [num_users=1] = call_function[target=operator.getitem](args = (%submod_7, 1), kwargs = {})
    %submod_3 : [num_users=2] = call_module[target=submod_3](args = (%getitem, %getitem_1), kwargs = {})
    %getitem_2 : [num_users=1] = call_function[target=operator.getitem](args = (%submod_3, 0), kwargs = {})
    %getitem_3 : [num_users=1] = call_function[target=operator.getitem](args = (%submod_3, 1), kwargs = {})
    return (getitem_2, getitem_3))");
  EXPECT_TRUE(split->module.graph.lint().has_value());
  EXPECT_EQ(ran(split->module, {Value(1.5), Value(2.0)}), ran(module, {Value(1.5), Value(2.0)}));
  const auto whole = reassemble(*split);
  ASSERT_TRUE(whole.has_value()) << whole.error().text();
  EXPECT_EQ(whole->graph.size(), module.graph.size());
  EXPECT_TRUE(whole->submodules.empty());
  EXPECT_EQ(ran(*whole, {Value(1.5), Value(2.0)}), -24.5);
}

TEST(SplitModule, TakesAttributesToTheirReaders) {
  Tracer t;
  const Proxy x = t.placeholder("x");
  const Proxy w = t.attribute("fc.weight", Tensor::scalar(2.0, DType::Float32));
  const Proxy v = t.attribute("fc.bias", Tensor::scalar(3.0, DType::Float32));
  t.output(Argument::tuple({x + w, v}));
  const GraphModule module = t.finish();
  const auto split = splitModule(module, [](const Node&) { return 0; });
  ASSERT_TRUE(split.has_value());
  EXPECT_FALSE(split->module.attribute("fc.weight"));
  EXPECT_TRUE(split->module.attribute("fc.bias"));
  const GraphModule& part = *split->module.submodule("submod_0")->graph;
  EXPECT_TRUE(part.attribute("fc.weight"));
  EXPECT_FALSE(part.attribute("fc.bias"));
  const auto whole = reassemble(*split);
  ASSERT_TRUE(whole.has_value());
  EXPECT_EQ(whole->attributes.size(), 2u);
  EXPECT_TRUE(whole->attribute("fc.weight"));
}

TEST(SplitModule, RefusesPartsThatNeedEachOther) {
  Tracer t;
  const Proxy x = t.placeholder("x");
  t.output(-((-x) * 2));
  const auto tangled = splitModule(t.finish(), [](const Node& node) { return std::int64_t(node.name() == "mul"); });
  ASSERT_FALSE(tangled.has_value());
  EXPECT_EQ(tangled.error().code, ErrorCode::BadUsage);
  EXPECT_EQ(tangled.error().node, "neg");
  // what has effects may not pass others either, though no value says so
  Tracer u;
  const Proxy y = u.placeholder("y");
  const Proxy first = y + 1, second = y * 2, third = -y;
  u.output(Argument::tuple({first, second, third}));
  const GraphModule module = u.finish();
  const auto outer = [](const Node& node) { return std::int64_t(node.name() == "mul"); };
  EXPECT_TRUE(splitModule(module, outer).has_value());
  const SplitOptions options{.isOrdered = [](const Node& node) { return node.name() == "mul"; }};
  EXPECT_EQ(splitModule(module, outer, options).error().code, ErrorCode::BadUsage);
}

GraphModule scaling() {
  Tracer inner;
  const Proxy a = inner.placeholder("a"), factor = inner.placeholder("factor");
  inner.output(Argument::tuple({a * factor, factor}));
  return inner.finish();
}

TEST(SymbolicTrace, GoesThroughModulesButLeaves) {
  Tracer t;
  const Proxy x = t.placeholder("x");
  const Proxy call = t.callModule("scale", nested(scaling()), {x, 3});
  const Proxy again = t.callModule("keep", nested(scaling()), {call[0], call[1]});
  t.output(Argument::tuple({again[0], call[1]}));
  const GraphModule module = t.finish();
  const TraceRules rules{.isLeaf = [](std::string_view path, const Submodule&) { return path == "keep"; },
                         .concreteArguments = {}};
  const auto traced = symbolicTrace(module, rules);
  ASSERT_TRUE(traced.has_value()) << traced.error().text();
  EXPECT_EQ(printGraphText(traced->graph), R"(graph():
    %x : [num_users=1] = placeholder[target=x]
    %mul : [num_users=1] = call_function[target=torch.ops.aten.mul.Tensor](args = (%x, 3), kwargs = {})
    %keep : [num_users=1] = call_module[target=keep](args = (%mul, 3), kwargs = {})
    %getitem_2 : [num_users=1] = call_function[target=operator.getitem](args = (%keep, 0), kwargs = {})
    return (getitem_2, 3))");
  EXPECT_FALSE(traced->submodule("scale"));
  EXPECT_TRUE(traced->submodule("keep"));
  EXPECT_EQ(ran(*traced, {Value(2.0)}), ran(module, {Value(2.0)}));
}

TEST(SymbolicTrace, TakesConcreteArguments) {
  const auto traced = symbolicTrace(scaling(), {.isLeaf = {}, .concreteArguments = {{"factor", Argument(4)}}});
  ASSERT_TRUE(traced.has_value());
  EXPECT_EQ(traced->graph.placeholders().size(), 1u);
  EXPECT_EQ(ran(*traced, {Value(2.5)}), 10.0);
  EXPECT_EQ(symbolicTrace(scaling(), {.isLeaf = {}, .concreteArguments = {{"b", Argument(4)}}}).error().code,
            ErrorCode::BadUsage);
}

TEST(SymbolicTrace, NamesTheCallThatDoesNotFit) {
  Tracer t;
  t.output(t.callModule("scale", nested(scaling()), {t.placeholder("x")}));
  const auto traced = symbolicTrace(t.finish());
  ASSERT_FALSE(traced.has_value());
  EXPECT_EQ(traced.error().code, ErrorCode::BadInput);
  EXPECT_EQ(traced.error().node, "scale");
}

TEST(Tracer, NamesTheLineWhereAValueDecides) {
  int line = 0;
  const auto traced = traceFunction([&](Tracer& t) {
    const Proxy x = t.placeholder("x");
    line = __LINE__ + 1;
    const Proxy isLarge = x > 3;
    t.output(isLarge ? x : relu(x));
  });
  ASSERT_FALSE(traced.has_value());
  EXPECT_EQ(traced.error().code, ErrorCode::BadUsage);
  EXPECT_EQ(traced.error().line, line);
  EXPECT_EQ(traced.error().node, "gt");
  EXPECT_NE(traced.error().file.find("ir_module_edits_test.cpp"), std::string::npos);
}

TEST(Tracer, KeepsWrappedFunctionsAsCalls) {
  const auto twice = fx::wrap("my.twice", [](double number) { return 2 * number; });
  Tracer t;
  const Proxy x = t.placeholder("x");
  t.output(twice(x + twice(1.5)));
  const GraphModule module = t.finish();
  EXPECT_EQ(printGraphText(module.graph), R"(graph():
    %x : [num_users=1] = placeholder[target=x]
    %add : [num_users=1] = call_function[target=torch.ops.aten.add.Tensor](args = (%x, 3.0), kwargs = {})
    %twice : [num_users=1] = call_function[target=my.twice](args = (%add,), kwargs = {})
    return twice)");
}

TEST(Interpreter, RunsOneNodeInAnEnvironment) {
  const GraphModule module = threeSteps();
  const NumberOps ops;
  Interpreter interpreter(module, ops);
  const Graph& graph = module.graph;
  const Node& mul = graph.node(*graph.find("mul"));
  Environment known{{*graph.find("add"), Value(4.0)}};
  const auto value = interpreter.runNode(mul, known);
  ASSERT_TRUE(value.has_value()) << value.error().text();
  EXPECT_EQ(*value->as<double>(), 8.0);
  EXPECT_EQ(interpreter.runNode(mul, {}).error().node, "mul");
  known[*graph.find("x")] = Value(5.0);
  EXPECT_EQ(*interpreter.runNode(graph.node(*graph.find("x")), known)->as<double>(), 5.0);
}

TEST(Interpreter, StartsWithWhatIsKnownAndFreesTheRest) {
  const GraphModule module = threeSteps();
  const NumberOps ops;
  Interpreter interpreter(module, ops);
  const Graph& graph = module.graph;
  const NodeId sum = *graph.find("add"), twice = *graph.find("mul");
  std::vector<std::string> seen;
  interpreter.onNode = [&](const Node& node, const Value&) { seen.push_back(node.name()); };
  const ValueList inputs{Value(1.0), Value(2.0)};
  interpreter.start(inputs, {}, {{sum, Value(10.0)}});
  for (auto more = interpreter.step(); more && *more; more = interpreter.step())
    if (interpreter.nextNode()->op() == Opcode::Output) {
      EXPECT_FALSE(interpreter.valueOf(sum));
      ASSERT_TRUE(interpreter.valueOf(twice));
      EXPECT_EQ(*interpreter.valueOf(twice)->as<double>(), 20.0);
    }
  const auto result = interpreter.finish();
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(*result->list()[0].as<double>(), -200.0);
  EXPECT_EQ(std::ranges::count(seen, "add"), 0);

  interpreter.freesValues = false;
  interpreter.start(inputs);
  for (auto more = interpreter.step(); more && *more; more = interpreter.step()) continue;
  ASSERT_TRUE(interpreter.valueOf(sum));
  EXPECT_EQ(*interpreter.valueOf(sum)->as<double>(), 3.0);
}

/// relu(x * factor), the factor a wildcard.
GraphModule scaledRelu() {
  Tracer t;
  const Proxy x = t.placeholder("x"), factor = t.placeholder("factor");
  t.output(relu(t.aten("mul.Tensor", {x, factor})));
  return t.finish();
}

GraphModule scaledTwice() {
  Tracer t;
  const Proxy x = t.placeholder("x");
  t.output(Argument::tuple({relu(x * 2), relu(x * 5), relu(x * x)}));
  return t.finish();
}

TEST(ReplacePattern, LetsWildcardsStandForLiterals) {
  GraphModule module = scaledTwice();
  Tracer t;
  const Proxy x = t.placeholder("x"), factor = t.placeholder("factor");
  t.output(t.call("torch.ops.my.scaled_relu.default", {x, factor}));
  const GraphModule replacement = t.finish();
  const GraphModule pattern = scaledRelu();
  EXPECT_EQ(findPattern(module.graph, pattern.graph)->size(), 1u);
  const auto done = replacePattern(module.graph, pattern.graph, replacement.graph, {.wildcardsMatchLiterals = true});
  ASSERT_TRUE(done.has_value()) << done.error().text();
  EXPECT_EQ(done->size(), 3u);
  EXPECT_EQ(printPythonCode(module), R"(    def forward(self, x):
        scaled_relu = torch.ops.my.scaled_relu.default(x, 2)
        scaled_relu_1 = torch.ops.my.scaled_relu.default(x, 5)
        scaled_relu_2 = torch.ops.my.scaled_relu.default(x, x);  x = None
        return (scaled_relu, scaled_relu_1, scaled_relu_2)
)");
}

TEST(ReplacePattern, AsksFiltersAndCallsBack) {
  GraphModule module = scaledTwice();
  const GraphModule pattern = scaledRelu();
  const NodeId factor = pattern.graph.placeholders()[1];
  const MatchOptions options{.wildcardsMatchLiterals = true,
                             .ignoresLiterals = false,
                             .filters = {[&](const PatternOccurrence& found, const Graph&, const Graph&) {
                               return found.of(factor).as<std::int64_t>() != nullptr;
                             }}};
  const ReplacementOf squared = [&](const PatternOccurrence& found, const Graph&, const Graph&) -> Result<Graph> {
    const std::int64_t number = *found.of(factor).as<std::int64_t>();
    Tracer t;
    const Proxy x = t.placeholder("x");
    t.placeholder("factor");
    t.output(relu(x * (number * number)));
    return t.finish().graph;
  };
  ASSERT_TRUE(replacePattern(module.graph, pattern.graph, squared, options).has_value());
  EXPECT_EQ(printPythonCode(module), R"(    def forward(self, x):
        mul_3 = torch.ops.aten.mul.Tensor(x, 4)
        relu_3 = torch.ops.aten.relu.default(mul_3);  mul_3 = None
        mul = torch.ops.aten.mul.Tensor(x, 25)
        relu = torch.ops.aten.relu.default(mul);  mul = None
        mul_2 = torch.ops.aten.mul.Tensor(x, x);  x = None
        relu_2 = torch.ops.aten.relu.default(mul_2);  mul_2 = None
        return (relu_3, relu, relu_2)
)");
}

TEST(FindPattern, MayIgnoreLiterals) {
  Tracer t;
  t.output(relu(t.placeholder("x") * 3));
  const GraphModule pattern = t.finish();
  const GraphModule module = scaledTwice();
  EXPECT_EQ(findPattern(module.graph, pattern.graph)->size(), 0u);
  EXPECT_EQ(findPattern(module.graph, pattern.graph, {.ignoresLiterals = true})->size(), 2u);
}

}  // namespace
}  // namespace kerf
