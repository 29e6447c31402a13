// Differences of graphs that were made to mislead: unrelated, huge, uniform, permuted, without metadata; and both ways.
#include <algorithm>
#include <map>
#include <random>

#include <gtest/gtest.h>

#include "engine/diff/correspondence.h"
#include "engine/diff/graph_diff.h"
#include "tests/support/cpu_time.h"

namespace kerf {
namespace {

/// What must hold of any difference: every node stands in one line, is told one thing, and no partner has two.
void expectSound(const Graph& a, const Graph& b, const GraphDiff& diff) {
  std::map<NodeId, int> mine, theirs;
  std::size_t mergedLines = 0;
  for (const NodeDelta& delta : diff.nodes) {
    if (delta.before.valid()) ++mine[delta.before];
    if (delta.after.valid()) ++theirs[delta.after];
    mergedLines += delta.rewritten();
    if (delta.rewritten()) {
      EXPECT_LT(std::size_t(delta.rewrite), diff.rewrites.size());
    }
  }
  EXPECT_EQ(mine.size(), a.size());
  EXPECT_EQ(theirs.size(), b.size());
  for (const auto& [node, count] : mine) EXPECT_EQ(count, 1) << a.node(node).name();
  for (const auto& [node, count] : theirs) EXPECT_EQ(count, 1) << b.node(node).name();
  EXPECT_EQ(mergedLines == 0, diff.rewrites.empty());
}

GraphDiff soundDiff(const Graph& a, const Graph& b) {
  auto diff = diffGraphs(a, b);
  expectSound(a, b, diff);
  return diff;
}

std::size_t pairs(const GraphDiff& diff) {
  return std::size_t(std::ranges::count_if(diff.nodes, [](const NodeDelta& delta) {
    return delta.before.valid() && delta.after.valid() && !delta.rewritten();
  }));
}

constexpr const char* targets[] = {"torch.ops.aten.relu.default", "torch.ops.aten.sin.default",
                                   "torch.ops.aten.cos.default", "torch.ops.aten.neg.default"};

/// Random calls of one and two operands; `names` is what nodes are called.
Graph randomGraph(unsigned seed, int size, const std::string& names) {
  std::mt19937 random(seed);
  Graph graph;
  std::vector<NodeId> values{graph.placeholder(names + "in"), graph.placeholder(names + "other")};
  for (int i = 0; i < size; ++i) {
    const auto pick = [&] { return values[random() % values.size()]; };
    if (random() % 3 == 0)
      values.push_back(graph.callFunction("torch.ops.aten.add.Tensor", {pick(), pick()}, {}, names));
    else
      values.push_back(graph.callFunction(targets[random() % 4], {pick()}, {}, names));
  }
  graph.output(values.back());
  return graph;
}

TEST(HostileDiff, AnEmptyGraphRemovesOrAddsEverything) {
  const auto graph = randomGraph(1, 20, "n");
  const auto gone = soundDiff(graph, {}), come = soundDiff({}, graph);
  EXPECT_EQ(gone.count(&NodeDelta::removed), graph.size());
  EXPECT_EQ(come.count(&NodeDelta::added), graph.size());
  EXPECT_TRUE(soundDiff({}, {}).same());
}

TEST(HostileDiff, SwappedArgumentsGiveTheSamePairs) {
  for (unsigned seed = 0; seed < 12; ++seed) {
    const auto a = randomGraph(seed, 60, "a"), b = randomGraph(seed % 5 + 100, 70, seed % 2 == 0 ? "a" : "b");
    const auto there = soundDiff(a, b), back = soundDiff(b, a);
    EXPECT_EQ(there.count(&NodeDelta::removed) + there.count(&NodeDelta::added) == 0,
              back.count(&NodeDelta::removed) + back.count(&NodeDelta::added) == 0);
    const auto low = std::min(pairs(there), pairs(back)), high = std::max(pairs(there), pairs(back));
    EXPECT_LE(high - low, high / 4 + 3) << seed;
  }
}

TEST(HostileDiff, ARenamedCopyIsTheSameComputation) {
  const auto a = randomGraph(7, 400, "a"), b = randomGraph(7, 400, "b");
  const auto diff = soundDiff(a, b);
  EXPECT_EQ(pairs(diff), a.size());
  EXPECT_EQ(diff.count(&NodeDelta::callChanged), 0u);
}

TEST(HostileDiff, CoincidencesOfNamesAreNoPairs) {
  // Both have calls named relu, add and mul; nothing else is alike.
  Graph a, b;
  NodeId x = a.placeholder("x"), y = b.placeholder("y");
  const NodeId one = a.callFunction("torch.ops.aten.relu.default", {x}, {}, "relu");
  const NodeId two = a.callFunction("torch.ops.aten.add.Tensor", {one, Argument(std::int64_t(1))}, {}, "add");
  a.output(a.callFunction("torch.ops.aten.mul.Tensor", {two, two}, {}, "mul"));
  NodeId last = b.callFunction("torch.ops.aten.mul.Tensor", {y, y}, {}, "mul");
  for (int i = 0; i < 3; ++i) last = b.callFunction("torch.ops.aten.sin.default", {last}, {}, "sin");
  last = b.callFunction("torch.ops.aten.relu.default", {last}, {}, "relu");
  b.output(b.callFunction("torch.ops.aten.add.Tensor", {last, last}, {}, "add"));
  const auto diff = soundDiff(a, b);
  for (const NodeDelta& delta : diff.nodes) {
    if (!delta.before.valid() || !delta.after.valid() || delta.rewritten()) continue;
    if (a.node(delta.before).op() != Opcode::CallFunction) continue;
    EXPECT_NE(delta.evidence, Evidence::Name) << a.node(delta.before).name();
    EXPECT_EQ(a.node(delta.before).target(), b.node(delta.after).target());
  }
}

TEST(HostileDiff, APermutedOrderIsNoDifference) {
  // Ten chains: one after the other, and turn by turn.
  const auto chains = [](bool turns) {
    Graph graph;
    std::vector<NodeId> ends;
    for (int i = 0; i < 10; ++i) ends.push_back(graph.placeholder("x" + std::to_string(i)));
    for (int step = 0; step < 100; ++step) {
      const int chain = turns ? step % 10 : step / 10, depth = turns ? step / 10 : step % 10;
      auto& end = ends[std::size_t(chain)];
      end = graph.callFunction(targets[(chain + depth) % 4], {end}, {}, "n");
    }
    graph.output(Argument::list(ArgumentList(ends.begin(), ends.end())));
    return graph;
  };
  const auto diff = soundDiff(chains(false), chains(true));
  EXPECT_EQ(pairs(diff), 111u);
  EXPECT_EQ(diff.count(&NodeDelta::moved), 0u);
  EXPECT_EQ(diff.count(&NodeDelta::callChanged), 0u);
}

TEST(HostileDiff, DuplicatedSubgraphsAreMerged) {
  Graph a, b;
  for (Graph* graph : {&a, &b}) {
    const NodeId x = graph->placeholder("x");
    std::vector<NodeId> values;
    for (int i = 0; i < 4; ++i) {
      if (graph == &b && i > 0) {
        values.push_back(values.front());
        continue;
      }
      const NodeId sin = graph->callFunction("torch.ops.aten.sin.default", {x}, {}, "sin");
      values.push_back(graph->callFunction("torch.ops.aten.relu.default", {sin}, {}, "relu"));
    }
    graph->output(Argument::list(ArgumentList(values.begin(), values.end())));
  }
  const auto merged = soundDiff(a, b), again = soundDiff(b, a);
  EXPECT_EQ(merged.count(&NodeDelta::removed), 0u);
  EXPECT_EQ(merged.rewrites.size(), 6u);
  EXPECT_EQ(merged.count(&NodeDelta::callChanged), 0u);
  for (const Rewrite& rewrite : merged.rewrites) EXPECT_EQ(rewrite.kind, FoundRewrite::Kind::Merged);
  EXPECT_EQ(again.count(&NodeDelta::added), 0u);
  for (const Rewrite& rewrite : again.rewrites) EXPECT_EQ(rewrite.kind, FoundRewrite::Kind::Duplicated);
}

/// `count` equal calls of one input, all returned.
Graph equalCalls(int count, const char* target) {
  Graph graph;
  const NodeId x = graph.placeholder("x");
  std::vector<NodeId> values;
  for (int i = 0; i < count; ++i) values.push_back(graph.callFunction(target, {x}, {}, "n"));
  graph.output(Argument::list(ArgumentList(values.begin(), values.end())));
  return graph;
}

TEST(HostileDiff, TenThousandEqualNodesTakeNoTime) {
  const auto many = equalCalls(10'000, targets[0]), fewer = equalCalls(9'000, targets[0]),
             other = equalCalls(10'000, targets[1]);
  const double seconds = testing::cpuSecondsOf([&] {
    EXPECT_TRUE(diffGraphs(many, many).same());
    EXPECT_EQ(pairs(diffGraphs(many, fewer)), 9'002u);
    diffGraphs(many, other);
  });
  EXPECT_LT(seconds, 1.5 * testing::slowdown);
}

TEST(HostileDiff, TimeGrowsWithTheGraphs) {
  const auto secondsOf = [](int size) {
    const auto a = randomGraph(1, size, "a"), b = randomGraph(2, size, "a");
    return testing::cpuSecondsOf([&] { diffGraphs(a, b); });
  };
  EXPECT_LT(secondsOf(12'000), 3 * testing::slowdown);
}

TEST(HostileDiff, ACallOfAllNodesTakesNoTime) {
  // Every node is taken by the same cat, and a second one takes them the other way round.
  const auto wide = [](const char* target, bool turned) {
    Graph graph;
    const NodeId x = graph.placeholder("x");
    std::vector<NodeId> values;
    for (int i = 0; i < 10'000; ++i)
      values.push_back(graph.callFunction(target, {x, Argument(std::int64_t(i))}, {}, "n"));
    if (turned) std::ranges::reverse(values);
    graph.output(
        graph.callFunction("torch.ops.aten.cat.default", {Argument::list(ArgumentList(values.begin(), values.end()))}));
    return graph;
  };
  const char* add = "torch.ops.aten.add.Tensor";
  const auto a = wide(add, false), b = wide(add, true), c = wide("torch.ops.aten.mul.Tensor", false);
  GraphDiff turned, other;
  EXPECT_LT(testing::cpuSecondsOf([&] { turned = diffGraphs(a, b), other = diffGraphs(a, c); }),
            1.5 * testing::slowdown);
  EXPECT_EQ(pairs(turned), 10'003u);
  EXPECT_EQ(turned.count(&NodeDelta::callChanged), 1u);
  EXPECT_EQ(other.count(&NodeDelta::removed) +
                std::size_t(std::ranges::count_if(
                    other.nodes, [](const auto& line) { return line.rewritten() && line.before.valid(); })),
            10'000u);
}

TEST(HostileDiff, AChainCutInTheMiddleKeepsBothEnds) {
  Graph a, b;
  for (Graph* graph : {&a, &b}) {
    NodeId last = graph->placeholder("x");
    for (int i = 0; i < 2'000; ++i) {
      if (graph == &b && i >= 1'000 && i < 1'010) continue;
      last = graph->callFunction(targets[i * i % 4], {last}, {}, graph == &a ? "a" : "b");
    }
    graph->output(last);
  }
  const auto diff = soundDiff(a, b);
  EXPECT_GE(pairs(diff), 1'980u);
}

}  // namespace
}  // namespace kerf
