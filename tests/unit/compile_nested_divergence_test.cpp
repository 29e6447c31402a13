// Nodes of nested graphs compared as such: where a fault inside a branch, a loop body or a called graph starts.
#include <gmock/gmock.h>

#include <map>

#include "engine/ir/parser.h"
#include "engine/pipeline/node_divergence.h"
#include "tests/support/graph_fixture.h"

namespace kerf {
namespace {

struct Nested {
  GraphModule module;
  ValueList inputs;

  Nested(const char* text, ValueList values) : inputs(std::move(values)) {
    auto parsed = parseReadable(text);
    EXPECT_TRUE(parsed) << parsed.error().text();
    if (parsed) module = std::move(*parsed);
    EXPECT_TRUE(propagateShapes(module));
  }
  NodeDivergenceReport run(const std::string& plant, NodeDivergenceOptions options = {}) const {
    if (!plant.empty()) options.compile.faults.faults.push_back(*parseFault(plant));
    auto report = nodeDivergence(module, inputs, options);
    EXPECT_TRUE(report) << report.error().text();
    return report ? *report : NodeDivergenceReport{};
  }
};

std::vector<std::string> names(const NodeDivergenceReport& report) {
  std::vector<std::string> names;
  for (const NodeDivergence& row : report.nodes) names.push_back(row.node);
  return names;
}
std::vector<std::string> bad(const NodeDivergenceReport& report) {
  std::vector<std::string> names;
  for (const NodeDivergence& row : report.nodes)
    if (!row.same) names.push_back(row.node);
  return names;
}
std::vector<std::string> firstBad(const NodeDivergenceReport& report) {
  std::vector<std::string> names;
  for (const NodeDivergence& row : report.nodes)
    if (row.firstBad) names.push_back(row.node);
  return names;
}
const NodeDivergence& rowOf(const NodeDivergenceReport& report, const std::string& name) {
  static const NodeDivergence none;
  const auto found = std::ranges::find(report.nodes, name, &NodeDivergence::node);
  EXPECT_NE(found, report.nodes.end()) << name;
  return found != report.nodes.end() ? *found : none;
}

Tensor floats(std::initializer_list<float> values) {
  Tensor t = *Tensor::zeros(DType::Float32, {std::int64_t(values.size())});
  std::ranges::copy(values, t.data<float>());
  return t;
}

constexpr const char* loopText = R"(
class <lambda>(torch.nn.Module):
    def forward(self, i: "i64[]", x: "f32[2]"):
        neg: "f32[2]" = torch.ops.aten.neg.default(x)
        cond_fn = self.cond_fn
        body_fn = self.body_fn
        while_loop = torch.ops.higher_order.while_loop(cond_fn, body_fn, (i, neg), ())
        getitem: "i64[]" = while_loop[0]
        getitem_1: "f32[2]" = while_loop[1]
        exp: "f32[2]" = torch.ops.aten.exp.default(getitem_1)
        return (getitem, exp)

    class cond_fn(torch.nn.Module):
        def forward(self, i: "i64[]", x: "f32[2]"):
            lt: "b8[]" = torch.ops.aten.lt.Scalar(i, 6)
            return lt

    class body_fn(torch.nn.Module):
        def forward(self, i: "i64[]", x: "f32[2]"):
            add: "i64[]" = torch.ops.aten.add.Tensor(i, 1)
            cos: "f32[2]" = torch.ops.aten.cos.default(x)
            mul: "f32[2]" = torch.ops.aten.mul.Tensor(cos, 0.5)
            return (add, mul)
)";

TEST(NestedDivergence, OfALoopPointsIntoItsBody) {
  const Nested loop(loopText, {Tensor::scalarInt(0, DType::Int64), floats({0.25f, -1})});
  const auto good = loop.run("");
  EXPECT_THAT(names(good), ::testing::ElementsAre("neg", "cond_fn/lt", "body_fn/add", "body_fn/cos", "body_fn/mul",
                                                  "getitem", "getitem_1", "exp"));
  EXPECT_THAT(bad(good), ::testing::IsEmpty());
  EXPECT_EQ(good.nestedNote, "");
  EXPECT_EQ(rowOf(good, "body_fn/cos").elements, 2);
  EXPECT_EQ(rowOf(good, "body_fn/cos").finite, 2);

  const auto faulty = loop.run("cos=accuracy");
  EXPECT_THAT(firstBad(faulty), ::testing::ElementsAre("body_fn/cos"));
  EXPECT_THAT(bad(faulty), ::testing::IsSupersetOf({"body_fn/cos", "body_fn/mul", "getitem_1"}));
  EXPECT_TRUE(rowOf(faulty, "neg").same);
  EXPECT_TRUE(rowOf(faulty, "body_fn/add").same);
  EXPECT_GE(rowOf(faulty, "body_fn/cos").call, 1);
  EXPECT_GT(rowOf(faulty, "body_fn/cos").rmseRes, rowOf(faulty, "body_fn/cos").rmseRef);
  EXPECT_EQ(faulty.nodes[rankDivergence(faulty.nodes)[0]].node, "body_fn/cos");
}

TEST(NestedDivergence, OutsideOfTheBodyLeavesTheBodyAlone) {
  const Nested loop(loopText, {Tensor::scalarInt(0, DType::Int64), floats({0.25f, -1})});
  const auto before = loop.run("neg=accuracy");
  EXPECT_THAT(firstBad(before), ::testing::ElementsAre("neg"));
  EXPECT_TRUE(rowOf(before, "body_fn/cos").same);
  const auto after = loop.run("exp=accuracy");
  EXPECT_THAT(firstBad(after), ::testing::ElementsAre("exp"));
}

TEST(NestedDivergence, ReportsTheWorstCallOfABody) {
  const Nested loop(loopText, {Tensor::scalarInt(0, DType::Int64), floats({0.25f, -1})});
  const auto count = [&](int nestedCalls) {
    std::map<std::string, int> seen;
    NodeDivergenceOptions options;
    options.nestedCalls = nestedCalls;
    std::int64_t worst = 0;
    options.onNode = [&](const NodeDivergence& row, const NodeProgress& progress) {
      ++seen[row.node];
      worst = std::max(worst, row.call);
      EXPECT_EQ(progress.total, 4);
      EXPECT_LE(progress.done, progress.total);
    };
    const auto report = loop.run("mul=accuracy", options);
    EXPECT_EQ(seen.size(), report.nodes.size());
    EXPECT_EQ(seen.at("exp"), 1);
    return worst;
  };
  EXPECT_LE(count(1), 4) << "calls 1, 2 and 4 of six";
  EXPECT_LE(count(6), 6);
}

constexpr const char* branchText = R"(
class <lambda>(torch.nn.Module):
    def forward(self, p: "b8[]", x: "f32[3]"):
        true_graph_0 = self.true_graph_0
        false_graph_0 = self.false_graph_0
        cond = torch.ops.higher_order.cond(p, true_graph_0, false_graph_0, (x,))
        getitem: "f32[3]" = cond[0]
        return (getitem,)

    class true_graph_0(torch.nn.Module):
        def forward(self, x: "f32[3]"):
            repeated = self.repeated
            invoke_subgraph = torch.ops.higher_order.invoke_subgraph(repeated, 'repeated', x)
            getitem: "f32[3]" = invoke_subgraph[0]
            sin: "f32[3]" = torch.ops.aten.sin.default(getitem)
            return (sin,)

        class repeated(torch.nn.Module):
            def forward(self, x: "f32[3]"):
                relu: "f32[3]" = torch.ops.aten.relu.default(x)
                tanh: "f32[3]" = torch.ops.aten.tanh.default(relu)
                return (tanh,)

    class false_graph_0(torch.nn.Module):
        def forward(self, x: "f32[3]"):
            cos: "f32[3]" = torch.ops.aten.cos.default(x)
            return (cos,)
)";

TEST(NestedDivergence, OfACondComparesTheBranchThatWasTaken) {
  const auto taken = [](bool which) {
    return Nested(branchText, {Tensor::scalarInt(which ? 1 : 0, DType::Bool), floats({0.5f, 1, -2})});
  };
  EXPECT_THAT(names(taken(false).run("")), ::testing::ElementsAre("false_graph_0/cos", "getitem"));
  EXPECT_THAT(firstBad(taken(false).run("cos=accuracy")), ::testing::ElementsAre("false_graph_0/cos"));
  EXPECT_THAT(bad(taken(true).run("cos=accuracy")), ::testing::IsEmpty());
}

TEST(NestedDivergence, GoesAsDeepAsGraphsAreNested) {
  const Nested branch(branchText, {Tensor::scalarInt(1, DType::Bool), floats({0.5f, 1, -2})});
  const auto report = branch.run("relu=accuracy");
  EXPECT_THAT(names(report), ::testing::ElementsAre("true_graph_0/repeated/relu", "true_graph_0/repeated/tanh",
                                                    "true_graph_0/getitem", "true_graph_0/sin", "getitem"));
  EXPECT_THAT(firstBad(report), ::testing::ElementsAre("true_graph_0/repeated/relu"));
  EXPECT_THAT(bad(report), ::testing::Not(::testing::IsEmpty()));
}

constexpr const char* scanText = R"(
class <lambda>(torch.nn.Module):
    def forward(self, init: "f32[2]", xs: "f32[3, 2]"):
        combine = self.combine
        scan = torch.ops.higher_order.scan(combine, [init], [xs], [])
        getitem: "f32[2]" = scan[0]
        getitem_1: "f32[3, 2]" = scan[1]
        return (getitem, getitem_1)

    class combine(torch.nn.Module):
        def forward(self, c: "f32[2]", x: "f32[2]"):
            add: "f32[2]" = torch.ops.aten.add.Tensor(c, x)
            sin: "f32[2]" = torch.ops.aten.sin.default(add)
            return (add, sin)
)";

TEST(NestedDivergence, OfAScanPointsIntoItsBody) {
  Tensor xs = *Tensor::zeros(DType::Float32, {3, 2});
  for (int i = 0; i < 6; ++i) xs.data<float>()[i] = 0.5f + float(i);
  const Nested scan(scanText, {floats({1, 2}), xs});
  const auto report = scan.run("sin=accuracy");
  EXPECT_THAT(names(report), ::testing::ElementsAre("combine/add", "combine/sin", "getitem", "getitem_1"));
  EXPECT_THAT(firstBad(report), ::testing::ElementsAre("combine/sin"));
  EXPECT_TRUE(rowOf(report, "getitem").same);
  EXPECT_FALSE(rowOf(report, "getitem_1").same);
}

constexpr const char* inPlaceText = R"(
class <lambda>(torch.nn.Module):
    def forward(self, x: "f32[3]"):
        exp: "f32[3]" = torch.ops.aten.exp.default(x)
        sin: "f32[3]" = torch.ops.aten.sin.default(exp)
        mul_: "f32[3]" = torch.ops.aten.mul_.Tensor(exp, 2.0)
        cos: "f32[3]" = torch.ops.aten.cos.default(exp)
        return (sin, cos)
)";

TEST(NodeDivergence, ComparesAValueAsItWasBeforeItIsWrittenInto) {
  const Nested graph(inPlaceText, {floats({0.5f, 1, -2})});
  const auto report = graph.run("mul_=accuracy");
  EXPECT_THAT(names(report), ::testing::ElementsAre("exp", "sin", "mul_", "cos"));
  EXPECT_THAT(firstBad(report), ::testing::ElementsAre("mul_")) << "cos sees what mul_ wrote";
  EXPECT_THAT(bad(report), ::testing::ElementsAre("mul_", "cos"));
  EXPECT_TRUE(rowOf(report, "exp").same);
  EXPECT_TRUE(rowOf(report, "sin").same);
  EXPECT_EQ(graph.inputs[0].tensor().itemAsDouble(0), 0.5);
}

TEST(NodeDivergence, CountsWhatWasFinite) {
  const Nested graph(R"(
class <lambda>(torch.nn.Module):
    def forward(self, x: "f32[3]"):
        log: "f32[3]" = torch.ops.aten.log.default(x)
        sqrt: "f32[3]" = torch.ops.aten.sqrt.default(log)
        return (sqrt,)
)",
                     {floats({-1, 0, 1})});
  const auto report = graph.run("");
  EXPECT_EQ(rowOf(report, "log").finite, 1);
  EXPECT_EQ(rowOf(report, "log").elements, 3);
  EXPECT_FALSE(rowOf(report, "log").nothingFinite());
  const Nested lost(R"(
class <lambda>(torch.nn.Module):
    def forward(self, x: "f32[3]"):
        log: "f32[3]" = torch.ops.aten.log.default(x)
        return (log,)
)",
                    {floats({-1, -2, -3})});
  const auto nothing = lost.run("");
  EXPECT_TRUE(rowOf(nothing, "log").same);
  EXPECT_TRUE(rowOf(nothing, "log").nothingFinite());
}

}  // namespace
}  // namespace kerf
