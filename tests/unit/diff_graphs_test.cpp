// Which nodes of two graphs belong together, and what is said of them.
#include <gtest/gtest.h>

#include "engine/diff/graph_diff.h"
#include "engine/ir/parser.h"
#include "tests/support/cpu_time.h"

namespace kerf {
namespace {

Graph graphOf(const std::string& lines) {
  auto graph = parseGraphText("graph():\n" + lines);
  EXPECT_TRUE(graph) << graph.error().text();
  return *graph;
}

/// "before>after flags" for every node that is not the same, in order.
std::vector<std::string> deltas(const Graph& a, const Graph& b) {
  std::vector<std::string> list;
  for (const auto& delta : diffGraphs(a, b).nodes) {
    if (delta.same()) continue;
    list.push_back((delta.before.valid() ? a.node(delta.before).name() : "") + ">" +
                   (delta.after.valid() ? b.node(delta.after).name() : "") + (delta.renamed ? " renamed" : "") +
                   (delta.rewritten() ? " rewritten" : "") + (delta.moved ? " moved" : "") +
                   (delta.callChanged ? " call" : "") + (delta.metaChanged ? " meta" : ""));
  }
  return list;
}

using Texts = std::vector<std::string>;

constexpr const char* start =
    "    %x : [num_users=2] = placeholder[target=x]\n"
    "    %relu : [num_users=1] = call_function[target=torch.ops.aten.relu.default](args = (%x,), kwargs = {})\n"
    "    %sin : [num_users=1] = call_function[target=torch.ops.aten.sin.default](args = (%x,), kwargs = {})\n"
    "    %add : [num_users=1] = call_function[target=torch.ops.aten.add.Tensor](args = (%relu, %sin), kwargs = {})\n"
    "    return (add,)\n";

TEST(GraphDiff, EqualGraphsAreTheSame) {
  const auto graph = graphOf(start);
  EXPECT_TRUE(diffGraphs(graph, graph).same());
  EXPECT_EQ(diffGraphs(graph, graph).nodes.size(), graph.size());
  EXPECT_TRUE(diffGraphs({}, {}).same());
}

TEST(GraphDiff, RenamesAreNotRemovalsAndCascade) {
  const auto other = graphOf(
      "    %arg : [num_users=2] = placeholder[target=arg]\n"
      "    %r : [num_users=1] = call_function[target=torch.ops.aten.relu.default](args = (%arg,), kwargs = {})\n"
      "    %s : [num_users=1] = call_function[target=torch.ops.aten.sin.default](args = (%arg,), kwargs = {})\n"
      "    %sum_1 : [num_users=1] = call_function[target=torch.ops.aten.add.Tensor](args = (%r, %s), kwargs = {})\n"
      "    return (sum_1,)\n");
  EXPECT_EQ(deltas(graphOf(start), other),
            (Texts{"x>arg renamed", "relu>r renamed", "sin>s renamed", "add>sum_1 renamed"}));
}

TEST(GraphDiff, AnotherOrderOfPureCallsIsNoDifference) {
  const auto other = graphOf(
      "    %x : [num_users=2] = placeholder[target=x]\n"
      "    %sin : [num_users=1] = call_function[target=torch.ops.aten.sin.default](args = (%x,), kwargs = {})\n"
      "    %relu : [num_users=1] = call_function[target=torch.ops.aten.relu.default](args = (%x,), kwargs = {})\n"
      "    %add : [num_users=1] = call_function[target=torch.ops.aten.add.Tensor](args = (%relu, %sin), kwargs = {})\n"
      "    return (add,)\n");
  EXPECT_EQ(deltas(graphOf(start), other), Texts());
}

TEST(GraphDiff, AReadThatPassesAWriteHasMoved) {
  const std::string
      x = "    %x : [num_users=2] = placeholder[target=x]\n",
      z = "    %z : [num_users=1] = placeholder[target=z]\n",
      read = "    %y : [num_users=1] = call_function[target=torch.ops.aten.add.Tensor](args = (%x, 1), kwargs = {})\n",
      write =
          "    %w : [num_users=0] = call_function[target=torch.ops.aten.copy_.default](args = (%x, %z), kwargs "
          "= {})\n",
      end = "    return (y,)\n";
  const auto a = graphOf(x + z + read + write + end), b = graphOf(x + z + write + read + end);
  EXPECT_EQ(deltas(a, b), (Texts{"y>y moved"}));
  EXPECT_EQ(deltas(b, a), (Texts{"y>y moved"}));
  EXPECT_EQ(deltas(a, a), Texts());
}

TEST(GraphDiff, AReadOfAnItemThatPassesAWriteHasMoved) {
  const std::string
      x = "    %x : [num_users=2] = placeholder[target=x]\n"
          "    %s : [num_users=1] = call_function[target=torch.ops.aten.split.Tensor](args = (%x, 1), kwargs = {})\n"
          "    %t : [num_users=1] = call_function[target=operator.getitem](args = (%s, 0), kwargs = {})\n",
      read = "    %y : [num_users=1] = call_function[target=torch.ops.aten.add.Tensor](args = (%t, 1), kwargs = {})\n",
      write =
          "    %w : [num_users=0] = call_function[target=torch.ops.aten.relu_.default](args = (%x,), kwargs = {})\n",
      end = "    return (y,)\n";
  EXPECT_EQ(deltas(graphOf(x + read + write + end), graphOf(x + write + read + end)).size(), 1u);
}

TEST(GraphDiff, DrawsOfRandomNumbersMoveAmongEachOther) {
  const auto draw = [](const std::string& name, int size) {
    return "    %" + name + " : [num_users=1] = call_function[target=torch.ops.aten.rand.default](args = ([" +
           std::to_string(size) + "],), kwargs = {})\n";
  };
  const std::string end = "    return (a, b)\n";
  const auto found = deltas(graphOf(draw("a", 2) + draw("b", 3) + end), graphOf(draw("b", 3) + draw("a", 2) + end));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0] == "a>a moved" || found[0] == "b>b moved") << found[0];
}

TEST(GraphDiff, AnotherOpAtTheSamePlaceIsARewrite) {
  const auto other = graphOf(
      "    %x : [num_users=3] = placeholder[target=x]\n"
      "    %relu : [num_users=1] = call_function[target=torch.ops.aten.relu.default](args = (%x,), kwargs = {})\n"
      "    %cos : [num_users=1] = call_function[target=torch.ops.aten.cos.default](args = (%x,), kwargs = {})\n"
      "    %add : [num_users=1] = call_function[target=torch.ops.aten.add.Tensor](args = (%relu, %cos), kwargs = {})\n"
      "    return (add,)\n");
  EXPECT_EQ(deltas(graphOf(start), other), (Texts{"sin>cos rewritten"}));
}

TEST(GraphDiff, SaysWhatWasRemovedAndAdded) {
  const auto other = graphOf(
      "    %x : [num_users=3] = placeholder[target=x]\n"
      "    %relu : [num_users=1] = call_function[target=torch.ops.aten.relu.default](args = (%x,), kwargs = {})\n"
      "    %cos : [num_users=0] = call_function[target=torch.ops.aten.cos.default](args = (%x,), kwargs = {})\n"
      "    return (relu,)\n");
  EXPECT_EQ(deltas(graphOf(start), other), (Texts{">cos", "sin>", "add>"}))
      << "what is returned is what add was made of";
}

TEST(GraphDiff, ARenamedNodeWithOtherArgumentsIsFoundThroughItsUser) {
  const auto a = graphOf(
      "    %x : [num_users=1] = placeholder[target=x]\n"
      "    %sum_1 : [num_users=1] = call_function[target=torch.ops.aten.sum.dim_IntList](args = (%x, [0]), kwargs = "
      "{})\n"
      "    %relu : [num_users=1] = call_function[target=torch.ops.aten.relu.default](args = (%sum_1,), kwargs = {})\n"
      "    return (relu,)\n");
  const auto b = graphOf(
      "    %x : [num_users=1] = placeholder[target=x]\n"
      "    %s : [num_users=1] = call_function[target=torch.ops.aten.sum.dim_IntList](args = (%x, [1]), kwargs = {})\n"
      "    %relu : [num_users=1] = call_function[target=torch.ops.aten.relu.default](args = (%s,), kwargs = {})\n"
      "    return (relu,)\n");
  EXPECT_EQ(deltas(a, b), (Texts{"sum_1>s renamed call"}));
}

TEST(GraphDiff, ANameThatNowMeansAnotherNodeIsNotFollowed) {
  const auto a = graphOf(
      "    %x : [num_users=2] = placeholder[target=x]\n"
      "    %relu : [num_users=1] = call_function[target=torch.ops.aten.relu.default](args = (%x,), kwargs = {})\n"
      "    %relu_1 : [num_users=1] = call_function[target=torch.ops.aten.relu.default](args = (%relu,), kwargs = {})\n"
      "    return (relu_1,)\n");
  const auto b = graphOf(
      "    %x : [num_users=2] = placeholder[target=x]\n"
      "    %relu_1 : [num_users=1] = call_function[target=torch.ops.aten.relu.default](args = (%x,), kwargs = {})\n"
      "    %relu : [num_users=1] = call_function[target=torch.ops.aten.relu.default](args = (%relu_1,), kwargs = {})\n"
      "    return (relu,)\n");
  EXPECT_EQ(deltas(a, b), (Texts{"relu>relu_1 renamed", "relu_1>relu renamed"}));
}

TEST(GraphDiff, ComparesValuesOnlyWhereBothAreKnown) {
  auto a = graphOf(start), b = graphOf(start);
  const auto set = [](Graph& graph, std::int64_t size) {
    graph.setValueMeta(*graph.find("relu"), {TensorMeta{DType::Float32, {dim(size)}, {dim(1)}, 0, {}, false}});
  };
  set(a, 3);
  EXPECT_TRUE(diffGraphs(a, b).same());
  set(b, 4);
  EXPECT_EQ(deltas(a, b), (Texts{"relu>relu meta"}));
}

TEST(GraphDiff, LooksIntoNestedGraphs) {
  GraphModule a, b;
  a.graph = b.graph = graphOf(start);
  auto inner = std::make_shared<GraphModule>();
  inner->graph = graphOf(start);
  a.submodules.add("true_graph_0", Submodule{inner, {}});
  auto changed = std::make_shared<GraphModule>(*inner);
  changed->graph.setTarget(*changed->graph.find("sin"), "torch.ops.aten.cos.default");
  b.submodules.add("true_graph_0", Submodule{changed, {}});
  b.submodules.add("new_graph", Submodule{inner, {}});
  const auto diffs = diffModules(a, b);
  ASSERT_EQ(diffs.size(), 3u);
  EXPECT_TRUE(diffs[0].second.same());
  EXPECT_EQ(diffs[1].first, "true_graph_0");
  ASSERT_EQ(diffs[1].second.rewrites.size(), 1u);
  EXPECT_EQ(diffs[1].second.rewrites[0].before, (std::vector<NodeId>{*inner->graph.find("sin")}));
  EXPECT_EQ(diffs[2].first, "new_graph");
  EXPECT_EQ(diffs[2].second.count(&NodeDelta::added), inner->graph.size());
}

TEST(GraphDiff, AFullyRenamedChainOf20000NodesTakesNoTime) {
  Graph a, b;
  NodeId lastA = a.placeholder("x"), lastB = b.placeholder("y");
  for (int i = 0; i < 20'000; ++i) {
    lastA = a.callFunction("torch.ops.aten.relu.default", {lastA}, {}, "relu");
    lastB = b.callFunction("torch.ops.aten.relu.default", {lastB}, {}, "other");
  }
  a.output(lastA);
  b.output(lastB);
  GraphDiff diff;
  EXPECT_LT(testing::cpuSecondsOf([&] { diff = diffGraphs(a, b); }), 5 * testing::slowdown);
  EXPECT_EQ(diff.count(&NodeDelta::renamed), 20'001u);
  EXPECT_EQ(diff.count(&NodeDelta::removed) + diff.count(&NodeDelta::added), 0u);
}

}  // namespace
}  // namespace kerf
