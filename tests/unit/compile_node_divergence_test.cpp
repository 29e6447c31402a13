#include <cmath>

#include <gtest/gtest.h>

#include "engine/ops/core/op_registry.h"
#include "tests/support/divergence_fixture.h"

namespace kerf {
namespace {

/// y = relu(x * x); z = y + y; w = exp(x): a fault in relu reaches y and z, never w.
struct Fixture : testing_support::DivergenceFixture {
  Fixture() {
    Graph& graph = module.graph;
    const NodeId x = rising("x", -2, 0.125f);
    const NodeId square = graph.callFunction("torch.ops.aten.mul.Tensor", {x, x}, {}, "square");
    const NodeId relu = graph.callFunction("torch.ops.aten.relu.default", {square}, {}, "relu");
    const NodeId sum = graph.callFunction("torch.ops.aten.add.Tensor", {relu, relu}, {}, "total");
    const NodeId other = graph.callFunction("torch.ops.aten.exp.default", {x}, {}, "other");
    graph.output(Argument::tuple({Argument(sum), Argument(other)}));
    EXPECT_TRUE(propagateShapes(module).has_value());
  }
};

TEST(NodeDivergence, HealthyGraphHasNoBadNode) {
  const auto report = Fixture().run("");
  ASSERT_EQ(report.nodes.size(), 4u);
  for (const auto& node : report.nodes) {
    EXPECT_TRUE(node.same) << node.node;
    EXPECT_FALSE(node.firstBad);
    EXPECT_LE(node.ratioToLimit, 1);
  }
  EXPECT_EQ(report.failure, "");
  EXPECT_EQ(report.fp64Note, "");
}

TEST(NodeDivergence, NamesTheFirstBadNodeWhateverTheChunks) {
  const Fixture fixture;
  for (const std::int64_t chunkBytes : {1 << 20, 1, 200}) {
    const auto report = fixture.run("relu=accuracy", chunkBytes);
    ASSERT_EQ(report.nodes.size(), 4u);
    const std::vector<std::string> names{"square", "relu", "total", "other"};
    const std::vector<bool> same{true, false, false, true};
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(report.nodes[i].node, names[i]);
      EXPECT_EQ(report.nodes[i].same, same[i]) << names[i];
      EXPECT_EQ(report.nodes[i].firstBad, names[i] == "relu");
    }
    EXPECT_GT(report.nodes[1].rmseRes, report.nodes[1].rmseRef);
    EXPECT_EQ(report.nodes[rankDivergence(report.nodes)[0]].node, "relu");
    EXPECT_EQ(report.nodes[rankDivergence(report.nodes)[1]].node, "total");
  }
}

TEST(NodeDivergence, ReportsACompiledSideThatFails) {
  const auto report = Fixture().run("relu=compile_error");
  EXPECT_FALSE(report.failure.empty());
  EXPECT_TRUE(report.nodes.empty());
}

TEST(NodeDivergence, RankPutsNanFirstAmongBadNodes) {
  NodeDivergence good{"a", "", true, 0, 0, 0.5, 0, false};
  NodeDivergence bad{"b", "", false, 0, 0, 3, 0, false};
  NodeDivergence lost{"c", "", false, 0, 0, std::nan(""), 0, false};
  NodeDivergence first{"d", "", false, 0, 0, 2, 0, true};
  EXPECT_EQ(rankDivergence({good, bad, lost, first}), (std::vector<std::size_t>{3, 2, 1, 0}));
}

}  // namespace
}  // namespace kerf
