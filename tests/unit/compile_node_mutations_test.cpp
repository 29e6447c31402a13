// Rows of a comparison node by node for what the graph writes into.
#include <gtest/gtest.h>

#include "engine/ops/core/op_registry.h"
#include "engine/pipeline/node_divergence.h"
#include "engine/pipeline/node_mutations.h"
#include "tests/support/divergence_fixture.h"

namespace kerf {
namespace {

/// A momentum step: buffer = buffer * 0.5 + grad, written back at the end; nothing is returned.
struct Step : testing_support::DivergenceFixture {
  Step() {
    Graph& graph = module.graph;
    const NodeId buffer = rising("exp_avg_3", -1, 0.25f), grad = rising("grad", -1, 0.25f);
    const NodeId decayed =
        graph.callFunction("torch.ops.aten.mul.Tensor", {Argument(buffer), Argument(0.5)}, {}, "decayed");
    const NodeId sum = graph.callFunction("torch.ops.aten.add.Tensor", {decayed, grad}, {}, "total");
    graph.callFunction("torch.ops.aten.copy_.default", {buffer, sum}, {}, "copy_");
    graph.output(Argument::tuple({}));
    EXPECT_TRUE(propagateShapes(module).has_value());
  }
};

TEST(NodeMutations, ComeAfterTheNodesWhateverTheChunks) {
  const Step step;
  for (const std::int64_t chunkBytes : {1 << 20, 1, 200}) {
    const auto report = step.run("", chunkBytes);
    ASSERT_EQ(report.nodes.size(), 4u);
    EXPECT_EQ(report.nodes[3].node, "mutates exp_avg_3");
    EXPECT_EQ(report.nodes[3].elements, 32);
    EXPECT_EQ(report.nodes[3].finite, 32);
    for (const auto& row : report.nodes) EXPECT_TRUE(row.same && !row.firstBad) << row.node;
  }
  EXPECT_EQ(step.inputs[0].tensor().itemAsDouble(0), -1) << "the caller's own stay as they are";
}

TEST(NodeMutations, AreBadWhereAFaultReachesThemAndStartNothing) {
  for (const std::int64_t chunkBytes : {1 << 20, 1}) {
    const auto report = Step().run("add=accuracy", chunkBytes);
    ASSERT_EQ(report.nodes.size(), 4u);
    EXPECT_TRUE(report.nodes[0].same);
    EXPECT_TRUE(report.nodes[1].firstBad);
    EXPECT_FALSE(report.nodes[3].same);
    EXPECT_FALSE(report.nodes[3].firstBad);
    EXPECT_NEAR(report.nodes[3].maxAbsError, 1, 1e-5);
    EXPECT_EQ(report.nodes[rankDivergence(report.nodes)[0]].node, "total");
  }
  const auto write = Step().run("copy_=accuracy");
  EXPECT_TRUE(write.nodes[2].firstBad);
  EXPECT_FALSE(write.nodes[3].same);
  EXPECT_FALSE(write.nodes[3].firstBad);
}

TEST(NodeMutations, StartWhatNoNodeShows) {
  std::vector<NodeDivergence> nodes{{.node = "add", .target = {}}, {.node = "mutates x", .target = {}, .same = false}};
  markFirstBadMutation(nodes);
  EXPECT_TRUE(nodes[1].firstBad);
  nodes[0].same = false;
  nodes[0].firstBad = true;
  nodes[1].firstBad = false;
  markFirstBadMutation(nodes);
  EXPECT_FALSE(nodes[1].firstBad);
}

}  // namespace
}  // namespace kerf
